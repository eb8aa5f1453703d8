import { describe, expect, test } from "bun:test";
import { accentCss, contrast } from "../../src/public/page-document";

describe("a page's own accent", () => {
  test("a page's accent colour is used only in themes in which it has enough contrast", () => {
    const dark = "prefers-color-scheme:dark";
    expect(accentCss("#5b2d8e")).toBe(
      ":root{--accent:#5b2d8e;--accent-soft:color-mix(in oklab,#5b2d8e 12%,var(--card))}",
    );
    expect(accentCss("#7fd6ff")).not.toStartWith(":root{");
    expect(accentCss("#7fd6ff")).toContain(dark);
    expect(accentCss("#8a8a8a")).not.toContain(":root{--accent:#8a8a8a;");
  });

  test("an accent colour that is unreadable, invalid or null has no effect", () => {
    expect(accentCss("#777777").includes("prefers")).toBe(false);
    expect(accentCss(null)).toBe("");
    expect(accentCss("#fff;}body{display:none")).toBe("");
  });

  test("contrast is computed as in WCAG", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 5);
    expect(contrast("#ffffff", "#ffffff")).toBe(1);
    expect(contrast("#767676", "#ffffff")).toBeCloseTo(4.54, 2);
    expect(contrast("#0b6b53", "#fbfbf9")).toBe(contrast("#fbfbf9", "#0b6b53"));
  });
});
