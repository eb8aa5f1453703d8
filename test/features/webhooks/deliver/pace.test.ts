import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import type { WebhookFormat } from "../../../../src/base/webhook";
import { deleteWebhook } from "../../../../src/features/webhooks/webhooks";
import { getWebhookRecord } from "../../../../src/features/webhooks/records";
import { presentWebhook } from "../../../../src/features/webhooks/wire";
import { redeliver, sendTestEvent } from "../../../../src/features/webhooks/deliveries";
import {
  DeliveryQueue,
  Destination,
  destinationKey,
} from "../../../../src/features/webhooks/deliver/delivery-queue";
import { setPause } from "../../../../src/features/webhooks/store";
import type { Clock } from "../../../../src/base/clock";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { createDeliverySite, type DeliverySite } from "../../../support/delivery-site";
import { type Received, type Receiver, startReceiver } from "../../../support/receiver";
import { updateWebhook } from "../../../support/examined";

/** An accepted message and the time of its arrival (unix ms). */
interface Accepted {
  at: number;
  message: Received;
}

/** A service that takes `count` messages in any time of `inMs`, and refuses others by `refuse` of a wait in ms. */
function startService(
  clock: Clock,
  { count, inMs }: { count: number; inMs: number },
  refuse: (waitMs: number) => Response,
): Receiver & { accepted: Accepted[] } {
  const accepted: Accepted[] = [];
  const receiver = startReceiver((message) => {
    const at = clock.now();
    const earlier = accepted.at(-count);
    if (earlier && at - earlier.at < inMs) return refuse(inMs - (at - earlier.at));
    accepted.push({ at, message });
    return 200;
  });
  return Object.assign(receiver, { accepted });
}

/** Refuses by `Retry-After` in whole seconds, as Slack does. */
const byHeader = (waitMs: number) =>
  new Response("Too many requests", {
    status: 429,
    headers: { "Retry-After": String(Math.ceil(waitMs / SECOND_MS)) },
  });

/** Refuses in the body, as Telegram does. */
const byParameters = (waitMs: number) =>
  Response.json(
    {
      ok: false,
      error_code: 429,
      description: "Too Many Requests",
      parameters: { retry_after: Math.ceil(waitMs / SECOND_MS) },
    },
    { status: 429 },
  );

const refuseFor = (seconds: number | string) => () =>
  new Response(null, { status: 429, headers: { "Retry-After": String(seconds) } });

const TELEGRAM = { bot_token: "123456:ABC-DEF1234ghIkl", chat_id: "@Acme" };

const fail = () => {
  throw new Error("no endpoint is disabled");
};

const settingsOf = (format: WebhookFormat) => (format === "telegram" ? { settings: TELEGRAM } : {});

/** Records events of as many subjects, each with a name of two digits. */
const record = (site: DeliverySite, count: number, from = 0) =>
  site.recordEvents(
    ...Array.from({ length: count }, (_, index) => ({
      type: "incident.created" as const,
      subjectId: `inc_${from + index}`,
      data: { name: `Outage ${String(from + index).padStart(3, "0")}`, notify: true },
    })),
  );

const namesOf = (messages: readonly { body: string }[]) =>
  messages.map(({ body }) => /Outage (\d{3})/.exec(body)?.[1]);
const numbers = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => String(from + index).padStart(3, "0"));

const apiOf = ({ app }: DeliverySite, id: string) =>
  presentWebhook(getWebhookRecord(app.ctx.db, id, app.clock.now()));
const rowOf = ({ app }: DeliverySite, id: string) =>
  getWebhookRecord(app.ctx.db, id, app.clock.now()).row;

describe("incidents in a burst", () => {
  test.each([
    { format: "slack", limit: { count: 1, inMs: SECOND_MS }, refuse: byHeader, withinMs: 35_000 },
    {
      format: "telegram",
      limit: { count: 20, inMs: MINUTE_MS },
      refuse: byParameters,
      withinMs: 75_000,
    },
    // The limits are stricter than the format declares, so that messages are refused.
    {
      format: "gotify",
      limit: { count: 1, inMs: SECOND_MS },
      refuse: byHeader,
      withinMs: 65_000,
    },
    {
      format: "discord",
      limit: { count: 1, inMs: 2 * SECOND_MS },
      refuse: (waitMs: number) =>
        Response.json({ message: "…", retry_after: waitMs / SECOND_MS }, { status: 429 }),
      // Refused messages count for the pace of 30 a minute.
      withinMs: 130_000,
    },
  ] as const)(
    "30 incidents by API arrive at a $format receiver with a limit in order, in the time that the limit needs",
    async ({ format, limit, refuse, withinMs }) => {
      await using site = await createDeliverySite();
      const { app } = site;
      await using service = startService(app.clock, limit, refuse);
      await app.page({ slug: "acme" });
      const key = await app.keyWith("write:incidents");
      const url = format === "gotify" ? new URL(service.url).origin : service.url;
      const settings = format === "gotify" ? { settings: { token: "t0ken" } } : settingsOf(format);
      await site.endpoint(url, { format, ...settings });
      for (const name of numbers(30)) {
        const json = { page: "acme", name: `Outage ${name}`, body: "We look into it." };
        // One after the other, as a script does.
        // oxlint-disable-next-line no-await-in-loop
        const { status } = await app.call("/api/v1/incidents", { method: "POST", key, json });
        expect(status).toBe(201);
      }
      await site.pass(withinMs);
      expect(namesOf(service.accepted.map(({ message }) => message))).toEqual(numbers(30));
      expect(new Set(site.deliveries().map(({ status }) => status))).toEqual(
        new Set(["delivered"]),
      );
      // Refusals are no attempts.
      expect(site.deliveries().map(({ tries }) => tries)).toEqual(numbers(30).map(() => 1));
      expect(new Set(site.tries().map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    },
  );

  test.each([
    ["slack", 10, 1, SECOND_MS],
    ["discord", 40, 5, 2 * SECOND_MS],
    ["discord", 40, 30, MINUTE_MS],
    ["telegram", 45, 20, MINUTE_MS],
    ["teams", 20, 4, SECOND_MS],
    ["gotify", 40, 10, SECOND_MS],
  ] as const)(
    "a %s receiver gets %d messages at its pace, at most %d in %d ms, without a refusal",
    async (format, count, most, inMs) => {
      await using site = await createDeliverySite();
      const { clock } = site.app;
      const times: number[] = [];
      await using receiver = startReceiver(() => {
        times.push(clock.now());
        return 200;
      });
      const settings = format === "gotify" ? { settings: { token: "t0ken" } } : settingsOf(format);
      await site.endpoint(receiver.url, { format, ...settings });
      await record(site, count);
      await site.idle();
      // What the pace allows goes at once.
      expect(times).toHaveLength(format === "discord" ? 5 : most);
      await site.pass(3 * MINUTE_MS);
      expect(namesOf(receiver.received)).toEqual(numbers(count));
      for (const [index, at] of times.entries()) {
        const later = times[index + most];
        if (later !== undefined) expect(later - at).toBeGreaterThan(inMs);
      }
    },
  );

  test("an ntfy receiver gets 60 messages at once, then one in 5 s", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await site.endpoint(new URL("/topic", receiver.url).href, { format: "ntfy" });
    await record(site, 70);
    await site.idle();
    expect(receiver.received).toHaveLength(60);
    await site.pass(5 * SECOND_MS);
    expect(receiver.received).toHaveLength(60);
    await site.pass(SECOND_MS);
    expect(receiver.received).toHaveLength(61);
    await site.pass(MINUTE_MS);
    expect(namesOf(receiver.received)).toEqual(numbers(70));
    // One more in each 5.05 s since the last one.
    await site.pass(151 * SECOND_MS);
    await record(site, 40, 70);
    await site.idle();
    expect(receiver.received).toHaveLength(70 + 32);
  });

  test("a program gets all messages as fast as it answers them", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    await record(site, 200);
    await site.idle();
    expect(receiver.received).toHaveLength(200);
  });

  test("an event without a message for the format takes nothing of its pace", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url, { format: "slack" });
    const quiet = { type: "incident.updated" as const, data: { name: "Quiet", notify: false } };
    await site.recordEvents(...Array.from({ length: 50 }, () => quiet));
    await record(site, 1);
    await site.idle();
    expect(namesOf(receiver.received)).toEqual(["000"]);
  });

  test("a message waits one second for the answer to the one before", async () => {
    const answers = Array.from({ length: 3 }, () => Promise.withResolvers<number>());
    await using receiver = startReceiver((_message, count) => answers[count - 1]?.promise ?? 200);
    await using site = await createDeliverySite();
    const { clock } = site.app;
    await site.endpoint(receiver.url, { format: "gotify", settings: { token: "t0ken" } });
    await record(site, 3);
    await receiver.until(1);
    await clock.advance(SECOND_MS - 1);
    expect(receiver.received).toHaveLength(1);
    await clock.advance(1);
    await receiver.until(2);
    answers[0]?.resolve(200);
    answers[1]?.resolve(200);
    await receiver.until(3);
    answers[2]?.resolve(200);
    await site.idle();
    expect(namesOf(receiver.received)).toEqual(numbers(3));
  });
});

test("the pace counts from the request, which can be later than the start of its attempt", () => {
  let monotonic = 0;
  const destination = new Destination("digest", { monotonic: () => monotonic }, 0);
  const slot = destination.begin("slack");
  monotonic = 400;
  // The answer took 100 ms, so that the request was sent at 300.
  destination.end(slot, 100);
  expect(destination.waitMs("slack")).toBe(300 + SECOND_MS + 50 - 400);
});

describe("endpoints of one destination", () => {
  test("endpoints with one URL share its pace in turn, and other URLs are not slowed", async () => {
    await using receiver = startReceiver();
    await using other = startReceiver();
    await using site = await createDeliverySite();
    const add = (url: string, type: "incident.created" | "incident.resolved") =>
      site.endpoint(url, { format: "slack", events: [type] });
    await add(receiver.url, "incident.created");
    // Other spellings of the same URL.
    await add(receiver.url.replace("http:", "HTTP:"), "incident.resolved");
    await add(`${receiver.url}#ops`, "incident.resolved");
    await add(other.url, "incident.created");
    const resolved = Array.from({ length: 3 }, (_, index) => ({
      type: "incident.resolved" as const,
      subjectId: `inc_r${index}`,
      data: { name: `Outage 90${index}`, notify: true },
    }));
    await record(site, 6);
    await site.recordEvents(...resolved);
    await site.idle();
    expect(receiver.received).toHaveLength(1);
    expect(other.received).toHaveLength(1);
    await site.pass(8 * 1_100);
    expect(receiver.received).toHaveLength(9);
    expect(namesOf(other.received)).toEqual(numbers(6));
    await site.pass(4 * 1_100);
    const names = namesOf(receiver.received);
    expect(names).toHaveLength(12);
    // One of each in turn after the first message, as long as each has some.
    expect(names.slice(0, 10).map((name) => name?.[0])).toEqual([..."0099099099"]);
    expect(names.filter((name) => name?.[0] === "0")).toEqual(numbers(6));
  });

  test("endpoints with one URL share a pause, and other URLs are not paused", async () => {
    await using receiver = startReceiver(refuseFor(60));
    await using other = startReceiver();
    await using site = await createDeliverySite();
    const { clock } = site.app;
    const one = await site.endpoint(receiver.url, { events: ["incident.created"] });
    const two = await site.endpoint(receiver.url, { format: "statuspage", events: ["monitor.up"] });
    const free = await site.endpoint(other.url);
    await record(site, 1);
    await site.idle();
    const until = new Date(clock.now() + MINUTE_MS).toISOString();
    expect(apiOf(site, one.id).paused_until).toBe(until);
    expect(apiOf(site, two.id).paused_until).toBe(until);
    expect(apiOf(site, free.id).paused_until).toBeNull();
    const made = await site.endpoint(receiver.url);
    expect(apiOf(site, made.id).paused_until).toBe(until);
    await record(site, 1, 1);
    await site.idle();
    expect(receiver.received).toHaveLength(1);
    expect(other.received).toHaveLength(2);
    receiver.answer = () => 200;
    await site.pass(MINUTE_MS - 1);
    expect(receiver.received).toHaveLength(1);
    await site.pass(1);
    expect(apiOf(site, one.id).paused_until).toBeNull();
    await site.pass(SECOND_MS);
    expect(namesOf(receiver.received).slice(1).toSorted()).toEqual(["000", "001", "001"]);
  });

  test("an endpoint that waits for a shared pace comes before one that has not waited", async () => {
    await using site = await createDeliverySite();
    await site.deliverer.stop(0);
    const { clock, ctx } = site.app;
    const url = "http://127.0.0.1:9/hook";
    const one = await site.endpoint(url, { format: "slack", events: ["incident.created"] });
    const two = await site.endpoint(url, { format: "slack", events: ["incident.resolved"] });
    await record(site, 3);
    await site.recordEvents({ type: "incident.resolved" });
    const queue = new DeliveryQueue(ctx, () => clock.now(), fail);
    const beginAll = () => {
      queue.wakeDue();
      return Array.from(queue.begin(() => true));
    };
    queue.wake(one.id);
    const [first, ...more] = beginAll();
    expect([first?.queue.webhookId, more.length]).toEqual([one.id, 0]);
    if (first?.slot) first.slot.destination.end(first.slot, 10);
    // The pace allows the next message in the moment in which the other endpoint gets its event.
    await clock.advance(2 * SECOND_MS);
    queue.wake(two.id);
    expect(beginAll().map(({ queue: { webhookId } }) => webhookId)).toEqual([one.id]);
  });

  /** A site whose deliverer does not run, with a queue on its database. */
  async function createQueue() {
    const site = await createDeliverySite();
    await site.deliverer.stop(0);
    const { clock, ctx } = site.app;
    let reads = 0;
    const { statements } = ctx.db;
    const counted: typeof statements = Object.create(statements, {
      prepared: {
        value: (build: Parameters<typeof statements.prepared>[0]) => {
          reads += 1;
          return statements.prepared(build);
        },
      },
    });
    const db = Object.create(ctx.db, { statements: { value: counted } }) as typeof ctx.db;
    const queue = new DeliveryQueue({ ...ctx, db }, () => clock.now(), fail);
    return {
      site,
      queue,
      /** Begins deliveries, at most `limit`, and returns them with the number of reads. */
      begin(limit: number) {
        reads = 0;
        queue.wakeDue();
        let left = limit;
        const begun = Array.from(queue.begin(() => left-- > 0));
        return { begun, reads };
      },
    };
  }

  test("a format without a pace does not take all turns of another one with the same URL", async () => {
    const { site, queue, begin } = await createQueue();
    await using _ = site;
    const add = (format: WebhookFormat, type: "incident.created" | "incident.resolved") =>
      site.endpoint("http://127.0.0.1:9/hook", { format, events: [type] });
    const chat = await add("slack", "incident.created");
    const program = await add("standard", "incident.resolved");
    await record(site, 1);
    await site.recordEvents(
      ...numbers(100).map((name) => ({ type: "incident.resolved" as const, subjectId: name })),
    );
    queue.wake(program.id);
    queue.wake(chat.id);
    const order: string[] = [];
    for (let step = 0; step < 30; step++) {
      for (const one of begin(1).begun) {
        order.push(one.queue.webhookId);
        one.slot?.destination.end(one.slot, 10);
        one.queue.end(one.due);
        // The database still has it as due, so that there is always a next one.
        queue.release(one);
      }
      // oxlint-disable-next-line no-await-in-loop
      await site.app.clock.advance(100);
    }
    expect(order.slice(0, 4)).toEqual([program.id, chat.id, program.id, chat.id]);
  });

  test("endpoints in a pause read none of their pending deliveries", async () => {
    const { site, queue, begin } = await createQueue();
    await using _ = site;
    const { clock, ctx } = site.app;
    const endpoint = await site.endpoint("http://127.0.0.1:9/hook");
    const destination = destinationKey(endpoint) ?? "";
    const until = clock.now() + MINUTE_MS;
    await ctx.db.write((tx) => setPause(tx, { destination, until }));
    await record(site, 1);
    queue.wake(endpoint.id);
    // The endpoint and its pause.
    expect(begin(1)).toEqual({ begun: [], reads: 2 });
    queue.wake(endpoint.id);
    expect(begin(1)).toEqual({ begun: [], reads: 1 });
    expect(begin(1)).toEqual({ begun: [], reads: 0 });
    expect(queue.untilFreeMs()).toBe(MINUTE_MS);
    await clock.advance(MINUTE_MS);
    expect(begin(1).begun).toHaveLength(1);
  });

  test("chats of one Telegram bot have paces of their own, and topics of one chat share one", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    const add = (url: string, more: object) =>
      site.endpoint(url, { format: "telegram", settings: { ...TELEGRAM, ...more } });
    await add(receiver.url, {});
    await add(`${receiver.url}/`, { chat_id: "@acme", message_thread_id: 7 });
    await add(receiver.url, { chat_id: "-100123" });
    await record(site, 20);
    await site.idle();
    const chats = Map.groupBy(receiver.received, ({ body }) =>
      String(JSON.parse(body).chat_id).toLowerCase(),
    );
    expect(chats.get("@acme")).toHaveLength(20);
    expect(chats.get("-100123")).toHaveLength(20);
  });

  test("destinations that wait for their pace take no place of others", async () => {
    await using chats = startReceiver();
    await using quick = startReceiver();
    await using site = await createDeliverySite();
    for (let index = 0; index < 40; index++) {
      // oxlint-disable-next-line no-await-in-loop
      await site.endpoint(`${chats.url}/${index}`, { format: "slack" });
    }
    await site.endpoint(quick.url);
    await record(site, 30);
    await site.idle();
    expect(quick.received).toHaveLength(30);
    expect(chats.received).toHaveLength(40);
    expect(site.deliverer.stats().underWay).toBe(0);
  });
});

describe("a refusal", () => {
  test("a refused delivery keeps its place before later ones, and those under way with it", async () => {
    const answers = Array.from({ length: 8 }, () => Promise.withResolvers<number | Response>());
    await using receiver = startReceiver((_message, count) => answers[count - 1]?.promise ?? 200);
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    // Eight are under way to a program. The last one is answered first.
    await record(site, 12);
    await receiver.until(8);
    for (const answer of answers.toReversed()) answer.resolve(refuseFor(2)());
    await site.idle();
    await site.pass(2 * SECOND_MS);
    expect(namesOf(receiver.received.slice(8))).toEqual(numbers(12));
    expect(site.deliveries().map(({ status, tries }) => `${status} ${tries}`)).toEqual(
      numbers(12).map(() => "delivered 1"),
    );
  });

  test("a program gets one message at first after a pause of any length, and after a restart in it", async () => {
    await using receiver = startReceiver(refuseFor(120));
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    await record(site, 8);
    await site.idle();
    expect(receiver.received).toHaveLength(8);
    await site.pass(2 * MINUTE_MS);
    expect(receiver.received).toHaveLength(9);
    await site.restart();
    await site.pass(2 * MINUTE_MS);
    expect(receiver.received).toHaveLength(10);
  });

  test.each<[format: WebhookFormat, body: string, pauseMs: number]>([
    ["telegram", '{"ok":false,"parameters":{"retry_after":7}}', 7_000],
    ["telegram", '{"retry_after":7}', 5_000],
    ["telegram", '{"parameters":null}', 5_000],
    ["telegram", '{"parameters":{"retry_after":-7}}', 5_000],
    ["telegram", '{"parameters":{"retry_after":1e999}}', 900_000],
    ["discord", '{"message":"You are being rate limited.","retry_after":0.65,"global":false}', 650],
    ["discord", '{"parameters":{"retry_after":7}}', 5_000],
    ["discord", '{"retry_after":', 5_000],
    ["discord", "null", 5_000],
    ["discord", "", 5_000],
    // Bodies of other services can have any meaning.
    ["standard", '{"retry_after":7}', 5_000],
    ["slack", '{"retry_after":7}', 5_000],
  ])("a 429 of a %s receiver with the body %p pauses for %d ms", async (format, body, pauseMs) => {
    await using receiver = startReceiver(
      () => new Response(body, { status: 429, headers: { "Content-Type": "application/json" } }),
    );
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url, { format, ...settingsOf(format) });
    await record(site, 1);
    await site.idle();
    const until = site.app.clock.now() + pauseMs;
    expect(apiOf(site, id).paused_until).toBe(new Date(until).toISOString());
  });

  test("a 429 without a time pauses for 5, 10, 20, 40 and 60 s, and a success begins again", async () => {
    await using site = await createDeliverySite();
    const { clock } = site.app;
    const times: number[] = [];
    let isOpen = false;
    await using receiver = startReceiver(() => {
      times.push(clock.now());
      return isOpen ? 200 : 429;
    });
    await site.endpoint(receiver.url);
    await record(site, 1);
    await site.pass(200 * SECOND_MS);
    const waits = () => times.slice(1).map((at, index) => (at - (times[index] ?? 0)) / SECOND_MS);
    expect(waits()).toEqual([5, 10, 20, 40, 60, 60]);
    isOpen = true;
    await site.pass(MINUTE_MS);
    expect(site.deliveries()).toMatchObject([{ status: "delivered", tries: 1 }]);
    isOpen = false;
    times.length = 0;
    await record(site, 1, 1);
    await site.pass(15 * SECOND_MS);
    expect(waits()).toEqual([5, 10]);
  });

  test("a pause has whole milliseconds, although the clock has parts of them", () => {
    let monotonic = 0.3;
    const destination = new Destination("digest", { monotonic: () => monotonic }, 0);
    expect(destination.refuse(500)).toBe(500);
    monotonic = 0.7;
    expect(destination.refuse(100)).toBe(500);
    expect(destination.waitMs("standard")).toBeCloseTo(499.6);
  });

  test("several refusals of one moment count as one for the next pause", async () => {
    await using receiver = startReceiver(() => 429);
    await using site = await createDeliverySite();
    const { clock } = site.app;
    const { id } = await site.endpoint(receiver.url);
    await record(site, 8);
    await site.idle();
    expect(receiver.received).toHaveLength(8);
    expect(apiOf(site, id).paused_until).toBe(new Date(clock.now() + 5_000).toISOString());
  });

  test("a 503 with Retry-After is a refusal, and one without is a failure", async () => {
    const answer = (more: object) => new Response(null, { status: 503, ...more });
    await using receiver = startReceiver(() => answer({ headers: { "Retry-After": "1.5" } }));
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    await record(site, 1);
    await site.idle();
    expect(site.deliveries()).toMatchObject([{ status: "pending", tries: 0 }]);
    expect(site.tries()).toEqual([]);
    receiver.answer = () => answer({});
    await site.pass(1_500);
    expect(receiver.received).toHaveLength(2);
    expect(site.deliveries()).toMatchObject([{ status: "pending", tries: 1 }]);
    expect(site.tries()).toMatchObject([{ number: 1, statusCode: 503 }]);
    expect(apiOf(site, id).paused_until).toBeNull();
  });

  test("a refusal begins the failing time of the endpoint, and a success ends it", async () => {
    await using receiver = startReceiver(refuseFor(60));
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    const at = site.app.clock.now();
    await record(site, 1);
    await site.pass(90 * SECOND_MS);
    expect(rowOf(site, id)).toMatchObject({ failingSince: at, version: 1 });
    expect(apiOf(site, id).success_rate_24h).toBeNull();
    receiver.answer = () => 200;
    await site.pass(MINUTE_MS);
    expect(rowOf(site, id).failingSince).toBeNull();
    expect(apiOf(site, id).success_rate_24h).toBe(1);
  });

  test("an endpoint is disabled after five days of refusals without a success", async () => {
    await using receiver = startReceiver(refuseFor(900));
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    await record(site, 2);
    await site.pass(5 * DAY_MS - MINUTE_MS);
    expect(rowOf(site, id).enabled).toBe(true);
    expect(site.deliveries()).toMatchObject([{ tries: 0 }, { tries: 0 }]);
    await site.pass(16 * MINUTE_MS);
    expect(rowOf(site, id)).toMatchObject({
      enabled: false,
      disabledReason: "The receiver has refused all deliveries for 5 days.",
    });
    expect(site.deliveries().map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
    expect(apiOf(site, id).paused_until).toBeNull();
    expect(site.app.audit().at(-1)).toMatchObject({ action: "webhook.disable", targetId: id });
  });

  test("an endpoint is not disabled by a refusal after a stop of six days, but after another day of them", async () => {
    await using receiver = startReceiver(refuseFor(900));
    await using site = await createDeliverySite();
    const { clock } = site.app;
    const { id } = await site.endpoint(receiver.url);
    await record(site, 1);
    await site.idle();
    await site.deliverer.stop(0);
    await clock.advance(6 * DAY_MS);
    await site.restart();
    await site.pass(DAY_MS - MINUTE_MS);
    expect(receiver.received.length).toBeGreaterThan(90);
    expect(rowOf(site, id).enabled).toBe(true);
    await site.pass(16 * MINUTE_MS);
    expect(rowOf(site, id).enabled).toBe(false);
  });

  test("an endpoint with two refusals a week apart is not disabled", async () => {
    await using receiver = startReceiver(refuseFor(60));
    await using site = await createDeliverySite();
    const { ctx } = site.app;
    const { id } = await site.endpoint(receiver.url);
    await ctx.db.write((tx) => sendTestEvent(ctx, tx, id, CLI_ACTOR));
    await site.pass(7 * DAY_MS);
    await record(site, 1);
    await site.pass(MINUTE_MS / 2);
    expect(rowOf(site, id).enabled).toBe(true);
    receiver.answer = () => 200;
    await site.pass(MINUTE_MS);
    expect(rowOf(site, id).failingSince).toBeNull();
  });

  test("a refused test event is attempted once, with the refusal as its result, and pauses the destination", async () => {
    await using receiver = startReceiver(refuseFor(60));
    await using site = await createDeliverySite();
    const { ctx } = site.app;
    const { id } = await site.endpoint(receiver.url);
    await ctx.db.write((tx) => sendTestEvent(ctx, tx, id, CLI_ACTOR));
    await site.idle();
    expect(site.deliveries()).toMatchObject([{ status: "failed", tries: 1, nextTryAt: null }]);
    expect(site.tries()).toMatchObject([{ statusCode: 429 }]);
    expect(apiOf(site, id).paused_until).not.toBeNull();
    await site.pass(2 * MINUTE_MS);
    expect(receiver.received).toHaveLength(1);
  });

  test("a refusal is not noted as the outcome of an attempt", async () => {
    await using receiver = startReceiver((_message, count) => (count === 1 ? refuseFor(5)() : 200));
    await using site = await createDeliverySite();
    const noted: [string, number, object][] = [];
    const begun: [string, number][] = [];
    site.app.ctx.attempts = {
      begin: async (id, attempt) => {
        begun.push([id, attempt]);
        const found = noted.findLast(([one, number]) => one === id && number === attempt);
        return found?.[2];
      },
      end: async (id, attempt, outcome) => void noted.push([id, attempt, outcome]),
    };
    await site.endpoint(receiver.url);
    await record(site, 1);
    await site.idle();
    expect(receiver.received).toHaveLength(1);
    expect(noted).toEqual([]);
    await site.pass(5 * SECOND_MS);
    expect(receiver.received).toHaveLength(2);
    const [{ id } = { id: "" }] = site.deliveries();
    expect(begun).toEqual([
      [id, 1],
      [id, 1],
    ]);
    expect(noted).toMatchObject([[id, 1, { statusCode: 200 }]]);
  });
});

describe("during a pause", () => {
  /** A site whose only endpoint is paused for a minute with two pending deliveries. */
  async function createPaused(receiver: Receiver) {
    const site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url, { format: "slack" });
    await record(site, 2);
    await site.idle();
    expect(receiver.received).toHaveLength(1);
    expect(apiOf(site, id).paused_until).not.toBeNull();
    receiver.answer = () => 200;
    return { site, id };
  }

  test("a restart keeps the pause and the order", async () => {
    await using receiver = startReceiver(refuseFor(60));
    const { site } = await createPaused(receiver);
    await using _ = site;
    await site.pass(20 * SECOND_MS);
    await site.restart();
    await site.pass(40 * SECOND_MS - 1);
    expect(receiver.received).toHaveLength(1);
    await site.pass(3 * SECOND_MS);
    expect(namesOf(receiver.received)).toEqual(["000", "000", "001"]);
  });

  test("a pause does not outlast its time if the clock is set back before a restart", async () => {
    await using receiver = startReceiver(refuseFor(60));
    const { site, id } = await createPaused(receiver);
    await using _ = site;
    const { clock } = site.app;
    await site.deliverer.stop(0);
    clock.setWallClock(clock.now() - DAY_MS);
    expect(apiOf(site, id).paused_until).toBeNull();
    await site.restart();
    await receiver.until(2);
  });

  test("a delivery sent again by hand waits for the end of the pause", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    const { ctx } = site.app;
    const { id } = await site.endpoint(receiver.url);
    await record(site, 1);
    await site.idle();
    receiver.answer = refuseFor(60);
    await record(site, 1, 1);
    await site.idle();
    receiver.answer = () => 200;
    const [{ id: first } = { id: "" }] = site.deliveries();
    await ctx.db.write((tx) => redeliver(ctx, tx, id, first, CLI_ACTOR));
    await site.pass(MINUTE_MS - 1);
    expect(receiver.received).toHaveLength(2);
    await site.pass(SECOND_MS);
    expect(namesOf(receiver.received)).toEqual(["000", "001", "000", "001"]);
    expect(site.deliveries()).toMatchObject([
      { status: "delivered", tries: 2 },
      { status: "delivered", tries: 1 },
    ]);
  });

  test.each([
    ["disabled", (site: DeliverySite, id: string) => setEnabled(site, id, false)],
    [
      "deleted",
      ({ app: { ctx } }: DeliverySite, id: string) =>
        ctx.db.write((tx) => deleteWebhook(ctx, tx, id, CLI_ACTOR)),
    ],
  ])("the pending deliveries of an endpoint that is %s are cancelled at once", async (_, end) => {
    await using receiver = startReceiver(refuseFor(60));
    const { site, id } = await createPaused(receiver);
    await using __ = site;
    await end(site, id);
    await site.idle();
    expect(site.deliveries().map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
    await site.pass(2 * MINUTE_MS);
    expect(receiver.received).toHaveLength(1);
  });

  test("an endpoint that gets another URL sends its pending deliveries there at once", async () => {
    await using receiver = startReceiver(refuseFor(60));
    await using other = startReceiver();
    const { site, id } = await createPaused(receiver);
    await using _ = site;
    const { ctx } = site.app;
    await ctx.db.write((tx) => updateWebhook(ctx, tx, id, { url: other.url }, CLI_ACTOR));
    await site.idle();
    expect(namesOf(other.received)).toEqual(["000"]);
    expect(apiOf(site, id).paused_until).toBeNull();
    await site.pass(2 * SECOND_MS);
    expect(namesOf(other.received)).toEqual(["000", "001"]);
    expect(receiver.received).toHaveLength(1);
  });

  test("an endpoint that is disabled and enabled again waits for the end of the pause", async () => {
    await using receiver = startReceiver(refuseFor(60));
    const { site, id } = await createPaused(receiver);
    await using _ = site;
    await setEnabled(site, id, false);
    await site.idle();
    expect(apiOf(site, id).paused_until).toBeNull();
    await setEnabled(site, id, true);
    expect(apiOf(site, id).paused_until).not.toBeNull();
    await record(site, 1, 2);
    await site.pass(MINUTE_MS - 1);
    expect(receiver.received).toHaveLength(1);
    await site.pass(SECOND_MS);
    expect(namesOf(receiver.received)).toEqual(["000", "002"]);
  });
});

function setEnabled({ app: { ctx } }: DeliverySite, id: string, enabled: boolean) {
  return ctx.db.write((tx) => updateWebhook(ctx, tx, id, { enabled }, CLI_ACTOR));
}
