import { describe, expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { BarChart } from "../../src/ui/charts";
import { readHtml } from "../support/html";
import { elementsOf } from "./elements";

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
      const parts = [{ label: "Major", tone: "major" as const }];
      const bars = [
        { name: "May", counts: [0] },
        { name: "June", counts: [highest] },
      ];
      const chart = <BarChart name="Incidents" parts={parts} bars={bars} />;
      const texts = readHtml(renderToString(chart)).texts(".chart-ticks span");
      expect(texts).toEqual(ticks.toReversed().map((tick) => tick.toLocaleString("en")));
    },
  );
});
