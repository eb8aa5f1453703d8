import { describe, expect, test } from "bun:test";
import type { EventType, OutboxEvent } from "../../../src/events/outbox";
import type { CreateWebhookBody } from "../../../src/features/webhooks/wire";
import { createGatheringSite, monitorEvent } from "../../support/gathering-site";

const NOW = Date.parse("2026-03-10T12:00:00Z");
const PAGE = "the page of the site";

/** An event of an incident of the page, written by a person unless monitors are named. */
const incident = (type: EventType, ...monitors: string[]): OutboxEvent => ({
  type,
  pageId: PAGE,
  subjectId: "inc_1",
  data: { name: "Problems with API and Web", status: "investigating", components: [] },
  ...(monitors.length > 0 && {
    monitors: monitors.map((name) => ({ id: `mon_${name}`, pageId: PAGE })),
  }),
});

const monitor = (state: Parameters<typeof monitorEvent>[0], name: string): OutboxEvent => {
  const event = monitorEvent(state, name, NOW);
  const components = [{ id: "cmp_1", name: "API", status: "operational" }];
  return { ...event, pageId: PAGE, data: { ...event.data, components } };
};

const COMPONENT: OutboxEvent = {
  type: "component.status_changed",
  pageId: PAGE,
  subjectId: "cmp_1",
  data: { id: "cmp_1", name: "API", status: "operational" },
};

interface Case {
  name: string;
  group: OutboxEvent[];
  sent: EventType[];
  /** Default: every event of every monitor and page. */
  endpoint?: Partial<CreateWebhookBody>;
}

const CASES: Case[] = [
  {
    name: "an update that Allclear wrote about monitors is not sent to an endpoint that gets their messages",
    group: [incident("incident.updated", "a", "b")],
    sent: [],
  },
  {
    name: "an update that a person wrote is sent",
    group: [incident("incident.updated")],
    sent: ["incident.updated"],
  },
  {
    name: "an update about monitors is sent to an endpoint for incidents alone",
    group: [incident("incident.updated", "a", "b")],
    sent: ["incident.updated"],
    endpoint: { events: ["incident.updated", "incident.resolved"] },
  },
  {
    name: "an update about monitors is sent to an endpoint that gets the messages of some of them",
    group: [incident("incident.updated", "a", "b")],
    sent: ["incident.updated"],
    endpoint: { monitors: ["a"] },
  },
  {
    name: "an update about monitors is sent to programs",
    group: [incident("incident.updated", "a", "b")],
    sent: ["incident.updated"],
    endpoint: { format: "standard" },
  },
  {
    name: "the end of an incident of several monitors is the message of the last one",
    group: [incident("incident.resolved", "a", "b"), COMPONENT, monitor("up", "b")],
    sent: ["monitor.up"],
  },
  {
    name: "the end of an incident of several monitors is sent to an endpoint that gets no recoveries",
    group: [incident("incident.resolved", "a", "b"), COMPONENT, monitor("up", "b")],
    sent: ["incident.resolved"],
    endpoint: { events: ["incident.resolved", "monitor.down"] },
  },
  {
    name: "the end of an incident of several monitors is sent to an endpoint that gets no message of the last one",
    group: [incident("incident.resolved", "a", "b"), COMPONENT, monitor("degraded", "b")],
    sent: ["incident.resolved"],
    endpoint: { events: ["incident.resolved", "monitor.up"] },
  },
  {
    name: "the end of an incident of one monitor is one message about the incident",
    group: [incident("incident.resolved", "a"), monitor("up", "a")],
    sent: ["incident.resolved"],
  },
  {
    name: "the end of an incident of one monitor that is slow now is one message about the monitor",
    group: [incident("incident.resolved", "a"), monitor("degraded", "a")],
    sent: ["monitor.degraded"],
  },
  {
    name: "the end of an incident of one monitor that is slow now is one message without recoveries too",
    group: [incident("incident.resolved", "a"), monitor("degraded", "a")],
    sent: ["monitor.degraded"],
    endpoint: { events: ["incident.resolved", "monitor.degraded"] },
  },
  {
    name: "the end of an incident of one monitor is sent if the monitor says nothing",
    group: [incident("incident.resolved", "a")],
    sent: ["incident.resolved"],
  },
  {
    name: "the end of an incident of one monitor is sent to an endpoint for incidents alone",
    group: [incident("incident.resolved", "a"), monitor("degraded", "a")],
    sent: ["incident.resolved"],
    endpoint: { events: ["incident.resolved"] },
  },
];

describe("updates that Allclear writes about monitors", () => {
  for (const { name, group, sent, endpoint = {} } of CASES) {
    test(name, async () => {
      await using chat = await createGatheringSite({ enabled: false });
      const { app } = chat.site;
      const { page } = await app.page({ slug: "acme" });
      const { id } = await chat.endpoint(endpoint);
      await app.ctx.db.write((tx) =>
        app.ctx.outbox.group(tx, () => {
          for (const event of group) {
            const onPage = (pageId: string | null) => (pageId === PAGE ? page.id : pageId);
            const monitors = event.monitors?.map((one) => ({ ...one, pageId: onPage(one.pageId) }));
            app.ctx.outbox.record(tx, { ...event, pageId: onPage(event.pageId), monitors });
          }
        }),
      );
      await chat.site.idle();
      expect(chat.typesFor(id)).toEqual(sent);
    });
  }

  test("an endpoint of a page gets an update about monitors whose own events are of no page", async () => {
    await using chat = await createGatheringSite({ enabled: false });
    const { app } = chat.site;
    const { page } = await app.page({ slug: "acme" });
    const { id } = await chat.endpoint({ page: "acme" });
    const monitors = [{ id: "mon_a", pageId: null }];
    const event = { ...incident("incident.updated"), pageId: page.id, monitors };
    await chat.record([event]);
    expect(chat.typesFor(id)).toEqual(["incident.updated"]);
  });

  test("an incident's message in the place of a monitor's begins a burst and never waits", async () => {
    await using chat = await createGatheringSite();
    const { ctx } = chat.site.app;
    const open = (subjectId: string, name: string) =>
      ctx.db.write((tx) =>
        ctx.outbox.group(tx, () => {
          const { pageId: _, ...created } = incident("incident.created");
          const data = { ...created.data, name: subjectId };
          ctx.outbox.record(tx, { ...created, data, pageId: null, subjectId });
          ctx.outbox.record(tx, monitorEvent("down", name, chat.site.app.clock.now()));
        }),
      );
    await open("inc_1", "a");
    await chat.at(1, "down b", "down c");
    await open("inc_2", "d");
    await chat.at(2, "up a");
    await chat.until(60);
    expect(chat.titles()).toEqual([
      "0: New incident: inc_1",
      "1: New incident: inc_2",
      "30: 2 monitors are down, 1 up again",
    ]);
  });

  test("a storm of thirty monitors of one incident is three messages when it begins and three when it ends", async () => {
    await using chat = await createGatheringSite();
    const { ctx, clock } = chat.site.app;
    const names = Array.from({ length: 30 }, (_, index) => `m${index}`);
    const all = names.map((name) => ({ id: `mon_${name}`, pageId: null }));
    const about = (type: EventType) => ({ ...incident(type), pageId: null, monitors: all });
    /** Monitors enter a state within a minute, one every two seconds; the incident's event is of the same change. */
    const storm = async (state: "down" | "up", begin: number, of: number, event: OutboxEvent) => {
      for (const [index, name] of names.entries()) {
        await chat.until(begin + 2 * index);
        await ctx.db.write((tx) =>
          ctx.outbox.group(tx, () => {
            if (index === of) ctx.outbox.record(tx, event);
            ctx.outbox.record(tx, monitorEvent(state, name, clock.now(), clock.now() - 1));
          }),
        );
      }
    };
    await storm("down", 0, 0, { ...incident("incident.created"), pageId: null });
    await chat.until(70);
    await chat.record([about("incident.updated")]);
    await chat.until(200);
    await storm("up", 200, 29, about("incident.resolved"));
    await chat.until(400);
    expect(chat.titles()).toEqual([
      "0: New incident: Problems with API and Web",
      "30: 14 monitors are down",
      "60: 15 monitors are down",
      "200: Monitor up: m0",
      "230: 14 monitors are up again",
      "260: 15 monitors are up again",
    ]);
  });

  test("the retry of an incident in the place of a monitor's message is dropped after the monitor recovered", async () => {
    await using chat = await createGatheringSite({}, (_message, count) => (count < 3 ? 500 : 200));
    const { ctx } = chat.site.app;
    await ctx.db.write((tx) =>
      ctx.outbox.group(tx, () => {
        ctx.outbox.record(tx, { ...incident("incident.created"), pageId: null });
        ctx.outbox.record(tx, monitorEvent("down", "a", chat.site.app.clock.now()));
      }),
    );
    await chat.at(20, "up a");
    await chat.until(600);
    expect(chat.seen().map(({ title }) => title)).toEqual([
      "New incident: Problems with API and Web",
      "New incident: Problems with API and Web",
      "Monitor up: a",
    ]);
  });
});
