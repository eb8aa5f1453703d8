import type { Db } from "../../../db";
import { outgoingShare } from "../../../kernel/descriptors";
import { findNextDue, listAwaited, listDue } from "../delivery-store";
import { findLiveWebhook, listLiveWebhooks } from "../store";
import { type Due, EndpointQueue } from "./endpoint-queue";
import { MOST_IN_ALL, FairShare } from "./fair-share";

/** How many of an endpoint's deliveries are held at a time, and with how few the next page is read. */
const PAGE = 64;
const LOW = 8;
/** How many are held at most in search of one that waits for no other of its subject. */
const MOST_HELD = 512;

/** A delivery to be tried, with the lane that it is taken from. */
export interface Begun {
  queue: EndpointQueue;
  due: Due;
}

/**
 * What is due to whom. The database knows all of it; here is a page of it for each endpoint, whatever
 * waits behind, so that memory does not grow with what waits.
 */
export class DeliveryQueue {
  readonly #db: Db;
  readonly #steadyNow: () => number;
  readonly #most = outgoingShare(MOST_IN_ALL);
  readonly #queues = new Map<string, EndpointQueue>();
  /** The lanes in which something may be begun. */
  readonly #active = new Set<EndpointQueue>();

  /** `off`: told of an endpoint that takes nothing, for which something may wait. */
  constructor(
    db: Db,
    steadyNow: () => number,
    readonly off: (webhookId: string) => void,
  ) {
    this.#db = db;
    this.#steadyNow = steadyNow;
  }

  /** Whether something may be there to begin now. */
  get isActive(): boolean {
    return this.#active.size > 0;
  }

  /** Something may be due to an endpoint. */
  wake(webhookId: string): void {
    const queue = this.#laneOf(webhookId);
    queue.searchedTo = Number.POSITIVE_INFINITY;
    this.wakeEndpoint(queue);
  }

  wakeEndpoint(queue: EndpointQueue): void {
    queue.mayHaveMore = true;
    queue.nextDueAt = Number.POSITIVE_INFINITY;
    this.#active.add(queue);
  }

  /** Reads anew who takes anything and for whom something waits. */
  lookAround(): void {
    const live = new Set(listLiveWebhooks(this.#db, {}).map(({ id }) => id));
    // Each has its share, also while nothing waits for it.
    for (const id of live) this.#laneOf(id);
    for (const [id, queue] of this.#queues) {
      if (!live.has(id) && queue.claimed === 0) this.#forget(queue);
    }
    for (const { id } of listAwaited(this.#db, {})) this.wake(id);
  }

  /**
   * Begins what may be begun now: one for each endpoint in turn, until all have what they may or
   * `mayBegin` says no.
   */
  *begin(mayBegin: () => boolean): Generator<Begun, void, void> {
    const fairShare = new FairShare(
      Array.from(this.#queues.values(), (queue) => queue.underWay),
      this.#most,
    );
    for (const queue of this.#active) {
      if (!this.#fill(queue) || !queue.hasNext() || !fairShare.take(queue.underWay)) continue;
      if (!mayBegin()) return;
      const due = queue.begin();
      if (!due) continue;
      // At the end its turn comes again, now or next time.
      this.#active.delete(queue);
      this.#active.add(queue);
      yield { queue, due };
    }
  }

  /** What came of a try is known; if it is to be tried again, `nextTryAt` says when (steady ms). */
  release({ queue, due }: Begun, nextTryAt?: number): void {
    queue.release(due);
    // It may have been queued again by hand since.
    this.wakeEndpoint(queue);
    if (nextTryAt !== undefined) queue.nextDueAt = nextTryAt;
  }

  /** When the next one is due of which that is known (steady ms); infinity if there is none. */
  nextDueAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues.values()) next = Math.min(next, queue.nextDueAt);
    return next;
  }

  /** Wakes the lanes in which something has fallen due. */
  wakeDue(): void {
    const now = this.#steadyNow();
    for (const queue of this.#queues.values()) if (queue.nextDueAt <= now) this.wakeEndpoint(queue);
  }

  /** Reads on where what is held runs out. Whether the lane holds anything that waits. */
  #fill(queue: EndpointQueue): boolean {
    if (queue.mayHaveMore && (queue.waiting < LOW || isWorthSearching(queue))) {
      if (!findLiveWebhook(this.#db, { id: queue.webhookId })) {
        queue.clear();
        if (queue.claimed === 0) this.#forget(queue);
        this.#active.delete(queue);
        this.off(queue.webhookId);
        return false;
      }
      do this.#readPage(queue);
      while (queue.mayHaveMore && queue.waiting < MOST_HELD && !queue.hasNext());
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
    queue.mayHaveMore = due.length === limit;
    if (queue.mayHaveMore) return;
    queue.nextDueAt = findNextDue(this.#db, { webhookId, now })?.at ?? Number.POSITIVE_INFINITY;
  }

  #laneOf(webhookId: string): EndpointQueue {
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

/** All that is held waits for others of its subject, and what is not may be of another one. */
function isWorthSearching(queue: EndpointQueue): boolean {
  return queue.waiting < MOST_HELD && queue.waiting + PAGE <= queue.searchedTo && !queue.hasNext();
}
