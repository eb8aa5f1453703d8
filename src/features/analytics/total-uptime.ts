import type { Reader } from "../../db";
import {
  addStatusTimes,
  downTime,
  type Folded,
  foldSpans,
  knownFrom,
  type Span,
  uptimeOfTime,
} from "../components";
import { listCauses, listComponents, listNoData } from "./store";
import type { ComponentOnPage } from "./subjects";

/** Uptime of all components together. */
export interface TotalUptime {
  /** Share of the known time without maintenance; null without such time. */
  uptime: number | null;
  /** Time that counts as down, of all components, in ms. */
  downMs: number;
}

/** Number of components whose causes are read and folded in one turn of the event loop. */
const COMPONENTS_PER_TURN = 100;

/**
 * Returns the uptime of at most `limit` components together in a span of unix ms, by the method of
 * `uptimeAnswer`. Large installations are read in several turns of the event loop.
 */
export async function totalUptime(reader: Reader, span: Span, limit: number): Promise<TotalUptime> {
  const rows = listComponents(reader, { limit }).map(({ component }) => component);
  const times: Folded["time"][] = [];
  for (let first = 0; first < rows.length; first += COMPONENTS_PER_TURN) {
    times.push(...timesOf(reader, rows.slice(first, first + COMPONENTS_PER_TURN), span));
    // Other requests are served between the turns.
    // oxlint-disable-next-line no-await-in-loop
    await new Promise(setImmediate);
  }
  const time = addStatusTimes(times);
  return { uptime: uptimeOfTime(time), downMs: downTime(time) };
}

function timesOf(
  reader: Reader,
  rows: readonly ComponentOnPage["row"][],
  { from, to }: Span,
): Folded["time"][] {
  const query = { componentIds: JSON.stringify(rows.map(({ id }) => id)), from, to };
  const causes = Map.groupBy(listCauses(reader, query), ({ componentId }) => componentId);
  const gaps = Map.groupBy(listNoData(reader, query), ({ componentId }) => componentId);
  return rows.flatMap((row) => {
    const known = { from: Math.max(from, knownFrom(row)), to };
    const spans = foldSpans(causes.get(row.id) ?? [], known, [{ from, to }], gaps.get(row.id));
    return spans.map(({ time }) => time);
  });
}
