import { describe, expect, test } from "bun:test";
import { Timeline } from "../../../src/imports/history/fold";
import { BEAT } from "../../../src/imports/found";
import { HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { sumOf } from "../../support/past-source";

const M = MINUTE_MS;

/** Returns the spans of beats at minutes, as `<state> <from> → <to>` in minutes. */
function spansOf(
  beats: readonly (readonly [minute: number, kind: keyof typeof BEAT])[],
  { until, next = "pending", interval = 1 }: { until: number; next?: string; interval?: number },
): string[] {
  const timeline = new Timeline(interval * M, until * M);
  for (const [minute, kind] of beats) timeline.beat(minute * M, BEAT[kind], null);
  timeline.finish(next);
  return shown(timeline);
}

const shown = (timeline: Timeline) =>
  timeline
    .takeSpans()
    .map(({ state, startedAt, endedAt }) => `${state} ${startedAt / M} → ${endedAt / M}`);

describe("the timeline of an imported monitor", () => {
  test("dates an outage from the first failure of the run", () => {
    expect(
      spansOf(
        [
          [0, "up"],
          [1, "pending"],
          [2, "pending"],
          [3, "down"],
          [4, "down"],
          [5, "up"],
        ],
        { until: 8 },
      ),
    ).toEqual(["up 0 → 1", "down 1 → 5", "up 5 → 8"]);
  });

  test("has no outage for failures that were never confirmed", () => {
    expect(
      spansOf(
        [
          [0, "up"],
          [1, "pending"],
          [2, "up"],
          [3, "pending"],
        ],
        { until: 5 },
      ),
    ).toEqual(["up 0 → 5"]);
  });

  test("lets unconfirmed failures at its end belong to an outage that follows", () => {
    expect(
      spansOf(
        [
          [0, "up"],
          [3, "pending"],
          [4, "pending"],
        ],
        { until: 5, next: "down" },
      ),
    ).toEqual(["up 0 → 3", "down 3 → 5"]);
  });

  test("enters and leaves maintenance at its beats", () => {
    expect(
      spansOf(
        [
          [0, "down"],
          [1, "maintenance"],
          [2, "maintenance"],
          [3, "up"],
        ],
        { until: 4 },
      ),
    ).toEqual(["down 0 → 1", "maintenance 1 → 3", "up 3 → 4"]);
  });

  test.each([
    [1, 10, ["up 0 → 15"]],
    [1, 11, ["up 0 → 1", "no_data 1 → 11", "up 11 → 15"]],
    [5, 15, ["up 0 → 20"]],
    [5, 16, ["up 0 → 5", "no_data 5 → 16", "up 16 → 20"]],
  ])(
    "has no data after more than three intervals of %d min and ten minutes: %d min",
    (interval, at, spans) => {
      const until = interval === 1 ? 15 : 20;
      expect(
        spansOf(
          [
            [0, "up"],
            [at, "up"],
          ],
          { until, interval },
        ),
      ).toEqual(spans);
    },
  );

  test("forgets unconfirmed failures before a time without data", () => {
    expect(
      spansOf(
        [
          [0, "up"],
          [1, "pending"],
          [60, "down"],
        ],
        { until: 61 },
      ),
    ).toEqual(["up 0 → 2", "no_data 2 → 60", "down 60 → 61"]);
  });

  test("never lacks data of a job without a deadline", () => {
    const timeline = new Timeline(Number.POSITIVE_INFINITY, 9_000 * M);
    timeline.beat(0, BEAT.up, null);
    timeline.beat(8_000 * M, BEAT.down, "failed");
    expect(JSON.parse(JSON.stringify(timeline.state))).toEqual(timeline.state);
    timeline.finish("pending");
    expect(shown(timeline)).toEqual(["up 0 → 8000", "down 8000 → 9000"]);
  });

  test("ends at a time in spite of later beats", () => {
    expect(
      spansOf(
        [
          [0, "up"],
          [4, "down"],
          [6, "up"],
        ],
        { until: 5 },
      ),
    ).toEqual(["up 0 → 4", "down 4 → 5"]);
    expect(spansOf([], { until: 5 })).toEqual([]);
  });

  test("goes on from a stored state as if it had not been interrupted", () => {
    const before = new Timeline(M, 20 * M);
    for (const minute of [0, 1]) before.beat(minute * M, BEAT.up, null);
    before.beat(2 * M, BEAT.pending, null);
    const after = new Timeline(M, 20 * M, JSON.parse(JSON.stringify(before.state)));
    after.beat(3 * M, BEAT.down, "refused");
    after.finish("pending");
    expect([...shown(before), ...shown(after)]).toEqual([
      "up 0 → 2",
      "down 2 → 4",
      "no_data 4 → 20",
    ]);
  });

  test("carries the state of the last beat through times that have sums alone", () => {
    const timeline = new Timeline(M, 400 * M);
    timeline.beat(10 * M, BEAT.down, null);
    timeline.cover(sumOf(60 * M, HOUR_MS, 60, 5), Infinity);
    timeline.cover(sumOf(120 * M, HOUR_MS, 60, 0), Infinity);
    timeline.beat(185 * M, BEAT.up, null);
    timeline.cover(sumOf(300 * M, HOUR_MS, 60, 0), Infinity);
    timeline.finish("pending");
    expect(shown(timeline)).toEqual([
      "down 10 → 11",
      "no_data 11 → 60",
      "down 60 → 185",
      "up 185 → 186",
      "no_data 186 → 300",
      "up 300 → 360",
      "no_data 360 → 400",
    ]);
  });

  test("is down for the share of failures in sums before the first beat", () => {
    const timeline = new Timeline(M, 400 * M);
    timeline.cover(sumOf(0, HOUR_MS, 60, 0), Infinity);
    timeline.cover(sumOf(60 * M, HOUR_MS, 60, 15), Infinity);
    timeline.cover(sumOf(120 * M, HOUR_MS, 60, 60), 150 * M);
    timeline.beat(150 * M, BEAT.up, null);
    timeline.cover({ ...sumOf(180 * M, HOUR_MS, 0), maintenance: 60 }, Infinity);
    timeline.finish("pending");
    expect(shown(timeline)).toEqual([
      "up 0 → 60",
      "down 60 → 75",
      "up 75 → 120",
      "down 120 → 150",
      "up 150 → 240",
      "no_data 240 → 400",
    ]);
    const maintenance = new Timeline(M, 60 * M);
    maintenance.cover({ ...sumOf(0, HOUR_MS, 0), maintenance: 60 }, Infinity);
    maintenance.finish("pending");
    expect(shown(maintenance)).toEqual(["maintenance 0 → 60"]);
  });

  test("takes marks for states that last until the next one", () => {
    expect(
      spansOf(
        [
          [0, "upMark"],
          [5, "downMark"],
          [9, "upMark"],
        ],
        { until: 10 },
      ),
    ).toEqual(["up 0 → 5", "down 5 → 9", "up 9 → 10"]);
  });
});
