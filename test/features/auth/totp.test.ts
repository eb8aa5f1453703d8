import { describe, expect, test } from "bun:test";
import {
  createRecoveryCodes,
  createSecret,
  hashRecoveryCode,
  inGroups,
  keyUri,
  readSecret,
  periodOfCode,
} from "../../../src/features/auth/totp";
import { sha256, systemRandom } from "../../../src/base/hash";

/** Secret of the examples in RFC 6238. */
const SECRET = Buffer.from("12345678901234567890");
const NOW = Date.parse("2026-03-10T12:00:00.000Z");

describe("a code", () => {
  // Times in seconds and the last six digits of the codes of RFC 6238, appendix B, for SHA-1.
  test.each([
    [59, "287082"],
    [1_111_111_109, "081804"],
    [1_111_111_111, "050471"],
    [1_234_567_890, "005924"],
    [2_000_000_000, "279037"],
    [20_000_000_000, "353130"],
  ])("at %d seconds is that of RFC 6238", (seconds, code) => {
    expect(periodOfCode(SECRET, code, seconds * 1_000)).toBe(Math.floor(seconds / 30));
  });

  test("is accepted one period early and late, and no further", () => {
    const seconds = 1_234_567_890;
    const step = Math.floor(seconds / 30);
    const at = (periods: number) =>
      periodOfCode(SECRET, "005924", (seconds + 30 * periods) * 1_000);
    expect([-2, -1, 0, 1, 2].map(at)).toEqual([undefined, step, step, step, undefined]);
  });

  test.each(["", "00592", "0059240", "abcdef", "００５９２４"])(
    "is never a text of another shape: “%s”",
    (text) => {
      expect(periodOfCode(SECRET, text, 1_234_567_890_000)).toBeUndefined();
    },
  );

  test("is computed from the bytes of a buffer that is a part of a larger one", () => {
    const part = Buffer.concat([Buffer.alloc(7), SECRET, Buffer.alloc(9)]).subarray(7, 27);
    expect(periodOfCode(part, "005924", 1_234_567_890_000)).toBeDefined();
  });
});

describe("a secret", () => {
  test("has 160 random bits as 32 characters, and is read back", () => {
    const secrets = Array.from({ length: 20 }, () => createSecret(systemRandom));
    for (const secret of secrets) {
      expect(secret).toMatch(/^[A-Z2-7]{32}$/);
      expect(readSecret(secret)).toHaveLength(20);
    }
    expect(new Set(secrets).size).toBe(20);
    expect(readSecret(createSecret(() => SECRET))).toEqual(SECRET);
  });

  test.each(["", "A".repeat(31), "A".repeat(33), "1".repeat(32), "a".repeat(32)])(
    "is never “%s”",
    (text) => {
      expect(readSecret(text)).toBeUndefined();
    },
  );

  test("is in a URI that apps read, with the user and the installation", () => {
    const secret = createSecret(() => SECRET);
    const uri = keyUri({ secret, email: "ada+x@example.com", host: "[::1]" });
    const { protocol, host, pathname, searchParams } = new URL(uri);
    expect([protocol, host, decodeURIComponent(pathname)]).toEqual([
      "otpauth:",
      "totp",
      "/Allclear [  1]:ada+x@example.com",
    ]);
    expect(Object.fromEntries(searchParams)).toEqual({
      issuer: "Allclear [  1]",
      secret,
      algorithm: "SHA1",
      digits: "6",
      period: "30",
    });
  });
});

describe("recovery codes", () => {
  test("are ten different ones of 80 bits, of which only hashes are for storing", () => {
    const codes = createRecoveryCodes(systemRandom);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) {
      expect(code).toMatch(/^[A-Z2-7]{16}$/);
      expect(hashRecoveryCode(code)).toEqual(sha256(code));
    }
    expect(createRecoveryCodes(() => new Uint8Array(10).fill(255))[0]).toBe("7".repeat(16));
  });

  test("are shown in groups of four", () => {
    expect(inGroups("ABCDEFGHIJKLMNOP", "-")).toBe("ABCD-EFGH-IJKL-MNOP");
  });
});

test("the time of a code does not depend on the clock of the process", () => {
  expect(periodOfCode(SECRET, "287082", 59_000)).toBe(1);
  expect(periodOfCode(SECRET, "287082", NOW)).toBeUndefined();
});
