import { expect, test } from "bun:test";
import { systemRandom } from "../../src/base/hash";
import { createSeal } from "../../src/base/seal";

const TEXT = JSON.stringify({ name: "Zoë", path: "/admin" });

test("a sealed text is opened by its seal alone", () => {
  const seal = createSeal(systemRandom);
  const sealed = seal.seal(TEXT);
  expect(sealed).toMatch(/^[\w-]+$/);
  expect(seal.open(sealed)).toBe(TEXT);
  expect(createSeal(systemRandom).open(sealed)).toBeUndefined();
});

test("equal texts are sealed differently, and reveal nothing", () => {
  const seal = createSeal(systemRandom);
  const [first, second] = [seal.seal(TEXT), seal.seal(TEXT)];
  expect(first).not.toBe(second);
  expect(Buffer.from(first, "base64url").includes("admin")).toBe(false);
});

test("a sealed text that was changed in any byte is not opened", () => {
  const seal = createSeal(systemRandom);
  const bytes = Buffer.from(seal.seal(TEXT), "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(seal.open(changed.toString("base64url"))).toBeUndefined();
  }
});

test("texts of other kinds are not opened", () => {
  const seal = createSeal(systemRandom);
  for (const text of ["", "x", "=".repeat(100), "x".repeat(5_000)]) {
    expect(seal.open(text)).toBeUndefined();
  }
});
