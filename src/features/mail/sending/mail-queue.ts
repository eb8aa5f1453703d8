import type { MailClass } from "../../../base/mail-address";
import { MINUTE_MS } from "../../../base/time";
import type { Db } from "../../../db/database";
import { domainShare, mailingConnections, relayWaitMs } from "../rules";
import {
  type DueMail,
  findFirstBatch,
  findLastBatch,
  findMailing,
  findNextDomain,
  findNextDue,
  findNextMailing,
  type LaneKey,
  listDue,
  listNewlyDue,
} from "../store";

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

/** Number of domains in memory below which further ones are read. */
const DOMAINS_LOW = 32;

/** Maximum number in memory while searching for a mail that can start. */
const DOMAINS_MAX = 256;

/** Maximum number of domains that one search reads: some hundred microseconds. */
const READ_MAX = 64;

/** Number of mails to one domain that one read adds. */
const MAILS_PER_DOMAIN = 16;

/** Number of waiting mails to one domain up to which further ones are read to find one that can start. */
const SEARCHED_MAX = 512;

/** Mails that have begun, or whose results are not recorded. The database still shows them as due. */
interface ClaimedMails {
  has(id: string): boolean;
  readonly size: number;
  /** True if an earlier try of the mail was broken off. It goes after others. */
  isSetBack(id: string): boolean;
  /** Number of such mails. The database shows them as due before all others. */
  readonly setBacks: number;
}

/** Conditions of a start. */
interface Start {
  /** True if a mail to a domain may start at all. */
  canUse(domain: string): boolean;
  canStart(mail: DueMail): boolean;
}

/** Due mails to one domain. */
interface DomainQueue {
  domain: string;
  waiting: DueMail[];
  /** True if the database may have further due mails. */
  hasMore: boolean;
  /** Number of waiting mails after the last read, so that the database is not read in vain again and again. */
  searchedTo: number;
}

/**
 * Pending mails of one class or one mailing. Domains take turns: a search goes through those with due mails,
 * and each mail moves its domain to the end. Only some mails are in memory; the others stay in the database.
 */
class MailLane {
  readonly #db: Db;
  readonly #steadyNow: () => number;
  readonly #claimed: ClaimedMails;
  /** Domains with due mails. The first one is next. */
  #turn: DomainQueue[] = [];
  readonly #byDomain = new Map<string, DomainQueue>();
  /** Domain after which reading goes on; undefined once all were read. */
  #readAfter: string | undefined = "";
  /** True if mails were added while domains were being read. */
  #isStale = false;

  constructor(
    readonly key: LaneKey,
    deps: { db: Db; steadyNow: () => number; claimed: ClaimedMails },
  ) {
    this.#db = deps.db;
    this.#steadyNow = deps.steadyNow;
    this.#claimed = deps.claimed;
  }

  /** True if a mail may be ready to start. */
  get isActive(): boolean {
    return this.#turn.length > 0 || this.isReading;
  }

  /** True if not all domains with due mails are known yet. */
  get isReading(): boolean {
    return this.#readAfter !== undefined;
  }

  /** True if a search that found nothing can go on in the next turn of the event loop. */
  get canReadOn(): boolean {
    return this.isReading && this.#turn.length < this.#domainsMax;
  }

  /** A domain whose mails were all set back takes no place from others. */
  get #domainsMax(): number {
    return DOMAINS_MAX + this.#claimed.setBacks;
  }

  /** Reads all domains again: mails were added or changed. */
  wake(): void {
    for (const queue of this.#turn) wakeQueue(queue);
    if (this.#readAfter === undefined) this.#readAfter = "";
    else this.#isStale = true;
  }

  /** Reads the due mails of one domain again. */
  wakeDomain(domain: string): void {
    const queue = this.#byDomain.get(domain);
    if (queue) wakeQueue(queue);
    else this.#add(domain);
  }

  /** Takes the next mail that can start, from each domain in turn. */
  take(start: Start): DueMail | undefined {
    let reads = READ_MAX;
    for (let low = DOMAINS_LOW; ; low = this.#turn.length + DOMAINS_LOW) {
      while (this.#readAfter !== undefined && this.#turn.length < low && reads > 0) {
        this.#readNext(this.#readAfter);
        reads -= 1;
      }
      const mail = this.#takeInTurn(start);
      const isAtEnd = !this.isReading || reads === 0 || this.#turn.length >= this.#domainsMax;
      if (mail || isAtEnd) return mail;
    }
  }

  #readNext(after: string): void {
    const next = findNextDomain(this.#db, { ...this.key, after });
    if (!next) {
      this.#readAfter = this.#isStale ? "" : undefined;
      this.#isStale = false;
      return;
    }
    this.#readAfter = next.domain;
    const isDue = next.dueAt !== null && next.dueAt <= this.#steadyNow();
    if (isDue && !this.#byDomain.has(next.domain)) this.#add(next.domain);
  }

  #add(domain: string): void {
    const queue = { domain, waiting: [], hasMore: true, searchedTo: Number.POSITIVE_INFINITY };
    this.#byDomain.set(domain, queue);
    this.#turn.push(queue);
  }

  #takeInTurn(start: Start): DueMail | undefined {
    for (let left = this.#turn.length; left > 0; left--) {
      const queue = this.#turn.shift();
      if (!queue) return undefined;
      const mail = this.#takeFrom(queue, start);
      if (queue.waiting.length > 0 || queue.hasMore) this.#turn.push(queue);
      else this.#byDomain.delete(queue.domain);
      if (mail) return mail;
    }
    return undefined;
  }

  #takeFrom(queue: DomainQueue, { canUse, canStart }: Start): DueMail | undefined {
    if (!canUse(queue.domain)) return undefined;
    let index = queue.waiting.findIndex(canStart);
    // Waiting mails that cannot start, such as those at which the relay broke off, hide no others.
    if (index === -1 && isWorthReading(queue)) {
      do {
        this.#fill(queue);
        index = queue.waiting.findIndex(canStart);
      } while (index === -1 && queue.hasMore && queue.waiting.length < SEARCHED_MAX);
    }
    return index === -1 ? undefined : queue.waiting.splice(index, 1)[0];
  }

  #fill(queue: DomainQueue): void {
    const { size, setBacks } = this.#claimed;
    const limit = MAILS_PER_DOMAIN + queue.waiting.length + size + setBacks;
    const now = this.#steadyNow();
    const due = listDue(this.#db, { ...this.key, domain: queue.domain, now, limit });
    queue.hasMore = due.length === limit;
    const waiting = due.filter(({ id }) => !this.#claimed.has(id));
    queue.searchedTo = waiting.length;
    queue.waiting = waiting.toSorted(
      (a, b) => Number(this.#claimed.isSetBack(a.id)) - Number(this.#claimed.isSetBack(b.id)),
    );
  }
}

function wakeQueue(queue: DomainQueue): void {
  queue.hasMore = true;
  queue.searchedTo = Number.POSITIVE_INFINITY;
}

/** True if the database may have a mail that can start, though no waiting one can. */
function isWorthReading({ waiting, hasMore, searchedTo }: DomainQueue): boolean {
  if (!hasMore) return false;
  return waiting.length === 0 || waiting.length + MAILS_PER_DOMAIN <= searchedTo;
}

/** Two refusals within this time limit a domain. */
const WITHIN_MS = MINUTE_MS;

const FIRST_MS = MINUTE_MS;

const LONGEST_MS = 15 * MINUTE_MS;

/** Number of domains beyond which old ones are forgotten. */
const LIMITED_DOMAINS_MAX = 1_000;

interface Refusals {
  lastAt: number;
  /** Duration of the last limit; 0 before the first. */
  limitMs: number;
  limitedUntil: number;
}

/**
 * Domains that get one connection for some time, since the relay refused mails to them for now. Times are those
 * of the monotonic clock, in ms.
 */
export class DomainLimits {
  readonly #refusals = new Map<string, Refusals>();

  /** Records a refusal for now. The second one within a minute limits the domain; further ones for longer. */
  add(domain: string, now: number): void {
    const earlier = this.#refusals.get(domain);
    this.#refusals.delete(domain);
    this.#forgetOld(now);
    const refusals = earlier ?? { lastAt: Number.NEGATIVE_INFINITY, limitMs: 0, limitedUntil: 0 };
    const isSecond = now - refusals.lastAt <= WITHIN_MS;
    refusals.lastAt = now;
    if (isSecond && now >= refusals.limitedUntil) {
      const isRepeated = now - refusals.limitedUntil <= LONGEST_MS && refusals.limitMs > 0;
      refusals.limitMs = isRepeated ? Math.min(2 * refusals.limitMs, LONGEST_MS) : FIRST_MS;
      refusals.limitedUntil = now + refusals.limitMs;
    }
    this.#refusals.set(domain, refusals);
  }

  isLimited(domain: string, now: number): boolean {
    return now < (this.#refusals.get(domain)?.limitedUntil ?? 0);
  }

  #forgetOld(now: number): void {
    if (this.#refusals.size < LIMITED_DOMAINS_MAX) return;
    for (const [domain, { lastAt, limitedUntil }] of this.#refusals) {
      if (Math.max(lastAt, limitedUntil) + LONGEST_MS < now) this.#refusals.delete(domain);
    }
  }
}

/** Number of mails, and of domains, beyond which the oldest are forgotten. */
const KEPT_MAX = 1_000;

/** A mail, or the mails to one domain, at which the relay broke off. */
interface BrokenOff {
  count: number;
  /** Time of the last break-off. */
  at: number;
  /** Time of the next try. */
  until: number;
}

/** Meaning of a break-off for all mails. */
type RelaySuspicion =
  /** Only the mail waits, or the mails to its domain. */
  | "none"
  /** The relay answered no mail since an earlier break-off, but other domains were not tried. */
  | "unanswered"
  /** The relay broke off at mails to two domains, and answered none between. */
  | "anywhere";

/**
 * Mails at which the relay broke off, and their domains. Each such mail waits, twice as long after each try. The
 * first try of a mail tells also about its domain, and about the relay: a domain gets one connection until the relay
 * answers a mail to it, and waits if there is a second break-off before. Later tries of the mail tell nothing new.
 * Times are steady unix ms.
 */
class BreakOffs {
  /** By id, the oldest first. */
  readonly #mails = new Map<string, BrokenOff>();
  /** Domains without an answer since a first break-off, the oldest first. */
  readonly #domains = new Map<string, BrokenOff>();
  /** Domains with first break-offs since the last answer to any mail. */
  readonly #inRow = new Set<string>();
  #lastAnswer = Number.NEGATIVE_INFINITY;

  /** Number of mails that wait, or have waited and are to be tried again. */
  get size(): number {
    return this.#mails.size;
  }

  /** Adds a break-off that happened now. Those while a domain waits share its wait. */
  add({ id, domain }: { id: string; domain: string }, now: number): RelaySuspicion {
    const earlier = this.#mails.get(id);
    put(this.#mails, id, afterNext(earlier, now, 0));
    if (earlier) return this.#isUnanswered(earlier) ? "unanswered" : "none";
    const before = this.#domains.get(domain);
    if (!before || now >= before.until) put(this.#domains, domain, afterNext(before, now, 1));
    this.#inRow.add(domain);
    if (this.#inRow.size > 1) return "anywhere";
    return before && this.#isUnanswered(before) ? "unanswered" : "none";
  }

  #isUnanswered({ at }: BrokenOff): boolean {
    return this.#lastAnswer < at;
  }

  /** Records that the relay answered a mail to a domain. One that began before a break-off proves nothing about it. */
  answer(domain: string, begunAt: number): void {
    this.#lastAnswer = Math.max(this.#lastAnswer, begunAt);
    this.#inRow.clear();
    const at = this.#domains.get(domain)?.at;
    if (at !== undefined && at <= begunAt) this.#domains.delete(domain);
  }

  isSetBack(id: string): boolean {
    return this.#mails.has(id);
  }

  isWaiting(id: string, now: number): boolean {
    return (this.#mails.get(id)?.until ?? 0) > now;
  }

  /** True if a domain gets one connection. */
  isInDoubt(domain: string): boolean {
    return this.#domains.has(domain);
  }

  /** True if no mail to a domain may start. */
  isDomainWaiting(domain: string, now: number): boolean {
    return (this.#domains.get(domain)?.until ?? 0) > now;
  }

  /** Returns the time at which the next mail or domain has waited; infinity without one. */
  nextAfter(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const waiting of [this.#mails, this.#domains]) {
      for (const { until } of waiting.values()) if (until > now) next = Math.min(next, until);
    }
    return next;
  }

  /** Forgets a mail whose result is recorded. */
  delete(id: string): void {
    this.#mails.delete(id);
  }

  clear(): void {
    this.#mails.clear();
    this.#domains.clear();
    this.#inRow.clear();
  }
}

/** Returns the entry after one more break-off. The first `free` ones cause no wait. */
function afterNext(before: BrokenOff | undefined, now: number, free: number): BrokenOff {
  const count = (before?.count ?? 0) + 1;
  return { count, at: now, until: count > free ? now + relayWaitMs(count - free - 1) : now };
}

/** Sets an entry and moves it to the end. */
function put(entries: Map<string, BrokenOff>, key: string, entry: BrokenOff): void {
  entries.delete(key);
  for (const oldest of entries.keys()) {
    if (entries.size < KEPT_MAX) break;
    entries.delete(oldest);
  }
  entries.set(key, entry);
}
