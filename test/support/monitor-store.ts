import type { Database } from "bun:sqlite";
import type { Ctx } from "../../src/context";
import { createDb } from "../../src/db/database";
import type { Reader, Tx } from "../../src/db/statements";
import { migrate } from "../../src/db/migrations";
import { openSqlite } from "../../src/db/open";
import { type CheckRow, ofMonitors } from "../../src/features/monitors/checks-store";
import { newEvaluation } from "../../src/features/monitors/rules";
import {
  findNextNum,
  insertMonitor,
  insertMonitorComponent,
  insertMonitorState,
  type MonitorRow,
} from "../../src/features/monitors/store";
import { recordState } from "../../src/features/monitors/engine/transitions";
import { createContext } from "../../src/installation";
import { CLI_ACTOR } from "../../src/base/actor";
import { systemRandom } from "../../src/base/hash";
import { HOUR_MS } from "../../src/base/time";
import { testConfig } from "./app";
import { createTestClock, type TestClock } from "./clock";
import { createTestLog, type LogLine } from "./log";
import { createComponent, createPage } from "./examined";

/** A migrated database without an application, for the stores of monitors. */
export interface MonitorStore extends Disposable {
  ctx: Ctx;
  clock: TestClock;
  sqlite: Database;
  logged: readonly LogLine[];
  /** Creates a page with components of these names and returns its id and theirs. */
  page(slug: string, names: string[]): Promise<{ id: string; components: string[] }>;
  /** Creates a pending monitor, by default now. */
  monitor(input?: {
    name?: string;
    componentIds?: string[];
    createdAt?: number;
  }): Promise<MonitorRow>;
  /** Stores results of checks. */
  record(...checks: CheckRow[]): Promise<void>;
}

/** Opens the store, in memory unless a path is given. */
export function openMonitorStore(path = ":memory:"): MonitorStore {
  const clock = createTestClock();
  const sqlite = openSqlite(path, 0);
  migrate(sqlite, undefined);
  const { log, lines: logged } = createTestLog("info");
  const db = createDb(sqlite, clock, log);
  const ctx = createContext({ config: testConfig(), db, clock, log, random: systemRandom });
  return {
    ctx,
    clock,
    sqlite,
    logged,
    page: (slug, names) =>
      db.write((tx) => {
        const page = createPage(ctx, tx, { slug, name: slug }, CLI_ACTOR);
        const components = names.map((name, position) => {
          const placement = { managedBy: null, position, groupId: null };
          return createComponent(ctx, tx, page, { name }, placement, CLI_ACTOR).id;
        });
        return { id: page.id, components };
      }),
    monitor: ({ name = "Website", componentIds = [], createdAt = clock.now() } = {}) =>
      db.write((tx) => addMonitor(ctx, tx, { name, componentIds, createdAt })),
    record: (...checks) =>
      db.write((tx) => {
        for (const check of checks) ofMonitors.insertCheck(tx, check);
      }),
    [Symbol.dispose]: () => db.close(),
  };
}

/** Inserts a monitor with its state and first span, like the service. */
export function addMonitor(
  ctx: Ctx,
  tx: Tx,
  input: { name: string; componentIds: readonly string[]; createdAt: number },
): MonitorRow {
  const { name, componentIds, createdAt } = input;
  const num = findNextNum(tx, {})?.num ?? 1;
  const row: MonitorRow = {
    id: ctx.newId("mon"),
    num,
    ref: `monitor-${num}`,
    name,
    type: "http",
    config: { url: "https://example.com/" },
    intervalSeconds: 60,
    timeoutMs: 10_000,
    failureThreshold: 3,
    successThreshold: 1,
    retryIntervalSeconds: 20,
    degradedAfterMs: null,
    onDown: "major_outage",
    openIncident: "never",
    paused: false,
    managedBy: null,
    version: 1,
    createdAt,
    updatedAt: createdAt,
    deletedAt: null,
    tags: [],
    inverted: false,
    reminderSeconds: 0,
    group: null,
    locations: ["local"],
    downWhen: "majority",
    notes: null,
  };
  insertMonitor(tx, row);
  for (const componentId of componentIds)
    insertMonitorComponent(tx, { monitorId: row.id, componentId });
  const rolledUntil = createdAt - (createdAt % HOUR_MS);
  insertMonitorState(tx, {
    monitorNum: num,
    ...newEvaluation("pending", createdAt),
    rolledUntil,
    reminders: 0,
    remindedAt: null,
  });
  recordState(tx, { monitorNum: num, state: "pending", at: createdAt, message: null });
  return row;
}

/** Returns a result with this response time in ms; null makes it a failure. */
export function check(monitorNum: number, at: number, latencyMs: number | null): CheckRow {
  const hasFailed = latencyMs === null;
  return {
    monitorNum,
    at,
    outcome: hasFailed ? "failed" : "ok",
    latencyMs,
    message: hasFailed ? "nothing answered" : null,
  };
}

/** Returns the texts of the statements that `use` runs, in order. */
export function statementsOf<R extends Reader>(reader: R, use: (reader: R) => void): string[] {
  const texts: string[] = [];
  const { statements } = reader;
  const noting = {
    statements: {
      prepared(build: Parameters<typeof statements.prepared>[0]) {
        const made = statements.prepared(build);
        texts.push((made.getQuery() as unknown as { sql: string }).sql);
        return made;
      },
      preparedChange(build: Parameters<typeof statements.preparedChange>[0]) {
        const made = statements.preparedChange(build);
        texts.push(made.sql);
        return made;
      },
    },
  };
  use(noting as unknown as R);
  return texts;
}

/** Returns the query plan of a statement, one line per step. */
export function planOf(store: MonitorStore, sql: string): string[] {
  const steps = store.sqlite.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
  return steps.map(({ detail }) => detail);
}
