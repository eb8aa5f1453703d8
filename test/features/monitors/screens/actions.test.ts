import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../../support/app";
import type { RecordedEvent } from "../../../../src/events/outbox";
import type { FormatContext } from "../../../../src/features/webhooks/formats/format";
import { buildNotification } from "../../../../src/features/webhooks/formats/notification";
import { readHtml } from "../../../support/html";
import {
  createMonitorDashboard,
  formOf,
  type MonitorDashboard,
  MONITORS,
} from "../../../support/monitor-dashboard";

/** Returns the confirmations that the next screen shows. */
async function flashOf(dashboard: MonitorDashboard, path: string): Promise<string[]> {
  return readHtml((await dashboard.open(path)).text).texts(".flash");
}

describe("the button that acknowledges an outage", () => {
  test("an editor acknowledges with a note, and detail, list and overview say who and when", async () => {
    await using dashboard = await createMonitorDashboard("editor");
    const { app } = dashboard;
    const id = await dashboard.make();
    const home = `${MONITORS}/${id}`;
    const path = `${home}/acknowledge`;
    const links = async (screen: string) =>
      readHtml((await dashboard.open(screen)).text).texts(`a[href="${path}"]`).length;
    await dashboard.applyTransition(id, "up", app.clock.now());
    for (const screen of [home, MONITORS, "/admin"]) expect(await links(screen)).toBe(0);
    expect((await dashboard.open(path)).headers.get("location")).toBe(home);
    await app.clock.advance(60_000);
    await dashboard.applyTransition(id, "down", app.clock.now());
    for (const screen of [home, MONITORS, "/admin"]) expect(await links(screen)).toBe(1);
    const form = formOf((await dashboard.open(path)).text);
    const sent = { ...form, note: "Calling <the> provider." };
    expect((await dashboard.send(path, sent)).headers.get("location")).toBe(home);
    expect(await flashOf(dashboard, home)).toEqual(["The outage is acknowledged."]);
    await app.clock.advance(120_000);
    for (const screen of [home, MONITORS, "/admin"]) {
      const { text } = await dashboard.open(screen);
      expect(readHtml(text).texts("main").join(" ")).toMatch(
        /acknowledged by .+ 2 min ago: Calling <the> provider\./,
      );
      expect(text.includes("<the>")).toBe(false);
      expect(await links(screen)).toBe(0);
    }
    // The form of a colleague, which was open meanwhile.
    const again = { ...sent, token: "another-form", note: "Me" };
    expect((await dashboard.send(path, again)).status).toBe(303);
    expect(dashboard.stored(id).state.acknowledgement?.note).toBe("Calling <the> provider.");
    expect(await flashOf(dashboard, home)).toEqual(["The outage is acknowledged."]);
    await dashboard.applyTransition(id, "up", app.clock.now());
    expect((await dashboard.open(home)).text.includes("cknowledged")).toBe(false);
    const late = await dashboard.send(path, { ...sent, token: "a-third-form" });
    expect([late.status, late.text.includes("Only one that is down can be acknowledged.")]).toEqual(
      [409, true],
    );
  });

  test("viewers have no button, and their form is refused", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const id = await dashboard.make();
    await dashboard.applyTransition(id, "down", dashboard.app.clock.now());
    for (const screen of [`${MONITORS}/${id}`, MONITORS, "/admin"]) {
      expect((await dashboard.open(screen)).text.includes("cknowledge")).toBe(false);
    }
    const answer = await dashboard.send(`${MONITORS}/${id}/acknowledge`, { note: "" });
    expect(answer.status).toBe(403);
    expect(dashboard.stored(id).state.acknowledgement).toBeNull();
  });

  test("the link of a message leads through the sign-in page to the monitor", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const id = await dashboard.make();
    await dashboard.applyTransition(id, "down", app.clock.now());
    const [event] = app.events().filter(({ type }) => type === "monitor.down");
    const context = { pageName: "Acme", pageUrl: "https://status.test", baseUrl: app.ctx.baseUrl };
    const link =
      buildNotification(event as unknown as RecordedEvent, context as FormatContext)?.url ?? "";
    const home = `${MONITORS}/${id}`;
    expect(link).toBe(`${app.ctx.baseUrl}${home}`);
    const led = await app.call(home, { headers: { accept: "text/html" } });
    const signIn = `/admin/sign-in?next=${encodeURIComponent(home)}`;
    expect([led.status, led.headers.get("location")]).toEqual([303, signIn]);
    expect((await dashboard.open(home)).text.includes(`${home}/acknowledge`)).toBe(true);
  });
});

describe("the buttons of a monitor", () => {
  test("a monitor can be paused and resumed, and doing so twice changes nothing", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app, site } = dashboard;
    const api = site.components["API"] ?? "";
    const id = await dashboard.make({ component_ids: [api] });
    const home = `${MONITORS}/${id}`;
    await dashboard.applyTransition(id, "down", app.clock.now());
    expect((await dashboard.send(`${home}/pause`, {})).headers.get("location")).toBe(home);
    expect(await flashOf(dashboard, home)).toEqual([
      "The monitor was paused. Statuses set by the monitor have ended.",
    ]);
    expect(dashboard.stored(id)).toMatchObject({
      row: { paused: true },
      state: { state: "paused" },
    });
    await dashboard.send(`${home}/pause`, {});
    expect(await flashOf(dashboard, home)).toEqual(["Nothing was changed."]);
    await dashboard.send(`${home}/resume`, {});
    expect(await flashOf(dashboard, home)).toEqual(["The monitor was resumed."]);
    expect(dashboard.stored(id)).toMatchObject({
      row: { paused: false },
      state: { state: "pending" },
    });
    expect(
      app
        .audit()
        .map(({ action }) => action)
        .slice(-2),
    ).toEqual(["monitor.pause", "monitor.resume"]);
  });

  test("a monitor can be checked at once, and the result is shown", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make();
    const home = `${MONITORS}/${id}`;
    expect((await dashboard.send(`${home}/check`, {})).status).toBe(303);
    expect(await flashOf(dashboard, home)).toEqual([
      "The check at 12:00:00 UTC succeeded. The response took 12 ms.",
    ]);
    dashboard.found = { outcome: "failed", latencyMs: null, message: "Refused." };
    await dashboard.app.clock.advance(1);
    await dashboard.send(`${home}/check`, {});
    const page = readHtml((await dashboard.open(home)).text);
    expect(page.texts(".flash.t-major")).toEqual(["The check at 12:00:00 UTC failed. Refused."]);
    expect(dashboard.checked).toEqual([id, id]);
  });

  test("the steps of a check are shown once, with their details as text, and the failed one is marked", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make();
    const home = `${MONITORS}/${id}`;
    dashboard.steps = [
      { name: "look_up", durationMs: 2.5, isOk: true, detail: "shop.example.com: 203.0.113.5" },
      { name: "connect", durationMs: 7.5, isOk: false, detail: "<b>refused</b>" },
      { name: "assertion", durationMs: 0, isOk: true, detail: null },
    ];
    await dashboard.send(`${home}/check`, {});
    const { text } = await dashboard.open(home);
    expect(readHtml(text).texts("#check-steps tbody tr")).toEqual([
      "Look-upshop.example.com: 203.0.113.52.5 ms",
      "Connection failed<b>refused</b>7.5 ms",
      "Condition–",
    ]);
    const bars = readHtml(text);
    expect(bars.attributes(".step-bar rect:nth-child(2)", "x")).toEqual(["0", "25"]);
    expect(bars.attributes(".step-bar rect:nth-child(2)", "width")).toEqual(["25", "75"]);
    expect((await dashboard.open(home)).text).not.toContain("check-steps");
  });

  test("a check without recorded steps shows none", async () => {
    await using dashboard = await createMonitorDashboard();
    const home = `${MONITORS}/${await dashboard.make()}`;
    await dashboard.send(`${home}/check`, {});
    expect((await dashboard.open(home)).text).not.toContain("check-steps");
  });

  test("a push monitor cannot be checked at once", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ type: "push", config: {} });
    expectProblem(await dashboard.send(`${MONITORS}/${id}/check`, {}), "conflict");
    expect(dashboard.checked).toEqual([]);
  });

  test("deleting a monitor asks for confirmation, then ends its causes and removes it", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app, site } = dashboard;
    const api = site.components["API"] ?? "";
    const id = await dashboard.make({ component_ids: [api] });
    const home = `${MONITORS}/${id}`;
    await dashboard.applyTransition(id, "down", app.clock.now());
    const before = dashboard.written();
    const confirmation = readHtml((await dashboard.open(`${home}/delete`)).text);
    expect(confirmation.texts("h1")).toEqual(["Delete “Shop”?"]);
    expect(dashboard.written()).toEqual(before);
    const answer = await dashboard.send(`${home}/delete`, {});
    expect(answer.headers.get("location")).toBe(MONITORS);
    expect(await flashOf(dashboard, MONITORS)).toEqual(["“Shop” was deleted."]);
    expectProblem(await dashboard.open(home), "not_found");
    const key = await app.keyWith("read:status");
    expect((await app.call(`/api/v1/components/${api}`, { key })).body.status).toBe("operational");
  });

  test("an editor cannot check, pause, resume, delete or rotate a monitor", async () => {
    await using dashboard = await createMonitorDashboard("editor");
    const id = await dashboard.make();
    const before = dashboard.written();
    for (const verb of ["check", "pause", "resume", "delete", "rotate"]) {
      expectProblem(await dashboard.send(`${MONITORS}/${id}/${verb}`, {}), "insufficient_role");
    }
    expect(dashboard.written()).toEqual(before);
    expect(dashboard.checked).toEqual([]);
    expect((await dashboard.open(`${MONITORS}/${id}`)).status).toBe(200);
  });

  test("actions on a monitor submitted from another site are rejected", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app, session } = dashboard;
    const id = await dashboard.make();
    const before = dashboard.written();
    const headers = { origin: "https://elsewhere.example" };
    for (const verb of ["check", "pause", "delete"]) {
      const answer = await app.call(`${MONITORS}/${id}/${verb}`, { session, form: {}, headers });
      expectProblem(answer, "cross_site_request");
    }
    expect(dashboard.written()).toEqual(before);
    expect(dashboard.checked).toEqual([]);
  });
});
