import type { Ctx } from "../../../context";
import { outgoingShare } from "../../../base/descriptors";
import { findNextDue, listAwaited, listDue } from "../delivery-store";
import { findLiveWebhook, findPause, listLiveWebhooks } from "../store";
import { pauseLeft } from "../rules";
import { Destination, destinationKey, type Slot } from "./destination";
import { type Due, EndpointQueue } from "./endpoint-queue";

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
    queue.target = { format: webhook.format, destination };
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
    queue.claim(due);
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
