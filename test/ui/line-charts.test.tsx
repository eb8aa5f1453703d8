import { describe, expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { BarChart, type ChartPoint, LineChart } from "../../src/ui";
import { ticksFor } from "../../src/ui/chart-frame";
import { elementsOf } from "./elements";

const draw = (points: readonly ChartPoint[]) =>
  renderToString(
    <LineChart
      name="Response time"
      lines={["Median", "Slow"]}
      marks="Failed"
      points={points}
      write={(ms) => `${ms} ms`}
      ends={["Then", "Now"]}
    />,
  );

/** The path of a line in the chart itself, not in its legend. */
const lineIn = (html: string, line: number) =>
  [...html.matchAll(new RegExp(`<path class="line-${line}" d="([^"]*)"`, "g"))].at(-1)?.[1];

describe("a chart of lines", () => {
  const points: ChartPoint[] = [
    { name: "10:00", values: [20, 40] },
    { name: "11:00", values: [30, null] },
    { name: "12:00", values: [null, null], mark: "2 of 2" },
    { name: "13:00", values: [10, 10] },
  ];

  test("a line has a gap where values are missing and a dash for a single value", () => {
    const html = draw(points);
    expect(lineIn(html, 0)).toBe("M5 50L15 25M32 75h6");
    expect(lineIn(html, 1)).toBe("M2 0h6M32 75h6");
    expect(html).toContain('<path class="chart-mark" d="M25 100v-8"');
  });

  test("each point of a line chart is described in words, and listed in its table newest first", () => {
    const html = draw(points);
    const titles = [...html.matchAll(/<title>([^<]*)/g)].map((match) => match[1]);
    expect(titles).toEqual([
      "10:00: Median 20 ms, Slow 40 ms",
      "11:00: Median 30 ms, Slow –",
      "12:00: no answer, Failed 2 of 2",
      "13:00: Median 10 ms, Slow 10 ms",
    ]);
    expect(html.replaceAll(/<[^>]*>/g, " ")).toContain("13:00  10 ms  10 ms  –");
  });

  test("a line chart is one stop for the keyboard: its last point", () => {
    const places = elementsOf(draw(points)).filter(({ attributes }) => "data-day" in attributes);
    expect(places.map(({ attributes }) => attributes["tabindex"])).toEqual(["-1", "-1", "-1", "0"]);
  });

  test("a line chart of no values, one value or zeros is drawn without invalid numbers", () => {
    for (const values of [[], [[null, null]], [[0, 0]], [[7, 7]]]) {
      const html = draw(values.map((each, index) => ({ name: String(index), values: each })));
      expect(html).not.toMatch(/NaN|Infinity|undefined/);
    }
  });
});

describe("a chart of bars", () => {
  const html = renderToString(
    <BarChart
      name="Incidents"
      parts={[
        { label: "Major", tone: "major" },
        { label: "Minor", tone: "degraded" },
      ]}
      bars={[
        { name: "May", counts: [0, 0] },
        { name: "June", counts: [1, 3] },
      ]}
    />,
  );

  test("a bar chart stacks the parts of a bar from bottom to top", () => {
    const bars = elementsOf(html).filter(({ attributes }) =>
      attributes["class"]?.startsWith("chart-bar"),
    );
    const drawn = bars.map(({ attributes: { y, height } }) => `${y} ${height}`);
    expect(drawn).toEqual(["100 0", "100 0", "75 25", "0 75"]);
  });

  test("each bar names the counts of its parts", () => {
    const titles = [...html.matchAll(/<title>([^<]*)/g)].map((match) => match[1]);
    expect(titles).toEqual(["May: none", "June: 1 major, 3 minor"]);
  });
});

describe("the axis of a chart", () => {
  const CASES: [highest: number, ticks: number[]][] = [
    [0, [0, 1, 2]],
    [1, [0, 1, 2]],
    [3, [0, 2, 4]],
    [9, [0, 5, 10]],
    [10, [0, 5, 10]],
    [11, [0, 10, 20]],
    [245, [0, 150, 300]],
    [1_000, [0, 500, 1_000]],
    [59_999, [0, 30_000, 60_000]],
  ];
  test.each(CASES)(
    "the axis ends with a round number not below the highest value: %d",
    (highest, ticks) => {
      expect(ticksFor([0, highest])).toEqual(ticks);
    },
  );
});
