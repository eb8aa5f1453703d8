import { describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../../../src/base/time";
import type { SupportedType } from "../../../../src/base/status";
import type { Fields } from "../../../support/dashboard";
import { readHtml } from "../../../support/html";
import { MONITOR_CONFIGS } from "../../../support/monitor-configs";
import {
  createMonitorDashboard,
  formOf,
  monitorIdIn,
  MONITORS,
  NEW_MONITOR,
} from "../../../support/monitor-dashboard";

const TYPES = [
  "websocket",
  "grpc",
  "postgres",
  "mysql",
  "redis",
  "mqtt",
  "smtp",
  "ssh",
  "docker",
  "domain",
] as const satisfies SupportedType[];

const SECRET = "s3cr3t-of-the-server";

/** Returns all that a type takes. */
function configOf(type: SupportedType): Record<string, unknown> {
  return JSON.parse(JSON.stringify(MONITOR_CONFIGS[type][1]).replaceAll("hidden", SECRET));
}

/** Returns the form's inputs for a configuration. */
function inputsOf(config: Readonly<Record<string, unknown>>): Fields {
  const inputs = Object.entries(config).flatMap(([field, value]): [string, string][] => {
    if (field === "assertions") {
      const [assertion = {}] = value as Record<string, unknown>[];
      return Object.entries(assertion).map(([part, text]) => [`assertion_0_${part}`, String(text)]);
    }
    if (Array.isArray(value)) return [[`config_${field}`, value.join(", ")]];
    if (typeof value === "object" && value !== null) {
      const [[name, text] = ["", ""]] = Object.entries(value);
      return [
        ["header_0_name", name],
        ["header_0_value", String(text)],
      ];
    }
    return [[`config_${field}`, value === false ? "" : String(value)]];
  });
  return Object.fromEntries(inputs);
}

describe("the forms of monitors that check a server", () => {
  for (const type of TYPES) {
    const config = configOf(type);

    test(`the form of a ${type} monitor sets its whole configuration, and an edit keeps it`, async () => {
      await using dashboard = await createMonitorDashboard();
      const id = monitorIdIn(
        await dashboard.create({ type, interval_seconds: "86400", ...inputsOf(config) }),
      );
      expect(dashboard.stored(id).row).toMatchObject({ type, config });
      expect((await dashboard.edit(id, { name: "Renamed" })).status).toBe(303);
      expect(dashboard.stored(id).row).toMatchObject({ name: "Renamed", config });
    });

    test(`the secrets of a ${type} monitor are on no screen, and in no audit entry, event or log`, async () => {
      await using dashboard = await createMonitorDashboard();
      const id = await dashboard.make({ type, config });
      const screens = [MONITORS, `${MONITORS}/${id}`, `${MONITORS}/${id}/edit`];
      const { app } = dashboard;
      const shown = [JSON.stringify([app.audit(), app.events(), app.logged])];
      for (const path of screens) shown.push((await dashboard.open(path)).text);
      const wrong = await dashboard.edit(id, { ...inputsOf(config), name: "" });
      expect(wrong.status).toBe(422);
      shown.push(wrong.text);
      // The query of a URL is no secret, but it is not shown in lists either.
      const texts = shown.map((text) => text.replaceAll(`token=${SECRET}`, ""));
      for (const text of texts) expect(text).not.toContain(SECRET);
    });
  }
});

describe("the password of a monitor", () => {
  const config = { host: "db.example.com", user: "monitor", password: SECRET, query: "SELECT 2" };
  const stored = (row: { config: unknown }) => row.config as Record<string, unknown>;

  test("a password left empty is kept, a typed one replaces it, and a ticked one is removed", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ type: "postgres", config });
    await dashboard.edit(id, { config_expected: "2" });
    expect(stored(dashboard.stored(id).row)).toMatchObject({ ...config, expected: "2" });
    await dashboard.edit(id, { config_password: "new", config_query_remove: "yes" });
    const { query: _, ...rest } = { ...config, expected: "2", password: "new" };
    expect(stored(dashboard.stored(id).row)).toEqual(rest);
    await dashboard.edit(id, { config_password_remove: "yes" });
    expect(stored(dashboard.stored(id).row)).not.toHaveProperty("password");
  });

  test("a password is not sent to another server until it is typed again or removed", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ type: "postgres", config });
    const before = dashboard.written();
    const moves: Fields[] = [
      { config_host: "elsewhere.example" },
      { config_port: "5433" },
      { config_database: "billing" },
      { config_user: "postgres" },
    ];
    for (const moved of moves) {
      const rejected = await dashboard.edit(id, moved);
      expect(rejected.status).toBe(422);
      expect(readHtml(rejected.text).texts(".field-error")).toEqual([
        "The stored password belongs to another server or request. Type it again, or remove it.",
        "The stored query belongs to another server or request. Type it again, or remove it.",
      ]);
      expect((await dashboard.edit(id, { ...moved, intent: "check" })).status).toBe(422);
    }
    expect(dashboard.written()).toEqual(before);
    expect(dashboard.triedOut).toEqual([]);
    const again = { config_host: "elsewhere.example", config_password: "new" };
    expect((await dashboard.edit(id, { ...again, config_query_remove: "yes" })).status).toBe(303);
    expect(stored(dashboard.stored(id).row)).toEqual({
      host: "elsewhere.example",
      user: "monitor",
      password: "new",
    });
  });

  test("a password of a rejected form is held for half an hour", async () => {
    await using dashboard = await createMonitorDashboard();
    const fields = { type: "postgres", ...inputsOf({ ...config, tls: "off" }) };
    const rejected = await dashboard.create({ ...fields, name: "" });
    expect(rejected.status).toBe(422);
    expect(rejected.text).not.toContain(SECRET);
    const answer = await dashboard.send(NEW_MONITOR, { ...formOf(rejected.text), name: "DB" });
    expect(stored(dashboard.stored(monitorIdIn(answer)).row)).toMatchObject(config);
    const late = await dashboard.create({ ...fields, name: "" });
    await dashboard.app.clock.advance(30 * MINUTE_MS);
    const refused = await dashboard.send(NEW_MONITOR, { ...formOf(late.text), name: "DB" });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("The password was typed too long ago and is no longer held.");
  });

  test("a cloned monitor has no password and no query", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ type: "postgres", config });
    const { text } = await dashboard.open(`${NEW_MONITOR}?type=postgres&from=${id}`);
    expect(text).not.toContain("Set. Leave empty to keep it");
    expect(text).not.toContain(SECRET);
  });
});
