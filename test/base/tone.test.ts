import { describe, expect, test } from "bun:test";
import {
  listedTone,
  phaseTone,
  TONE_COLOURS,
  TONE_COLOURS_IN_DARK,
  TONE_FILLS,
  TONES,
  worstTone,
} from "../../src/base/status";
import { contrast } from "../../src/public/page-document";
import tokens from "../../src/ui/tokens.css" with { type: "text" };

describe("tones", () => {
  const light = tokens.slice(0, tokens.indexOf("}"));
  const token = (name: string) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(light)?.[1] ?? "";

  test.each([...TONES])(
    "messages and badges have the colours of the style sheet for %s",
    (tone) => {
      expect(TONE_COLOURS[tone]).toBe(token(tone));
      expect(TONE_FILLS[tone]).toBe(token(`${tone}-fill`));
    },
  );

  test.each([...TONES])("mails have the dark colours of the style sheet for %s", (tone) => {
    const dark = tokens.slice(tokens.indexOf("@media"));
    const value = new RegExp(`--${tone}: (#[0-9a-f]{6});`).exec(dark)?.[1] ?? "";
    expect(TONE_COLOURS_IN_DARK[tone]).toBe(value);
    expect(contrast("#121212", TONE_COLOURS_IN_DARK[tone])).toBeGreaterThanOrEqual(4.5);
  });

  test.each([...TONES])("the text of a badge in the colour %s is readable", (tone) => {
    expect(contrast("#ffffff", TONE_COLOURS[tone])).toBeGreaterThanOrEqual(4.5);
  });

  test.each([
    { status: "investigating", impact: "critical", now: "major", listed: "major" },
    { status: "identified", impact: "major", now: "partial", listed: "partial" },
    { status: "monitoring", impact: "critical", now: "degraded", listed: "major" },
    { status: "monitoring", impact: "none", now: "none", listed: "none" },
    { status: "resolved", impact: "critical", now: "ok", listed: "major" },
    { status: "resolved", impact: "none", now: "ok", listed: "none" },
  ] as const)(
    "an update “$status” of an incident with impact $impact is $now, and $listed in lists",
    ({ status, impact, now, listed }) => {
      expect(phaseTone({ status, impact })).toBe(now);
      expect(listedTone({ status, impact })).toBe(listed);
      expect(phaseTone({ status, impact, draft: true })).toBe("none");
      expect(listedTone({ status, impact, draft: true })).toBe("none");
    },
  );

  test.each([
    { status: "scheduled", now: "none", listed: "none" },
    { status: "in_progress", now: "maint", listed: "maint" },
    { status: "verifying", now: "maint", listed: "maint" },
    { status: "completed", now: "ok", listed: "maint" },
    { status: "cancelled", now: "none", listed: "none" },
  ] as const)("maintenance “$status” is $now, and $listed in lists", ({ status, now, listed }) => {
    expect(phaseTone({ status })).toBe(now);
    expect(listedTone({ status })).toBe(listed);
  });

  test("the worst of some tones is the last in their order, and none without any", () => {
    expect(worstTone(["ok", "major", "degraded"])).toBe("major");
    expect(worstTone(["none", "ok"])).toBe("ok");
    expect(worstTone([])).toBe("none");
  });
});
