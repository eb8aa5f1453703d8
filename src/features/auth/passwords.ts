import { unavailable } from "../../errors";
import { codePointLength } from "../../kernel/text";
import { createBoundedQueue } from "./bounded-queue";

// One of the equivalent minimums of OWASP's Password Storage Cheat Sheet: 19 MiB, two passes, one
// lane. Each at work holds that memory and a thread of the pool.
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
const AT_ONCE = 2;
const WAITING = 100;
const RETRY_AFTER_SECONDS = 5;

const SHORTEST = 12;
const LONGEST = 1_000;

/**
 * The hash, of the same cost as every other, of a random password that was never written down. Who has
 * no hash is verified against it, so that the time an answer takes does not tell who has one.
 */
const DUMMY_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$IHLBl9vb0u90EyknVA3lV33hzZX5SVtu4+jc4MuqnwI$vaZh/YyJUHrNRGIs2tAr1a9bGSrao0azQVCa8SihJgA";

/**
 * Hashing and verifying, off the main thread. Two at once, so that sign-ins leave the machine to
 * everybody else; a hundred wait, and one more throws `unavailable`.
 */
export interface Passwords {
  /**
   * argon2id (RFC 9106) as a PHC string, of the password in Unicode's form NFKC: what people see as the
   * same text is the same password on every keyboard. Judge it with `judgePassword` first.
   */
  hash(password: string): Promise<string>;
  /**
   * Whether a password is the one that was hashed, by the cost that the hash itself names. Without a
   * hash (no such user, or none chosen yet) it does the same work and answers false.
   */
  verify(password: string, hash: string | undefined | null): Promise<boolean>;
}

export function createPasswords(): Passwords {
  const inTurn = createBoundedQueue({
    atOnce: AT_ONCE,
    waiting: WAITING,
    refuse: () => unavailable("Too many people are signing in at once.", RETRY_AFTER_SECONDS),
  });
  return {
    hash: (password) => inTurn(() => Bun.password.hash(normalise(password), ARGON2ID)),
    async verify(password, hash) {
      const normalised = normalise(password);
      // Nobody's password is that long, whoever asks: no work, and no difference between users.
      if (codePointLength(normalised) > LONGEST) return false;
      const isRight = await inTurn(() => Bun.password.verify(normalised, hash ?? DUMMY_HASH));
      return isRight && typeof hash === "string";
    },
  };
}

/**
 * What is wrong with a password that is about to be chosen; undefined if nothing. Ends the sentence
 * "The password …". Lengths are in code points of what will be hashed.
 */
export function judgePassword(password: string, email: string): string | undefined {
  const normalised = normalise(password);
  const length = codePointLength(normalised);
  if (length < SHORTEST) return `is shorter than ${SHORTEST} characters`;
  if (length > LONGEST) return `is longer than ${LONGEST.toLocaleString("en")} characters`;
  if (foldCase(normalised) === foldCase(normalise(email))) return "is the email address";
  return undefined;
}

function normalise(password: string): string {
  return password.normalize("NFKC");
}

function foldCase(text: string): string {
  return text.trim().toLowerCase();
}
