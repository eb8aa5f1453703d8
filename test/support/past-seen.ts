import { listComponentsOfPage } from "../../src/features/components/store";
import { getMonitorRecord } from "../../src/features/monitors/records";
import { ofMonitors } from "../../src/features/monitors/checks-store";
import { listNoDataOfPage, listSpans } from "../../src/features/monitors/spans-store";
import { listStoredMonitors } from "../../src/features/monitors/declared";
import { listAllPages } from "../../src/features/pages/store";
import { toIso } from "../../src/base/time";
import type { TestApp } from "./app";
import { listCausesOfPage } from "./causes";
import { listRollupRows } from "./rollups";

/** Returns a time (unix ms) as `03-10 12:00`. */
export const shownTime = (ms: number) => toIso(ms).slice(5, 16).replace("T", " ");

/** Returns what is stored of a monitor and its component. By default the component has the name of the monitor. */
export function seenOf({ ctx: { db } }: Pick<TestApp, "ctx">, name: string, componentName = name) {
  const { row } = listStoredMonitors(db).find((each) => each.row.name === name) ?? never();
  const num = row.num;
  const period = (startedAt: number, endedAt: number | null) =>
    endedAt === null ? shownTime(startedAt) : `${shownTime(startedAt)} → ${shownTime(endedAt)}`;
  const all = { nums: JSON.stringify([num]), from: 0, to: Number.MAX_SAFE_INTEGER };
  const [page = never()] = listAllPages(db, {});
  const component = listComponentsOfPage(db, { pageId: page.id }).find(
    (each) => each.name === componentName,
  );
  const causes = listCausesOfPage(db, { pageId: page.id, since: 0 }).map(({ cause }) => cause);
  return {
    state: getMonitorRecord(db, row.id).state,
    spans: listSpans(db, all).map(
      ({ row: span }) => `${span.state} ${period(span.startedAt, span.endedAt)}`,
    ),
    causes: causes
      .filter(({ componentId }) => componentId === component?.id)
      .map(
        ({ source, status, startedAt, endedAt }) =>
          `${source} ${status} ${period(startedAt, endedAt)}`,
      ),
    noData: listNoDataOfPage(db, { pageId: page.id, since: 0 })
      .filter(({ row: gap }) => gap.componentId === component?.id)
      .map(({ row: gap }) => period(gap.startedAt, gap.endedAt)),
    startDate: component?.startDate ?? null,
    status: component?.status,
    checks: ofMonitors.listChecksBefore(db, {
      monitorNum: num,
      before: Number.MAX_SAFE_INTEGER,
      limit: 100_000,
    }),
    rollups: Map.groupBy(listRollupRows(db, { num }), ({ size }) => size),
  };
}

function never(): never {
  throw new Error("it is not there");
}
