import type { EventType, OutboxEvent, RecordedEvent } from "../../src/events/outbox";
import { NEWEST } from "../../src/base/ids";
import type { CreateWebhookBody } from "../../src/features/webhooks/wire";
import { listDeliveries } from "../../src/features/webhooks/deliveries";
import { updateWebhookRow } from "../../src/features/webhooks/store";
import type { GatheredEvents } from "../../src/features/webhooks/formats/format";
import { SECOND_MS, toIso } from "../../src/base/time";
import { TEST_START } from "./clock";
import { createDeliverySite, type DeliverySite } from "./delivery-site";
import { type Receiver, startReceiver } from "./receiver";

type State = "down" | "up" | "degraded" | "reminder";

/** A message as people see it, in the format of Gotify. */
export interface SeenMessage {
  /** Seconds since the site was created. */
  at: number;
  id: string;
  title: string;
  /** Lines of the text. */
  lines: string[];
}

/** An application that sends messages about monitors to a chat. */
export interface GatheringSite extends AsyncDisposable {
  site: DeliverySite;
  receiver: Receiver;
  webhookId: string;
  /** Records events in one transaction, each in a group of its own: "down a", "up b". Seconds since the creation pass first. */
  at(seconds: number, ...events: string[]): Promise<void>;
  record(events: readonly OutboxEvent[]): Promise<void>;
  /** Creates another endpoint, by default for people and every event. Monitors are given by name. */
  endpoint(input: Partial<CreateWebhookBody>): Promise<{ id: string }>;
  /** Returns the types of the events that were queued for an endpoint. */
  typesFor(webhookId: string): string[];
  /** Advances the clock to a time, in seconds since the creation. */
  until(seconds: number): Promise<void>;
  /** Returns the requests that arrived, refused ones too. */
  seen(): SeenMessage[];
  /** Returns the messages as `<seconds>: <title>`. */
  titles(): string[];
}

/** Format for people whose service takes several messages a second. */
const CHAT = { format: "gotify", settings: { token: "AWnhsVvNnMtXp3q" } } as const;

/** Returns an event of a monitor, as its name and state say. `since` is in unix ms. */
export function monitorEvent(state: State, name: string, at: number, since = at): OutboxEvent {
  const monitor = {
    id: `mon_${name}`,
    name,
    state: state === "reminder" ? "down" : state,
    state_since: toIso(at),
    last_check: { message: state === "up" ? null : `${name} answered 503` },
    components: [],
  };
  const hasEnded = state === "up" || state === "degraded";
  const outage = { started_at: toIso(since), ended_at: null, duration_ms: at - since };
  const type: EventType = `monitor.${state}`;
  return {
    type,
    pageId: null,
    subjectId: monitor.id,
    data:
      state === "reminder"
        ? { monitor, down_since: toIso(since), count: 1 }
        : { ...monitor, outage: hasEnded ? outage : null },
  };
}

export async function createGatheringSite(
  input: Partial<CreateWebhookBody> = {},
  answer?: Receiver["answer"],
  options: Parameters<typeof createDeliverySite>[0] = {},
): Promise<GatheringSite> {
  const receiver = startReceiver();
  const site = await createDeliverySite(options);
  const { clock, ctx } = site.app;
  const begin = clock.now();
  const arrivals: number[] = [];
  receiver.answer = (received, count) => {
    arrivals.push((clock.now() - begin) / SECOND_MS);
    return answer ? answer(received, count) : 200;
  };
  const url = `${receiver.url.slice(0, -"/hook".length)}/chat`;
  const endpoint = (more: Partial<CreateWebhookBody>) =>
    site.endpoint(url, { ...(more.format === undefined && CHAT), ...more });
  const { id } = await endpoint(input);
  const downSince = new Map<string, number>();

  const gathering: GatheringSite = {
    site,
    receiver,
    webhookId: id,
    async record(events) {
      await ctx.db.write((tx) => {
        for (const event of events) ctx.outbox.group(tx, () => ctx.outbox.record(tx, event));
      });
      await site.idle();
    },
    async endpoint({ monitors, ...more }) {
      const row = await endpoint(more);
      if (monitors) {
        const ids = monitors.map((name) => `mon_${name}`);
        await ctx.db.write((tx) => updateWebhookRow(tx, { ...row, monitors: ids }));
      }
      return row;
    },
    typesFor: (webhookId) =>
      listDeliveries(ctx.db, { webhookId, status: null, before: NEWEST, limit: 1_000 })
        .map(({ eventType }) => eventType)
        .toReversed(),
    async at(seconds, ...events) {
      await gathering.until(seconds);
      const now = clock.now();
      const recorded = events.map((text) => {
        const [state = "", name = ""] = text.split(" ");
        if (state === "down") downSince.set(name, now);
        return monitorEvent(state as State, name, now, downSince.get(name));
      });
      await gathering.record(recorded);
    },
    until: (seconds) => site.pass(begin + seconds * SECOND_MS - clock.now()),
    seen: () =>
      receiver.received.map(({ id: messageId, body }, index) => {
        const { title, message } = JSON.parse(body);
        const lines = message.split("\n").filter((line: string) => line.startsWith("- "));
        return { at: arrivals[index] ?? 0, id: messageId, title, lines };
      }),
    titles: () => gathering.seen().map(({ at, title }) => `${at}: ${title}`),
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
  return gathering;
}

/** Returns events of 25 monitors that went down, recovered, are slow or still down, and of a certificate. */
export function gatheredEvents(
  nameOf: (index: number) => string = (index) => `monitor-${index}`,
): GatheredEvents & { events: RecordedEvent[] } {
  const states = ["down", "down", "up", "degraded", "reminder"] as const;
  const events = Array.from({ length: 25 }, (_, index) => {
    const at = TEST_START + index * SECOND_MS;
    const state = states[index % states.length] ?? "down";
    return { ...monitorEvent(state, nameOf(index), at, at - 90 * SECOND_MS), at };
  });
  const short = monitorEvent("up", nameOf(0), TEST_START + 20 * SECOND_MS, TEST_START);
  const certificate: OutboxEvent = {
    type: "monitor.certificate_expiring",
    pageId: null,
    subjectId: "mon_shop",
    data: { monitor: { name: nameOf(25) }, host: "shop.example.com", days_left: 7 },
  };
  const added = [short, certificate].map((event) => ({ ...event, at: TEST_START + 26_000 }));
  const recorded = [...events, ...added].map((event, index) => ({ ...event, id: `evt_${index}` }));
  return { events: recorded, stillDown: 3 };
}
