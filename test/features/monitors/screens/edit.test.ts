import { describe, expect, test } from "bun:test";
import { pauseMonitor } from "../../../../src/features/monitors/monitors";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { expectProblem } from "../../../support/app";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { createMonitorDashboard, formOf, MONITORS } from "../../../support/monitor-dashboard";

const RETRY = "retry_interval_seconds";

const EDITED = {
  name: "Shop",
  config: {
    url: "https://shop.example.com/",
    assertions: [
      { source: "status" as const, op: "eq" as const, value: 200 },
      { source: "json" as const, property: "$.ok", op: "eq" as const, value: true },
    ],
  },
};

describe("the form that edits a monitor", () => {
  test("editing a monitor changes only what was changed in the form and is audited", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app, site } = dashboard;
    const id = await dashboard.make(EDITED);
    const website = site.components["Website"] ?? "";
    const answer = await dashboard.edit(id, {
      name: "Checkout",
      component_ids: [website],
      config_certificate_warning_days: "",
      interval_seconds: "120",
      degraded_after_ms: "900",
      open_incident: "automatic",
    });
    expect(answer.headers.get("location")).toBe(`${MONITORS}/${id}`);
    const { row, components } = dashboard.stored(id);
    expect(row).toMatchObject({
      name: "Checkout",
      intervalSeconds: 120,
      degradedAfterMs: 900,
      openIncident: "automatic",
      config: EDITED.config,
    });
    expect(components.map((component) => component.id)).toEqual([website]);
    expect(app.audit().at(-1)).toMatchObject({ action: "monitor.update", actorKind: "user" });
    const next = await dashboard.open(`${MONITORS}/${id}`);
    expect(readHtml(next.text).texts(".flash")).toEqual([
      "The monitor was changed. The check at 12:00:00 UTC succeeded. The response took 12 ms. Nobody is notified about it.",
    ]);
  });

  test("submitting an unchanged monitor changes nothing and shows “Nothing was changed.”", async () => {
    await using dashboard = await createMonitorDashboard();
    const ids = [
      await dashboard.make(EDITED),
      await dashboard.make({ type: "dns", config: { name: "example.com", expected: ["1.2.3.4"] } }),
      await dashboard.make({ type: "push", config: {} }),
    ];
    const before = dashboard.written();
    for (const id of ids) {
      expect((await dashboard.edit(id, {})).status).toBe(303);
      const next = await dashboard.open(`${MONITORS}/${id}`);
      expect(readHtml(next.text).texts(".flash")).toEqual(["Nothing was changed."]);
    }
    expect(dashboard.written()).toEqual(before);
  });

  test("a condition whose row was cleared is removed from the monitor", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make(EDITED);
    await dashboard.edit(id, { assertion_0_source: "" });
    const { config } = dashboard.stored(id).row;
    expect(config["assertions"]).toEqual(EDITED.config.assertions.slice(1));
  });

  test("conditions that were not edited keep values that the form cannot show exactly", async () => {
    await using dashboard = await createMonitorDashboard();
    const kept = [
      { source: "json" as const, property: "$.version", op: "eq" as const, value: "5" },
      { source: "body" as const, op: "contains" as const, value: "two\r\nlines" },
    ];
    const assertions = [...EDITED.config.assertions, ...kept];
    const id = await dashboard.make({ config: { ...EDITED.config, assertions } });
    // Browsers drop the line breaks of the value.
    const shown = { assertion_3_value: "twolines" };
    const before = dashboard.written();
    expect((await dashboard.edit(id, shown)).status).toBe(303);
    expect(dashboard.written()).toEqual(before);
    const edited = { ...shown, assertion_0_source: "", assertion_1_value: "false" };
    expect((await dashboard.edit(id, edited)).status).toBe(303);
    expect(dashboard.stored(id).row.config["assertions"]).toEqual([
      { ...EDITED.config.assertions[1], value: false },
      ...kept,
    ]);
  });

  test("an invalid monitor is redisplayed with its errors and typed values, and nothing is changed", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make(EDITED);
    const before = dashboard.written();
    const answer = await dashboard.edit(id, { name: "", interval_seconds: "0", timeout_ms: "9" });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual([
      "name",
      "interval_seconds_other",
      "timeout_ms",
    ]);
    expect(typedIn(answer.text, "interval_seconds_other")).toEqual(["0"]);
    expect(dashboard.written()).toEqual(before);
  });

  test("an outdated edit of a monitor is a conflict that keeps the typed text and can be sent again", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const id = await dashboard.make(EDITED);
    const path = `${MONITORS}/${id}/edit`;
    const form = { ...formOf((await dashboard.open(path)).text), name: "Mine" };
    await app.ctx.db.write((tx) => pauseMonitor(app.ctx, tx, id, CLI_ACTOR));
    const before = dashboard.written();
    const stale = await dashboard.send(path, form);
    expect(stale.status).toBe(409);
    expect(readHtml(stale.text).texts("[role=alert]")[0]).toStartWith("Someone changed this");
    expect(typedIn(stale.text, "name")).toEqual(["Mine"]);
    expect(dashboard.written()).toEqual(before);
    expect((await dashboard.send(path, formOf(stale.text))).status).toBe(303);
    expect(dashboard.stored(id).row).toMatchObject({ name: "Mine", paused: true });
  });

  test("a push monitor can have an interval shorter than its retry interval, which is lowered", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ type: "push", config: {} });
    expect((await dashboard.edit(id, { interval_seconds: "5" })).status).toBe(303);
    expect(dashboard.stored(id).row).toMatchObject({ intervalSeconds: 5, retryIntervalSeconds: 5 });
  });

  test("editing a push monitor keeps its retry interval, which the form does not show", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ type: "push", config: {}, retry_interval_seconds: 30 });
    expect((await dashboard.edit(id, { name: "Backup" })).status).toBe(303);
    expect(dashboard.stored(id).row).toMatchObject({ name: "Backup", retryIntervalSeconds: 30 });
  });

  test("an empty retry interval stands for 10 seconds, or for the check interval if that is shorter", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ ...EDITED, retry_interval_seconds: 20 });
    expect(typedIn((await dashboard.open(`${MONITORS}/${id}/edit`)).text, RETRY)).toEqual(["20"]);
    expect((await dashboard.edit(id, { [RETRY]: "" })).status).toBe(303);
    expect(dashboard.stored(id).row.retryIntervalSeconds).toBe(10);
    expect(typedIn((await dashboard.open(`${MONITORS}/${id}/edit`)).text, RETRY)).toEqual([""]);
    expect((await dashboard.edit(id, { interval_seconds: "5" })).status).toBe(303);
    expect(dashboard.stored(id).row).toMatchObject({ intervalSeconds: 5, retryIntervalSeconds: 5 });
  });

  test("rarely needed settings are folded while they have their defaults, and unfolded otherwise", async () => {
    await using dashboard = await createMonitorDashboard();
    const folds = async (id: string) => {
      const page = readHtml((await dashboard.open(`${MONITORS}/${id}/edit`)).text);
      return {
        all: page.texts(".fold summary"),
        open: page.texts(".fold[open] > summary"),
      };
    };
    const usual =
      "More options 10 s timeout · down after 3 failures, up after 1 · then partial outage, no incident";
    const inner = [
      "Headers and body",
      "Host and address",
      "OAuth 2.0",
      "Digest sign-in",
      "Client certificate",
      "Proxy",
      "Redirects and size",
      "TLS and certificate",
      "Retries and reminders",
      "Further components",
      "Dependencies",
      "Group, tags and notes",
    ];
    const { url } = EDITED.config;
    expect(await folds(await dashboard.make({ config: { url } }))).toEqual({
      all: [`${usual} · expects status 200–299`, ...inner],
      open: [],
    });
    const headers = { Authorization: "Bearer abc" };
    const config = { url, headers };
    const other = await dashboard.make({ config, reminder_seconds: 900 });
    expect((await folds(other)).open).toEqual([
      `${usual} · expects status 200–299`,
      "Headers and body",
      "Retries and reminders",
    ]);
    const thresholds = { failure_threshold: 1, success_threshold: 2, timeout_ms: 2_500 };
    const strict = await dashboard.make({ ...EDITED, ...thresholds, on_down: "major_outage" });
    expect((await folds(strict)).open).toEqual([
      "More options 2.5 s timeout · down after 1 failure, up after 2 · then major outage, no incident · 2 conditions",
    ]);
  });

  test("a stale edit of a monitor with a button for more rows or a trial is still a conflict", async () => {
    for (const intent of ["rows", "check"]) {
      await using dashboard = await createMonitorDashboard();
      const { app } = dashboard;
      const id = await dashboard.make(EDITED);
      const path = `${MONITORS}/${id}/edit`;
      const form = { ...formOf((await dashboard.open(path)).text), name: "Mine" };
      await app.ctx.db.write((tx) => pauseMonitor(app.ctx, tx, id, CLI_ACTOR));
      const again = await dashboard.send(path, { ...form, intent });
      expect(again.status).toBe(200);
      expect((await dashboard.send(path, { ...formOf(again.text), intent: "" })).status).toBe(409);
      expect(dashboard.stored(id).row.name).toBe("Shop");
    }
  });

  test("an editor can neither open nor submit the edit form of a monitor, and an unknown one is not_found", async () => {
    await using dashboard = await createMonitorDashboard("editor");
    const id = await dashboard.make(EDITED);
    const before = dashboard.written();
    expectProblem(await dashboard.open(`${MONITORS}/${id}/edit`), "insufficient_role");
    const form = { name: "X", version: "1" };
    expectProblem(await dashboard.send(`${MONITORS}/${id}/edit`, form), "insufficient_role");
    expect(dashboard.written()).toEqual(before);
    await using admin = await createMonitorDashboard();
    expectProblem(await admin.open(`${MONITORS}/mon_none/edit`), "not_found");
  });
});
