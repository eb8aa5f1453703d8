import { describe, expect, test } from "bun:test";
import { percent } from "../../src/kernel/numbers";

describe("a formatted share", () => {
  for (const { share, digits, text } of [
    { share: 1, digits: 3, text: "100 %" },
    { share: 0.999_999, digits: 3, text: "99.999 %" },
    { share: 0.999_999, digits: 1, text: "99.9 %" },
    { share: 0.5, digits: 2, text: "50.00 %" },
    { share: 0, digits: 1, text: "0.0 %" },
    { share: null, digits: 3, text: "–" },
  ]) {
    test(`the share ${share} is “${text}” with ${digits} digits`, () => {
      expect(percent(share, digits)).toBe(text);
    });
  }
});
