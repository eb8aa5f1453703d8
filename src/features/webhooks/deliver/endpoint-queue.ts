import type { WebhookFormat } from "../../../base/webhook";
import type { Destination } from "./destination";

/** Properties of a due delivery that the queue needs. */
export interface Due {
  id: string;
  subjectId: string;
  /** True if there was no attempt since it was queued. */
  isFirst: boolean;
  /** True for messages for people about monitors. */
  isOrdered: boolean;
}

/**
 * Deliveries to one endpoint. It holds one page of due deliveries; the rest stays in the database.
 * First attempts of one subject run in sequence, in the order of their events. So do all attempts of messages about
 * monitors, each after the result of the one before it was recorded: it can make the next one superfluous.
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
  /** Id of the message about monitors that runs or has an unrecorded result. */
  #ordered: string | undefined;
  /** True if the database may have further due deliveries. */
  hasMore = true;
  /**
   * Number of waiting deliveries at the last read, so that the database is not read after each one.
   */
  searchedTo = Number.POSITIVE_INFINITY;
  /** Format and destination of the endpoint, from the last read; undefined destination for e-mail. */
  target: { format: WebhookFormat; destination: Destination | undefined } | undefined;
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
   * Lets later deliveries start before one that is held or whose result is lost, as after a failed attempt: those about
   * monitors, and those of its subject.
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
    // Subjects with an earlier first attempt that waits for another message about monitors.
    const waiting = new Set<string>();
    return this.#waiting.findIndex(({ isFirst, isOrdered, subjectId }) => {
      if (isFirst && (this.#busySubjects.has(subjectId) || waiting.has(subjectId))) return false;
      if (!isOrdered || this.#ordered === undefined) return true;
      if (isFirst) waiting.add(subjectId);
      return false;
    });
  }
}
