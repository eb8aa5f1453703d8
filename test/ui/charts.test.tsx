import { describe, expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { DayBars, type StatusDay } from "../../src/ui/day-charts";
import { Sparkline } from "../../src/ui/charts";
import { elementsOf } from "./elements";

describe("a sparkline", () => {
  const draw = (values: number[]) => renderToString(<Sparkline values={values} label="Requests" />);

  /** Returns the heights of bars and dots from left to right. */
  const drawn = (values: number[]) =>
    [...draw(values).matchAll(/M(\d+) 16v-(\d+)/g)]
      .map(([, x, height]) => ({ x: Number(x), height: Number(height) }))
      .sort((a, b) => a.x - b.x)
      .map(({ height }) => height);

  test("a sparkline scales to its highest value and shows small values as a minimum height", () => {
    expect(drawn([0, 1, 500, 1_000])).toEqual([1, 2, 8, 16]);
    expect(draw([0, 5])).toContain('<path class="zero" d="M0 16v-1">');
  });

  test("a sparkline of no values, zeros or one value is drawn without invalid numbers", () => {
    expect(drawn([])).toEqual([]);
    expect(drawn([0, 0])).toEqual([1, 1]);
    expect(drawn([7])).toEqual([16]);
    for (const values of [[], [0, 0], [7]]) {
      expect(draw(values)).toContain('role="img" aria-label="Requests"');
      expect(draw(values)).not.toMatch(/NaN|Infinity|--/);
    }
  });
});

describe("the bars of days", () => {
  const good: StatusDay = { day: "2026-11-20", status: "operational", goodShare: 1, minutes: {} };
  const draw = (...days: StatusDay[]) => renderToString(<DayBars name="Checkout" days={days} />);
  /** Returns the heights of the bars in the paths of a class. */
  const heights = (html: string, path: RegExp) =>
    [...html.matchAll(path)].flatMap(([, d = ""]) =>
      [...d.matchAll(/h3v(\d+)h-3z/g)].map(([, height]) => Number(height)),
    );
  const caps = (html: string) => heights(html, /<\/title><path d="([^"]*)"/g);
  const rests = (html: string) => heights(html, /<path class="day-rest" d="([^"]*)"/g);
  const titles = (html: string) => [...html.matchAll(/<title>([^<]*)/g)].map(([, title]) => title);

  /**
   * Returns the start of each line in days and the number of days that it spans. A bar is three
   * units wide, a gap one.
   */
  const lines = (html: string) =>
    [
      ...(/<path class="day-good" d="([^"]*)"/.exec(html)?.[1] ?? "").matchAll(/M(\d+) 15h(\d+)/g),
    ].map(([, x, length]) => ({ from: Number(x) / 4 + 1, bars: Number(length) / 4 }));

  test("a good day is a full bar, and another one has a cap as high as its share, at least 40 %", () => {
    const bad = (goodShare: number): StatusDay => ({ ...good, status: "major_outage", goodShare });
    expect([lines(draw(good)), caps(draw(good))]).toEqual([[{ from: 30, bars: 1 }], []]);
    const drawn = (goodShare: number) => {
      const html = draw(bad(goodShare));
      expect(lines(html)).toEqual([]);
      return { cap: caps(html), rest: rests(html) };
    };
    expect(drawn(0.9999)).toEqual({ cap: [12], rest: [16] });
    expect(drawn(0.5)).toEqual({ cap: [15], rest: [13] });
    expect(drawn(0.2)).toEqual({ cap: [24], rest: [4] });
    // Too little would be left to see.
    expect(drawn(0.05)).toEqual({ cap: [30], rest: [] });
    expect(drawn(-1)).toEqual({ cap: [30], rest: [] });
  });

  test("a day bar and its table name day, status and minutes, worst first", () => {
    const html = draw({
      day: "2026-11-21",
      status: "major_outage",
      goodShare: 0.9,
      minutes: { degraded_performance: 70, major_outage: 12, operational: 1_358 },
    });
    expect(html).toContain(
      "<title>21 November 2026: Major outage (12 min major outage, 1 h 10 min degraded performance)</title>",
    );
    expect(html).toContain("<td>12 min major outage, 1 h 10 min degraded performance</td>");
  });

  test("only days that were not good can be selected, and the last of them is the stop of Tab", () => {
    const bad: StatusDay = { ...good, day: "2026-11-21", goodShare: 0.5, status: "partial_outage" };
    const bars = elementsOf(draw(good, bad, good, bad, good)).filter(
      ({ attributes }) => "data-day" in attributes,
    );
    expect(bars.map(({ attributes }) => attributes["tabindex"])).toEqual(["-1", "0"]);
    expect(draw(good)).toContain('role="img" aria-label="Checkout, day by day"');
  });

  test("consecutive good days are one line, and one row of the table from the first to the last", () => {
    const days = ["2026-11-18", "2026-11-19", "2026-11-20"].map((day) => ({ ...good, day }));
    const bad: StatusDay = { ...good, day: "2026-11-21", status: "major_outage", goodShare: 0.5 };
    const html = draw(...days, bad, { ...good, day: "2026-11-22" });
    expect(titles(html)).toEqual(["21 November 2026: Major outage"]);
    expect(lines(html)).toEqual([
      { from: 26, bars: 3 },
      { from: 30, bars: 1 },
    ]);
    expect(html).toContain('<th scope="row">18 November 2026 to 20 November 2026</th>');
  });

  test("the first day of a chart can be selected if it has an incident and no data", () => {
    const entries = { named: [{ name: "Errors", href: "/status/acme/incidents/1" }], others: 0 };
    const day: StatusDay = { ...good, status: null, goodShare: 0, entries };
    expect(titles(draw(day, { ...good, day: "2026-11-21" }))).toEqual([
      "20 November 2026: No data · Errors",
    ]);
  });

  test("days before the first are ticks that cannot be selected, and the axis says since when", () => {
    const day: StatusDay = { day: "2026-11-20", status: null, goodShare: 0, minutes: {} };
    const html = draw(day, { ...day, day: "2026-11-21" }, { ...good, day: "2026-11-22" });
    expect(html).toContain('<path class="day-before" d="M109 28.5h8"/>');
    expect(titles(html)).toEqual([]);
    expect(html).toContain("<span>Since today</span>");
    expect(html).toContain(
      '<th scope="row">20 November 2026 to 21 November 2026</th><td>No data</td>',
    );
  });

  test("days without data after the first are one element of low bars, named in words", () => {
    const day: StatusDay = { day: "2026-11-20", status: null, goodShare: 0, minutes: {} };
    const html = draw(good, day, { ...day, day: "2026-11-21" }, good);
    expect(titles(html)).toEqual(["20 November 2026 to 21 November 2026: No data"]);
    expect(html).toContain("day t-none");
    expect(caps(html)).toEqual([3, 3]);
  });

  test("days of maintenance and with missing data have a cap in the tone of that", () => {
    expect(draw({ ...good, status: "under_maintenance", goodShare: 0.5 })).toContain("day t-maint");
    const html = draw({ ...good, goodShare: 0.5, noDataMinutes: 720 });
    expect(html).toContain("day t-none");
    expect(titles(html)).toEqual(["20 November 2026: Operational (12 h no data)"]);
  });

  test("without days a sentence is shown instead of bars", () => {
    expect(draw()).toBe('<p class="muted">No day of Checkout is recorded yet.</p>');
  });
});
