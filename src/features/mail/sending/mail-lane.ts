import type { Db } from "../../../db/database";
import { type DueMail, findNextDomain, type LaneKey, listDue } from "../queue-store";

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
export interface ClaimedMails {
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
export class MailLane {
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
