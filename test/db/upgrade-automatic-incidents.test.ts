import { expect, test } from "bun:test";
import { createDb } from "../../src/db/database";
import { MIGRATIONS } from "../../src/db/migrations";
import { getIncident, listUpdateSummaries } from "../../src/features/incidents/records";
import { automationOf } from "../../src/features/incidents/outage-store";
import { timelineOf } from "../../src/features/incidents/rules";
import { MINUTE_MS } from "../../src/base/time";
import { createTestClock } from "../support/clock";
import { readAllTables } from "../support/database-dump";
import { createTestLog } from "../support/log";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const NOW = 100 * MINUTE_MS;

const monitor = (num: number, paused = 0, state = "down") => `
  INSERT INTO monitors (id, num, ref, name, type, config, interval_seconds, timeout_ms, failure_threshold,
      success_threshold, retry_interval_seconds, on_down, open_incident, paused, version, created_at, updated_at)
    VALUES ('mon_${num}', ${num}, 'm${num}', 'M', 'http', '{}', 60, 1000, 1, 1, 10, 'major_outage', 'automatic',
      ${paused}, 1, 1, 1);
  INSERT INTO monitor_states (monitor_num, state, since, failures, successes, slow, rolled_until)
    VALUES (${num}, '${state}', 4000, 0, 0, 0, 0);
  INSERT INTO monitor_spans VALUES (${num}, 1, 4000, 'up', NULL), (${num}, 4000, NULL, '${state}', NULL);`;

interface Old {
  status: string;
  draft?: number;
  /** Version that its monitor wrote last; the incident has version 2. */
  version?: number;
  resolvedAt?: number;
}

/** An incident of the monitor of the same number, which began at 4000, with its update and its cause. */
const incident = (num: number, { status, draft = 0, version = 2, resolvedAt }: Old) => `
  INSERT INTO incidents (id, page_id, name, status, impact, source, draft, started_at, resolved_at, version, created_at,
      updated_at)
    VALUES ('inc_${num}', 'page_1', 'M is down', '${status}', 'critical', 'monitor', ${draft}, 4000,
      ${resolvedAt ?? "NULL"}, 2, 4000, 4000);
  INSERT INTO incident_updates VALUES ('upd_${num}', 'inc_${num}', 'investigating', 'Down.', 4000, 1, 4000, 4000);
  ${resolvedAt === undefined ? "" : `INSERT INTO incident_updates VALUES ('upd_${num}r', 'inc_${num}', 'resolved', 'Up.', ${resolvedAt}, 1, ${resolvedAt}, ${resolvedAt});`}
  INSERT INTO incident_update_components
    VALUES ('upd_${num}', 'inc_${num}', 'cmp_1', 'API', 'operational', 'major_outage');
  ${draft === 1 ? "" : `INSERT INTO component_causes (component_id, source, source_id, status, started_at, ended_at) VALUES ('cmp_1', 'incident', 'inc_${num}', 'major_outage', 4000, ${resolvedAt ?? "NULL"});`}
  INSERT INTO monitor_incidents
    VALUES ('mon_${num}', 'inc_${num}', 'page_1', ${version}, 4000, ${resolvedAt ?? "NULL"});`;

const RECENT = NOW - 10 * MINUTE_MS;
const LONG_AGO = NOW - 40 * MINUTE_MS;

const ROWS = `
  INSERT INTO pages (id, ref, slug, name, time_zone, locale, visibility, theme, history_days, is_default, is_sample,
      content_version, content_changed_at, version, created_at, updated_at)
    VALUES ('page_1', 'acme', 'acme', 'Acme', 'UTC', 'en', 'public', 'system', 90, 1, 0, 1, 1, 1, 1, 1);
  INSERT INTO components (id, page_id, ref, name, position, status, baseline_status, showcase, only_show_if_degraded,
      version, created_at, updated_at)
    VALUES ('cmp_1', 'page_1', 'api', 'API', 0, 'major_outage', 'operational', 1, 0, 1, 1, 1);
  INSERT INTO liveness VALUES (1, ${NOW});
  ${[1, 2, 3].map((num) => monitor(num)).join("")}
  ${monitor(4, 1, "paused")}
  ${[5, 6].map((num) => monitor(num, 0, "up")).join("")}
  ${incident(1, { status: "investigating" })}
  ${incident(2, { status: "investigating", version: 1 })}
  ${incident(3, { status: "investigating", draft: 1 })}
  ${incident(4, { status: "investigating" })}
  ${incident(5, { status: "resolved", resolvedAt: RECENT })}
  ${incident(6, { status: "resolved", resolvedAt: LONG_AGO })}`;

test("the upgrade keeps the incidents of monitors, and those that no one has changed stay Allclear's", () => {
  using folder = temporaryFolder();
  const before = MIGRATIONS.findIndex(({ name }) => name === "automatic_incidents");
  using old = openOldDatabase(folder.path, before, ROWS);
  const tables = readAllTables(old.sqlite);
  old.upgrade(before + 1);
  const after = readAllTables(old.sqlite);
  expect(after["incidents"]).toEqual(tables["incidents"]);
  expect(after["component_causes"]).toEqual(tables["component_causes"]);
  expect(after["incident_updates"]?.map(({ is_automatic: _is, ...update }) => update)).toEqual(
    tables["incident_updates"],
  );
  expect(old.rows("SELECT incident_id AS id, resolved_at FROM automatic_incidents")).toEqual([
    { id: "inc_1", resolved_at: null },
    { id: "inc_3", resolved_at: null },
    { id: "inc_5", resolved_at: RECENT },
  ]);
  expect(
    old.rows(`SELECT incident_id AS id, monitor_id AS monitor, started_at, ended_at, kind, has_left
      FROM incident_outages ORDER BY incident_id`),
  ).toEqual(
    [
      [1, null, "joined", 0],
      [2, null, "linked", 0],
      [3, null, "joined", 0],
      [4, 4000, "linked", 1],
      [5, RECENT, "joined", 0],
      [6, LONG_AGO, "linked", 0],
    ].map(([num, ended_at, kind, has_left]) => {
      const ids = { id: `inc_${num}`, monitor: `mon_${num}` };
      return { ...ids, started_at: 4000, ended_at, kind, has_left };
    }),
  );
  expect(old.rows("SELECT join_minutes FROM pages")).toEqual([{ join_minutes: 10 }]);
  // Statements of earlier versions still read the incidents of monitors.
  expect(
    old.rows(
      "SELECT monitor_id, page_id, resolved_at FROM monitor_incidents WHERE incident_id = 'inc_6'",
    ),
  ).toEqual([{ monitor_id: "mon_6", page_id: "page_1", resolved_at: LONG_AGO }]);
  expectSound(old.sqlite);
  expect(() => old.sqlite.run("UPDATE pages SET join_minutes = 1441")).toThrow("CHECK");
});

test("the history of incidents stays after the upgrade", () => {
  using folder = temporaryFolder();
  using old = openOldDatabase(
    folder.path,
    MIGRATIONS.findIndex(({ name }) => name === "automatic_incidents"),
    ROWS,
  );
  old.upgrade();
  const db = createDb(old.sqlite, createTestClock(NOW), createTestLog("info").log);
  const causes = old.rows("SELECT * FROM component_causes ORDER BY source_id");
  for (const num of [1, 2, 4, 5, 6]) {
    const { row, components } = getIncident(db, `inc_${num}`, true);
    const timeline = timelineOf(row, listUpdateSummaries(db, row.id), automationOf(db, row));
    const stored = causes.find(({ source_id }) => source_id === row.id);
    expect(timeline.causes).toEqual([
      {
        componentId: "cmp_1",
        status: "major_outage",
        from: 4000,
        to: (stored?.["ended_at"] ?? null) as number | null,
      },
    ]);
    expect(components).toEqual([{ id: "cmp_1", name: "API", status: "major_outage" }]);
  }
});
