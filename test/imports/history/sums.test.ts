import { describe, expect, test } from "bun:test";
import { distinctSums, sumsBySize } from "../../../src/imports/history/fold";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { createTestApp } from "../../support/app";
import { TEST_START } from "../../support/clock";
import {
  foundPast,
  importPast,
  pastMonitor,
  pastSource,
  regularBeats,
  sumOf,
} from "../../support/past-source";

const DAY = 20_000 * DAY_MS;

/** Returns what is chosen of sums, as `<hours from the start of the day> <size in minutes>`. */
function chosen(sums: Parameters<typeof sumsBySize>[0]): string[] {
  return distinctSums(sumsBySize(sums)).map(
    ({ at, size }) => `${(at - DAY) / HOUR_MS} ${size / MINUTE_MS}`,
  );
}

describe("sums of different sizes", () => {
  test("are replaced by smaller ones that count as much", () => {
    const minutes = [0, 1, 2].map((minute) => sumOf(DAY + minute * MINUTE_MS, MINUTE_MS, 1));
    const hours = [sumOf(DAY, HOUR_MS, 3), sumOf(DAY + 5 * HOUR_MS, HOUR_MS, 60)];
    expect(chosen([sumOf(DAY, DAY_MS, 63), ...hours, ...minutes])).toEqual([
      "0 1",
      `${1 / 60} 1`,
      `${2 / 60} 1`,
      "5 60",
    ]);
  });

  test("stay where smaller ones lack something", () => {
    const hours = [sumOf(DAY, HOUR_MS, 60), sumOf(DAY + HOUR_MS, HOUR_MS, 60)];
    expect(chosen([sumOf(DAY, DAY_MS, 1_440), ...hours])).toEqual(["0 1440"]);
    expect(chosen([sumOf(DAY, MINUTE_MS, 1), ...hours])).toEqual(["0 60", "1 60"]);
  });

  test("of other sizes, at other times or of nothing are left out", () => {
    expect(
      chosen([sumOf(DAY, 5 * MINUTE_MS, 5), sumOf(DAY + 1, HOUR_MS, 60), sumOf(DAY, DAY_MS, 0)]),
    ).toEqual([]);
  });
});

/** Beats of one day that are read at most: two each second. */
const BEATS_PER_DAY = 2 * 86_400;

test("of too many beats in one day the last are skipped and counted", async () => {
  await using app = await createTestApp();
  const from = TEST_START - 2 * DAY_MS;
  const beats = regularBeats({ from, until: from + BEATS_PER_DAY / 4 + 10 }, 0.25);
  const history = pastSource({ "monitor:api": { beats } });
  const report = await importPast(app, foundPast([pastMonitor("api")], history));
  expect(report.history).toMatchObject({
    results: BEATS_PER_DAY,
    skipped: { "too many in one day": 40 },
  });
});
