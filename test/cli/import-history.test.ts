import { describe, expect, test } from "bun:test";
import { writeHistory } from "../../src/cli/import";
import type { Output } from "../../src/cli/command";
import { MINUTE_MS, SECOND_MS } from "../../src/base/time";
import { CLI_ACTOR } from "../../src/base/actor";
import { performImport } from "../../src/imports/import";
import { createTestApp } from "../support/app";
import { TEST_START } from "../support/clock";
import {
  foundPast,
  IMPORT_OPTIONS,
  pastMonitor,
  pastSource,
  regularBeats,
} from "../support/past-source";

/** Writes a history of 12,000 beats of two monitors, each thousand of which takes some time. Returns what is printed. */
async function printed(
  secondsPerChunk: number,
  output: (lines: string[]) => Output,
  failAt = Infinity,
) {
  await using app = await createTestApp();
  const range = { from: TEST_START - 6_000 * MINUTE_MS, until: TEST_START };
  const beats = regularBeats(range, MINUTE_MS, () => ({ kind: "up" }));
  let [chunks, ms] = [0, 0];
  const clock = { ...app.ctx.clock, monotonic: () => ms };
  const history = pastSource({ "monitor:api": { beats }, "monitor:web": { beats } }, () => {
    chunks += 1;
    ms += secondsPerChunk * SECOND_MS;
    if (chunks === failAt) throw new Error("the disk is full");
  });
  const found = foundPast([pastMonitor("api"), pastMonitor("web")], history);
  const ctx = { ...app.ctx, clock };
  const lines: string[] = [];
  const write: typeof ctx.db.write = (change) => ctx.db.write(change);
  const begun = await performImport(ctx, write, found, IMPORT_OPTIONS, CLI_ACTOR);
  try {
    await writeHistory(ctx, found, IMPORT_OPTIONS, begun, output(lines));
  } catch (error) {
    lines.push((error as Error).message);
  }
  return lines;
}

const withoutTerminal = (lines: string[]): Output => ({
  out: () => {},
  err: (line) => void lines.push(line),
});
const onTerminal = (lines: string[]): Output => ({
  ...withoutTerminal([]),
  show: (state) => void lines.push(state),
});

describe("the progress of a history", () => {
  test("is one line every ten seconds without a terminal", async () => {
    expect(await printed(4, withoutTerminal)).toEqual([
      "monitor 1/2 · 3,000 of ~12,000 beats · less than a minute left",
      "monitor 1/2 · 6,000 of ~12,000 beats · less than a minute left",
      "monitor 2/2 · 9,000 of ~12,000 beats · less than a minute left",
      "monitor 2/2 · 12,000 of ~12,000 beats · less than a minute left",
    ]);
    expect(await printed(0.1, withoutTerminal)).toEqual([]);
  });

  test("is a line that changes on a terminal, and is gone at the end", async () => {
    const lines = await printed(60, onTerminal);
    expect(lines.slice(0, 3)).toEqual([
      "monitor 1/2 · 0 of ~12,000 beats",
      "monitor 1/2 · 1,000 of ~12,000 beats · 11 min left",
      "monitor 1/2 · 2,000 of ~12,000 beats · 10 min left",
    ]);
    expect(lines.at(-1)).toBe("");
    expect(await printed(7_200, onTerminal)).toContain(
      "monitor 1/2 · 1,000 of ~12,000 beats · 22 hours left",
    );
  });

  test("says after a failure that the same command goes on", async () => {
    expect(await printed(0, withoutTerminal, 4)).toEqual([
      "All but the history is imported. Run the same command again to go on with it.",
      "the disk is full",
    ]);
  });
});
