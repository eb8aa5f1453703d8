import { describe, expect, test } from "bun:test";
import { renderToStaticMarkup } from "preact-render-to-string";
import { TimeChart, type TimePoint } from "../../src/ui/time-chart";
import { readHtml } from "../support/html";

const point = (from: number, median: number | null, p95 = median): TimePoint => ({
  from,
  to: from + 10,
  name: `${from}`,
  median,
  p95,
  tone: median === null ? "none" : "ok",
});

/** Draws points of ten ms each with a threshold. */
function draw(points: readonly TimePoint[], threshold: number) {
  return readHtml(
    renderToStaticMarkup(
      <TimeChart
        name="Response time"
        from={0}
        to={points.length * 10}
        points={points}
        bands={[
          { from: 0, to: 5, tone: "major" },
          { from: 5, to: 10, tone: "major" },
        ]}
        bandNames={[
          { tone: "major", name: "Outage" },
          { tone: "degraded", name: "Slow" },
        ]}
        threshold={{ value: threshold, name: "Slow above it" }}
        ticks={[{ at: 20, label: "20" }]}
        write={(ms) => `${ms} ms`}
      />,
    ),
  );
}

describe("the scale of a chart of durations", () => {
  test("a scale has five whole numbers, and the unit only at the highest", () => {
    const labelsOf = (highest: number) => draw([point(0, highest)], 1).texts(".time-labels span");
    expect(labelsOf(2_240)).toEqual(["2,400 ms", "1,800", "1,200", "600", "0"]);
    expect(labelsOf(1)).toEqual(["4 ms", "3", "2", "1", "0"]);
    expect(labelsOf(250_000)[0]).toBe("320 s");
    expect(labelsOf(3_600_000)[0]).toBe("80 min");
  });

  test("a line is as high as its value in the scale", () => {
    const page = draw([point(0, 600), point(10, 2_240)], 1);
    const height = Number(page.attributes(".time-plot", "viewBox")[0]?.split(" ")[3]);
    const [line = ""] = page.attributes(".time-plot .time-line", "d");
    expect(Number(/^M[\d.]+ ([\d.]+)/.exec(line)?.[1]) / height).toBeCloseTo(1 - 600 / 2_400, 2);
  });
});

describe("a chart of durations", () => {
  test("the line has a gap where nothing was measured, and a single point is a dash", () => {
    const page = draw([point(0, 10), point(10, 20), point(20, null), point(30, 10)], 15);
    const [line = ""] = page.attributes(".time-plot .time-line", "d");
    expect(line.match(/M/g)).toHaveLength(2);
    expect(page.attributes(".time-plot .time-band", "d")[0]?.match(/Z/g)).toHaveLength(2);
  });

  test("adjacent outages are one band with a cap, and only tones with a band are named", () => {
    const page = draw([point(0, 10), point(10, 10), point(20, 10), point(30, 10)], 15);
    expect(page.attributes(".time-cap", "d")).toEqual(["M0 -4h240v4h-240z"]);
    const legend = page.texts(".chart-legend li");
    expect(legend).toContain("Outage");
    expect(legend).not.toContain("Slow");
    expect(page.attributes(".time-ticks text", "x")).toEqual(["50%"]);
  });

  test("a threshold far above all values is named but not drawn", () => {
    const points = [point(0, 10), point(10, 10)];
    expect(draw(points, 30).attributes(".time-plot .time-threshold", "d")).toHaveLength(1);
    const far = draw(points, 31);
    expect(far.attributes(".time-plot .time-threshold", "d")).toEqual([]);
    expect(far.texts(".chart-legend li")).toContain("Slow above it, beyond the scale");
  });
});
