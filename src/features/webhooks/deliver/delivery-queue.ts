import type { Db } from "../../../db";
import { outgoingShare } from "../../../kernel/descriptors";
import { findNextDue, listAwaited, listDue } from "../delivery-store";
import { findLiveWebhook, listLiveWebhooks } from "../store";
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
}

/**
 * Due deliveries by endpoint. Only one page per endpoint is in memory, so that memory does not grow
 * with the backlog.
 */
export class DeliveryQueue {
  readonly #db: Db;
  readonly #steadyNow: () => number;
  readonly #max = outgoingShare(CONCURRENT_MAX);
  readonly #queues = new Map<string, EndpointQueue>();
  /** Queues in which a delivery may be ready to start. */
  readonly #active = new Set<EndpointQueue>();

  /** `off` is called for a disabled endpoint that may have pending deliveries. */
  constructor(
    db: Db,
    steadyNow: () => number,
    readonly off: (webhookId: string) => void,
  ) {
    this.#db = db;
    this.#steadyNow = steadyNow;
  }

  /** True if a delivery may be ready to start. */
  get isActive(): boolean {
    return this.#active.size > 0;
  }

  /** Reads the endpoint's due deliveries again before the next start. */
  wake(webhookId: string): void {
    const queue = this.#queueOf(webhookId);
    queue.searchedTo = Number.POSITIVE_INFINITY;
    this.wakeEndpoint(queue);
  }

  wakeEndpoint(queue: EndpointQueue): void {
    queue.hasMore = true;
    queue.nextDueAt = Number.POSITIVE_INFINITY;
    this.#active.add(queue);
  }

  /** Reads the enabled endpoints and those with pending deliveries. */
  rescan(): void {
    const live = new Set(listLiveWebhooks(this.#db, {}).map(({ id }) => id));
    // Every enabled endpoint has a share, also without pending deliveries.
    for (const id of live) this.#queueOf(id);
    for (const [id, queue] of this.#queues) {
      if (!live.has(id) && queue.claimed === 0) this.#forget(queue);
    }
    for (const { id } of listAwaited(this.#db, {})) this.wake(id);
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
    for (const queue of this.#active) {
      if (!this.#fill(queue) || !queue.hasNext() || !fairShare.take(queue.underWay)) continue;
      if (!canStart()) return;
      const due = queue.begin();
      if (!due) continue;
      // Moved to the end, so that other endpoints come first.
      this.#active.delete(queue);
      this.#active.add(queue);
      yield { queue, due };
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

  /** Wakes the queues with deliveries that have fallen due. */
  wakeDue(): void {
    const now = this.#steadyNow();
    for (const queue of this.#queues.values()) if (queue.nextDueAt <= now) this.wakeEndpoint(queue);
  }

  /**
   * Reads the next page if few deliveries are left. Returns true if the queue has waiting
   * deliveries.
   */
  #fill(queue: EndpointQueue): boolean {
    if (queue.hasMore && (queue.waiting < LOW || isWorthSearching(queue))) {
      if (!findLiveWebhook(this.#db, { id: queue.webhookId })) {
        queue.clear();
        if (queue.claimed === 0) this.#forget(queue);
        this.#active.delete(queue);
        this.off(queue.webhookId);
        return false;
      }
      do this.#readPage(queue);
      while (queue.hasMore && queue.waiting < HELD_MAX && !queue.hasNext());
      queue.searchedTo = queue.waiting;
    }
    if (queue.waiting > 0) return true;
    this.#active.delete(queue);
    return false;
  }

  #readPage(queue: EndpointQueue): void {
    const { webhookId } = queue;
    const now = this.#steadyNow();
    const limit = PAGE + queue.claimed;
    const due = listDue(this.#db, { webhookId, now, limit });
    queue.claim(due);
    queue.hasMore = due.length === limit;
    if (queue.hasMore) return;
    queue.nextDueAt = findNextDue(this.#db, { webhookId, now })?.at ?? Number.POSITIVE_INFINITY;
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
  }
}

/**
 * Returns true if all waiting deliveries wait for others of their subjects, and further ones may be
 * of another subject.
 */
function isWorthSearching(queue: EndpointQueue): boolean {
  return queue.waiting < HELD_MAX && queue.waiting + PAGE <= queue.searchedTo && !queue.hasNext();
}
