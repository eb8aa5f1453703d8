import { expect, test } from "bun:test";
import * as standing from "../../../../src/features/monitors/standing-store";
import { openMonitorStore, planOf, statementsOf } from "../../../support/monitor-store";

test("what the engine asks, for each batch and at each transition, it finds by keys", async () => {
  using store = openMonitorStore();
  const { components } = await store.page("shop", ["Cart"]);
  const { num: monitorNum } = await store.monitor({ componentIds: components });
  const [componentId = ""] = components;
  const nums = `[${monitorNum}]`;
  const statements = statementsOf(store.ctx.db, (reader) => {
    standing.listWatched(reader, { nums });
    standing.listJudged(reader, { nums });
    standing.listSilenced(reader, {});
    standing.findLastKnown(reader, { monitorNum });
    standing.findOutageStart(reader, { monitorNum });
    standing.findUnknownSince(reader, { componentId });
    standing.findOpenNoData(reader, { componentId });
    standing.findIncidentState(reader, { id: "inc_0" });
  });
  expect(statements).toHaveLength(8);
  for (const sql of statements) {
    const scanned = planOf(store, sql).filter((step) => /^SCAN (?!j VIRTUAL|json_each)/.test(step));
    expect(scanned, sql).toEqual([]);
  }
});
