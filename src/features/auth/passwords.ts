/*
 * Passwords: rules for new ones, and hashing and verification in bounded queues.
 */
import { Problem, unavailable } from "../../base/errors";
import { codePointLength } from "../../base/text";

// One of the equivalent minimums of OWASP's Password Storage Cheat Sheet: 19 MiB, two passes, one
// lane. Each at work holds that memory and a thread of the pool.
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

/** Most verifications at a time. One core is left to the thread that serves requests. */
const VERIFICATION_CONCURRENCY = 2;

const WAITING = 100;

const RETRY_AFTER_SECONDS = 5;

const UNKNOWN_TURN: Turn = { source: "", rank: () => 0 };

const SHORTEST = 12;

const LONGEST = 1_000;

/**
 * Maximum length before normalisation, in UTF-16 units: its time grows with the square of the
 * length.
 */
const LONGEST_NORMALISED = 2 * LONGEST;

/**
 * Hash of an unknown random password. Users without a hash are verified against it, so that the
 * response time does not reveal them.
 */
const DUMMY_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$IHLBl9vb0u90EyknVA3lV33hzZX5SVtu4+jc4MuqnwI$vaZh/YyJUHrNRGIs2tAr1a9bGSrao0azQVCa8SihJgA";

/** Returns true if a password matches a hash. */
type VerifyHash = (password: string, hash: string) => Promise<boolean>;

/**
 * Hashing and verification in other threads. Two sign-ins are verified at a time, one with two cores, to leave
 * the machine to other work. A hundred sources can wait, each with one verification. Hashing has a
 * separate queue, since its callers have a session or a link.
 */
export interface Passwords {
  /**
   * Hashes a password with argon2id (RFC 9106) into a PHC string, after normalisation to Unicode
   * NFKC, so that equal-looking passwords are equal on every keyboard. Check it with
   * `passwordError` first.
   */
  hash(password: string): Promise<string>;
  /**
   * Returns true if a password matches a hash, with the cost parameters in the hash.
   * Without a hash (no such user, or none chosen yet) it does the same work and returns false. Throws
   * `rate_limited` when the source has a verification waiting, `unavailable` when too many sources wait.
   */
  verify(password: string, hash: string | undefined | null, turn?: Turn): Promise<boolean>;
  /** Throws `unavailable` if too many sources wait for a verification in this turn to get a place. */
  requirePlace(turn: Turn): void;
}

export function createPasswords(
  verifyHash: VerifyHash = Bun.password.verify,
  concurrency = verificationsAtOnce(navigator.hardwareConcurrency),
): Passwords {
  const verifying = createBoundedQueue({
    concurrency,
    waiting: WAITING,
    waitingPerSource: 1,
    refuse: rejection,
  });
  const hashing = createBoundedQueue({
    concurrency: 1,
    waiting: WAITING,
    waitingPerSource: WAITING,
    refuse: rejection,
  });
  return {
    hash: (password) =>
      hashing.run(UNKNOWN_TURN, () => Bun.password.hash(normalise(password), ARGON2ID)),
    async verify(password, hash, turn = UNKNOWN_TURN) {
      // No user has a longer password, so this reveals nothing and takes no work.
      if (isTooLong(password)) return false;
      const normalised = normalise(password);
      const isRight = await verifying.run(turn, () => verifyHash(normalised, hash ?? DUMMY_HASH));
      return isRight && typeof hash === "string";
    },
    requirePlace: verifying.requirePlace,
  };
}

/** Returns how many sign-ins are verified at a time on a machine with this number of cores. */
export function verificationsAtOnce(cores: number): number {
  return Math.min(VERIFICATION_CONCURRENCY, Math.max(1, cores - 1));
}

function rejection(reason: RefusalReason): Problem {
  if (reason === "full") {
    return unavailable("Too many people are signing in at once.", RETRY_AFTER_SECONDS);
  }
  const detail = "Another sign-in from this address is being verified. Try again in 1 second.";
  return new Problem("rate_limited", detail, { headers: { "Retry-After": "1" } });
}

/**
 * Returns the error of a new password as the end of the sentence "The password …"; undefined for a
 * valid one. Lengths are in code points of the normalised text.
 */
export function passwordError(password: string, email: string): string | undefined {
  if (isTooLong(password)) return `is longer than ${LONGEST.toLocaleString("en")} characters`;
  const normalised = normalise(password);
  if (codePointLength(normalised) < SHORTEST) return `is shorter than ${SHORTEST} characters`;
  // In the form of a new user, this runs even if the e-mail is too long.
  const isEmail = !isTooLong(email) && foldCase(normalised) === foldCase(normalise(email));
  if (isEmail) return "must not be the e-mail address";
  return undefined;
}

function isTooLong(password: string): boolean {
  return password.length > LONGEST_NORMALISED || codePointLength(normalise(password)) > LONGEST;
}

function normalise(password: string): string {
  return password.normalize("NFKC");
}

function foldCase(text: string): string {
  return text.trim().toLowerCase();
}

/** Priority of a piece of work among those that wait. */
export interface Turn {
  /** Source of the work. */
  source: string;
  /**
   * Returns the current rank of the source. Work of a lower rank starts first; work of the same
   * rank in the order of arrival.
   */
  rank(): number;
}

/** `busy`: the source has the maximum of waiting work. `full`: all places are taken. */
type RefusalReason = "busy" | "full";

interface BoundedQueue {
  /** Runs work now or in its turn. Throws the error of `refuse` if the work gets no place or loses it. */
  run<T>(turn: Turn, work: () => Promise<T>): Promise<T>;
  /** Throws the error of `refuse` if all places are taken and work in this turn would be refused at once. */
  requirePlace(turn: Turn): void;
}

interface Waiter {
  turn: Turn;
  begin(): void;
  refuse(): void;
}

/**
 * Runs at most `concurrency` pieces of work and lets at most `waiting` wait, at most `waitingPerSource` of
 * one source. When all places are taken, the last waiting work in order is refused, possibly the
 * new one, so that work of a high rank never displaces work of a lower rank.
 */
export function createBoundedQueue(limits: {
  concurrency: number;
  waiting: number;
  waitingPerSource: number;
  refuse: (reason: RefusalReason) => Error;
}): BoundedQueue {
  /** In the order of arrival. */
  const queue: Waiter[] = [];
  let running = 0;

  /**
   * Resolves when the work may start. Finished work passes its place to the first waiting work.
   */
  async function takePlace(turn: Turn): Promise<void> {
    if (running < limits.concurrency) {
      running += 1;
      return;
    }
    const ofThisSource = queue.filter(({ turn: { source } }) => source === turn.source);
    if (ofThisSource.length >= limits.waitingPerSource) throw limits.refuse("busy");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    queue.push({ turn, begin: resolve, refuse: () => reject(limits.refuse("full")) });
    if (queue.length > limits.waiting) take("last")?.refuse();
    await promise;
  }

  /** Removes and returns the waiter that is first or last by current ranks. */
  function take(which: "first" | "last"): Waiter | undefined {
    const inTurn = queue
      .map((waiter, arrival) => ({ arrival, rank: waiter.turn.rank() }))
      .sort((a, b) => a.rank - b.rank || a.arrival - b.arrival);
    const taken = inTurn.at(which === "first" ? 0 : -1);
    return taken && queue.splice(taken.arrival, 1)[0];
  }

  return {
    async run(turn, work) {
      await takePlace(turn);
      try {
        return await work();
      } finally {
        const next = take("first");
        if (next) next.begin();
        else running -= 1;
      }
    },
    requirePlace(turn) {
      if (queue.length < limits.waiting) return;
      const rank = turn.rank();
      if (queue.every((waiter) => waiter.turn.rank() <= rank)) throw limits.refuse("full");
    },
  };
}
