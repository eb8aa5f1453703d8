import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { selectOne } from "../../../src/db/statements";
import { deliveryGroups } from "../../../src/db/tables/webhooks";
import { CLI_ACTOR } from "../../../src/base/actor";
import { unavailable } from "../../../src/base/errors";
import { getDelivery, redeliver, trimDeliveries } from "../../../src/features/webhooks/deliveries";
import { deleteEvent } from "../../../src/features/webhooks/log-store";
import { SECOND_MS } from "../../../src/base/time";
import { settle } from "../../support/clock";
import { createGatheringSite, monitorEvent } from "../../support/gathering-site";
import { temporaryFolder } from "../../support/temporary-folder";
import { updateWebhook } from "../../support/examined";

type Step = [seconds: number, ...events: string[]];

const many = (state: string, count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => `${state} m${from + index}`);

/** Events with their times, and the messages that arrive until two minutes after the last one. */
const SEQUENCES: { name: string; steps: Step[]; messages: string[]; groupSeconds?: number }[] = [
  {
    name: "one event is sent at once as a message of its own",
    steps: [[0, "down a"]],
    messages: ["0: Monitor down: a"],
  },
  {
    name: "the first event is sent at once, and those of the next 30 s as one message",
    steps: [
      [0, "down a"],
      [5, "down b"],
      [29, ...many("down", 11)],
    ],
    messages: ["0: Monitor down: a", "30: 12 monitors are down"],
  },
  {
    name: "a second event alone is an ordinary message",
    steps: [
      [0, "down a"],
      [5, "down b"],
    ],
    messages: ["0: Monitor down: a", "30: Monitor down: b"],
  },
  {
    name: "events that come in a minute are three messages",
    steps: [
      [0, "down a"],
      [20, "down b", "down c"],
      [31, "down d"],
      [59, "down e"],
    ],
    messages: ["0: Monitor down: a", "30: 2 monitors are down", "60: 2 monitors are down"],
  },
  {
    name: "an event after the end of a burst is sent at once",
    steps: [
      [0, "down a"],
      [30, "down b"],
    ],
    messages: ["0: Monitor down: a", "30: Monitor down: b"],
  },
  {
    name: "the first outage after a recovery is sent at once, the second one waits",
    steps: [
      [0, "up a"],
      [5, "down b"],
      [6, "down c"],
      [7, "up d"],
    ],
    messages: ["0: Monitor up: a", "5: Monitor down: b", "30: 1 monitor is down, 1 up again"],
  },
  {
    name: "a recovery in a burst of outages waits",
    steps: [
      [0, "down a"],
      [10, "up a"],
    ],
    messages: ["0: Monitor down: a", "30: Monitor up: a"],
  },
  {
    name: "a group without an outage lets the next outage pass",
    steps: [
      [0, "up a"],
      [5, "up b", "up c"],
      [31, "down d"],
    ],
    messages: ["0: Monitor up: a", "30: 2 monitors are up again", "31: Monitor down: d"],
  },
  {
    name: "a group with an outage makes the next outage wait",
    steps: [
      [0, "down a"],
      [5, "down b", "down c"],
      [31, "down d"],
    ],
    messages: ["0: Monitor down: a", "30: 2 monitors are down", "60: Monitor down: d"],
  },
  {
    name: "an outage that begins and ends in a burst is one line",
    steps: [
      [0, "down a"],
      [3, "down b"],
      [23, "up b"],
      [24, "down c"],
    ],
    messages: ["0: Monitor down: a", "30: 1 monitor is down, 1 was down briefly"],
  },
  {
    name: "one short outage alone says how long it lasted",
    steps: [
      [0, "down a"],
      [3, "down b"],
      [23, "up b"],
    ],
    messages: ["0: Monitor down: a", "30: Monitor was down for 20 s: b"],
  },
  {
    name: "reminders are gathered",
    steps: [
      [0, "reminder a"],
      [1, "reminder b"],
      [2, "reminder c"],
    ],
    messages: ["0: Monitor still down: a", "30: 2 monitors are still down"],
  },
  {
    name: "slow monitors are counted after those that recovered",
    steps: [
      [0, "degraded a"],
      [1, "degraded b"],
      [2, "degraded c"],
      [3, "up d"],
    ],
    messages: ["0: Monitor degraded: a", "30: 1 monitor is up again, 2 degraded"],
  },
  {
    name: "each event is a message without a gathering time",
    steps: [
      [0, "down a", "down b"],
      [3, "up a"],
    ],
    messages: ["0: Monitor down: a", "0: Monitor down: b", "3: Monitor up: a"],
    groupSeconds: 0,
  },
  {
    name: "the gathering time of the endpoint counts",
    steps: [
      [0, "down a"],
      [200, "down b", "down c"],
    ],
    messages: ["0: Monitor down: a", "300: 2 monitors are down"],
    groupSeconds: 300,
  },
  {
    name: "two hundred outages at once are two messages",
    steps: [[0, ...many("down", 200)]],
    messages: ["0: Monitor down: m1", "30: 199 monitors are down"],
  },
  {
    name: "more events than one transaction writes are two messages",
    steps: [[0, ...many("down", 450)]],
    messages: ["0: Monitor down: m1", "30: 449 monitors are down"],
  },
  {
    name: "more than five hundred waiting events are several groups",
    steps: [[0, ...many("down", 602)]],
    messages: ["0: Monitor down: m1", "30: 500 monitors are down", "30: 101 monitors are down"],
  },
];

describe("messages about monitors", () => {
  for (const { name, steps, messages, groupSeconds } of SEQUENCES) {
    test(name, async () => {
      await using chat = await createGatheringSite(
        groupSeconds === undefined ? {} : { group_seconds: groupSeconds },
      );
      for (const [seconds, ...events] of steps) await chat.at(seconds, ...events);
      await chat.until((steps.at(-1)?.[0] ?? 0) + 320);
      expect(chat.titles()).toEqual(messages);
      const statuses = new Set(chat.site.deliveries().map(({ status }) => status));
      expect([...statuses]).toEqual(["delivered"]);
    });
  }

  test("a group lists twenty monitors, oldest first, and counts the others", async () => {
    await using chat = await createGatheringSite();
    await chat.at(0, "down a");
    await chat.at(1, ...many("down", 29));
    await chat.until(30);
    const { lines } = chat.seen()[1] ?? { lines: [] };
    expect(lines).toHaveLength(21);
    expect(lines[0]).toBe("- **m1** is down since 2026-03-10 12:00 UTC: m1 answered 503");
    expect(lines[19]).toStartWith("- **m20** is down");
    expect(lines[20]).toBe("- and 9 more");
  });

  test.each([
    ["slack", {}],
    ["discord", {}],
    ["teams", {}],
    ["ntfy", {}],
    ["gotify", { token: "AWnhsVvNnMtXp3q" }],
    ["telegram", { bot_token: "123456:ABC", chat_id: "@acme" }],
  ] as const)(
    "a receiver of the format %s gets a group as one request",
    async (format, settings) => {
      await using chat = await createGatheringSite({ format, settings });
      await chat.at(0, "down a");
      await chat.at(1, "down b", "down c", "up d");
      await chat.until(40);
      const [first, group, ...others] = chat.receiver.received;
      expect(others).toEqual([]);
      expect(first?.body).toContain("Monitor down: a");
      expect(group?.body).toContain("2 monitors are down, 1 up again");
      expect(group?.body).toContain("c answered 503");
      expect(group?.id).toStartWith("dgr_");
    },
  );

  test("events for programs are sent each by itself and at once", async () => {
    await using chat = await createGatheringSite({ format: "standard" });
    await chat.at(0, "down a", "down b");
    await chat.at(1, "down c");
    const types = chat.receiver.received.map(({ body }) => JSON.parse(body).type);
    expect(types).toEqual(["monitor.down", "monitor.down", "monitor.down"]);
  });

  test("other events are sent at once during a burst", async () => {
    await using chat = await createGatheringSite();
    await chat.at(0, "down a");
    await chat.at(1, "down b");
    await chat.record([
      {
        type: "component.status_changed",
        pageId: null,
        subjectId: "cmp_1",
        data: { name: "Web", status: "operational" },
      },
    ]);
    expect(chat.titles()).toEqual(["0: Monitor down: a", "1: Web: Operational"]);
  });

  test("a group has one id, and all of its deliveries name it and share its outcome", async () => {
    await using chat = await createGatheringSite({}, (_message, count) =>
      count === 2 ? 500 : 200,
    );
    await chat.at(0, "down a");
    await chat.at(1, "down b", "down c");
    await chat.until(40);
    const [first, second, third] = chat.seen();
    expect(first?.id).toStartWith("evt_");
    expect(second?.id).toStartWith("dgr_");
    expect(third).toEqual({ ...second, at: third?.at ?? 0 } as typeof third & object);
    const rows = chat.site.deliveries();
    expect(rows.map(({ groupId, tries, status }) => ({ groupId, tries, status }))).toEqual([
      { groupId: null, tries: 1, status: "delivered" },
      { groupId: second?.id ?? "", tries: 2, status: "delivered" },
      { groupId: second?.id ?? "", tries: 2, status: "delivered" },
    ]);
    expect(rows[1]?.finishedAt).toBe(rows[2]?.finishedAt ?? 0);
    expect(chat.site.tries()).toHaveLength(5);
  });

  test("a message is not sent before the end of the gathering time after a restart", async () => {
    await using chat = await createGatheringSite();
    await chat.at(0, "down a");
    await chat.at(5, "down b", "down c");
    await chat.site.restart();
    await chat.at(10, "down d");
    await chat.until(29);
    expect(chat.titles()).toEqual(["0: Monitor down: a"]);
    await chat.site.restart();
    await chat.until(60);
    expect(chat.titles()).toEqual(["0: Monitor down: a", "30: 3 monitors are down"]);
  });

  test("a group holds all that comes until a paused receiver takes messages again", async () => {
    await using chat = await createGatheringSite({}, (_message, count) =>
      count === 1 ? new Response(null, { status: 429, headers: { "retry-after": "60" } }) : 200,
    );
    await chat.at(0, "down a");
    await chat.at(10, "down b", "down c");
    await chat.at(50, "down d", "up b");
    await chat.until(120);
    const [refused, ...taken] = chat.seen();
    expect(refused?.title).toBe("Monitor down: a");
    expect(taken.map(({ title }) => title)).toEqual([
      "Monitor down: a",
      "2 monitors are down, 1 was down briefly",
    ]);
    for (const { at } of taken) expect(Math.round(at)).toBeWithin(60, 62);
    expect(chat.site.deliveries().every(({ status }) => status === "delivered")).toBe(true);
  });

  test("gathered messages do not wait longer after the clock was set back", async () => {
    await using chat = await createGatheringSite();
    await chat.at(0, "down a");
    await chat.at(1, "down b", "down c");
    const { clock } = chat.site.app;
    clock.setWallClock(clock.now() - 3_600 * SECOND_MS);
    await chat.site.restart();
    await chat.site.idle();
    expect(chat.seen().map(({ title }) => title)).toEqual([
      "Monitor down: a",
      "2 monitors are down",
    ]);
  });

  test("messages wait on after the clock was corrected by little", async () => {
    await using chat = await createGatheringSite();
    await chat.at(0, "down a");
    const { clock } = chat.site.app;
    clock.setWallClock(clock.now() - 200);
    await chat.at(-0.2, "down b", "down c");
    await chat.until(32);
    expect(chat.titles()).toHaveLength(2);
    expect(chat.titles()[1]).toEndWith(": 2 monitors are down");
  });

  test("a result that can never be recorded holds back no later message about monitors", async () => {
    await using chat = await createGatheringSite({ group_seconds: 0 });
    const { db } = chat.site.app.ctx;
    const { write } = db;
    db.write = () => Promise.reject(new Error("The row is broken."));
    await write((tx) => {
      const { clock, ctx } = chat.site.app;
      for (const name of ["a", "b"]) ctx.outbox.record(tx, monitorEvent("down", name, clock.now()));
    });
    await chat.receiver.until(2);
    db.write = write;
    expect(chat.titles()).toEqual(["0: Monitor down: a", "0: Monitor down: b"]);
  });

  test("gathering goes on after the first message failed, whose retry keeps its content", async () => {
    await using chat = await createGatheringSite({}, (_message, count) =>
      count === 1 ? 500 : 200,
    );
    await chat.at(0, "down a");
    await chat.at(1, "down b");
    await chat.until(40);
    expect(chat.seen().map(({ title }) => title)).toEqual([
      "Monitor down: a",
      "Monitor down: a",
      "Monitor down: b",
    ]);
  });

  test("a redelivered delivery of a group is sent by itself with the id of its event", async () => {
    await using chat = await createGatheringSite();
    const { ctx } = chat.site.app;
    await chat.at(0, "down a");
    await chat.at(1, "down b", "down c");
    await chat.until(30);
    const [, second] = chat.site.deliveries();
    await ctx.db.write((tx) => redeliver(ctx, tx, chat.webhookId, second?.id ?? "", CLI_ACTOR));
    await chat.site.idle();
    const again = chat.seen()[2];
    expect(again).toMatchObject({ title: "Monitor down: b", id: second?.eventId ?? "" });
    expect(getDelivery(ctx.db, chat.webhookId, second?.id ?? "")).toMatchObject({
      row: { status: "delivered", tries: 2 },
      sentWith: 0,
    });
    expect(chat.receiver.received).toHaveLength(3);
  });

  test("a waiting delivery that is sent now by hand leaves the others waiting", async () => {
    await using chat = await createGatheringSite();
    const { ctx } = chat.site.app;
    await chat.at(0, "down a");
    await chat.at(1, "down b", "down c", "down d");
    const [, second] = chat.site.deliveries();
    await ctx.db.write((tx) => redeliver(ctx, tx, chat.webhookId, second?.id ?? "", CLI_ACTOR));
    await chat.until(40);
    expect(chat.titles()).toEqual([
      "0: Monitor down: a",
      "1: Monitor down: b",
      "30: 2 monitors are down",
    ]);
  });

  test("waiting deliveries of a disabled endpoint are cancelled", async () => {
    await using chat = await createGatheringSite();
    await chat.at(0, "down a");
    await chat.at(1, "down b", "down c");
    const { ctx } = chat.site.app;
    await ctx.db.write((tx) =>
      updateWebhook(ctx, tx, chat.webhookId, { enabled: false }, CLI_ACTOR),
    );
    await chat.until(60);
    expect(chat.titles()).toEqual(["0: Monitor down: a"]);
    const statuses = chat.site.deliveries().map(({ status }) => status);
    expect(statuses).toEqual(["delivered", "cancelled", "cancelled"]);
  });

  test("an endpoint that is for programs meanwhile gets each waiting event by itself", async () => {
    await using chat = await createGatheringSite();
    await chat.at(0, "down a");
    await chat.at(1, "down b", "down c");
    const { ctx } = chat.site.app;
    await ctx.db.write((tx) =>
      updateWebhook(
        ctx,
        tx,
        chat.webhookId,
        { format: "standard", url: chat.receiver.url },
        CLI_ACTOR,
      ),
    );
    await chat.until(2);
    const types = chat.receiver.received.slice(1).map(({ data }) => data.name);
    expect(types).toEqual(["b", "c"]);
    expect(chat.site.deliveries().every(({ groupId }) => groupId === null)).toBe(true);
  });

  test("what waits is sent at once when the gathering time of its endpoint is changed", async () => {
    await using chat = await createGatheringSite({ group_seconds: 300 });
    await chat.at(0, "down a");
    await chat.at(1, "down b", "down c");
    const { ctx } = chat.site.app;
    await ctx.db.write((tx) =>
      updateWebhook(ctx, tx, chat.webhookId, { group_seconds: 0 }, CLI_ACTOR),
    );
    await chat.at(2, "up b");
    expect(chat.titles()).toEqual([
      "0: Monitor down: a",
      "1: 2 monitors are down",
      "2: Monitor up: b",
    ]);
  });

  test("a group whose members are gone is deleted with them", async () => {
    await using chat = await createGatheringSite();
    const { ctx, clock } = chat.site.app;
    await chat.at(0, "down a");
    await chat.at(1, "down b", "down c");
    await chat.until(40);
    const count = selectOne((orm, _$: Record<string, never>) =>
      orm.select({ count: sql<number>`COUNT(*)` }).from(deliveryGroups),
    );
    expect(count(ctx.db, {})?.count).toBe(1);
    const trim = () => ctx.db.write((tx) => trimDeliveries(tx, clock.now() + SECOND_MS));
    await trim();
    await trim();
    expect(count(ctx.db, {})?.count).toBe(0);
  });

  test("a process that ends after a group was sent repeats it with the same id and deliveries", async () => {
    await using chat = await createGatheringSite();
    const { site } = chat;
    const { db } = site.app.ctx;
    await chat.at(0, "down a");
    await chat.at(1, "down b", "down c");
    const write = db.write;
    let writes = 0;
    // The first write puts the deliveries into a group, the second one records the result.
    db.write = (change) =>
      (writes += 1) === 1 ? write(change) : Promise.reject(unavailable("It has ended.", 5));
    await site.app.clock.advance(29 * SECOND_MS);
    await chat.receiver.until(2);
    await site.deliverer.stop(SECOND_MS);
    db.write = write;
    const { ctx, clock } = site.app;
    await db.write((tx) => void ctx.outbox.record(tx, monitorEvent("down", "d", clock.now())));
    await site.restart();
    await chat.until(70);
    const [, first, second, third] = chat.seen();
    expect(first?.title).toBe("2 monitors are down");
    expect(second).toEqual({ ...first, at: second?.at ?? 0 } as typeof second & object);
    expect(third?.title).toBe("Monitor down: d");
    expect(chat.receiver.received).toHaveLength(4);
  });

  test("a group whose oldest event is deleted while it is sent is not sent again", async () => {
    const answer = Promise.withResolvers<number>();
    await using chat = await createGatheringSite({}, (_message, count) =>
      count === 2 ? answer.promise : 200,
    );
    const { site } = chat;
    const { clock, ctx } = site.app;
    await chat.at(0, "down a");
    await chat.at(1, "down b", "down c", "down d");
    await clock.advance(29 * SECOND_MS);
    await chat.receiver.until(2);
    const oldest = site.deliveries()[1]?.eventId ?? "";
    await ctx.db.write((tx) => deleteEvent(tx, { id: oldest }));
    answer.resolve(200);
    await site.idle();
    await site.restart();
    await chat.until(600);
    expect(chat.titles()).toEqual(["0: Monitor down: a", "30: 3 monitors are down"]);
    const rows = site.deliveries().map(({ status, tries }) => `${status} ${tries}`);
    expect(rows).toEqual(Array(3).fill("delivered 1"));
  });

  test.each([0, 1, 2, 3])(
    "a process that ends after %d writes of the deliverer loses no message and makes no other group",
    async (writesBefore) => {
      await using chat = await createGatheringSite();
      const { site } = chat;
      const { clock, ctx } = site.app;
      await site.deliverer.stop(0);
      const now = clock.now();
      await ctx.db.write((tx) => {
        for (const name of ["a", "b", "c"]) {
          ctx.outbox.record(tx, monitorEvent("down", name, now));
        }
      });
      const { write } = ctx.db;
      let writes = 0;
      ctx.db.write = (change) => {
        writes += 1;
        return writes > writesBefore
          ? Promise.reject(unavailable("It has ended.", 5))
          : write(change);
      };
      await site.restart();
      for (let second = 0; second < 40; second++) {
        await clock.advance(SECOND_MS);
        await settle();
      }
      await site.deliverer.stop(SECOND_MS);
      ctx.db.write = write;
      await site.restart();
      await chat.until(200);
      const byId = Map.groupBy(chat.seen(), ({ id }) => id);
      const titles = Array.from(byId.values(), (sent) => new Set(sent.map(({ title }) => title)));
      expect(titles).toEqual([new Set(["Monitor down: a"]), new Set(["2 monitors are down"])]);
      for (const sent of byId.values()) expect(sent.length).toBeLessThanOrEqual(2);
      expect(site.deliveries().every(({ status }) => status === "delivered")).toBe(true);
    },
  );
});

describe("messages that a newer one has overtaken", () => {
  test("the retry of an outage is dropped after its end was sent", async () => {
    await using chat = await createGatheringSite({ group_seconds: 0 }, (_message, count) =>
      count === 1 ? 500 : 200,
    );
    await chat.at(0, "down a");
    await chat.at(2, "up a");
    await chat.until(60);
    expect(chat.titles()).toEqual(["0: Monitor down: a", "2: Monitor up: a"]);
    const [down] = chat.site.deliveries();
    expect(down).toMatchObject({ status: "superseded", tries: 1, nextTryAt: null });
  });

  test("the retry of a recovery is dropped after the next outage was sent", async () => {
    await using chat = await createGatheringSite({ group_seconds: 0 }, (_message, count) =>
      count === 2 ? 500 : 200,
    );
    await chat.at(0, "down a");
    await chat.at(2, "up a");
    await chat.at(4, "down a");
    await chat.until(60);
    const titles = ["0: Monitor down: a", "2: Monitor up: a", "4: Monitor down: a"];
    expect(chat.titles()).toEqual(titles);
  });

  test("the retry of a group leaves out what newer messages said, under the same id", async () => {
    await using chat = await createGatheringSite({}, (_message, count) =>
      count === 2 || count === 3 ? 500 : 200,
    );
    await chat.at(0, "up a");
    await chat.at(1, "up b", "up c");
    // The group fails at 30 s and at 35 s, and is due again after 5 min.
    await chat.at(60, "down b");
    await chat.until(500);
    const [, group, , down, again] = chat.seen();
    expect(group?.title).toBe("2 monitors are up again");
    expect(down?.title).toBe("Monitor down: b");
    expect(again).toMatchObject({ title: "Monitor up: c", id: group?.id ?? "" });
    expect(chat.site.deliveries().map(({ status }) => status)).toEqual([
      "delivered",
      "superseded",
      "delivered",
      "delivered",
    ]);
  });

  test("a waiting message that the first outage overtakes is not sent", async () => {
    await using chat = await createGatheringSite();
    await chat.at(0, "up a");
    await chat.at(1, "degraded b");
    await chat.at(2, "down b");
    await chat.until(60);
    expect(chat.titles()).toEqual(["0: Monitor up: a", "2: Monitor down: b"]);
    expect(chat.site.deliveries().map(({ status }) => status)).toEqual([
      "delivered",
      "superseded",
      "delivered",
    ]);
  });

  test("the retry of an alarm is dropped after its end was sent", async () => {
    await using chat = await createGatheringSite({}, (_message, count) =>
      count === 1 ? 500 : 200,
    );
    const alarm = (state: string) => ({
      type: "fleet.alarm" as const,
      pageId: null,
      subjectId: "network_lost",
      data: { name: "Network lost", state },
    });
    await chat.record([alarm("raised")]);
    await chat.record([alarm("cleared")]);
    await chat.until(60);
    expect(chat.titles()).toEqual(["0: Alarm: Network lost", "0: Alarm over: Network lost"]);
  });

  test("an outage after the clock was set back before a restart is not taken for an older one", async () => {
    using folder = temporaryFolder();
    const databasePath = join(folder.path, "allclear.db");
    const earlier = await createGatheringSite({}, undefined, { databasePath });
    const { webhookId } = earlier;
    await earlier.at(3_600, "down a");
    await earlier.at(3_660, "up a");
    await earlier[Symbol.asyncDispose]();
    await using chat = await createGatheringSite({}, undefined, { databasePath });
    await chat.at(0, "down a");
    const newest = chat.site
      .deliveries()
      .filter((delivery) => delivery.webhookId === webhookId)
      .at(-1);
    expect(newest).toMatchObject({ status: "pending", tries: 1 });
  });

  test("programs get retries of overtaken events", async () => {
    await using chat = await createGatheringSite({ format: "standard" }, (_message, count) =>
      count === 1 ? 500 : 200,
    );
    await chat.at(0, "down a");
    await chat.at(2, "up a");
    await chat.until(60);
    const types = chat.receiver.received.map(({ body }) => JSON.parse(body).type);
    expect(types).toEqual(["monitor.down", "monitor.up", "monitor.down"]);
  });

  test("an overtaken delivery is sent when a person redelivers it", async () => {
    await using chat = await createGatheringSite({ group_seconds: 0 }, (_message, count) =>
      count === 1 ? 500 : 200,
    );
    await chat.at(0, "down a");
    await chat.at(2, "up a");
    await chat.until(60);
    const { ctx } = chat.site.app;
    const [down] = chat.site.deliveries();
    await ctx.db.write((tx) => redeliver(ctx, tx, chat.webhookId, down?.id ?? "", CLI_ACTOR));
    await chat.site.idle();
    expect(chat.titles().at(-1)).toBe("60: Monitor down: a");
  });
});
