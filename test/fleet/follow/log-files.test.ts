import { describe, expect, test } from "bun:test";
import {
  chainFrom,
  type LogFile,
  logFileName,
  logFilePath,
  newestSnapshot,
  parseLogFile,
  planRestore,
} from "../../../src/fleet/follow/log-fetcher";

const file = (level: number, min: number, max: number): LogFile => ({ level, min, max, size: 1 });
const spans = (files: LogFile[]) => files.map(({ level, min, max }) => [level, min, max]);

describe("a file of the log", () => {
  test("is named by its transactions", () => {
    expect(logFileName(file(1, 2, 31))).toBe("0000000000000002-000000000000001f.ltx");
    expect(logFilePath(file(1, 2, 31))).toBe("ltx/1/0000000000000002-000000000000001f.ltx");
    const name = "0000000000000002-000000000000001f.ltx";
    expect(parseLogFile(1, name, 5)).toEqual({ level: 1, min: 2, max: 31, size: 5 });
  });

  test.each([
    "0000000000000002-000000000000001f.ltx.part",
    "0000000000000002-000000000000001F.ltx",
    "0000000000000003-0000000000000002.ltx",
    "0000000000000000-0000000000000002.ltx",
    "2-3.ltx",
  ])("is not %p", (name) => {
    expect(parseLogFile(0, name, 1)).toBeUndefined();
  });
});

describe("a chain of files", () => {
  test("takes the file that reaches furthest at each step", () => {
    const files = [file(0, 5, 5), file(0, 4, 4), file(1, 4, 6), file(0, 6, 6), file(0, 7, 7)];
    expect(spans(chainFrom(files, 3))).toEqual([
      [1, 4, 6],
      [0, 7, 7],
    ]);
  });

  test("takes a merged file that begins before", () => {
    expect(spans(chainFrom([file(1, 1, 6), file(0, 7, 7)], 4))).toEqual([
      [1, 1, 6],
      [0, 7, 7],
    ]);
  });

  test("ends at a hole", () => {
    expect(spans(chainFrom([file(0, 4, 4), file(0, 6, 6)], 3))).toEqual([[0, 4, 4]]);
    expect(chainFrom([file(0, 5, 5)], 3)).toEqual([]);
  });

  test("is not continued by a whole database, which a follower cannot apply", () => {
    const files = [file(9, 1, 4), file(0, 4, 4), file(0, 5, 5)];
    expect(spans(chainFrom(files, 3))).toEqual([
      [0, 4, 4],
      [0, 5, 5],
    ]);
  });
});

describe("the plan of a restore", () => {
  test("begins with the newest whole database", () => {
    const files = [file(9, 1, 3), file(9, 1, 8), file(2, 4, 9), file(0, 10, 10)];
    expect(newestSnapshot(files)).toEqual(file(9, 1, 8));
    expect(spans(planRestore(files))).toEqual([
      [9, 1, 8],
      [2, 4, 9],
      [0, 10, 10],
    ]);
  });

  test("begins with the first transaction where there is no whole database", () => {
    expect(spans(planRestore([file(0, 1, 1), file(0, 2, 2)]))).toEqual([
      [0, 1, 1],
      [0, 2, 2],
    ]);
    expect(planRestore([file(0, 2, 2)])).toEqual([]);
  });
});
