import { describe, expect, test } from "bun:test";
import {
  newSecret,
  ROTATION_OVERLAP_MS,
  secretBytes,
  secretError,
  secretsInForce,
} from "../../../src/features/webhooks/signing";
import { systemRandom } from "../../../src/base/hash";

const ofBytes = (count: number) => `whsec_${Buffer.alloc(count, 7).toString("base64")}`;

describe("a new secret", () => {
  test("a new secret is whsec_ and the base64 of 32 random bytes", () => {
    const secret = newSecret((size) => new Uint8Array(size).fill(1));
    expect(secret).toBe(`whsec_${Buffer.alloc(32, 1).toString("base64")}`);
    expect(secretError(secret)).toBeUndefined();
    expect(newSecret(systemRandom)).not.toBe(newSecret(systemRandom));
  });
});

describe("a secret", () => {
  test("a secret contains 24 to 64 bytes in base64", () => {
    for (const count of [24, 25, 32, 64]) {
      expect(secretError(ofBytes(count))).toBeUndefined();
      expect(secretBytes(ofBytes(count))).toEqual(Buffer.alloc(count, 7));
    }
  });

  test.each([
    ["", "must begin with whsec_"],
    ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "must begin with whsec_"],
    ["WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "must begin with whsec_"],
    ["whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "must begin with whsec_"],
    ["whsec_", "must have 24 to 64 bytes, not 0"],
    [ofBytes(23), "must have 24 to 64 bytes, not 23"],
    [ofBytes(65), "must have 24 to 64 bytes, not 65"],
    ["whsec_correct horse battery staple!!", "must be whsec_ followed by base64 with padding"],
    ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", "must be whsec_ followed by base64 with padding"],
    [ofBytes(25).replace(/=+$/, ""), "must be whsec_ followed by base64 with padding"],
    ["whsec_-_KQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "must be whsec_ followed by base64 with padding"],
  ])("the secret %j is rejected", (text, detail) => {
    expect(secretError(text)).toBe(detail);
    expect(() => secretBytes(text)).toThrow(detail);
  });

  test("a rotated secret is valid with the new one until its overlap ends", () => {
    const row = { secret: "new", previousSecret: "old", previousSecretEndsAt: ROTATION_OVERLAP_MS };
    expect(ROTATION_OVERLAP_MS).toBe(24 * 60 * 60 * 1_000);
    expect(secretsInForce(row, ROTATION_OVERLAP_MS - 1)).toEqual(["new", "old"]);
    expect(secretsInForce(row, ROTATION_OVERLAP_MS)).toEqual(["new"]);
    const never = { secret: "new", previousSecret: null, previousSecretEndsAt: null };
    expect(secretsInForce(never, 0)).toEqual(["new"]);
  });
});
