import { describe, expect, test } from "bun:test";
import { formatBytes, percent } from "../../src/base/numbers";

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

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1_000, "1 KB"],
  [1_250_000, "1.3 MB"],
  [99_940_000, "99.9 MB"],
  [612_400_000, "612 MB"],
  [999_600_000, "1 GB"],
  [40e9, "40 GB"],
  [12_345e12, "12345 TB"],
])("%d bytes are written as %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
