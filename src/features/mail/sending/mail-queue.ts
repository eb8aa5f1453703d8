import type { Db } from "../../../db/database";
import type { MailClass } from "../../../base/mail-address";
import {
  type DueMail,
  findFirstBatch,
  findLastBatch,
  findMailing,
  findNextDue,
  findNextMailing,
  type LaneKey,
  listNewlyDue,
} from "../queue-store";
import { domainShare, mailingConnections } from "../rules";
import { BreakOffs, type RelaySuspicion } from "./break-offs";
import { type ClaimedMails, MailLane } from "./mail-lane";

const CLASSES: readonly MailClass[] = [1, 2, 3];
/** Maximum number of newly due mails that are read one by one. With more, all domains are read again. */
const NEWLY_DUE_MAX = 256;

/** A mail that begins. */
export interface BegunMail extends DueMail {
  lane: MailLane;
  /** Time of its start (steady ms). */
  begunAt: number;
}

/** Capacity for mails at this moment. */
export interface Capacity {
  connections: number;
  /** False while all mailings are held. */
  hasMailings: boolean;
  /** True if one mail finds out if the relay is available again. */
  isProbe: boolean;
  isLimited(domain: string): boolean;
}

/**
 * Due mails of all classes. Class 1 goes first, then class 2, then the mailings from the oldest. Mails about
 * one subject go to one recipient one after the other.
 */
export class MailQueue implements ClaimedMails {
  readonly #db: Db;
  readonly #steadyNow: () => number;
  /** Lanes of classes 1 and 2, and of mailings by id and batch. */
  readonly #single: readonly [MailLane, MailLane];
  #mailings = new Map<string, MailLane>();
  readonly #claimed = new Set<string>();
  readonly #breakOffs = new BreakOffs();
  /** Recipients with subjects of claimed mails. */
  readonly #busy = new Set<string>();
  readonly #underWayByDomain = new Map<string, number>();
  #mailingsUnderWay = 0;
  /** Time up to which due mails were read, by class. */
  readonly #seenUntil = new Map<MailClass, number>();
  #nextDueAt = Number.POSITIVE_INFINITY;

  /** `stopped` is called for a stopped mailing with pending mails. */
  constructor(
    db: Db,
    steadyNow: () => number,
    readonly stopped: (mailingId: string) => void,
  ) {
    this.#db = db;
    this.#steadyNow = steadyNow;
    this.#single = [this.#lane(1), this.#lane(2)];
  }

  get size(): number {
    return this.#claimed.size;
  }

  has(id: string): boolean {
    return this.#claimed.has(id);
  }

  isSetBack(id: string): boolean {
    return this.#breakOffs.isSetBack(id);
  }

  get setBacks(): number {
    return this.#breakOffs.size;
  }

  /** True if a mail may be ready to start. */
  isActive(capacity: Capacity): boolean {
    return this.#inOrder(capacity)
      .flat()
      .some((lane) => lane.isActive);
  }

  /** True if a search that found nothing can go on in the next turn of the event loop. */
  canReadOn(capacity: Capacity): boolean {
    return this.#inOrder(capacity)
      .flat()
      .some((lane) => lane.canReadOn);
  }

  /** Time of the next mail that is not due yet (steady ms); infinity without one. */
  get nextDueAt(): number {
    return this.#nextDueAt;
  }

  /** Reads all due mails again. */
  rescan(): void {
    const mailings = new Map<string, MailLane>();
    for (let after = ""; ;) {
      const id = findNextMailing(this.#db, { after })?.id;
      if (id === undefined || id === null) break;
      after = id;
      const state = findMailing(this.#db, { id })?.state;
      if (state === "stopped") this.stopped(id);
      else if (state !== "held") this.#addBatches(mailings, id);
    }
    this.#mailings = mailings;
    const now = this.#steadyNow();
    for (const one of CLASSES) this.#seenUntil.set(one, now);
    for (const lane of [...this.#single, ...mailings.values()]) lane.wake();
    this.#findNextDue(now);
  }

  /** Adds the lanes of a mailing, from its first to its last batch with pending mails. */
  #addBatches(mailings: Map<string, MailLane>, mailingId: string): void {
    const first = findFirstBatch(this.#db, { mailingId })?.batch ?? 0;
    const last = findLastBatch(this.#db, { mailingId })?.batch ?? -1;
    for (let batch = first; batch <= last; batch++) {
      const key = batchKey(mailingId, batch);
      mailings.set(key, this.#mailings.get(key) ?? this.#lane(3, mailingId, batch));
    }
  }

  /** Reads the mails that have become due. */
  wakeDue(): void {
    const now = this.#steadyNow();
    for (const one of CLASSES) {
      const after = this.#seenUntil.get(one) ?? now;
      const until = { class: one, after, until: now, limit: NEWLY_DUE_MAX };
      const due = listNewlyDue(this.#db, until);
      if (due.length === NEWLY_DUE_MAX) return this.rescan();
      for (const { domain, ...lane } of due) {
        this.#laneOf({ class: one, ...lane })?.wakeDomain(domain);
      }
      this.#seenUntil.set(one, now);
    }
    this.#findNextDue(now);
  }

  /** Takes the next mail that can start. The caller ends and releases it. */
  take(capacity: Capacity): BegunMail | undefined {
    // The relay may be unavailable only because of the mails at which it broke off.
    const other = capacity.isProbe && this.#takeIf(capacity, (due) => !this.isSetBack(due.id));
    return other || this.#takeIf(capacity, () => true);
  }

  #takeIf(capacity: Capacity, isWanted: (mail: DueMail) => boolean): BegunMail | undefined {
    const { connections } = capacity;
    const now = this.#steadyNow();
    for (const lanes of this.#inOrder(capacity)) {
      // One domain gets more than its share only if no other one can use the connection.
      for (const share of [domainShare(connections), connections]) {
        for (const lane of lanes) {
          const mail = lane.take({
            canUse: (domain) =>
              !this.#breakOffs.isDomainWaiting(domain, now) &&
              this.#underWayTo(domain) < (this.#isLimited(domain, capacity) ? 1 : share),
            canStart: (due) =>
              isWanted(due) &&
              !this.#busy.has(subjectOf(due)) &&
              !this.#breakOffs.isWaiting(due.id, now),
          });
          if (mail) return this.#begin({ ...mail, lane, begunAt: now });
        }
      }
    }
    return undefined;
  }

  /** Ends the use of a connection. The mail is claimed until its result is recorded. */
  end({ domain, lane }: BegunMail): void {
    if (lane.key.class === 3) this.#mailingsUnderWay -= 1;
    const left = this.#underWayTo(domain) - 1;
    if (left > 0) this.#underWayByDomain.set(domain, left);
    else this.#underWayByDomain.delete(domain);
  }

  /** Releases an ended mail whose result is recorded. `nextTryAt` is the time of its next try (steady ms). */
  release(mail: BegunMail, nextTryAt: number | null = null): void {
    this.#unclaim(mail);
    this.#breakOffs.delete(mail.id);
    if (nextTryAt !== null) this.#nextDueAt = Math.min(this.#nextDueAt, nextTryAt);
  }

  /** Lets an ended mail without a result start again. */
  putBack(mail: BegunMail): void {
    this.#unclaim(mail);
    this.#laneOf(mail.lane.key)?.wakeDomain(mail.domain);
  }

  /** Lets a mail at which the relay broke off start again after a wait. Returns what that says about the relay. */
  breakOff(mail: BegunMail): RelaySuspicion {
    const now = this.#steadyNow();
    const suspicion = this.#breakOffs.add(mail, now);
    this.#nextDueAt = Math.min(this.#nextDueAt, this.#breakOffs.nextAfter(now));
    this.putBack(mail);
    return suspicion;
  }

  /** Records that the relay answered a mail. */
  answer({ domain, begunAt }: BegunMail): void {
    this.#breakOffs.answer(domain, begunAt);
  }

  /** Forgets which tries were broken off, such as after a change of the relay. */
  forgetBreakOffs(): void {
    this.#breakOffs.clear();
  }

  #begin(mail: BegunMail): BegunMail {
    if (mail.lane.key.class === 3) this.#mailingsUnderWay += 1;
    this.#underWayByDomain.set(mail.domain, this.#underWayTo(mail.domain) + 1);
    this.#claimed.add(mail.id);
    this.#busy.add(subjectOf(mail));
    return mail;
  }

  #unclaim(mail: BegunMail): void {
    this.#claimed.delete(mail.id);
    this.#busy.delete(subjectOf(mail));
  }

  #isLimited(domain: string, capacity: Capacity): boolean {
    return capacity.isLimited(domain) || this.#breakOffs.isInDoubt(domain);
  }

  #underWayTo(domain: string): number {
    return this.#underWayByDomain.get(domain) ?? 0;
  }

  /** Returns the lanes from which mails may start, by class. */
  #inOrder({ connections, hasMailings }: Capacity): MailLane[][] {
    const [accounts, team] = this.#single;
    const hasRoom = hasMailings && this.#mailingsUnderWay < mailingConnections(connections);
    return [[accounts], [team], hasRoom ? [...this.#mailings.values()] : []];
  }

  #laneOf({ class: one, mailingId, batch }: LaneKey): MailLane | undefined {
    if (one === 3) return this.#mailings.get(batchKey(mailingId ?? "", batch));
    return this.#single[one === 1 ? 0 : 1];
  }

  #lane(mailClass: MailClass, mailingId: string | null = null, batch = 0): MailLane {
    const key = { class: mailClass, mailingId, batch };
    return new MailLane(key, { db: this.#db, steadyNow: this.#steadyNow, claimed: this });
  }

  #findNextDue(now: number): void {
    const times = CLASSES.map((one) => findNextDue(this.#db, { class: one, now })?.at);
    times.push(this.#breakOffs.nextAfter(now));
    this.#nextDueAt = Math.min(...times.map((at) => at ?? Number.POSITIVE_INFINITY));
  }
}

function batchKey(mailingId: string, batch: number): string {
  return `${mailingId} ${batch}`;
}

/** Returns a key of recipient and subject. */
function subjectOf({ recipient, subjectId }: DueMail): string {
  return `${subjectId} ${recipient.toLowerCase()}`;
}
