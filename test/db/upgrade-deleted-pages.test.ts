import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem } from "../support/app";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

/** A page that was deleted at 500 while its maintenance was in progress, and a page that is still there. */
const BROKEN = `
  INSERT INTO pages VALUES
    ('page_live', 'live', 'live', 'Live', NULL, 'UTC', 'en', 'public', 'system',
      NULL, 90, 1, 0, NULL, 7, 1, 3, 1, 1, NULL, '[]', NULL),
    ('page_old', 'old', 'old', 'Old', NULL, 'UTC', 'en', 'public', 'system',
      NULL, 90, 0, 0, NULL, 7, 1, 3, 1, 1, 500, '[]', NULL);
  INSERT INTO page_slugs VALUES ('live', 'page_live', 1);
  INSERT INTO component_groups VALUES ('grp_old', 'page_old', 'core', 'Core', NULL, 0, 'expanded', NULL, 1, 1, 1, NULL);
  INSERT INTO components VALUES
    ('cmp_live', 'page_live', NULL, 'shop', 'Shop', NULL, 0, 'operational', 'operational', 1, NULL, 0, NULL, 4, 1, 2, NULL, 0),
    ('cmp_old', 'page_old', 'grp_old', 'mirror', 'Mirror', NULL, 0, 'under_maintenance', 'operational', 1, NULL, 0, NULL, 4, 1, 2, NULL, 0),
    ('cmp_gone', 'page_live', NULL, 'gone', 'Gone', NULL, 1, 'operational', 'operational', 1, NULL, 0, NULL, 4, 1, 300, 300, 0);
  INSERT INTO maintenances VALUES
    ('mnt_live', 'page_live', 'Planned', 'scheduled', 90000, 91000, NULL, NULL, 1, 1, 60, NULL, 1, 1, 1, NULL),
    ('mnt_open', 'page_old', 'Upgrade', 'in_progress', 100, 900, 100, NULL, 1, 1, 60, NULL, 2, 1, 1, NULL),
    ('mnt_over', 'page_old', 'Before', 'completed', 10, 20, 10, 20, 1, 1, 60, NULL, 5, 1, 20, NULL);
  INSERT INTO component_causes VALUES
    (1, 'cmp_old', 'maintenance', 'mnt_open', 'under_maintenance', 100, NULL),
    (2, 'cmp_old', 'monitor', 'mon_both', 'major_outage', 600, NULL),
    (3, 'cmp_live', 'manual', 'user', 'partial_outage', 50, NULL),
    (4, 'cmp_old', 'maintenance', 'mnt_over', 'under_maintenance', 10, 20);
  INSERT INTO component_no_data VALUES ('cmp_old', 40, NULL), ('cmp_live', 40, NULL);
  INSERT INTO monitors (id, num, ref, name, type, config, interval_seconds, timeout_ms, failure_threshold,
      success_threshold, retry_interval_seconds, on_down, open_incident, paused, version, created_at, updated_at)
  VALUES
    ('mon_both', 1, 'both', 'Both', 'tcp', '{"host":"a.test","port":80}', 60, 1000, 3, 1, 10, 'major_outage', 'never', 0, 3, 1, 1),
    ('mon_old', 2, 'old', 'Old', 'tcp', '{"host":"b.test","port":80}', 60, 1000, 3, 1, 10, 'major_outage', 'never', 0, 3, 1, 1),
    ('mon_live', 3, 'live', 'Live', 'tcp', '{"host":"c.test","port":80}', 60, 1000, 3, 1, 10, 'major_outage', 'never', 0, 3, 1, 1);
  INSERT INTO monitor_states VALUES
    (1, 'maintenance', 100, 0, NULL, 0, NULL, 0, NULL, NULL, NULL, 0),
    (2, 'up', 100, 0, NULL, 0, NULL, 0, NULL, NULL, NULL, 0),
    (3, 'up', 100, 0, NULL, 0, NULL, 0, NULL, NULL, NULL, 0);
  INSERT INTO monitor_components VALUES ('mon_both', 'cmp_live'), ('mon_both', 'cmp_old'),
    ('mon_old', 'cmp_old'), ('mon_live', 'cmp_live');
  INSERT INTO webhooks VALUES
    ('whk_all', 'all', 'https://a.test/x', NULL, '["*"]', NULL, 'standard', '{}', 1, NULL, NULL, 'whsec_a', NULL, NULL, NULL, NULL, 1, 1, 1, NULL),
    ('whk_live', 'live', 'https://a.test/y', NULL, '["*"]', 'page_live', 'standard', '{}', 1, NULL, NULL, 'whsec_b', NULL, NULL, NULL, NULL, 1, 1, 1, NULL),
    ('whk_old', 'old', 'https://a.test/z', NULL, '["*"]', 'page_old', 'ntfy', '{"token":"tk"}', 1, NULL, NULL, 'whsec_c', 'whsec_d', 99, NULL, NULL, 1, 1, 1, NULL);
`;

describe("the upgrade of a database with a page that was deleted during its maintenance", () => {
  test("the upgrade ends what the page's deletion left open and does not change the other page", () => {
    using folder = temporaryFolder();
    using old = openOldDatabase(folder.path, 6, BROKEN);
    const { rows } = old;
    const untouched = [
      "SELECT * FROM pages ORDER BY id",
      "SELECT * FROM components WHERE id IN ('cmp_live', 'cmp_gone') ORDER BY id",
      "SELECT * FROM maintenances WHERE id IN ('mnt_live', 'mnt_over') ORDER BY id",
      "SELECT * FROM component_causes WHERE id IN (3, 4) ORDER BY id",
      "SELECT * FROM component_no_data WHERE component_id = 'cmp_live'",
      "SELECT * FROM monitors WHERE id = 'mon_live'",
      "SELECT * FROM monitor_states",
      "SELECT * FROM webhooks WHERE id IN ('whk_all', 'whk_live') ORDER BY id",
      "SELECT * FROM events",
    ];
    const before = untouched.map(rows);

    expect(old.upgrade(7)).toMatchObject({ from: 6, to: 7 });
    expect(untouched.map(rows)).toEqual(before);
    expect(
      rows("SELECT id, deleted_at, version FROM components WHERE page_id = 'page_old'"),
    ).toEqual([{ id: "cmp_old", deleted_at: 500, version: 5 }]);
    expect(rows("SELECT deleted_at FROM component_groups")).toEqual([{ deleted_at: 500 }]);
    expect(rows("SELECT id, ended_at FROM component_causes WHERE id IN (1, 2)")).toEqual([
      { id: 1, ended_at: 500 },
      // No cause ends before its beginning.
      { id: 2, ended_at: 600 },
    ]);
    expect(rows("SELECT ended_at FROM component_no_data WHERE component_id = 'cmp_old'")).toEqual([
      { ended_at: 500 },
    ]);
    expect(
      rows("SELECT status, completed_at, version FROM maintenances WHERE id = 'mnt_open'"),
    ).toEqual([{ status: "cancelled", completed_at: null, version: 3 }]);
    expect(rows("SELECT monitor_id, component_id FROM monitor_components ORDER BY 1")).toEqual([
      { monitor_id: "mon_both", component_id: "cmp_live" },
      { monitor_id: "mon_live", component_id: "cmp_live" },
    ]);
    expect(rows("SELECT id, paused, version FROM monitors ORDER BY num LIMIT 2")).toEqual([
      { id: "mon_both", paused: 0, version: 4 },
      { id: "mon_old", paused: 0, version: 4 },
    ]);
    expect(
      rows(
        "SELECT deleted_at > 500 AS is_deleted, url, settings, secret, previous_secret FROM webhooks WHERE id = 'whk_old'",
      ),
    ).toEqual([{ is_deleted: 1, url: "", settings: "{}", secret: "", previous_secret: null }]);
    expect(rows("SELECT actor_kind, action, target_id FROM audit_log ORDER BY id")).toEqual([
      { actor_kind: "system", action: "maintenance.cancel", target_id: "mnt_open" },
      { actor_kind: "system", action: "webhook.delete", target_id: "whk_old" },
    ]);
    expectSound(old.sqlite);
  });

  test("after the upgrade, webhooks and monitors name no deleted page", async () => {
    using folder = temporaryFolder();
    const old = openOldDatabase(folder.path, 6, BROKEN);
    old.sqlite.close();
    await using app = await createTestApp({ databasePath: old.path });
    const key = await app.keyWith("manage:monitors", "manage:webhooks", "read:status");
    const get = (path: string) => app.call(`/api/v1${path}`, { key });
    expect((await get("/monitors/mon_both")).body.component_ids).toEqual(["cmp_live"]);
    expect((await get("/monitors/mon_old")).body).toMatchObject({
      component_ids: [],
      paused: false,
    });
    const { body } = await get("/webhooks");
    expect(body.data.map(({ page }: { page: string | null }) => page)).toEqual(["live", null]);
    expectProblem(await get("/webhooks/whk_old"), "not_found");
    expectProblem(await get("/maintenance/mnt_open"), "not_found");
  });
});
