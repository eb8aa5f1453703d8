import { describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { createTestApp } from "../support/app";
import { createTestClock } from "../support/clock";
import { importPast } from "../support/past-source";
import { readGatus } from "../../src/imports/gatus/read";
import { timeOf } from "../../src/imports/gatus/history";
import { BEAT, type ForeignKey, type FoundHistory } from "../../src/imports/found";
import { DAY_MS, HOUR_MS } from "../../src/base/time";
import {
  GATUS_CONFIG,
  GATUS_HOUR as HOUR,
  GATUS_VARIABLES,
  readGatusFixture,
  writeGatusDatabase,
} from "../support/gatus-fixture";
import { temporaryFolder } from "../support/temporary-folder";

const EVER = { from: 0, until: Date.UTC(2100, 0) };
const WEBSITE = "endpoint:shop_website";
const CHECKOUT = "endpoint:shop_checkout-api";

/** Lists the beats of a monitor by kind and time. */
function beatsOf(history: FoundHistory, monitor: ForeignKey, range = EVER) {
  return [...history.beats(monitor, range)].flatMap(({ count, at, kind, latencyMs }) =>
    Array.from({ length: count }, (_, index) => ({
      at: at[index] ?? 0,
      kind: kind[index] ?? 0,
      latencyMs: latencyMs[index] ?? 0,
    })),
  );
}

const countOf = (beats: { kind: number }[], kind: number) =>
  beats.filter((beat) => beat.kind === kind).length;

describe("a database that Gatus wrote", () => {
  test("gives the results of each endpoint, and of suites", async () => {
    using history = (await readGatusFixture()).history;
    const checkout = beatsOf(history, CHECKOUT);
    expect(checkout).toHaveLength(55);
    expect([countOf(checkout, BEAT.up), countOf(checkout, BEAT.down)]).toEqual([45, 10]);
    expect(checkout[0]).toEqual({ at: HOUR + 9 * 60_000 + 28_014, kind: BEAT.up, latencyMs: 1 });
    const times = checkout.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    // A failed condition has an answer too.
    expect(checkout.every(({ latencyMs }) => latencyMs >= 0)).toBe(true);
    const job = beatsOf(history, "external-endpoint:jobs_nightly-backup");
    expect(job.map(({ kind }) => kind)).toEqual([1, 1, 0, 1, 0, 0]);
    expect(job[0]?.latencyMs).toBe(1_500);
    expect(beatsOf(history, "suite:shop_order")).toHaveLength(11);
    expect(beatsOf(history, "endpoint:_off")).toEqual([]);
  });

  test("gives the sums of hours", async () => {
    using history = (await readGatusFixture()).history;
    expect(history.sums(CHECKOUT, EVER)).toEqual([
      {
        size: HOUR_MS,
        at: HOUR,
        checks: 55,
        failures: 10,
        answers: 55,
        latencySum: 3,
        latencyMin: null,
        latencyMax: null,
        maintenance: 0,
      },
    ]);
    expect(history.sums(CHECKOUT, { from: HOUR + 1, until: EVER.until })).toEqual([]);
  });

  test("gives the state in which each monitor starts", async () => {
    using history = (await readGatusFixture()).history;
    const [first] = beatsOf(history, WEBSITE);
    const last = beatsOf(history, WEBSITE).at(-1);
    expect(history.lastState(WEBSITE)).toEqual({
      state: "up",
      since: first!.at,
      at: last!.at,
      message: null,
    });
    const job = beatsOf(history, "external-endpoint:jobs_nightly-backup");
    expect(history.lastState("external-endpoint:jobs_nightly-backup")).toMatchObject({
      state: "down",
      since: job[4]?.at,
    });
    expect(history.lastState("endpoint:_off")).toBeUndefined();
  });

  test("is estimated and counts rows of endpoints that the configuration lacks", async () => {
    const { history, leftOut } = await readGatusFixture();
    using _ = history;
    const { rows, range } = history.estimate();
    expect(rows).toBe(155 + 13 + 4 + 11);
    expect(range?.from).toBe(HOUR);
    expect(range?.until).toBeGreaterThan(HOUR + 10 * 60_000);
    // Endpoints of suites have a row each, without history of their own.
    expect(leftOut).toContainEqual({
      foreign: { type: "history", id: "shop_create-order", name: "Shop/create order" },
      reason: "The configuration has no endpoint of this key.",
    });
    expect(history.leftOut()).toEqual({ "endpoint is not in the configuration": 11 });
  });

  test("gives only the results of a range, in chunks", async () => {
    using history = (
      await readGatusFixture((database) => {
        const insert = database.prepare(
          `INSERT INTO endpoint_results VALUES (NULL, 1, 1, '', 1, 200, '', 0, 0, '', '', 5e6, ?, NULL)`,
        );
        for (let index = 0; index < 9_000; index += 1) {
          insert.run(
            `${new Date(HOUR + HOUR_MS + index).toISOString().replace("T", " ").replace("Z", "")} +0000 UTC`,
          );
        }
      })
    ).history;
    const range = { from: HOUR + HOUR_MS, until: HOUR + HOUR_MS + 8_999 };
    expect([...history.beats(WEBSITE, range)].map(({ count }) => count)).toEqual([
      4_096, 4_096, 807,
    ]);
    expect(beatsOf(history, WEBSITE, range)[0]).toMatchObject({ latencyMs: 5 });
  });

  test("gives events from the time before its results as marks", async () => {
    const at = (minute: number) => `2026-11-22 10:0${minute}:00.5 +0000 UTC`;
    using history = (
      await readGatusFixture((database) => {
        database.run("UPDATE endpoint_events SET event_type = 'START' WHERE endpoint_id = 2");
        for (const [minute, type] of [
          [0, "START"],
          [1, "HEALTHY"],
          [2, "UNHEALTHY"],
          [3, "OTHER"],
        ] as const) {
          database.run("INSERT INTO endpoint_events VALUES (NULL, 2, ?, ?)", [type, at(minute)]);
        }
      })
    ).history;
    expect(
      beatsOf(history, CHECKOUT)
        .slice(0, 3)
        .map(({ kind }) => kind),
    ).toEqual([BEAT.upMark, BEAT.downMark, BEAT.up]);
  });

  test("whose hours Gatus has made days of gives the sums of days in UTC", async () => {
    const day = Date.UTC(2026, 10, 1);
    const rows = [
      // A day of a time zone two hours before UTC, one with the hours of its beginning alone, and hours.
      [day - 2 * HOUR_MS, 86_000, 85_000, 86_000],
      [day + DAY_MS, 3_600, 3_600, 0],
      [day + 3 * DAY_MS, 3_500, 3_499, 7_000],
      [day + 3 * DAY_MS + HOUR_MS, 3_600, 3_600, 7_200],
    ];
    using history = (
      await readGatusFixture((database) => {
        database.run("DELETE FROM endpoint_uptimes");
        for (const [at = 0, ...numbers] of rows) {
          database.run("INSERT INTO endpoint_uptimes VALUES (NULL, 1, ?, ?, ?, ?)", [
            at / 1_000,
            ...numbers,
          ]);
        }
      })
    ).history;
    const sums = [...history.sums(WEBSITE, EVER)].sort((a, b) => a.at - b.at);
    expect(
      sums.map(({ at, size, checks, failures, latencySum }) => [
        at - day,
        size,
        checks,
        failures,
        latencySum,
      ]),
    ).toEqual([
      [0, DAY_MS, 86_000, 1_000, 86_000],
      [DAY_MS, HOUR_MS, 3_600, 0, null],
      [3 * DAY_MS, HOUR_MS, 3_500, 1, 7_000],
      [3 * DAY_MS + HOUR_MS, HOUR_MS, 3_600, 0, 7_200],
    ]);
  });

  test("with texts in place of numbers reads none of them", async () => {
    const huge = "printf('%.*c', 30000000, 'x')";
    using history = (
      await readGatusFixture((database) => {
        database.run(`UPDATE endpoint_results SET success = ${huge} WHERE endpoint_result_id = 1`);
      })
    ).history;
    const [chunk] = [...history.beats(WEBSITE, EVER)];
    expect(chunk?.skipped).toEqual({ "time or value cannot be read": 1 });
  });

  test("that Gatus opens while it is read is refused", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "gatus.db");
    await writeGatusDatabase(path);
    const inLogMode = () => {
      using database = new Database(path);
      database.run("PRAGMA journal_mode = WAL");
    };
    inLogMode();
    const found = await readGatus(GATUS_CONFIG, {
      history: path,
      envFile: undefined,
      environment: GATUS_VARIABLES,
      allowsUnset: false,
      readsNamedFiles: true,
    });
    using history = found.history!;
    expect(history.lastState(WEBSITE)).toBeDefined();
    using live = new Database(path);
    live.run("UPDATE endpoint_results SET success = 0");
    expect(() => history.lastState(CHECKOUT)).toThrow("was changed while it was read");
  });

  test("with rows that cannot be read counts them", async () => {
    using history = (
      await readGatusFixture((database) => {
        database.run(
          "UPDATE endpoint_results SET timestamp = 'soon' WHERE endpoint_result_id < 20",
        );
        database.run(
          "UPDATE endpoint_results SET timestamp = x'00ff' WHERE endpoint_result_id BETWEEN 20 AND 30",
        );
        database.run(
          "UPDATE endpoint_results SET duration = 'long', success = 7 WHERE endpoint_result_id BETWEEN 31 AND 40",
        );
        database.run(
          "UPDATE endpoint_results SET timestamp = zeroblob(1000000) || '' WHERE endpoint_result_id = 41",
        );
        database.run(
          "UPDATE endpoint_uptimes SET successful_executions = 1e9 WHERE endpoint_id = 1",
        );
      })
    ).history;
    const [chunk] = [...history.beats(WEBSITE, EVER)];
    // 15 results and a sum.
    expect(chunk?.skipped).toEqual({ "time or value cannot be read": 16 });
    expect(chunk?.rows).toBe((chunk?.count ?? 0) + 16);
    expect(history.sums(WEBSITE, EVER)).toEqual([]);
  });

  test.each([
    [
      "a result of the year 9999",
      "UPDATE endpoint_results SET timestamp = '9999-12-31 23:59:59 +0000 UTC' WHERE endpoint_result_id = 1",
    ],
    [
      "a result of the year 1",
      "UPDATE endpoint_results SET timestamp = '0001-01-01 00:00:00 +0000 UTC' WHERE endpoint_result_id = 1",
    ],
    [
      "a duration of 285 years",
      "UPDATE endpoint_results SET duration = 9e18 WHERE endpoint_result_id = 1",
    ],
    [
      "an hour of 1970",
      "UPDATE endpoint_uptimes SET hour_unix_timestamp = 0 WHERE endpoint_id = 1",
    ],
    [
      "an hour beyond all time",
      "UPDATE endpoint_uptimes SET hour_unix_timestamp = 9e18 WHERE endpoint_id = 1",
    ],
    [
      "half an hour",
      "UPDATE endpoint_uptimes SET hour_unix_timestamp = hour_unix_timestamp + 0.5 WHERE endpoint_id = 1",
    ],
    [
      "half an execution",
      "UPDATE endpoint_uptimes SET successful_executions = 0.5 WHERE endpoint_id = 1",
    ],
    [
      "more executions than a day has room for",
      "UPDATE endpoint_uptimes SET total_executions = 9e18 WHERE endpoint_id = 1",
    ],
  ])("with %s counts it as unreadable, and takes over the others", async (_name, sql) => {
    const found = await readGatusFixture((database) => void database.run(sql));
    using history = found.history;
    await using app = await createTestApp({ clock: createTestClock(HOUR + HOUR_MS) });
    const report = await importPast(app, found);
    expect(report.history?.skipped).toEqual({
      "endpoint is not in the configuration": 11,
      "time or value cannot be read": 1,
    });
    const { range } = history.estimate();
    expect(range && range.from >= HOUR && range.until <= HOUR + HOUR_MS).toBe(true);
  });

  test("of an earlier version without suites is read", async () => {
    using history = (
      await readGatusFixture((database) => {
        database.run("DROP TABLE suites");
        database.run("DROP TABLE suite_results");
        database.run("DROP INDEX endpoint_results_suite_result_id_idx");
        database.run("ALTER TABLE endpoint_results DROP COLUMN suite_result_id");
      })
    ).history;
    expect(beatsOf(history, CHECKOUT)).toHaveLength(55);
    expect(beatsOf(history, "suite:shop_order")).toEqual([]);
  });

  test.each([
    ["without a table", "DROP TABLE endpoint_uptimes", "no table endpoint_uptimes"],
    [
      "without a column",
      "ALTER TABLE endpoint_results DROP COLUMN duration",
      "no column endpoint_results.duration",
    ],
    [
      "with a view in place of a table",
      "ALTER TABLE endpoint_events RENAME TO e; CREATE VIEW endpoint_events AS SELECT * FROM e",
      "no table endpoint_events",
    ],
  ])("%s is refused", async (_name, sql, message) => {
    const reading = readGatusFixture((database) => {
      database.run(sql);
    });
    await expect(reading).rejects.toThrow(message);
  });
});

test.each([
  ["a file that does not exist", "missing.db", "There is no file"],
  ["a folder", ".", "is a directory"],
  ["a file that is no database", "config.yaml", "is no SQLite database"],
])("%s as history is refused", async (_name, name, message) => {
  const reading = readGatus(GATUS_CONFIG, {
    history: join(GATUS_CONFIG, "..", name),
    envFile: undefined,
    environment: GATUS_VARIABLES,
    allowsUnset: false,
    readsNamedFiles: true,
  });
  await expect(reading).rejects.toThrow(message);
});

test.each([
  ["2026-11-22 01:46:31.071237007 +0000 UTC", "2026-11-22T01:46:31.071Z"],
  ["2026-11-22 01:46:31 +0000 UTC", "2026-11-22T01:46:31.000Z"],
  ["2026-11-22 03:46:31.5 +0200 EET m=+0.01", "2026-11-22T01:46:31.500Z"],
  ["2026-11-22T01:46:31.25Z", "2026-11-22T01:46:31.250Z"],
  ["2026-11-22T03:46:31+02:00", "2026-11-22T01:46:31.000Z"],
])("the time %s is read", (text, expected) => {
  expect(new Date(timeOf(text) ?? 0).toISOString()).toBe(expected);
});
