import { describe, expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { DayBars, Sparkline, type StatusDay } from "../../src/ui";
import { elementsOf } from "./elements";

function heights(html: string): number[] {
  return elementsOf(html)
    .filter(({ tag }) => tag === "rect")
    .map(({ attributes }) => Number(attributes["height"]));
}

describe("a sparkline", () => {
  const draw = (values: number[]) => renderToString(<Sparkline values={values} label="Requests" />);

  /** Returns the heights of bars and dots from left to right. */
  const drawn = (values: number[]) =>
    [...draw(values).matchAll(/M(\d+) 16v-(\d+)h3v\2/g)]
      .map(([, x, height]) => ({ x: Number(x), height: Number(height) }))
      .sort((a, b) => a.x - b.x)
      .map(({ height }) => height);

  test("a sparkline scales to its highest value and shows small values as a minimum height", () => {
    expect(drawn([0, 1, 500, 1_000])).toEqual([1, 2, 8, 16]);
    expect(draw([0, 5])).toContain('<path class="zero" d="M0 16v-1h3v1">');
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
  /** The heights of the bar alone, without what shows behind a low one. */
  const barOf = (html: string) => heights(html.replaceAll(/<rect class="day-back"[^>]*>/g, ""));

  /**
   * Returns the start of each line in days and the number of days that it spans. A bar is three
   * units wide, a gap one.
   */
  const lines = (html: string) =>
    [...html.matchAll(/<path class="day-line" d="M(\d+) .5h(\d+)"/g)].map(([, x, length]) => ({
      from: Number(x) / 4 + 1,
      bars: (Number(length) + 1) / 4,
    }));

  test("a day bar is full only if the whole day was good, and has a minimum height", () => {
    const bad = (goodShare: number): StatusDay => ({ ...good, status: "major_outage", goodShare });
    expect(barOf(draw(good))).toEqual([32]);
    expect(barOf(draw(bad(0.9999)))).toEqual([31]);
    expect(barOf(draw(bad(0.5)))).toEqual([19]);
    expect(barOf(draw(bad(0)))).toEqual([6]);
    expect(barOf(draw(bad(7), bad(-1)))).toEqual([32, 6]);
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

  test("the bars of days are one stop for the keyboard: today", () => {
    const bad: StatusDay = { ...good, day: "2026-11-21", goodShare: 0.5 };
    const bars = elementsOf(draw(good, bad)).filter(({ attributes }) => "data-day" in attributes);
    expect(bars.map(({ attributes }) => attributes["tabindex"])).toEqual(["-1", "0"]);
  });

  test("consecutive good days are one element, named from the first to the last", () => {
    const days = ["2026-11-18", "2026-11-19", "2026-11-20"].map((day) => ({ ...good, day }));
    const bad: StatusDay = { ...good, day: "2026-11-21", status: "major_outage", goodShare: 0.5 };
    const html = draw(...days, bad, { ...good, day: "2026-11-22" });
    const titles = [...html.matchAll(/<title>([^<]*)/g)].map((match) => match[1]);
    expect(titles).toEqual([
      "18 November 2026 to 20 November 2026: Operational",
      "21 November 2026: Major outage",
      "22 November 2026: Operational",
    ]);
    expect(lines(html)).toEqual([{ from: 26, bars: 3 }]);
    expect(html).toContain('<th scope="row">18 November 2026 to 20 November 2026</th>');
  });

  test("consecutive days without data are one element with an outline for each", () => {
    const day: StatusDay = { day: "2026-11-20", status: null, goodShare: 0, minutes: {} };
    const html = draw(day, { ...day, day: "2026-11-21" });
    expect(html).toContain("<title>20 November 2026 to 21 November 2026: No data</title>");
    expect(html.match(/h3v32h-3z/g)).toHaveLength(2);
    expect(lines(html)).toEqual([]);
  });

  test("a day without data differs from a bad one in words and shape", () => {
    const html = draw({ day: "2026-11-20", status: null, goodShare: 0, minutes: {} });
    expect(html).toContain("20 November 2026: No data");
    expect(html).toContain("t-none");
    expect(barOf(html)).toEqual([32]);
  });

  test("days of maintenance are striped", () => {
    const html = draw({ ...good, status: "under_maintenance", goodShare: 0.5 });
    expect(html).toContain('class="day-stripes"');
  });

  test("without days a sentence is shown instead of bars", () => {
    expect(draw()).toBe('<p class="muted">No day of Checkout is recorded yet.</p>');
  });
});
