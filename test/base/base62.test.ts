import { expect, test } from "bun:test";
import fc from "fast-check";
import { encodeBase62 } from "../../src/base/hash";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

test("bytes are written as one big-endian number, with leading zeros", () => {
  expect(encodeBase62(Uint8Array.of(), 2)).toBe("00");
  expect(encodeBase62(Uint8Array.of(61), 1)).toBe("z");
  expect(encodeBase62(Uint8Array.of(62), 4)).toBe("0010");
  expect(encodeBase62(Uint8Array.of(1, 0), 3)).toBe("048");
});

test("any 32 bytes fit 43 digits and can be read back", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const text = encodeBase62(bytes, 43);
      expect(text).toHaveLength(43);
      let number = 0n;
      for (const digit of text) number = number * 62n + BigInt(DIGITS.indexOf(digit));
      expect(number.toString(16).padStart(64, "0")).toBe(Buffer.from(bytes).toString("hex"));
    }),
  );
});

test("a number that needs more digits is rejected rather than truncated", () => {
  expect(() => encodeBase62(Uint8Array.of(62), 1)).toThrow(RangeError);
});
