import { createPasswords, type Passwords } from "../../src/features/auth";
import { settle } from "./clock";

/** Passwords whose verifications the test ends one by one. */
export interface GatedPasswords extends Passwords {
  /** The passwords whose verification has begun, in that order. */
  readonly begun: readonly string[];
  /** Ends the verifications that have begun, and lets the next begin. */
  endBegun(): Promise<void>;
  /** Ends verifications until none is left. */
  endAll(): Promise<void>;
}

/** The real queue around a verifier that takes `right` for every user's password. */
export function createGatedPasswords(right: string): GatedPasswords {
  const begun: string[] = [];
  let ends: (() => void)[] = [];
  const passwords = createPasswords((password) => {
    begun.push(password);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    ends.push(() => resolve(password === right));
    return promise;
  });
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
