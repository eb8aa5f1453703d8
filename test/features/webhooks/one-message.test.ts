import { describe, expect, test } from "bun:test";
import type { EventType } from "../../../src/events";
import { deleteIncident } from "../../../src/features/incidents";
import { startMaintenanceClock } from "../../../src/features/maintenance";
import type { CreateMonitorBody } from "../../../src/features/monitors/bodies";
import { writeMessage } from "../../../src/features/webhooks/deliver/message";
import { CLI_ACTOR } from "../../../src/kernel/actor";
import { HOUR_MS, MINUTE_MS } from "../../../src/kernel/time";
import type { TestApp } from "../../support/app";
import { answers, fails, openWatch } from "../../support/watch";
import { createWebhookSite, SLACK, WEBHOOKS } from "../../support/webhook-site";

const CHANGED = "component.status_changed";
const SLOW_MS = 500;

/** A chat of people and a program, and which events were queued for each since the last look. */
async function createEndpoints(app: TestApp, events: string[] = ["*"], page?: string) {
  const key = await app.keyWith("manage:webhooks");
  const create = async (json: object) => {
    const answer = await app.call(WEBHOOKS, { method: "POST", key, json });
    if (answer.status !== 201) throw new Error(answer.text);
    const { id } = answer.body;
    let seen = 0;
    return async (): Promise<string[]> => {
      const { body } = await app.call(`${WEBHOOKS}/${id}/deliveries?limit=100`, { key });
      const types = body.data.map(({ event_type: type }: { event_type: string }) => type);
      return types.toReversed().slice(seen, (seen = types.length));
    };
  };
  const shared = { events, ...(page === undefined ? {} : { page }) };
  return {
    people: await create({ url: SLACK, format: "slack", ...shared }),
    program: await create({ url: "https://receiver.example.com/hooks", ...shared }),
  };
}

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
  return { ...site, ...(await createEndpoints(app, events)), send, open, api };
}

describe("an incident that changes components", () => {
  test("is one message for people at its beginning and one at its end; a program receives every event", async () => {
    await using site = await createSite();
    const { id } = await site.open();
    expect(await site.people()).toEqual(["incident.created"]);
    expect(await site.program()).toEqual(["incident.created", CHANGED, CHANGED]);
    await site.send("POST", `incidents/${id}/updates`, { status: "resolved", body: "Over." });
    expect(await site.people()).toEqual(["incident.resolved"]);
    expect(await site.program()).toEqual(["incident.resolved", CHANGED, CHANGED]);
  });

  test("is one message for people when it is deleted", async () => {
    await using site = await createSite();
    const { id } = await site.open();
    await site.people();
    const { ctx } = site.app;
    await ctx.db.write((tx) => deleteIncident(ctx, tx, id, CLI_ACTOR));
    expect(await site.people()).toEqual(["incident.deleted"]);
  });

  test("sends the changes of its components to people who listen to these alone", async () => {
    await using site = await createSite([CHANGED, "incident.resolved"]);
    const { id } = await site.open();
    expect(await site.people()).toEqual([CHANGED, CHANGED]);
    await site.send("POST", `incidents/${id}/updates`, { status: "resolved", body: "Over." });
    expect(await site.people()).toEqual(["incident.resolved"]);
  });

  test("leaves later changes of its components to messages of their own", async () => {
    await using site = await createSite();
    await site.open();
    await site.people();
    await site.send("PATCH", `components/${site.api}`, { status: "major_outage" });
    expect(await site.people()).toEqual([CHANGED]);
  });
});

test("a maintenance that begins and ends at its time is one message for people each", async () => {
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

describe("a monitor that goes down and recovers", () => {
  async function createMonitored(
    openIncident: "never" | "automatic",
    events?: string[],
    more: Partial<CreateMonitorBody> = {},
  ) {
    const watch = await openWatch();
    const { page, components } = await watch.app.page({ slug: "acme" }, ["API", "Web"]);
    const endpoints = await createEndpoints(watch.app, events);
    const ids = Object.values(components);
    const input = { name: "api", component_ids: ids, open_incident: openIncident };
    await watch.monitor({ ...input, degraded_after_ms: SLOW_MS, ...more });
    await watch.clock.advance(2 * MINUTE_MS);
    const key = await watch.app.keyWith("read:status");
    const eventOf = (type: EventType) => {
      const event = watch.app.events().findLast((one) => one.type === type);
      if (!event) throw new Error(`There is no ${type}.`);
      return { ...event, type, id: "evt_1", pageId: null, at: watch.clock.now() };
    };
    return {
      watch,
      page,
      ...endpoints,
      async goDown() {
        watch.let("api.test", fails());
        await watch.clock.advance(5 * MINUTE_MS);
      },
      async recover() {
        watch.let("api.test", answers());
        await watch.clock.advance(2 * MINUTE_MS);
      },
      async slowDown() {
        watch.let("api.test", answers(2 * SLOW_MS));
        await watch.clock.advance(5 * MINUTE_MS);
      },
      /** The statuses that the API shows. */
      shownNow: () =>
        Promise.all(
          ids.map(async (id) => {
            const { body } = await watch.app.call(`/api/v1/components/${id}`, { key });
            return body.status;
          }),
        ),
      /** The statuses that the newest event of a type names. */
      shownBy: (type: EventType) =>
        (eventOf(type).data["components"] as { status: string }[]).map(({ status }) => status),
      /** The body that the newest event of a type has for people. */
      textOf(type: EventType) {
        const webhook = { url: SLACK, format: "slack", settings: {} } as const;
        return writeMessage(watch.app.ctx, { event: eventOf(type), webhook, page: null })?.body;
      },
      async [Symbol.asyncDispose]() {
        await watch[Symbol.asyncDispose]();
      },
    };
  }

  test("is one message for people each, which names its components", async () => {
    await using site = await createMonitored("never");
    await site.goDown();
    expect(await site.people()).toEqual(["monitor.down"]);
    expect((await site.program()).toSorted()).toEqual([CHANGED, CHANGED, "monitor.down"]);
    const down = site.watch.app.events().find(({ type }) => type === "monitor.down");
    expect(down?.data).toMatchObject({
      components: [
        { name: "API", status: "major_outage" },
        { name: "Web", status: "major_outage" },
      ],
    });
    await site.recover();
    expect(await site.people()).toEqual(["monitor.up"]);
    expect((await site.program()).toSorted()).toEqual([CHANGED, CHANGED, "monitor.up"]);
  });

  test("is one message for people each, of the incident that it opens and resolves", async () => {
    await using site = await createMonitored("automatic");
    await site.goDown();
    expect(await site.people()).toEqual(["incident.created"]);
    expect(await site.program()).toContain("monitor.down");
    await site.recover();
    expect(await site.people()).toEqual(["incident.resolved"]);
    expect(await site.program()).toContain("monitor.up");
  });

  test("says what its components show after the incident that it resolves", async () => {
    await using site = await createMonitored("automatic", ["monitor.down", "monitor.up", CHANGED]);
    await site.goDown();
    await site.recover();
    expect(await site.people()).toEqual(["monitor.down", "monitor.up"]);
    expect(await site.shownNow()).toEqual(["operational", "operational"]);
    expect(site.shownBy("monitor.down")).toEqual(["major_outage", "major_outage"]);
    expect(site.shownBy("monitor.up")).toEqual(["operational", "operational"]);
    expect(site.textOf("monitor.up")).toContain("API: Operational");
  });

  test("says that its components are slow where it is degraded after it was down", async () => {
    await using site = await createMonitored("automatic", ["*"], { success_threshold: 3 });
    await site.goDown();
    await site.slowDown();
    expect(await site.people()).toEqual([
      "incident.created",
      "incident.resolved",
      "monitor.degraded",
    ]);
    const slow = ["degraded_performance", "degraded_performance"];
    expect(await site.shownNow()).toEqual(slow);
    expect(site.shownBy("monitor.degraded")).toEqual(slow);
    expect(site.textOf("monitor.degraded")).toContain("API: Degraded performance");
  });

  test("is one message of the monitor each for people who do not listen to incidents", async () => {
    await using site = await createMonitored("automatic", ["monitor.down", "monitor.up", CHANGED]);
    await site.goDown();
    expect(await site.people()).toEqual(["monitor.down"]);
    await site.recover();
    expect(await site.people()).toEqual(["monitor.up"]);
  });

  test("is a message of its own beside another monitor that goes down in the same transaction", async () => {
    await using site = await createMonitored("never");
    const { watch } = site;
    const { components } = await watch.app.page({ slug: "other", name: "Other" }, ["Shop"]);
    await watch.monitor({
      name: "shop",
      component_ids: Object.values(components),
      open_incident: "automatic",
    });
    await watch.clock.advance(2 * MINUTE_MS);
    watch.let("shop.test", fails());
    await site.goDown();
    expect((await site.people()).toSorted()).toEqual(["incident.created", "monitor.down"]);
  });
});
