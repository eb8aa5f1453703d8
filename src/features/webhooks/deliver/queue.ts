import type { Db } from "../../../db";
import { outgoingShare } from "../../../kernel/descriptors";
import { findNextDue, listAwaited, listDue } from "../delivery-store";
import { findLiveWebhook, listLiveWebhooks } from "../store";
import { type Due, Lane } from "./lane";
import { MOST_IN_ALL, Shares } from "./shares";

/** How many of an endpoint's deliveries are held at a time, and with how few the next page is read. */
const PAGE = 64;
const LOW = 8;
/** How many are held at most in search of one that waits for no other of its subject. */
const MOST_HELD = 512;

/** A delivery to be tried, with the lane that it is taken from. */
export interface Begun {
  lane: Lane;
  due: Due;
}

/**
 * What is due to whom. The database knows all of it; here is a page of it for each endpoint, whatever
 * waits behind, so that memory does not grow with what waits.
 */
export class Queue {
  readonly #db: Db;
  readonly #steadyNow: () => number;
  readonly #most = outgoingShare(MOST_IN_ALL);
  readonly #lanes = new Map<string, Lane>();
  /** The lanes in which something may be begun. */
  readonly #active = new Set<Lane>();

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
    const lane = this.#laneOf(webhookId);
    lane.searchedTo = Number.POSITIVE_INFINITY;
    this.wakeLane(lane);
  }

  wakeLane(lane: Lane): void {
    lane.mayHaveMore = true;
    lane.nextDueAt = Number.POSITIVE_INFINITY;
    this.#active.add(lane);
  }

  /** Reads anew who takes anything and for whom something waits. */
  lookAround(): void {
    const live = new Set(listLiveWebhooks(this.#db, {}).map(({ id }) => id));
    // Each has its share, also while nothing waits for it.
    for (const id of live) this.#laneOf(id);
    for (const [id, lane] of this.#lanes) {
      if (!live.has(id) && lane.claimed === 0) this.#forget(lane);
    }
    for (const { id } of listAwaited(this.#db, {})) this.wake(id);
  }

  /**
   * Begins what may be begun now: one for each endpoint in turn, until all have what they may or
   * `mayBegin` says no.
   */
  *begin(mayBegin: () => boolean): Generator<Begun, void, void> {
    const shares = new Shares(
      Array.from(this.#lanes.values(), (lane) => lane.underWay),
      this.#most,
    );
    for (const lane of this.#active) {
      if (!this.#fill(lane) || !lane.hasNext() || !shares.take(lane.underWay)) continue;
      if (!mayBegin()) return;
      const due = lane.begin();
      if (!due) continue;
      // At the end its turn comes again, now or next time.
      this.#active.delete(lane);
      this.#active.add(lane);
      yield { lane, due };
    }
  }

  /** What came of a try is known; if it is to be tried again, `nextTryAt` says when (steady ms). */
  release({ lane, due }: Begun, nextTryAt?: number): void {
    lane.release(due);
    // It may have been queued again by hand since.
    this.wakeLane(lane);
    if (nextTryAt !== undefined) lane.nextDueAt = nextTryAt;
  }

  /** When the next one is due of which that is known (steady ms); infinity if there is none. */
  nextDueAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes.values()) next = Math.min(next, lane.nextDueAt);
    return next;
  }

  /** Wakes the lanes in which something has fallen due. */
  wakeDue(): void {
    const now = this.#steadyNow();
    for (const lane of this.#lanes.values()) if (lane.nextDueAt <= now) this.wakeLane(lane);
  }

  /** Reads on where what is held runs out. Whether the lane holds anything that waits. */
  #fill(lane: Lane): boolean {
    if (lane.mayHaveMore && (lane.waiting < LOW || isWorthSearching(lane))) {
      if (!findLiveWebhook(this.#db, { id: lane.webhookId })) {
        lane.clear();
        if (lane.claimed === 0) this.#forget(lane);
        this.#active.delete(lane);
        this.off(lane.webhookId);
        return false;
      }
      do this.#readPage(lane);
      while (lane.mayHaveMore && lane.waiting < MOST_HELD && !lane.hasNext());
      lane.searchedTo = lane.waiting;
    }
    if (lane.waiting > 0) return true;
    this.#active.delete(lane);
    return false;
  }

  #readPage(lane: Lane): void {
    const { webhookId } = lane;
    const now = this.#steadyNow();
    const limit = PAGE + lane.claimed;
    const due = listDue(this.#db, { webhookId, now, limit });
    lane.claim(due);
    lane.mayHaveMore = due.length === limit;
    if (lane.mayHaveMore) return;
    lane.nextDueAt = findNextDue(this.#db, { webhookId, now })?.at ?? Number.POSITIVE_INFINITY;
  }

  #laneOf(webhookId: string): Lane {
    let lane = this.#lanes.get(webhookId);
    if (!lane) {
      lane = new Lane(webhookId);
      this.#lanes.set(webhookId, lane);
    }
    return lane;
  }

  #forget(lane: Lane): void {
    this.#lanes.delete(lane.webhookId);
    this.#active.delete(lane);
  }
}

/** All that is held waits for others of its subject, and what is not may be of another one. */
function isWorthSearching(lane: Lane): boolean {
  return lane.waiting < MOST_HELD && lane.waiting + PAGE <= lane.searchedTo && !lane.hasNext();
}
