import { expect, test } from "bun:test";
import * as causes from "../../../src/features/components/cause-store";
import * as outages from "../../../src/features/incidents/outage-store";
import * as repairs from "../../../src/features/monitors/evaluation-store";
import { openMonitorStore, planOf, statementsOf } from "../../support/monitor-store";

test("the statements of outages at transitions and ticks, and of the screen of an incident, scan no table", async () => {
  using store = openMonitorStore();
  const of = { incidentId: "inc_0", componentId: "cmp_0", monitorId: "mon_0" };
  const ids = "[]";
  const statements = statementsOf(store.ctx.db, (reader) => {
    outages.findAutomatic(reader, of);
    outages.listAutomatic(reader, { ids });
    outages.listJoinedOutages(reader, { ids });
    outages.listJoinedOfComponent(reader, of);
    outages.findCoveringOutage(reader, { ...of, status: "major_outage", at: 0 });
    outages.findSimilarOutage(reader, { ...of, status: "major_outage" });
    outages.listOpenOutagesOf(reader, of);
    outages.findOpenOutage(reader, of);
    outages.findLastRecovery(reader, of);
    outages.findLastWritten(reader, of);
    outages.countOutages(reader, of);
    outages.listTitleComponents(reader, { ...of, limit: 3 });
    outages.listMonitorsOfEvents(reader, { ...of, componentIds: null });
    outages.findDueIncident(reader, { now: 0, latest: 0 });
    outages.listJoinable(reader, { pageId: "page_0", draft: 0, from: 0, to: 1 });
    outages.listReopenable(reader, { pageId: "page_0", componentIds: ids, resolvedFrom: 0 });
    outages.findOutageOfMonitor(reader, of);
    outages.findJoinedIncident(reader, { ...of, pageId: "page_0", startedFrom: 0 });
    outages.listFailingWithoutIncident(reader, {});
    outages.listIncidentsOfOutage(reader, of);
    outages.countOutagesOfIncidents(reader, { ids });
    outages.listOutagesOfIncident(reader, of);
    causes.sumEndedCauses(reader, { source: "incident", sourceId: "inc_0" });
    repairs.listUnlinkedMonitors(reader, {});
    repairs.listRecoveredMonitors(reader, {});
  });
  expect(statements).toHaveLength(25);
  for (const sql of statements) {
    const scanned = planOf(store, sql).filter((step) =>
      // Indexes of rows that are open, due or down, of which there are few.
      /^SCAN (?!json_each|recent|\(subquery|\S+ USING (?:COVERING )?INDEX (?:incident_outages_open|monitor_states_down))/.test(
        step,
      ),
    );
    expect(scanned, sql).toEqual([]);
  }
});
