import { describe, expect, test } from "bun:test";
import { deleteIncident } from "../../../src/features/incidents/incidents";
import { startMaintenanceClock } from "../../../src/features/maintenance/clock";
import { CLI_ACTOR } from "../../../src/base/actor";
import { HOUR_MS } from "../../../src/base/time";
import { createEndpointPair } from "../../support/endpoint-pair";
import { createWebhookSite } from "../../support/webhook-site";

const CHANGED = "component.status_changed";

async function createSite(events?: string[]) {
  const site = await createWebhookSite();
  const { app } = site;
  const key = await app.keyWith("write:components", "write:incidents", "write:maintenance");
  const send = async (method: string, path: string, json?: object) => {
    const answer = await app.call(`/api/v1/${path}`, { method, key, ...(json && { json }) });
    if (answer.status >= 400) throw new Error(answer.text);
    return answer.body;
  };
  const { API: api = "", Web: web = "" } = site.components;
  const open = (json: object = {}) =>
    send("POST", "incidents", {
      page: "acme",
      name: "Push fails",
      body: "We look into it.",
      components: { [api]: "partial_outage", [web]: "degraded_performance" },
      ...json,
    });
  return { ...site, ...(await createEndpointPair(app, events)), send, open, api };
}

describe("an incident with components", () => {
  test("an incident sends people one message at its start and one at its end, and a program every event", async () => {
    await using site = await createSite();
    const { id } = await site.open();
    expect(await site.people()).toEqual(["incident.created"]);
    expect(await site.program()).toEqual(["incident.created", CHANGED, CHANGED]);
    await site.send("POST", `incidents/${id}/updates`, { status: "resolved", body: "Over." });
    expect(await site.people()).toEqual(["incident.resolved"]);
    expect(await site.program()).toEqual(["incident.resolved", CHANGED, CHANGED]);
  });

  test("a deleted incident sends people one message", async () => {
    await using site = await createSite();
    const { id } = await site.open();
    await site.people();
    const { ctx } = site.app;
    await ctx.db.write((tx) => deleteIncident(ctx, tx, id, CLI_ACTOR));
    expect(await site.people()).toEqual(["incident.deleted"]);
  });

  test("an incident sends component changes to people who do not listen to incident.created", async () => {
    await using site = await createSite([CHANGED, "incident.resolved"]);
    const { id } = await site.open();
    expect(await site.people()).toEqual([CHANGED, CHANGED]);
    await site.send("POST", `incidents/${id}/updates`, { status: "resolved", body: "Over." });
    expect(await site.people()).toEqual(["incident.resolved"]);
  });

  test("a later change of a component sends people a separate message", async () => {
    await using site = await createSite();
    await site.open();
    await site.people();
    await site.send("PATCH", `components/${site.api}`, { status: "major_outage" });
    expect(await site.people()).toEqual([CHANGED]);
  });
});

test("a maintenance that starts and ends on time sends people one message each", async () => {
  await using site = await createSite();
  const { app } = site;
  const at = (hours: number) => new Date(app.clock.now() + hours * HOUR_MS).toISOString();
  const plan = (name: string, components: string[]) =>
    site.send("POST", "maintenance", {
      page: "acme",
      name,
      body: "A minute.",
      components,
      scheduled_for: at(1),
      scheduled_until: at(2),
    });
  const timer = startMaintenanceClock(app.ctx);
  await plan("First", [site.api]);
  await plan("Second", [site.components["Web"] ?? ""]);
  expect(await site.people()).toEqual(["maintenance.scheduled", "maintenance.scheduled"]);
  await app.clock.advance(HOUR_MS);
  // Both begin in one transaction, each as an act of its own.
  expect(await site.people()).toEqual(["maintenance.started", "maintenance.started"]);
  await app.clock.advance(HOUR_MS);
  expect(await site.people()).toEqual(["maintenance.completed", "maintenance.completed"]);
  expect((await site.program()).filter((type) => type === CHANGED)).toHaveLength(4);
  timer.cancel();
});
