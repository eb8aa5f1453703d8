import { createPasswords, type Passwords } from "../../src/features/auth/passwords";
import { settle } from "./clock";

/** Number of passwords that are verified at a time. */
const AT_ONCE = 2;

/** Passwords whose verifications the test completes. */
export interface GatedPasswords extends Passwords {
  /** Passwords whose verification has begun, in order. */
  readonly begun: readonly string[];
  /** Completes the verifications that have begun and lets the next ones begin. */
  endBegun(): Promise<void>;
  /** Completes all verifications. */
  endAll(): Promise<void>;
}

/** Returns the real queue around a verifier that accepts `right` as the password of every user. */
export function createGatedPasswords(right: string): GatedPasswords {
  const begun: string[] = [];
  let ends: (() => void)[] = [];
  const passwords = createPasswords((password) => {
    begun.push(password);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    ends.push(() => resolve(password === right));
    return promise;
  }, AT_ONCE);
  async function endBegun(): Promise<void> {
    const due = ends;
    ends = [];
    for (const end of due) end();
    await settle();
  }
  return {
    ...passwords,
    begun,
    endBegun,
    async endAll() {
      while (ends.length > 0) await endBegun();
    },
  };
}
