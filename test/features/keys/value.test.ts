import { expect, test } from "bun:test";
import fc from "fast-check";
import { crc32 } from "node:zlib";
import { containsKeyShape } from "../../../src/base/ids";
import { generateKeyValue, isKeyValue } from "../../../src/features/keys/rules";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Any value that the generator can make. */
const arbitraryValue = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => generateKeyValue(() => bytes));

function fromBase62(text: string): bigint {
  let number = 0n;
  for (const digit of text) number = number * 62n + BigInt(DIGITS.indexOf(digit));
  return number;
}

test("a key value is allclear_, 43 digits of 32 random bytes, and 6 digits of CRC32 over both", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const value = generateKeyValue(() => bytes);
      expect(value).toMatch(/^allclear_[0-9A-Za-z]{49}$/);
      expect(value).toHaveLength(58);
      expect(fromBase62(value.slice(9, 52))).toBe(
        BigInt(`0x${Buffer.from(bytes).toString("hex")}`),
      );
      expect(fromBase62(value.slice(52))).toBe(BigInt(crc32(value.slice(0, 52))));
    }),
  );
});

test("a key value uses 32 random bytes, requested once", () => {
  const lengths: number[] = [];
  generateKeyValue((size) => {
    lengths.push(size);
    return new Uint8Array(size);
  });
  expect(lengths).toEqual([32]);
});

test("every generated key value is recognised, alone and within a text", () => {
  fc.assert(
    fc.property(arbitraryValue, fc.string(), fc.string(), (value, before, after) => {
      expect(isKeyValue(value)).toBe(true);
      expect(containsKeyShape(before + value + after)).toBe(true);
    }),
  );
});

test("a key value with one wrong character is not recognised", () => {
  fc.assert(
    fc.property(
      arbitraryValue,
      fc.nat(57),
      fc.constantFrom(...`${DIGITS}_-. `),
      (value, at, character) => {
        fc.pre(value[at] !== character);
        expect(isKeyValue(value.slice(0, at) + character + value.slice(at + 1))).toBe(false);
      },
    ),
  );
});

test("a key value with two swapped neighbours is not recognised", () => {
  fc.assert(
    fc.property(arbitraryValue, fc.nat(56), (value, at) => {
      const [left = "", right = ""] = [value[at], value[at + 1]];
      fc.pre(left !== right);
      const swapped = value.slice(0, at) + right + left + value.slice(at + 2);
      expect(isKeyValue(swapped)).toBe(false);
    }),
  );
});

test("a truncated or extended key value is not recognised", () => {
  fc.assert(
    fc.property(arbitraryValue, fc.nat(57), fc.string({ minLength: 1 }), (value, cut, more) => {
      expect(isKeyValue(value.slice(0, cut))).toBe(false);
      expect(isKeyValue(value + more)).toBe(false);
      expect(isKeyValue(more + value)).toBe(false);
    }),
  );
});

test("a random text is not recognised as a key value", () => {
  fc.assert(fc.property(fc.string(), (text) => expect(isKeyValue(text)).toBe(false)));
});
