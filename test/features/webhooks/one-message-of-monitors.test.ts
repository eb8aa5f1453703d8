import { describe, expect, test } from "bun:test";
import type { EventType } from "../../../src/events/outbox";
import type { CreateMonitorBody } from "../../../src/features/monitors/wire";
import { writeMessage } from "../../../src/features/webhooks/deliver/message";
import { MINUTE_MS } from "../../../src/base/time";
import { createEndpointPair } from "../../support/endpoint-pair";
import { answers, fails, openEngineSite } from "../../support/engine-site";
import { SLACK } from "../../support/webhook-site";

const CHANGED = "component.status_changed";
const SLOW_MS = 500;

describe("a monitor that goes down and recovers", () => {
  async function createMonitored(
    openIncident: "never" | "automatic",
    events?: string[],
    more: Partial<CreateMonitorBody> = {},
  ) {
    const engineSite = await openEngineSite();
    const { page, components } = await engineSite.app.page({ slug: "acme" }, ["API", "Web"]);
    const endpoints = await createEndpointPair(engineSite.app, events);
    const ids = Object.values(components);
    const input = { name: "api", component_ids: ids, open_incident: openIncident };
    const { id } = await engineSite.monitor({ ...input, degraded_after_ms: SLOW_MS, ...more });
    await engineSite.clock.advance(2 * MINUTE_MS);
    const key = await engineSite.app.keyWith(
      "read:status",
      "write:components",
      "write:incidents",
      "manage:monitors",
    );
    const send = async (method: string, path: string, json?: object) => {
      const answer = await engineSite.app.call(`/api/v1/${path}`, {
        method,
        key,
        ...(json && { json }),
      });
      if (answer.status >= 400) throw new Error(answer.text);
      return answer.body;
    };
    const eventOf = (type: EventType) => {
      const event = engineSite.app.events().findLast((one) => one.type === type);
      if (!event) throw new Error(`There is no ${type}.`);
      return { ...event, type, id: "evt_1", pageId: null, at: engineSite.clock.now() };
    };
    return {
      engineSite,
      page,
      components,
      ...endpoints,
      send,
      createMonitors: (component_ids: readonly (string | undefined)[]) =>
        send("PATCH", `monitors/${id}`, { component_ids }),
      async goDown() {
        engineSite.let("api.test", fails());
        await engineSite.clock.advance(5 * MINUTE_MS);
      },
      async recover() {
        engineSite.let("api.test", answers());
        await engineSite.clock.advance(2 * MINUTE_MS);
      },
      async slowDown() {
        engineSite.let("api.test", answers(2 * SLOW_MS));
        await engineSite.clock.advance(5 * MINUTE_MS);
      },
      /** The statuses that the API shows. */
      shownNow: () =>
        Promise.all(ids.map(async (one) => (await send("GET", `components/${one}`)).status)),
      /** The statuses that the newest event of a type names. */
      shownBy: (type: EventType) =>
        (eventOf(type).data["components"] as { status: string }[]).map(({ status }) => status),
      /** The body that the newest event of a type has for people. */
      textOf(type: EventType) {
        const webhook = { url: SLACK, format: "slack", settings: {} } as const;
        const event = eventOf(type);
        const outgoing = { event, webhook, page: null, messageId: event.id };
        return writeMessage(engineSite.app.ctx, outgoing)?.body;
      },
      async [Symbol.asyncDispose]() {
        await engineSite[Symbol.asyncDispose]();
      },
    };
  }

  test("a monitor sends people one message when it goes down and one when it recovers, with its components", async () => {
    await using site = await createMonitored("never");
    await site.goDown();
    expect(await site.people()).toEqual(["monitor.down"]);
    expect((await site.program()).toSorted()).toEqual([CHANGED, CHANGED, "monitor.down"]);
    const down = site.engineSite.app.events().find(({ type }) => type === "monitor.down");
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

  test("a monitor with an automatic incident sends people one message at its start and one at its end", async () => {
    await using site = await createMonitored("automatic");
    await site.goDown();
    expect(await site.people()).toEqual(["incident.created"]);
    expect(await site.program()).toContain("monitor.down");
    await site.recover();
    expect(await site.people()).toEqual(["incident.resolved"]);
    expect(await site.program()).toContain("monitor.up");
  });

  test("the message of a recovered monitor shows the statuses after its incident was resolved", async () => {
    await using site = await createMonitored("automatic", ["monitor.down", "monitor.up", CHANGED]);
    await site.goDown();
    await site.recover();
    expect(await site.people()).toEqual(["monitor.down", "monitor.up"]);
    expect(await site.shownNow()).toEqual(["operational", "operational"]);
    expect(site.shownBy("monitor.down")).toEqual(["major_outage", "major_outage"]);
    expect(site.shownBy("monitor.up")).toEqual(["operational", "operational"]);
    expect(site.textOf("monitor.up")).toContain("API: Operational");
  });

  test("the message of a degraded monitor shows its components as degraded", async () => {
    await using site = await createMonitored("automatic", ["*"], { success_threshold: 3 });
    await site.goDown();
    await site.slowDown();
    // The monitor's message says more than that its incident is resolved.
    expect(await site.people()).toEqual(["incident.created", "monitor.degraded"]);
    const slow = ["degraded_performance", "degraded_performance"];
    expect(await site.shownNow()).toEqual(slow);
    expect(site.shownBy("monitor.degraded")).toEqual(slow);
    expect(site.textOf("monitor.degraded")).toContain("API: Degraded performance");
  });

  test("a monitor sends its own messages to people who do not listen to incidents", async () => {
    await using site = await createMonitored("automatic", ["monitor.down", "monitor.up", CHANGED]);
    await site.goDown();
    expect(await site.people()).toEqual(["monitor.down"]);
    await site.recover();
    expect(await site.people()).toEqual(["monitor.up"]);
  });

  test("a monitor sends its own message if another one goes down in the same transaction", async () => {
    await using site = await createMonitored("never");
    const { engineSite } = site;
    const { components } = await engineSite.app.page({ slug: "other", name: "Other" }, ["Shop"]);
    await engineSite.monitor({
      name: "shop",
      component_ids: Object.values(components),
      open_incident: "automatic",
    });
    await engineSite.clock.advance(2 * MINUTE_MS);
    engineSite.let("shop.test", fails());
    await site.goDown();
    expect((await site.people()).toSorted()).toEqual(["incident.created", "monitor.down"]);
  });

  test("people are sent the recovery of a component that only the monitor's own message names", async () => {
    await using site = await createMonitored("automatic");
    const { API: api, Web: web } = site.components;
    await site.createMonitors([api]);
    await site.goDown();
    await site.createMonitors([api, web]);
    await site.recover();
    expect(await site.namedForPeople()).toEqual([
      "incident.created of API is unavailable",
      `${CHANGED} of Web`,
      `${CHANGED} of Web`,
      "incident.resolved of Problems with API and Web",
    ]);
    expect(await site.shownNow()).toEqual(["operational", "operational"]);
  });

  test("people are sent the recovery of a page whose incident was resolved by hand", async () => {
    await using site = await createMonitored("automatic");
    const { engineSite } = site;
    const other = await engineSite.app.page({ slug: "other", name: "Other" }, ["Shop"]);
    await site.createMonitors([site.components["API"], other.components["Shop"]]);
    await site.goDown();
    const { data } = await site.send("GET", "incidents?page=other");
    await site.send("POST", `incidents/${data[0].id}/updates`, {
      status: "resolved",
      body: "The shop is closed today.",
    });
    await site.recover();
    expect((await site.namedForPeople()).slice(3)).toEqual([
      `${CHANGED} of Shop`,
      "incident.resolved of API is unavailable",
    ]);
  });
});
