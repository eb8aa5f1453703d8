import { describe, expect, spyOn, test } from "bun:test";
import {
  createPasswords,
  passwordError,
  verificationsAtOnce,
} from "../../../src/features/auth/passwords";
import { settle } from "../../support/clock";
import { rejectionOf } from "../../support/rejection";

const PASSWORD = "correct horse battery";

/** Number of passwords that are verified at a time. */
const AT_ONCE = 2;

const turnOf = (source: string) => ({ source, rank: () => 0 });

describe("password hashes", () => {
  test("a password hash is argon2id with OWASP's cost and its own salt, and verifies only its password", async () => {
    const passwords = createPasswords();
    const hash = await passwords.hash(PASSWORD);
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22,}\$[\w+/]{43}$/);
    expect(await passwords.hash(PASSWORD)).not.toBe(hash);
    expect(await passwords.verify(PASSWORD, hash)).toBe(true);
    for (const wrong of ["", "correct horse batterx", PASSWORD.toUpperCase(), `${PASSWORD} `]) {
      expect(await passwords.verify(wrong, hash), wrong).toBe(false);
    }
  });

  test("a password hash does not depend on the Unicode composition of the password", async () => {
    const passwords = createPasswords();
    const composed = "caf\u00e9 \ufb01nesse \u2163";
    const spelled = "cafe\u0301 finesse IV";
    const hash = await passwords.hash(composed);
    expect(await passwords.verify(spelled, hash)).toBe(true);
    expect(await passwords.verify("cafe finesse IV", hash)).toBe(false);
  });

  test("a password hash is verified with its own parameters", async () => {
    const older = await Bun.password.hash(PASSWORD, {
      algorithm: "argon2id",
      memoryCost: 8_192,
      timeCost: 3,
    });
    const passwords = createPasswords();
    expect(await passwords.verify(PASSWORD, older)).toBe(true);
    expect(await passwords.verify("another one entirely", older)).toBe(false);
  });

  test("a password hash is computed without blocking the main thread", async () => {
    const passwords = createPasswords();
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await passwords.hash(PASSWORD);
    isDone = true;
    // One that ran here would let the event loop turn twice at most.
    expect(turns).toBeGreaterThan(10);
  });
});

describe("verification without a hash", () => {
  test("no password is correct without a hash", async () => {
    const passwords = createPasswords();
    expect(await passwords.verify(PASSWORD, undefined)).toBe(false);
    expect(await passwords.verify("password", null)).toBe(false);
    expect(await passwords.verify("", null)).toBe(false);
  });

  test("a verification without a hash takes as long as one with a hash", async () => {
    const passwords = createPasswords();
    const hash = await passwords.hash(PASSWORD);
    const known: number[] = [];
    const unknown: number[] = [];
    for (let i = 0; i < 7; i++) {
      known.push(await millisecondsOf(() => passwords.verify("wrong password", hash)));
      unknown.push(await millisecondsOf(() => passwords.verify("wrong password", undefined)));
    }
    expect(medianOf(unknown)).toBeGreaterThan(medianOf(known) / 2);
    expect(medianOf(unknown)).toBeLessThan(medianOf(known) * 2);
  });
});

describe("concurrent verifications", () => {
  test("at most a hundred verifications wait, and further ones are unavailable", async () => {
    const passwords = createPasswords(Bun.password.verify, AT_ONCE);
    const hash = await Bun.password.hash(PASSWORD, {
      algorithm: "argon2id",
      memoryCost: 64,
      timeCost: 1,
    });
    const accepted = Array.from({ length: 102 }, (_, i) =>
      passwords.verify(PASSWORD, hash, turnOf(`source ${i}`)),
    );
    // Who chooses a password has shown a session or a link, and does not wait for strangers.
    const chosen = passwords.hash(PASSWORD);
    const rejection = await rejectionOf(passwords.verify(PASSWORD, undefined, turnOf("one more")));
    expect(rejection.code).toBe("unavailable");
    expect(rejection.headers).toEqual({ "Retry-After": "5" });
    expect(await chosen).toStartWith("$argon2id$");
    expect(await Promise.all(accepted)).toEqual(accepted.map(() => true));
    expect(await passwords.verify(PASSWORD, hash)).toBe(true);
  });

  test("one source can have one waiting verification, and does not block others", async () => {
    const passwords = createPasswords(Bun.password.verify, AT_ONCE);
    // Two at work and one waiting.
    const one = turnOf("one");
    const accepted = Array.from({ length: 3 }, () => passwords.verify(PASSWORD, undefined, one));
    const rejection = await rejectionOf(passwords.verify(PASSWORD, undefined, one));
    expect(rejection.code).toBe("rate_limited");
    expect(rejection.headers).toEqual({ "Retry-After": "1" });
    expect(await passwords.verify(PASSWORD, undefined, turnOf("another"))).toBe(false);
    expect(await Promise.all(accepted)).toEqual(accepted.map(() => false));
  });

  test.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [64, 2],
  ])("with %d cores, at most %d passwords are verified at a time", async (cores, most) => {
    let running = 0;
    let peak = 0;
    const verify = async () => {
      running += 1;
      peak = Math.max(peak, running);
      await settle();
      running -= 1;
      return true;
    };
    const passwords = createPasswords(verify, verificationsAtOnce(cores));
    const all = Array.from({ length: 10 }, (_, i) => passwords.verify("x", "y", turnOf(`${i}`)));
    expect(await Promise.all(all)).toEqual(all.map(() => true));
    expect(peak).toBe(most);
  });

  test("a failed verification frees its slot", async () => {
    const passwords = createPasswords();
    const broken = Array.from({ length: 10 }, (_, i) =>
      passwords.verify(PASSWORD, "no hash at all", turnOf(`source ${i}`)),
    );
    const outcomes = await Promise.allSettled(broken);
    expect(outcomes.map(({ status }) => status)).toEqual(broken.map(() => "rejected"));
    expect(await passwords.verify(PASSWORD, await passwords.hash(PASSWORD))).toBe(true);
  });
});

describe("new passwords", () => {
  test("a new password has 12 to 1,000 code points", () => {
    expect(passwordError("elevenchars", "a@b.test")).toBe("is shorter than 12 characters");
    expect(passwordError("twelve chars", "a@b.test")).toBeUndefined();
    // Code points are counted, not UTF-16 units.
    expect(passwordError("🐴".repeat(11), "a@b.test")).toBe("is shorter than 12 characters");
    expect(passwordError("🐴".repeat(1_000), "a@b.test")).toBeUndefined();
    expect(passwordError("x".repeat(1_001), "a@b.test")).toBe("is longer than 1,000 characters");
  });

  test("a new password is not the email address in any case", () => {
    expect(passwordError("Somebody@Acme.test", "somebody@acme.test")).toBe(
      "must not be the e-mail address",
    );
    expect(passwordError("somebody@acme.test!", "somebody@acme.test")).toBeUndefined();
  });

  test("a password of the maximum length is verified, and a longer one never", async () => {
    const passwords = createPasswords();
    const longest = "🐴".repeat(1_000);
    const hash = await passwords.hash(longest);
    expect(await passwords.verify(longest, hash)).toBe(true);
    const tooLong = `${longest}x`;
    expect(await passwords.verify(tooLong, await Bun.password.hash(tooLong))).toBe(false);
    expect(await passwords.verify("x".repeat(200_000), undefined)).toBe(false);
  });

  test("an expensive password to normalise is rejected without normalising it", async () => {
    // Marks that Unicode's normal forms reorder, in time that grows with the square of their number.
    const marks = "a" + "\u0315".repeat(60_000) + "\u0300".repeat(60_000);
    const normalize = spyOn(String.prototype, "normalize");
    try {
      expect(passwordError(marks, "a@b.test")).toBe("is longer than 1,000 characters");
      expect(await createPasswords().verify(marks, undefined)).toBe(false);
      // It is noticed where a password is normalised.
      expect(passwordError("correct horse battery staple", "a@b.test")).toBeUndefined();
      const lengths = normalize.mock.contexts.map((text) => String(text).length);
      expect(Math.max(...lengths)).toBeLessThanOrEqual(2_000);
    } finally {
      normalize.mockRestore();
    }
  });
});

async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function medianOf(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
