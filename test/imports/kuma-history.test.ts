import { Database, type SQLQueryBindings } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { OperatorError } from "../../src/db/errors";
import { BEAT, type HistoryRange } from "../../src/imports/found";
import { openKumaDatabase } from "../../src/imports/uptime-kuma/database";
import { openKumaHistory } from "../../src/imports/uptime-kuma/history";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/base/time";
import { createKumaDatabase } from "../support/kuma-database";
import { writeLargeKuma } from "../support/large-kuma";
import { temporaryFolder } from "../support/temporary-folder";

type KumaHistory = NonNullable<ReturnType<typeof openKumaHistory>>;

const NOW = Date.UTC(2026, 2, 24, 12);
const ALWAYS: HistoryRange = { from: Date.UTC(2021, 0, 1), until: NOW };

/** A heartbeat: time, status, and what else a test needs. */
type Beat = readonly [
  time: SQLQueryBindings,
  status: SQLQueryBindings,
  more?: { ping?: SQLQueryBindings; msg?: SQLQueryBindings; monitor?: number; important?: number },
];

function insertBeats(sqlite: Database, beats: readonly Beat[]): void {
  const insert = sqlite.prepare(
    "INSERT INTO heartbeat (time, status, ping, msg, monitor_id, important) VALUES (?, ?, ?, ?, ?, ?)",
  );
  for (const [
    time,
    status,
    { ping = null, msg = null, monitor = 1, important = 0 } = {},
  ] of beats) {
    insert.run(time, status, ping, msg, monitor, important);
  }
}

/** Writes a database with monitors 1 and 2, and opens its history. */
async function historyOf(
  fill: readonly Beat[] | ((sqlite: Database) => void),
  version: 1 | 2 = 2,
): Promise<KumaHistory & { folder: string }> {
  const folder = temporaryFolder();
  const path = join(folder.path, "kuma.db");
  const sqlite = createKumaDatabase(path, version);
  sqlite.run("INSERT INTO monitor (name) VALUES ('Shop'), ('API')");
  if (typeof fill === "function") fill(sqlite);
  else insertBeats(sqlite, fill);
  sqlite.close(true);
  const history = openKumaHistory(await openKumaDatabase(path), NOW);
  if (!history) throw new Error("there is no history");
  const close = history[Symbol.dispose].bind(history);
  return Object.assign(history, {
    folder: folder.path,
    [Symbol.dispose]() {
      close();
      folder[Symbol.dispose]();
    },
  });
}

/** Reads the beats of a monitor, and copies them out of their chunks. */
function beatsIn(history: KumaHistory, monitor = 1, range = ALWAYS) {
  const beats: { at: number; kind: number; latencyMs: number; message?: string }[] = [];
  const sizes: number[] = [];
  let [rows, unreadable] = [0, 0];
  for (const chunk of history.beats(`monitor:${monitor}`, range)) {
    for (let index = 0; index < chunk.count; index += 1) {
      const message = chunk.messages?.get(index);
      beats.push({
        at: chunk.at[index] ?? NaN,
        kind: chunk.kind[index] ?? NaN,
        latencyMs: chunk.latencyMs[index] ?? NaN,
        ...(message === undefined ? {} : { message }),
      });
    }
    sizes.push(chunk.count);
    rows += chunk.rows;
    unreadable += chunk.skipped?.["unreadable"] ?? 0;
  }
  return { beats, sizes, rows, unreadable };
}

const at = (time: string) => Date.parse(`${time}Z`);

describe("the heartbeats of a monitor of Uptime Kuma", () => {
  test("are read in the order of time, with and without milliseconds", async () => {
    using history = await historyOf([
      ["2026-03-24 11:00:02", 1],
      ["2026-03-24 11:00:01.500", 1],
      ["2026-03-24 11:00:01", 1],
      ["2026-03-23 23:59:59.999", 1],
      ["2026-03-24 11:00:00.000", 1, { monitor: 2 }],
    ]);
    expect(beatsIn(history).beats.map((beat) => beat.at)).toEqual([
      at("2026-03-23T23:59:59.999"),
      at("2026-03-24T11:00:01"),
      at("2026-03-24T11:00:01.500"),
      at("2026-03-24T11:00:02"),
    ]);
  });

  test("have the four statuses of Uptime Kuma", async () => {
    using history = await historyOf([
      ["2026-03-24 11:00:00", 1],
      ["2026-03-24 11:01:00", 2],
      ["2026-03-24 11:02:00", 0],
      ["2026-03-24 11:03:00", 3],
    ]);
    expect(beatsIn(history).beats.map(({ kind }) => kind)).toEqual([
      BEAT.up,
      BEAT.pending,
      BEAT.down,
      BEAT.maintenance,
    ]);
  });

  test("have latencies of whole milliseconds, from integers and reals", async () => {
    const pings = [12, 0, 0.4, 12.5, null, -1, 1e12, Infinity, "fast", "12", new Uint8Array([1])];
    using history = await historyOf(
      pings.map((ping, index): Beat => [`2026-03-24 11:00:${10 + index}`, 1, { ping }]),
    );
    const latencies = beatsIn(history).beats.map(({ latencyMs }) => latencyMs);
    expect(latencies).toEqual([12, 0, 0, 13, -1, -1, -1, -1, -1, 12, -1]);
  });

  test("have the messages of failures, cut, and no others", async () => {
    using history = await historyOf([
      ["2026-03-24 11:00:00", 1, { msg: "200 - OK" }],
      ["2026-03-24 11:01:00", 2, { msg: "timeout" }],
      ["2026-03-24 11:02:00", 0, { msg: "x".repeat(5_000) }],
      ["2026-03-24 11:03:00", 0, { msg: new Uint8Array([1]) }],
      ["2026-03-24 11:04:00", 3, { msg: "planned" }],
    ]);
    const messages = beatsIn(history).beats.map(({ message }) => message);
    expect(messages).toEqual([undefined, "timeout", "x".repeat(300), undefined, undefined]);
  });

  test("in one millisecond are all read, as Uptime Kuma wrote them", async () => {
    using history = await historyOf([
      ["2026-03-24 11:00:00.001", 0],
      ["2026-03-24 11:00:00.001", 1],
    ]);
    expect(beatsIn(history).beats.map(({ kind }) => kind)).toEqual([BEAT.down, BEAT.up]);
  });

  test("are read from the start of a range to before its end", async () => {
    using history = await historyOf([
      ["2026-03-22 23:59:59.999", 1],
      ["2026-03-23 00:00:00", 1],
      ["2026-03-23 00:00:00.000", 1],
      ["2026-03-23 23:59:59.999", 1],
      ["2026-03-24 00:00:00", 1],
      ["2026-03-24 00:00:00.000", 1],
    ]);
    const day = { from: Date.UTC(2026, 2, 23), until: Date.UTC(2026, 2, 24) };
    expect(beatsIn(history, 1, day).beats.map((beat) => beat.at)).toEqual([
      day.from,
      day.from,
      day.until - 1,
    ]);
    const next = { from: day.until, until: NOW };
    expect(beatsIn(history, 1, next).rows).toBe(2);
  });

  test("are read in chunks of at most 4,096", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "kuma.db");
    writeLargeKuma(path, { monitors: 2, beats: 20_000, until: NOW - 1_000 });
    using history = openKumaHistory(await openKumaDatabase(path), NOW);
    if (!history) throw new Error("there is no history");
    const { beats, sizes, rows } = beatsIn(history);
    expect(sizes).toEqual([4_096, 4_096, 1_808]);
    expect(rows).toBe(10_000);
    const times = beats.map((beat) => beat.at);
    expect(new Set(times).size).toBe(10_000);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test("are read again from their start after a reading that was ended", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "kuma.db");
    writeLargeKuma(path, { monitors: 2, beats: 20_000, until: NOW - 1_000 });
    using history = openKumaHistory(await openKumaDatabase(path), NOW);
    if (!history) throw new Error("there is no history");
    for (const _chunk of history.beats("monitor:1", ALWAYS)) break;
    expect(beatsIn(history, 2).rows).toBe(10_000);
  });

  test("are none for a monitor without heartbeats, and for other objects", async () => {
    using history = await historyOf([["2026-03-24 11:00:00", 1]]);
    expect(beatsIn(history, 2)).toMatchObject({ beats: [], rows: 0 });
    expect(beatsIn(history, 99)).toMatchObject({ beats: [], rows: 0 });
    expect([...history.beats("monitor:1:status", ALWAYS)]).toEqual([]);
    expect([...history.beats("group:1", ALWAYS)]).toEqual([]);
  });

  test("that cannot be read are counted and left out", async () => {
    using history = await historyOf([
      ["2026-03-24 11:00:00", 1],
      ["2026-03-24 11:01:00", 4],
      ["2026-03-24 11:02:00", "up"],
      ["2026-03-24 11:03:00", 0.5],
      ["2026-03-24 11:99:00", 1],
      ["2026-03-23T11:00:00.000Z", 1],
      [`2026-03-23 ${"x".repeat(5_000)}`, 1],
      ["2026-03-23", 1],
    ]);
    const { beats, rows, unreadable } = beatsIn(history);
    expect([beats.length, rows, unreadable]).toEqual([1, 8, 7]);
  });

  test("of a day that does not exist do not break the order of time", async () => {
    using history = await historyOf([
      ["2026-02-30 11:00:00", 1],
      ["2026-03-01 11:00:00", 1],
      ["2026-03-03 11:00:00", 1],
    ]);
    const times = beatsIn(history).beats.map((beat) => beat.at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(beatsIn(history, 1, { ...ALWAYS, until: at("2026-03-01T00:00:00") }).beats).toEqual([]);
  });
});

describe("heartbeats of Uptime Kuma that are not imported", () => {
  test("are counted by reason", async () => {
    using history = await historyOf([
      ["2026-03-24 11:00:00", 1],
      ["2026-03-24 11:00:00", 1, { monitor: 3 }],
      ["2026-03-24 11:01:00", 1, { monitor: 3 }],
      ["2026-03-24 11:01:00", 1, { monitor: 9 }],
      ["2026-03-24 12:00:00", 1],
      ["9999-12-31 23:59:59", 1],
      ["99999-01-01 00:00:00", 1],
      ["1970-01-01 00:00:05", 1],
      [1_774_350_000_000, 1],
      [new Uint8Array([1]), 1],
      ["tomorrow", 1],
    ]);
    expect(history.leftOut()).toEqual({
      "of a deleted monitor": 3,
      "in the future": 3,
      "before 2021": 1,
      unreadable: 3,
    });
    expect(beatsIn(history, 1, { from: 0, until: 1e15 })).toMatchObject({ rows: 1 });
  });

  test("are none in a sound database", async () => {
    using history = await historyOf([["2026-03-24 11:00:00", 1]]);
    expect(history.leftOut()).toEqual({});
  });
});

describe("the last state of a monitor of Uptime Kuma", () => {
  const stateOf = async (beats: readonly Beat[]) => {
    using history = await historyOf(beats);
    return history.lastState("monitor:1");
  };
  const UP: Beat = ["2026-03-20 10:00:00", 1, { important: 1 }];
  const important = { important: 1 };

  test("is up since its last change", async () => {
    expect(await stateOf([UP, ["2026-03-24 11:00:00", 1]])).toEqual({
      state: "up",
      since: at("2026-03-20T10:00:00"),
      at: at("2026-03-24T11:00:00"),
      message: null,
    });
  });

  test("is down since the first pending beat before the outage, with its message", async () => {
    const beats: Beat[] = [
      UP,
      ["2026-03-24 10:57:00", 2],
      ["2026-03-24 10:57:30", 1],
      ["2026-03-24 10:58:00", 2],
      ["2026-03-24 10:58:20", 2],
      ["2026-03-24 10:59:00", 0, { important: 1, msg: "refused" }],
      ["2026-03-24 11:00:00", 0, { msg: "timeout" }],
    ];
    expect(await stateOf(beats)).toEqual({
      state: "down",
      since: at("2026-03-24T10:58:00"),
      at: at("2026-03-24T11:00:00"),
      message: "refused",
    });
  });

  test("stays up with a pending beat at the end", async () => {
    expect(await stateOf([UP, ["2026-03-24 11:00:00", 2]])).toMatchObject({
      state: "up",
      since: at("2026-03-20T10:00:00"),
    });
  });

  test("stays down with a pending beat at the end, which follows a restart", async () => {
    const down: Beat = ["2026-03-24 10:00:00", 0, important];
    expect(await stateOf([UP, down, ["2026-03-24 11:00:00", 2]])).toMatchObject({
      state: "down",
      since: at("2026-03-24T10:00:00"),
    });
  });

  test("is up under maintenance", async () => {
    const down: Beat = ["2026-03-24 10:00:00", 0, important];
    const beats: Beat[] = [UP, down, ["2026-03-24 11:00:00", 3, important]];
    expect(await stateOf(beats)).toMatchObject({ state: "up", since: at("2026-03-24T11:00:00") });
  });

  test("is that of its last beat if its change is not kept", async () => {
    expect(await stateOf([["2026-03-24 11:00:00", 0, { msg: "refused" }]])).toMatchObject({
      state: "down",
      since: at("2026-03-24T11:00:00"),
    });
  });

  test("does not depend on beats in the future", async () => {
    const future: Beat = ["2027-01-01 00:00:00", 0, important];
    expect(await stateOf([UP, future])).toMatchObject({
      state: "up",
      at: at("2026-03-20T10:00:00"),
    });
  });

  test("is unknown without beats, and with pending or unreadable ones alone", async () => {
    expect(await stateOf([])).toBeUndefined();
    expect(await stateOf([["2026-03-24 11:00:00", 2, important]])).toBeUndefined();
    expect(await stateOf([["2026-03-24 11:00:00", 2]])).toBeUndefined();
    expect(await stateOf([["2026-03-24 11:00:00", "up"]])).toBeUndefined();
  });

  test("is found in Uptime Kuma 1 too", async () => {
    using history = await historyOf([UP, ["2026-03-24 11:00:00", 0, important]], 1);
    expect(history.lastState("monitor:1")).toMatchObject({ state: "down" });
  });
});

describe("the sums of Uptime Kuma 2", () => {
  const HOUR = Date.UTC(2026, 2, 24, 9);
  const insertSum = (sqlite: Database, table: string, values: Record<string, SQLQueryBindings>) => {
    const row = { monitor_id: 1, timestamp: HOUR / 1_000, ping: 0, up: 0, down: 0, ...values };
    const columns = Object.keys(row);
    sqlite
      .prepare(
        `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
      )
      .run(...Object.values(row));
  };

  test("are read by minute, hour and day, with maintenance apart", async () => {
    using history = await historyOf((sqlite) => {
      const latency = { ping: 20.5, ping_min: 10, ping_max: 99.5 };
      insertSum(sqlite, "stat_minutely", { up: 2, ...latency });
      insertSum(sqlite, "stat_hourly", {
        up: 40,
        down: 4,
        extras: '{"maintenance": 16}',
        ...latency,
      });
      insertSum(sqlite, "stat_daily", { timestamp: Date.UTC(2026, 2, 24) / 1_000, down: 3 });
    });
    const ms = { latencyMin: 10, latencyMax: 99.5 };
    expect(history.sums("monitor:1", ALWAYS)).toEqual([
      {
        size: MINUTE_MS,
        at: HOUR,
        checks: 2,
        failures: 0,
        answers: 2,
        latencySum: 41,
        ...ms,
        maintenance: 0,
      },
      {
        size: HOUR_MS,
        at: HOUR,
        checks: 44,
        failures: 4,
        answers: 40,
        latencySum: 820,
        ...ms,
        maintenance: 16,
      },
      {
        size: DAY_MS,
        at: Date.UTC(2026, 2, 24),
        checks: 3,
        failures: 3,
        answers: 0,
        latencySum: null,
        latencyMin: null,
        latencyMax: null,
        maintenance: 0,
      },
    ]);
  });

  test("are read if they begin in the range", async () => {
    using history = await historyOf((sqlite) => {
      for (const hour of [0, 1, 2]) {
        insertSum(sqlite, "stat_hourly", { timestamp: HOUR / 1_000 + hour * 3_600, up: hour + 1 });
      }
    });
    const range = { from: HOUR + HOUR_MS, until: HOUR + 2 * HOUR_MS };
    expect(history.sums("monitor:1", range).map(({ checks }) => checks)).toEqual([2]);
    expect(history.sums("monitor:2", ALWAYS)).toEqual([]);
  });

  test("of a monitor whose clients send no latency have none", async () => {
    using history = await historyOf((sqlite) => insertSum(sqlite, "stat_hourly", { up: 60 }));
    const [sum] = history.sums("monitor:1", ALWAYS);
    expect(sum).toMatchObject({ checks: 60, answers: 0, latencySum: null, latencyMin: null });
  });

  test("of another time zone begin with their hour here", async () => {
    using history = await historyOf((sqlite) =>
      insertSum(sqlite, "stat_hourly", { timestamp: HOUR / 1_000 + 1_800, up: 60 }),
    );
    expect(history.sums("monitor:1", ALWAYS)).toMatchObject([{ at: HOUR }]);
  });

  test.each([
    ["numbers that are none", { up: "many" }],
    ["binary numbers", { down: new Uint8Array([1]) }],
    ["negative numbers", { up: -1 }],
    ["fractions of results", { up: 1.5 }],
    ["more results than a day can have", { down: 1e15 }],
  ])("with %s are left out", async (_name, values) => {
    using history = await historyOf((sqlite) => insertSum(sqlite, "stat_hourly", values));
    expect(history.sums("monitor:1", ALWAYS)).toEqual([]);
  });

  test.each(["{", "[]", "null", '{"maintenance": "x"}', '{"maintenance": -1}', "x".repeat(5_000)])(
    "with the further figures %p have no maintenance",
    async (extras) => {
      using history = await historyOf((sqlite) =>
        insertSum(sqlite, "stat_hourly", { up: 1, extras }),
      );
      expect(history.sums("monitor:1", ALWAYS)).toMatchObject([{ checks: 1, maintenance: 0 }]);
    },
  );

  test("are none in Uptime Kuma 1", async () => {
    using history = await historyOf([["2026-03-24 11:00:00", 1]], 1);
    expect(history.sums("monitor:1", ALWAYS)).toEqual([]);
    expect(history.estimate().rows).toBe(1);
  });

  test("extend the range of the history", async () => {
    using history = await historyOf((sqlite) => {
      insertBeats(sqlite, [["2026-03-24 11:00:00", 1]]);
      insertSum(sqlite, "stat_daily", { timestamp: Date.UTC(2025, 6, 1) / 1_000, up: 1 });
      insertSum(sqlite, "stat_minutely", { timestamp: Date.UTC(2030, 0, 1) / 1_000, up: 1 });
    });
    const until = at("2026-03-24T11:00:00") + 1;
    expect(history.estimate().range).toEqual({ from: Date.UTC(2025, 6, 1), until });
  });
});

describe("the size of a history of Uptime Kuma", () => {
  test("is known before it is read", async () => {
    using history = await historyOf([
      ["2026-03-24 11:00:00.250", 1],
      ["2026-03-22 11:00:00", 1, { monitor: 2 }],
      ["2026-03-21 11:00:00", 1, { monitor: 3 }],
      ["1970-01-01 00:00:00", 1],
      ["2026-03-25 00:00:00", 1],
    ]);
    expect(history.estimate()).toEqual({
      rows: 5,
      range: { from: at("2026-03-22T11:00:00"), until: at("2026-03-24T11:00:00.251") },
    });
  });

  test("is that of nothing without heartbeats", async () => {
    using history = await historyOf([]);
    expect(history.estimate()).toEqual({ rows: 0, range: null });
  });

  test("is estimated where most of the older heartbeats are deleted", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "kuma.db");
    writeLargeKuma(path, { monitors: 10, beats: 400_000, until: NOW - 1_000, version: 2 });
    using sqlite = createKumaDatabase(join(folder.path, "other.db"));
    sqlite.run("ATTACH ? AS large", [path]);
    sqlite.run("DELETE FROM large.heartbeat WHERE id < 300000 AND important = 0");
    const [row] = sqlite
      .prepare<{ rows: number }, []>("SELECT count(*) AS rows FROM large.heartbeat")
      .all();
    sqlite.run("DETACH large");
    using history = openKumaHistory(await openKumaDatabase(path), NOW);
    const { rows = 0 } = history?.estimate() ?? {};
    expect(rows / (row?.rows ?? 0)).toBeCloseTo(1, 1);
  });

  test("is read from a table that lacks columns of later versions", async () => {
    using history = await historyOf((sqlite) => {
      sqlite.run("DROP TABLE heartbeat");
      sqlite.run("CREATE TABLE heartbeat (id INTEGER PRIMARY KEY, monitor_id, status, time)");
      sqlite.run("INSERT INTO heartbeat VALUES (1, 1, 1, '2026-03-24 11:00:00')");
      sqlite.run("INSERT INTO heartbeat VALUES (2, 1, 0, '2026-03-24 11:01:00')");
    });
    expect(beatsIn(history).beats.map(({ kind, latencyMs }) => [kind, latencyMs])).toEqual([
      [BEAT.up, -1],
      [BEAT.down, -1],
    ]);
    expect(history.lastState("monitor:1")).toMatchObject({ state: "down", message: null });
    expect(history.estimate().rows).toBe(2);
  });

  test("is unknown in a database without a table of heartbeats", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "kuma.db");
    const sqlite = createKumaDatabase(path);
    sqlite.run("DROP TABLE heartbeat");
    sqlite.close(true);
    using kuma = await openKumaDatabase(path);
    expect(openKumaHistory(kuma, NOW)).toBeUndefined();
  });
});

describe("a history that Uptime Kuma 2.5.3 has summed up", () => {
  const FIXTURES = join(import.meta.dir, "fixtures/uptime-kuma");

  /** Opens a copy of the database, with the time and the uptimes in percent at which Uptime Kuma was stopped. */
  async function summedUp() {
    const folder = temporaryFolder();
    const path = join(folder.path, "kuma.db");
    await Bun.write(path, gunzipSync(readFileSync(join(FIXTURES, "2.5.3-history.db.gz"))));
    const shown = (await Bun.file(join(FIXTURES, "2.5.3-history.json")).json()) as {
      now: string;
      uptimes: Record<string, Record<"1440m" | "30d", number>>;
    };
    const now = Date.parse(shown.now);
    const kuma = await openKumaDatabase(path);
    const monitors = kuma.rows("monitor", ["id", "name"]);
    const history = openKumaHistory(kuma, now);
    if (!history) throw new Error("there is no history");
    return {
      history,
      now,
      monitors: monitors.map(({ id, name }) => {
        const shownOf = shown.uptimes[String(name)];
        if (!shownOf) throw new Error(`there are no uptimes of ${name}`);
        return { id: Number(id), uptimes: shownOf };
      }),
      [Symbol.dispose]() {
        history[Symbol.dispose]();
        folder[Symbol.dispose]();
      },
    };
  }

  test("is read in place, without a table or column that is not known", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "kuma.db");
    await Bun.write(path, gunzipSync(readFileSync(join(FIXTURES, "2.5.3-history.db.gz"))));
    using kuma = await openKumaDatabase(path);
    expect(kuma.notRead).toEqual([]);
    expect(readdirSync(folder.path)).toEqual(["kuma.db"]);
  });

  test("gives the uptimes of 24 hours and 30 days that Uptime Kuma shows", async () => {
    using source = await summedUp();
    const { history, now } = source;
    for (const { id, uptimes } of source.monitors) {
      const ours = [MINUTE_MS, DAY_MS].map((size) => {
        const buckets = size === MINUTE_MS ? 1_440 : 30;
        const last = Math.floor(now / size) * size;
        const range = { from: last - (buckets - 1) * size, until: now };
        const sums = history.sums(`monitor:${id}`, range).filter((sum) => sum.size === size);
        const total = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
        const checks = total(sums.map((sum) => sum.checks));
        const failures = total(sums.map((sum) => sum.failures));
        return checks === 0 ? 0 : 100 * (1 - failures / checks);
      });
      expect(Math.abs((ours[0] ?? NaN) - uptimes["1440m"])).toBeLessThan(0.01);
      expect(Math.abs((ours[1] ?? NaN) - uptimes["30d"])).toBeLessThan(0.01);
    }
  });

  test("counts as many results in its heartbeats as in its sums where it keeps all heartbeats", async () => {
    using source = await summedUp();
    const { history, now } = source;
    const until = Math.floor(now / HOUR_MS) * HOUR_MS;
    const range = { from: until - 23 * HOUR_MS, until };
    for (const { id } of source.monitors) {
      const sums = history.sums(`monitor:${id}`, range).filter(({ size }) => size === HOUR_MS);
      const { beats } = beatsIn(history, id, range);
      const counted = Map.groupBy(beats, (beat) => beat.at - (beat.at % HOUR_MS));
      expect([...counted.keys()]).toEqual(sums.map((sum) => sum.at));
      for (const sum of sums) {
        const ofHour = counted.get(sum.at) ?? [];
        const maintenance = ofHour.filter(({ kind }) => kind === BEAT.maintenance).length;
        const up = ofHour.filter(({ kind }) => kind === BEAT.up);
        expect(sum).toMatchObject({
          checks: ofHour.length - maintenance,
          failures: ofHour.length - maintenance - up.length,
          answers: up.length,
          maintenance,
        });
      }
    }
  });

  test("keeps the changes of the state where the other heartbeats are deleted", async () => {
    using source = await summedUp();
    const range = { ...ALWAYS, until: source.now - 7 * DAY_MS };
    const kinds = source.monitors.map(({ id }) =>
      beatsIn(source.history, id, range).beats.map(({ kind }) => kind),
    );
    const { up, down, maintenance } = BEAT;
    expect(kinds).toEqual([
      [up, down, up, down, up],
      [up, maintenance, down, up],
      [up, down, up],
      [],
    ]);
  });

  test("leaves monitors in the states that Uptime Kuma showed", async () => {
    using source = await summedUp();
    const states = source.monitors.map(({ id }) => source.history.lastState(`monitor:${id}`));
    expect(states.map((state) => state && [state.state, source.now - state.since])).toEqual([
      ["up", 8 * HOUR_MS],
      ["up", 2 * HOUR_MS],
      ["up", 13 * HOUR_MS],
      undefined,
    ]);
  });

  test("goes back to the first day", async () => {
    using source = await summedUp();
    const { range, rows } = source.history.estimate();
    expect(rows).toBe(542);
    expect(range?.from).toBe(Math.floor((source.now - 40 * DAY_MS) / DAY_MS) * DAY_MS);
    expect(source.history.leftOut()).toEqual({});
  });
});

describe("a history of Uptime Kuma that changes or is damaged", () => {
  test("is refused if Uptime Kuma was started while it was read without its log", async () => {
    using history = await historyOf([["2026-03-24 11:00:00", 1]]);
    using live = new Database(join(history.folder, "kuma.db"));
    live.run("INSERT INTO monitor (name) VALUES ('New')");
    expect(() => beatsIn(history)).toThrow("was changed while it was read");
  });

  test("is refused if it has more rows than there is room for, as pages in a circle have", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "kuma.db");
    writeLargeKuma(path, { monitors: 2, beats: 20_000, until: NOW - 1_000 });
    const kuma = await openKumaDatabase(path);
    expect(kuma.rowsMax).toBeGreaterThan(20_000);
    using history = openKumaHistory(Object.defineProperty(kuma, "rowsMax", { value: 8_000 }), NOW);
    expect(() => history && beatsIn(history)).toThrow(`${path} is damaged.`);
  });

  test("is refused where its pages are damaged", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "kuma.db");
    writeLargeKuma(path, { monitors: 2, beats: 20_000, until: NOW - 1_000 });
    const file = openSync(path, "r+");
    for (let page = 100; page < 130; page += 1) {
      writeSync(file, Buffer.alloc(4_096, 0xff), 0, 4_096, page * 4_096);
    }
    using history = openKumaHistory(await openKumaDatabase(path), NOW);
    if (!history) throw new Error("there is no history");
    expect(() => beatsIn(history)).toThrow(OperatorError);
  });
});
