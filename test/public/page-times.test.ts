import { describe, expect, test } from "bun:test";
import { createPageTimes } from "../../src/public/page-times";

const AT = "2026-11-21T14:32:05.000Z";
const LATE = "2026-11-21T23:30:00.000Z";

describe("the times of a page", () => {
  test("times of a page without a time zone are in UTC only", () => {
    for (const time_zone of ["UTC", "Etc/UTC", "GMT"]) {
      const times = createPageTimes({ locale: "en", time_zone });
      expect(times.moment(AT)).toBe("21 Nov 2026, 14:32 UTC");
      expect(times.zone).toBeUndefined();
    }
  });

  test("times of a page include its own time zone, with the day if it differs", () => {
    const times = createPageTimes({ locale: "en", time_zone: "Europe/Berlin" });
    expect(times.moment(AT)).toBe("21 Nov 2026, 14:32 UTC · 15:32 CET");
    expect(times.moment(LATE)).toBe("21 Nov 2026, 23:30 UTC · 22 Nov 2026, 00:30 CET");
    expect(times.zone).toBe("Europe/Berlin");
  });

  test("times of a span contain the shared parts of both ends once", () => {
    const times = createPageTimes({ locale: "en", time_zone: "Europe/Berlin" });
    const squeeze = (text: string) => text.replace(/\s/g, " ");
    expect(squeeze(times.range(AT, "2026-11-21T15:00:00.000Z"))).toBe(
      "21 Nov 2026, 14:32–15:00 UTC · 15:32–16:00 CET",
    );
    expect(squeeze(times.range(AT, LATE))).toBe(
      "21 Nov 2026, 14:32–23:30 UTC · 21 Nov 2026, 15:32 CET – 22 Nov 2026, 00:30 CET",
    );
    expect(squeeze(times.span("2026-11-01", "2026-11-21"))).toBe("1 – 21 Nov 2026");
    expect(squeeze(times.spanOfYear("2026-11-01", "2026-11-21"))).toBe("1 – 21 Nov");
    expect(squeeze(times.spanOfYear("2026-12-28", "2027-01-03"))).toBe("28 Dec 2026 – 3 Jan 2027");
  });

  test("times across a change of the clocks are written with the time of each side", () => {
    const times = createPageTimes({ locale: "en", time_zone: "Europe/Berlin" });
    const squeeze = (text: string) => text.replace(/\s/g, " ");
    expect(times.moment("2026-03-29T00:59:00.000Z")).toBe("29 Mar 2026, 00:59 UTC · 01:59 CET");
    expect(times.moment("2026-03-29T01:00:00.000Z")).toBe("29 Mar 2026, 01:00 UTC · 03:00 CEST");
    expect(
      squeeze(times.range("2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z")),
    ).toStartWith("25 Oct 2026, 00:30–01:30 UTC · ");
  });

  test("times of a page are formatted in its language", () => {
    const times = createPageTimes({ locale: "de", time_zone: "UTC" });
    expect(times.day(AT)).toBe("21. Nov. 2026");
    expect(times.month("2026-03")).toBe("März 2026");
    expect(createPageTimes({ locale: "en-US", time_zone: "UTC" }).day(AT)).toBe("Nov 21, 2026");
  });

  test("a time zone in Latin letters ends before the numbers after it in a text from right to left", () => {
    const [from, until] = ["2026-03-19T22:00:00.000Z", "2026-03-20T01:00:00.000Z"];
    const arabic = createPageTimes({ locale: "ar", time_zone: "UTC" });
    expect(arabic.range(from, until).match(/UTC\u200f/g)).toHaveLength(2);
    expect(arabic.moment(from)).toEndWith("UTC\u200f");
    const hebrew = createPageTimes({ locale: "he", time_zone: "America/New_York" });
    expect(hebrew.moment(AT)).toMatch(/UTC\u200f · .*GMT\S*\u200f$/);
    expect(createPageTimes({ locale: "ja", time_zone: "UTC" }).moment(AT)).toEndWith("UTC");
  });

  test("days of a page are UTC days in any time zone", () => {
    const times = createPageTimes({ locale: "en", time_zone: "Pacific/Auckland" });
    expect(times.day(LATE)).toBe("21 Nov 2026");
    expect(times.dayOfYear(LATE)).toBe("21 Nov");
    expect(times.month("2026-11")).toBe("November 2026");
  });
});
