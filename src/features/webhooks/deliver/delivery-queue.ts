import type { Clock } from "../../../base/clock";
import { outgoingShare } from "../../../base/descriptors";
import { sha256Hex } from "../../../base/hash";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/time";
import { isForPeople, reportsEnds, type WebhookFormat } from "../../../base/webhook";
import type { Ctx } from "../../../context";
import { Backoff } from "../../sending/loop";
import { findNextDue, listAwaited, listDue } from "../delivery-store";
import { FORMATS } from "../formats";
import type { Limit } from "../formats/format";
import { pauseLeft } from "../rules";
import { findLiveWebhook, findPause, listLiveWebhooks } from "../store";

/** Maximum number of concurrent attempts, to one endpoint and in all. */
export const PER_ENDPOINT_MAX = 8;
export const CONCURRENT_MAX = 256;

/**
 * Divides the concurrent attempts among the endpoints. One half is divided evenly and reserved for
 * each endpoint; the other half is for endpoints with more to send. So endpoints that hang cannot
 * use the reserved share of others: this is for fairness, not for speed.
 */
export class FairShare {
  readonly #max: number;
  readonly #share: number;
  readonly #maxBeyond: number;
  #inAll = 0;
  /** Running attempts beyond the shares of their endpoints. */
  #beyond = 0;

  /** `underWay` is the number of running attempts of each endpoint, `max` the maximum of all. */
  constructor(underWay: readonly number[], max: number = CONCURRENT_MAX) {
    this.#max = max;
    const endpoints = Math.max(1, underWay.length);
    this.#share = Math.min(PER_ENDPOINT_MAX, Math.max(1, Math.floor(max / 2 / endpoints)));
    this.#maxBeyond = max - this.#share * endpoints;
    for (const count of underWay) {
      this.#inAll += count;
      this.#beyond += Math.max(0, count - this.#share);
    }
  }

  /** Takes a place for an endpoint with `underWay` running attempts; false if all are taken. */
  take(underWay: number): boolean {
    if (underWay >= PER_ENDPOINT_MAX || this.#inAll >= this.#max) return false;
    const isBeyond = underWay >= this.#share;
    if (isBeyond && this.#beyond >= this.#maxBeyond) return false;
    this.#inAll += 1;
    if (isBeyond) this.#beyond += 1;
    return true;
  }
}

/** Number of an endpoint's deliveries in memory, and the number at which the next page is read. */
const PAGE = 64;
const LOW = 8;
/** Maximum number in memory while searching for one that can start. */
const HELD_MAX = 512;

/** A delivery that starts, with its queue. */
export interface Begun {
  queue: EndpointQueue;
  due: Due;
  /** Undefined for e-mail. */
  slot: Slot | undefined;
}

/**
 * Due deliveries by endpoint. Only one page per endpoint is in memory, so that memory does not grow
 * with the backlog.
 */
export class DeliveryQueue {
  readonly #ctx: Ctx;
  readonly #steadyNow: () => number;
  readonly #max = outgoingShare(CONCURRENT_MAX);
  readonly #queues = new Map<string, EndpointQueue>();
  /** Queues in which a delivery may be ready to start. */
  readonly #active = new Set<EndpointQueue>();
  /** Queues that wait for their destinations, the one that has waited longest first. */
  readonly #waiting = new Set<EndpointQueue>();
  readonly #destinations = new Map<string, Destination>();

  /** `off` is called for a disabled endpoint that may have pending deliveries. */
  constructor(
    ctx: Ctx,
    steadyNow: () => number,
    readonly off: (webhookId: string) => void,
  ) {
    this.#ctx = ctx;
    this.#steadyNow = steadyNow;
  }

  /** True if a delivery may be ready to start. */
  get isActive(): boolean {
    return this.#active.size > 0;
  }

  /** Reads the endpoint and its due deliveries again before the next start. */
  wake(webhookId: string): void {
    const queue = this.#queueOf(webhookId);
    queue.searchedTo = Number.POSITIVE_INFINITY;
    queue.isOutdated = true;
    this.wakeEndpoint(queue);
  }

  wakeEndpoint(queue: EndpointQueue): void {
    queue.hasMore = true;
    queue.nextDueAt = Number.POSITIVE_INFINITY;
    // One that waits keeps its place, unless the wait may be over since the endpoint changed.
    if (queue.isOutdated || !this.#waiting.has(queue)) this.#active.add(queue);
  }

  /** Reads the enabled endpoints and those with pending deliveries. */
  rescan(): void {
    const live = new Set(listLiveWebhooks(this.#ctx.db, {}).map(({ id }) => id));
    // Every enabled endpoint has a share, also without pending deliveries.
    for (const id of live) this.#queueOf(id);
    for (const [id, queue] of this.#queues) {
      if (!live.has(id) && queue.claimed === 0) this.#forget(queue);
    }
    for (const { id } of listAwaited(this.#ctx.db, {})) this.wake(id);
    this.#forgetDestinations();
  }

  /**
   * Starts deliveries, one for each endpoint in turn, until none can start or `canStart` returns
   * false.
   */
  *begin(canStart: () => boolean): Generator<Begun, void, void> {
    const fairShare = new FairShare(
      Array.from(this.#queues.values(), (queue) => queue.underWay),
      this.#max,
    );
    const awaited = new Set(Array.from(this.#waiting, ({ target }) => target?.destination));
    for (const queue of this.#active) {
      if (queue.isOutdated && !this.#readEndpoint(queue)) continue;
      const { destination } = queue.target ?? {};
      // A wait for the destination takes no place of others and reads no deliveries. It comes after earlier ones, so
      // that a format without a pace does not take all turns.
      const isHeldUp = destination && (awaited.has(destination) || waitOf(queue) > 0);
      if (isHeldUp && (queue.hasMore || queue.hasNext())) {
        awaited.add(destination);
        this.#active.delete(queue);
        this.#waiting.add(queue);
        continue;
      }
      if (!this.#fill(queue) || !queue.hasNext()) continue;
      if (!fairShare.take(queue.underWay)) continue;
      if (!canStart()) return;
      const due = queue.begin();
      if (!due || !queue.target) continue;
      const slot = destination?.begin(queue.target.format);
      this.#waiting.delete(queue);
      // Moved to the end, so that other endpoints come first.
      this.#active.delete(queue);
      this.#active.add(queue);
      yield { queue, due, slot };
    }
  }

  /**
   * Returns a delivery after an attempt. `nextTryAt` is the time of the next attempt (steady ms),
   * if there is one.
   */
  release({ queue, due }: Begun, nextTryAt?: number): void {
    queue.release(due);
    // It may have been queued again by hand since.
    this.wakeEndpoint(queue);
    if (nextTryAt !== undefined) queue.nextDueAt = nextTryAt;
  }

  /** Returns the time of the next known due delivery (steady ms); infinity without one. */
  nextDueAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues.values()) next = Math.min(next, queue.nextDueAt);
    return next;
  }

  /** Returns the wait in ms until a destination may take the next message; infinity if no queue waits for one. */
  untilFreeMs(): number {
    let least = Number.POSITIVE_INFINITY;
    for (const waitMs of this.#waits().values()) least = Math.min(least, waitMs);
    return least;
  }

  /** Wakes the queues with deliveries that have fallen due, and those whose destinations are free again. */
  wakeDue(): void {
    const now = this.#steadyNow();
    for (const queue of this.#queues.values()) if (queue.nextDueAt <= now) this.wakeEndpoint(queue);
    const free = Array.from(this.#waits()).flatMap(([queue, waitMs]) =>
      waitMs > 0 ? [] : [queue],
    );
    if (free.length === 0) return;
    for (const queue of free) this.#waiting.delete(queue);
    // They come before those that have not waited, so that each endpoint of a destination has its turn.
    const others = Array.from(this.#active);
    this.#active.clear();
    for (const queue of [...free, ...others]) this.#active.add(queue);
  }

  /** Returns the wait in ms of each queue that waits for its destination: at least that of those before it. */
  #waits(): Map<EndpointQueue, number> {
    const waits = new Map<EndpointQueue, number>();
    const longest = new Map<Destination | undefined, number>();
    for (const queue of this.#waiting) {
      const { destination } = queue.target ?? {};
      const waitMs = Math.max(waitOf(queue), longest.get(destination) ?? 0);
      longest.set(destination, waitMs);
      waits.set(queue, waitMs);
    }
    return waits;
  }

  /**
   * Reads the next page if few deliveries are left. Returns true if the queue has waiting
   * deliveries.
   */
  #fill(queue: EndpointQueue): boolean {
    if (queue.hasMore && (queue.waiting < LOW || isWorthSearching(queue))) {
      do this.#readPage(queue);
      while (queue.hasMore && queue.waiting < HELD_MAX && !queue.hasNext());
      queue.searchedTo = queue.waiting;
    }
    if (queue.waiting > 0) return true;
    this.#active.delete(queue);
    return false;
  }

  /** Reads the destination of an endpoint. Returns false for one that is not enabled, whose queue is emptied. */
  #readEndpoint(queue: EndpointQueue): boolean {
    const webhook = findLiveWebhook(this.#ctx.db, { id: queue.webhookId });
    if (!webhook) {
      queue.clear();
      if (queue.claimed === 0) this.#forget(queue);
      this.#active.delete(queue);
      this.#waiting.delete(queue);
      this.off(queue.webhookId);
      return false;
    }
    queue.isOutdated = false;
    const key = destinationKey(webhook);
    const destination = key === undefined ? undefined : this.#destinationOf(key);
    if (destination !== queue.target?.destination) this.#waiting.delete(queue);
    queue.target = { format: webhook.format, destination, isOrdered: reportsEnds(webhook) };
    return true;
  }

  #destinationOf(key: string): Destination {
    let destination = this.#destinations.get(key);
    if (!destination) {
      const { clock, db } = this.#ctx;
      const pausedMs = pauseLeft(findPause(db, { destination: key })?.until, clock.now());
      destination = new Destination(key, clock, pausedMs);
      this.#destinations.set(key, destination);
    }
    return destination;
  }

  /** Forgets the destinations that no endpoint has any more. */
  #forgetDestinations(): void {
    const used = new Set(Array.from(this.#queues.values(), (queue) => queue.target?.destination));
    for (const [key, destination] of this.#destinations) {
      if (!used.has(destination)) this.#destinations.delete(key);
    }
  }

  #readPage(queue: EndpointQueue): void {
    const { webhookId } = queue;
    const now = this.#steadyNow();
    const limit = PAGE + queue.claimed;
    const due = listDue(this.#ctx.db, { webhookId, now, limit });
    const isOrdered = queue.target?.isOrdered === true;
    queue.claim(isOrdered ? due.map((each) => ({ ...each, isOrdered })) : due);
    queue.hasMore = due.length === limit;
    if (queue.hasMore) return;
    queue.nextDueAt = findNextDue(this.#ctx.db, { webhookId, now })?.at ?? Number.POSITIVE_INFINITY;
  }

  #queueOf(webhookId: string): EndpointQueue {
    let queue = this.#queues.get(webhookId);
    if (!queue) {
      queue = new EndpointQueue(webhookId);
      this.#queues.set(webhookId, queue);
    }
    return queue;
  }

  #forget(queue: EndpointQueue): void {
    this.#queues.delete(queue.webhookId);
    this.#active.delete(queue);
    this.#waiting.delete(queue);
  }
}

/** Returns the wait in ms for the destination of a queue; 0 for e-mail. */
function waitOf({ target }: EndpointQueue): number {
  return target?.destination?.waitMs(target.format) ?? 0;
}

/**
 * Returns true if all waiting deliveries wait for others of their subjects, and further ones may be
 * of another subject.
 */
function isWorthSearching(queue: EndpointQueue): boolean {
  return queue.waiting < HELD_MAX && queue.waiting + PAGE <= queue.searchedTo && !queue.hasNext();
}

/** Properties of a due delivery that the queue needs. */
interface Due {
  id: string;
  subjectId: string;
  /** True if there was no attempt since it was queued. */
  isFirst: boolean;
  /** True for messages for people about monitors, and for all messages to a receiver that keeps states. */
  isOrdered: boolean;
}

/**
 * Deliveries to one endpoint. It holds one page of due deliveries; the rest stays in the database.
 * First attempts of one subject run in sequence, in the order of their events. So do all attempts of ordered messages, each after the result of the one before it was recorded: it can make the next one superfluous.
 */
export class EndpointQueue {
  /** In the order in which they were queued. */
  #waiting: Due[] = [];
  /**
   * Ids of deliveries that wait, run, or have an unrecorded result; the database still shows them
   * as due.
   */
  readonly #claimed = new Set<string>();
  readonly #busySubjects = new Set<string>();
  /** Ids of deliveries that wait for `release` and keep their subject until then. */
  readonly #held = new Set<string>();
  #underWay = 0;
  /** Id of the ordered message that runs or has an unrecorded result. */
  #ordered: string | undefined;
  /** True if the database may have further due deliveries. */
  hasMore = true;
  /**
   * Number of waiting deliveries at the last read, so that the database is not read after each one.
   */
  searchedTo = Number.POSITIVE_INFINITY;
  /**
   * Format and destination of the endpoint, and true if all its messages are ordered, from the last read; undefined
   * destination for e-mail.
   */
  target:
    { format: WebhookFormat; destination: Destination | undefined; isOrdered: boolean } | undefined;
  /** True if the endpoint may have changed since the last read. */
  isOutdated = true;
  /** Known time of the next delivery that is not due yet (steady ms). */
  nextDueAt = Number.POSITIVE_INFINITY;

  constructor(readonly webhookId: string) {}

  get underWay(): number {
    return this.#underWay;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get claimed(): number {
    return this.#claimed.size;
  }

  /** Adds due deliveries that are not in the queue yet. */
  claim(due: readonly Due[]): void {
    const added = due.filter(({ id }) => !this.#claimed.has(id));
    if (added.length === 0) return;
    for (const { id } of added) this.#claimed.add(id);
    this.#wait(added);
  }

  /** Returns true if a waiting delivery can start. */
  hasNext(): boolean {
    return this.#indexOfNext() !== -1;
  }

  /** Starts the next delivery; undefined if none waits or all wait for their subjects. */
  begin(): Due | undefined {
    const index = this.#indexOfNext();
    const [due] = index === -1 ? [] : this.#waiting.splice(index, 1);
    if (!due) return undefined;
    this.#underWay += 1;
    if (due.isFirst) this.#busySubjects.add(due.subjectId);
    if (due.isOrdered) this.#ordered = due.id;
    return due;
  }

  /** Ends an attempt. The delivery stays in the queue until its result is recorded. */
  end({ subjectId, isFirst }: Due): void {
    this.#underWay -= 1;
    if (isFirst) this.#busySubjects.delete(subjectId);
  }

  /**
   * Ends an attempt that does not count. Later deliveries of its subject wait until it is released.
   */
  hold({ id }: Due): void {
    this.#underWay -= 1;
    this.#held.add(id);
  }

  /**
   * Lets a held delivery wait again. Removes any other one; the database decides if it is due
   * again.
   */
  release(due: Due): void {
    if (this.#ordered === due.id) this.#ordered = undefined;
    if (!this.#held.delete(due.id)) {
      this.#claimed.delete(due.id);
      return;
    }
    if (due.isFirst) this.#busySubjects.delete(due.subjectId);
    this.#wait([due]);
  }

  /**
   * Lets later deliveries start before one that is held or whose result is lost, as after a failed attempt: ordered ones,
   * and those of its subject.
   */
  giveUpPlace(due: Due): void {
    if (this.#ordered === due.id) this.#ordered = undefined;
    if (!due.isFirst || !this.#held.has(due.id)) return;
    this.#busySubjects.delete(due.subjectId);
    due.isFirst = false;
  }

  /** Removes waiting deliveries. Running ones continue. */
  clear(): void {
    for (const { id } of this.#waiting) this.#claimed.delete(id);
    this.#waiting = [];
  }

  #wait(due: readonly Due[]): void {
    this.#waiting.push(...due);
    // Ids sort by the time of queueing; due times depend on the number of attempts.
    this.#waiting.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  #indexOfNext(): number {
    // Subjects with an earlier first attempt that waits for another ordered message.
    const waiting = new Set<string>();
    return this.#waiting.findIndex(({ isFirst, isOrdered, subjectId }) => {
      if (isFirst && (this.#busySubjects.has(subjectId) || waiting.has(subjectId))) return false;
      if (!isOrdered || this.#ordered === undefined) return true;
      if (isFirst) waiting.add(subjectId);
      return false;
    });
  }
}

/** Pause after a refusal without a time: doubles. */
const UNNAMED_PAUSE_MS = { first: 5 * SECOND_MS, longest: MINUTE_MS };

/**
 * Time added to the intervals of a limit, since messages do not arrive exactly at the intervals at which they start.
 */
const MARGIN_MS = 50;

/** Time for which a message keeps the next one back, so that messages arrive in order. */
const PATIENCE_MS = SECOND_MS;

/** Time after a pause in which messages of all formats follow each other. */
const CAREFUL_MS = MINUTE_MS;

/** Time without a refusal after which the next one begins a new series. Longer than any pause. */
const BREAK_MS = HOUR_MS;

/** Number of starts that are kept: at least as many as any limit counts. */
const STARTS_MAX = 60;

/** Endpoint as its destination is found. */
interface Addressee {
  format: WebhookFormat;
  url: string;
  settings: Readonly<Record<string, unknown>>;
}

/**
 * Returns the digest by which a destination is known: that of the URL without its fragment, or of what the format
 * names. Undefined for e-mail. Logs and screens must not show it, since short URLs can be guessed from it.
 */
export function destinationKey({ format, url, settings }: Addressee): string | undefined {
  const target = URL.parse(url);
  if (format === "email" || !target) return undefined;
  target.hash = "";
  return sha256Hex(FORMATS[format].destination?.(target, settings) ?? target.href);
}

/** A message under way to a destination. */
export interface Slot {
  destination: Destination;
  format: WebhookFormat;
  startedAt: number;
}

/** Pace and pause of a receiver, which all its endpoints share. Times are monotonic, in ms. */
export class Destination {
  readonly #clock: Pick<Clock, "monotonic">;
  /** Times of the last requests, the last one at the end. */
  readonly #starts: number[] = [];
  /** Times at which limits of bursts are as if unused. */
  readonly #unusedAt = new Map<Limit, number>();
  readonly #backoff = new Backoff(UNNAMED_PAUSE_MS.first, UNNAMED_PAUSE_MS.longest);
  #underWay = 0;
  #pausedUntil: number;
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** Start of the refusals without a success or a break; undefined after a success. */
  #refusingSince: number | undefined;

  /** `pausedMs` is the rest of a pause that an earlier process has recorded; 0 without one. */
  constructor(
    readonly key: string,
    clock: Pick<Clock, "monotonic">,
    pausedMs: number,
  ) {
    this.#clock = clock;
    this.#pausedUntil = pausedMs > 0 ? clock.monotonic() + pausedMs : Number.NEGATIVE_INFINITY;
  }

  /** Returns the wait in ms before a message of a format may start; 0 if it may start now. */
  waitMs(format: WebhookFormat): number {
    const now = this.#clock.monotonic();
    const waits = FORMATS[format].pace.map((limit) => this.#freeAt(limit) - now);
    const isCareful = isForPeople(format) || now - this.#pausedUntil < CAREFUL_MS;
    if (isCareful && this.#underWay > 0) {
      waits.push((this.#starts.at(-1) ?? now) + PATIENCE_MS - now);
    }
    return Math.max(0, this.#pausedUntil - now, ...waits);
  }

  /** Counts a message of a format that starts. */
  begin(format: WebhookFormat): Slot {
    const startedAt = this.#clock.monotonic();
    this.#underWay += 1;
    this.#starts.push(startedAt);
    if (this.#starts.length > STARTS_MAX) this.#starts.shift();
    for (const { limit, everyMs } of burstsOf(format)) {
      const unusedAt = Math.max(startedAt, this.#unusedAt.get(limit) ?? startedAt);
      this.#unusedAt.set(limit, unusedAt + everyMs);
    }
    return { destination: this, format, startedAt };
  }

  /**
   * Counts the end of an attempt, whose request and answer took `latencyMs` together. One without a request
   * (undefined) does not count as started.
   */
  end({ format, startedAt }: Slot, latencyMs: number | undefined): void {
    this.#underWay -= 1;
    const index = this.#starts.lastIndexOf(startedAt);
    if (latencyMs !== undefined) {
      // The request can be much later than the start, such as the first one of a process.
      const sentAt = Math.max(startedAt, this.#clock.monotonic() - latencyMs);
      if (index !== -1) this.#starts[index] = sentAt;
      return;
    }
    if (index !== -1) this.#starts.splice(index, 1);
    for (const { limit, everyMs } of burstsOf(format)) {
      this.#unusedAt.set(limit, (this.#unusedAt.get(limit) ?? startedAt) - everyMs);
    }
  }

  /** Ends the doubling of pauses and the series of refusals. */
  succeed(): void {
    this.#backoff.reset();
    this.#refusingSince = undefined;
  }

  /** Time in ms for which this process has seen nothing but refusals, with breaks of at most an hour; 0 without any. */
  get refusingMs(): number {
    return this.#refusingSince === undefined ? 0 : this.#refusedAt - this.#refusingSince;
  }

  /** Begins or prolongs a pause for a refusal, by the time that it names. Returns its rest in whole ms. */
  refuse(namedMs: number | undefined): number {
    const now = this.#clock.monotonic();
    if (now - this.#refusedAt > BREAK_MS) this.#refusingSince = undefined;
    this.#refusingSince ??= now;
    this.#refusedAt = now;
    const pauseMs = namedMs ?? this.#backoff.nextWaitMs(now);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
    return Math.ceil(this.#pausedUntil - now);
  }

  #freeAt(limit: Limit): number {
    if ("burst" in limit) {
      const unusedAt = this.#unusedAt.get(limit) ?? Number.NEGATIVE_INFINITY;
      return unusedAt - (limit.burst - 1) * (limit.everyMs + MARGIN_MS);
    }
    const first = this.#starts.at(-limit.count);
    return first === undefined ? Number.NEGATIVE_INFINITY : first + limit.inMs + MARGIN_MS;
  }
}

/** Lists the limits of bursts of a format, with the intervals that are kept after a burst. */
function burstsOf(format: WebhookFormat): { limit: Limit; everyMs: number }[] {
  return FORMATS[format].pace.flatMap((limit) =>
    "burst" in limit ? [{ limit, everyMs: limit.everyMs + MARGIN_MS }] : [],
  );
}
