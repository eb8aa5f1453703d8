import { expect } from "bun:test";
import type { Ctx } from "../../src/context";
import type { Db } from "../../src/db/database";
import type { Tx } from "../../src/db/statements";
import type { Egress } from "../../src/egress/egress";
import { createAlarms } from "../../src/features/alarms/alarms";
import type { CauseRow } from "../../src/features/components/cause-store";
import { findComponent } from "../../src/features/components/store";
import { createMonitoring } from "../../src/features/monitors/engine/engine";
import { getMonitorRecord } from "../../src/features/monitors/records";
import type { CreateMonitorBody } from "../../src/features/monitors/wire";
import { type CheckRow, ofMonitors } from "../../src/features/monitors/checks-store";
import {
  findLiveness,
  listNoDataOfPage,
  listSpans,
  type SpanRow,
} from "../../src/features/monitors/spans-store";
import type { ProbeContext, ProbeResult } from "../../src/features/monitors/monitoring";
import type { MonitorRow } from "../../src/features/monitors/store";
import { CLI_ACTOR } from "../../src/base/actor";
import type { Clock } from "../../src/base/clock";
import { createTestApp, type TestApp } from "./app";
import { eventErrors } from "./webhook-events";
import { listCausesOfPage } from "./causes";
import { createTestClock, settle, type TestClock } from "./clock";
import { createMonitor } from "./examined";

/** Answers a check as the target of a test. */
export type Target = (context: ProbeContext) => ProbeResult | Promise<ProbeResult>;

export const answers =
  (latencyMs = 20): Target =>
  () => ({ outcome: "ok", latencyMs, message: null });

export const fails =
  (message = "The connection was refused."): Target =>
  () => ({ outcome: "failed", latencyMs: null, message });

/** Says nothing until the deadline. */
export const hangs =
  (): Target =>
  ({ signal }) =>
    new Promise((resolve) => {
      const giveUp = () =>
        resolve({ outcome: "failed", latencyMs: null, message: "Timed out connecting." });
      signal.addEventListener("abort", giveUp, { once: true });
    });

/** A process: its timers end with it, and so does what it would still write. */
interface Process {
  ctx: Ctx;
  engine: ReturnType<typeof createMonitoring>;
  /** In good order; not once it has ended. */
  stop(): Promise<void>;
  end(): void;
}

/** An app whose monitors are checked against targets that the test makes up. */
export interface EngineSite extends AsyncDisposable {
  app: TestApp;
  clock: TestClock;
  /** Start of the test in unix ms. */
  begin: number;
  engine: ReturnType<typeof createMonitoring>;
  /** True if this server reaches its reference targets. */
  isOnline: boolean;
  /** Promise that a reference target waits for before it answers. */
  reaching: Promise<void>;
  /** State of the database's disk: `full` accepts changes, but fails every commit. */
  disk: "fine" | "full";
  /** Returns the number of checks of one target, or of all. */
  checkCount(host?: string): number;
  /** Sets the further answers of a host. By default all hosts answer successfully. */
  let(host: string, target: Target): void;
  /** Makes a monitor of the host `<name>.test`, every minute and down after three failures. */
  monitor(input?: Partial<CreateMonitorBody>): Promise<MonitorRow>;
  /** The process ends between two instructions. */
  kill(): void;
  /** Another process begins, after `kill` or `stop`. */
  start(): Promise<void>;
  stop(): Promise<void>;
  state(id: string): string;
  /** The timeline as `<state> <from> → <to>`, in seconds since the test began. */
  timeline(id: string): string[];
  checks(id: string): CheckRow[];
  status(componentId: string): string;
  /**
   * Returns the causes that monitors wrote for a page, as `<status> <from> → <to>`, in seconds
   * since the start of the test.
   */
  causes(pageId: string): string[];
  noData(pageId: string): string[];
  /** Returns the stored time at which the server last ran; undefined before the first time is stored. */
  liveness(): number | undefined;
  /** Returns the number of transactions that the engine has committed. */
  transactions(): number;
  /** The types of events of monitors, in their order. */
  eventTypes(): string[];
}

export async function openEngineSite(
  options: {
    env?: Record<string, string>;
    isStarted?: boolean;
    start?: string;
    /** True if the process detects stalls. Tests that do not stall are quicker without. */
    detectsStalls?: boolean;
  } = {},
): Promise<EngineSite> {
  const { env, start, detectsStalls = false } = options;
  const app = await createTestApp({
    ...(env && { env }),
    ...(start !== undefined && { clock: createTestClock(Date.parse(start)) }),
  });
  const { clock } = app;
  const begin = clock.now();
  const targets = new Map<string, Target>();
  const counts = new Map<string, number>();
  const seconds = (ms: number | null) => (ms === null ? "" : String((ms - begin) / 1000));
  const interval = (from: number, to: number | null) => `${seconds(from)} → ${seconds(to)}`.trim();
  const egress = {
    connect: async () => {
      await site.reaching;
      return site.isOnline
        ? { address: "", certificate: null, close: () => {} }
        : { kind: "connect" };
    },
  } as unknown as Egress;
  let transactions = 0;
  let process = newProcess();

  function newProcess(): Process {
    const own = ownClock(clock);
    let isAlive = true;
    const db: Db = {
      ...app.ctx.db,
      statements: app.ctx.db.statements,
      write: (change) => {
        if (!isAlive) return new Promise(() => {});
        return app.ctx.db.write((tx: Tx) => {
          if (!isAlive) throw new Error("the process has ended");
          const value = change(tx);
          if (site.disk === "full") throw diskFull();
          transactions += 1;
          return value;
        });
      },
    };
    const ctx: Ctx = { ...app.ctx, clock: own.clock, db };
    const alarms = createAlarms(ctx);
    const engine = createMonitoring(ctx, egress, {
      findProbe: () => ({ run }),
      detectsStalls,
      alarms,
    });
    return {
      ctx,
      engine,
      async stop() {
        if (isAlive) await engine.stop();
        if (isAlive) await alarms.stop();
        this.end();
      },
      end() {
        isAlive = false;
        own.end();
      },
    };
  }

  async function run(config: Readonly<Record<string, unknown>>, context: ProbeContext) {
    const host = new URL(String(config["url"])).hostname;
    counts.set(host, (counts.get(host) ?? 0) + 1);
    return (targets.get(host) ?? answers())(context);
  }

  const site: EngineSite = {
    app,
    clock,
    begin,
    isOnline: true,
    reaching: Promise.resolve(),
    disk: "fine",
    get engine() {
      return process.engine;
    },
    checkCount: (host) =>
      host === undefined
        ? counts.values().reduce((sum, count) => sum + count, 0)
        : (counts.get(host) ?? 0),
    let: (host, target) => void targets.set(host, target),
    async monitor(input = {}) {
      const { name = "api" } = input;
      const config = { url: `https://${name}.test/` };
      const body = {
        type: "http",
        config,
        retry_interval_seconds: Math.min(20, input.interval_seconds ?? 60),
        on_down: "major_outage",
        ...input,
        name,
      } as CreateMonitorBody;
      const { record } = await app.ctx.db.write((tx) =>
        createMonitor(app.ctx, tx, body, CLI_ACTOR),
      );
      return record.row;
    },
    kill: () => process.end(),
    async start() {
      process = newProcess();
      process.engine.start();
      await settle();
    },
    stop: () => process.stop(),
    state: (id) => getMonitorRecord(app.ctx.db, id).state.state,
    timeline: (id) =>
      spansOf(app, id).map((span) => `${span.state} ${interval(span.startedAt, span.endedAt)}`),
    checks: (id) => {
      const { num: monitorNum } = getMonitorRecord(app.ctx.db, id).row;
      const before = Number.MAX_SAFE_INTEGER;
      return ofMonitors
        .listChecksBefore(app.ctx.db, { monitorNum, before, limit: 100_000 })
        .reverse();
    },
    status: (id) => findComponent(app.ctx.db, { id })?.status ?? "",
    causes: (pageId) =>
      listCausesOfPage(app.ctx.db, { pageId, since: 0 })
        .map(({ cause }): CauseRow => cause)
        .filter(({ source }) => source === "monitor")
        .map((cause) => `${cause.status} ${interval(cause.startedAt, cause.endedAt)}`),
    noData: (pageId) =>
      listNoDataOfPage(app.ctx.db, { pageId, since: 0 }).map(({ row }) =>
        interval(row.startedAt, row.endedAt),
      ),
    liveness: () => findLiveness(app.ctx.db, {})?.at,
    transactions: () => transactions,
    eventTypes: () =>
      app
        .events()
        .map(({ type }) => type)
        .filter((type) => type.startsWith("monitor.")),
    async [Symbol.asyncDispose]() {
      await process.stop();
      expect(eventErrors(app.events())).toEqual([]);
      await app[Symbol.asyncDispose]();
    },
  };
  if (options.isStarted !== false) {
    process.engine.start();
    await settle();
  }
  return site;
}

function spansOf(app: TestApp, id: string): SpanRow[] {
  const nums = JSON.stringify([getMonitorRecord(app.ctx.db, id).row.num]);
  const span = { nums, from: 0, to: Number.MAX_SAFE_INTEGER };
  return listSpans(app.ctx.db, span).map(({ row }) => row);
}

/** The same clock, whose timers can all be ended. */
function ownClock(clock: TestClock): { clock: Clock; end(): void } {
  let isEnded = false;
  const run = (job: () => void) => () => void (isEnded || job());
  return {
    clock: {
      now: clock.now,
      monotonic: clock.monotonic,
      after: (delayMs, job) => clock.after(delayMs, run(job)),
      every: (intervalMs, job) => clock.every(intervalMs, run(job)),
    },
    end() {
      isEnded = true;
    },
  };
}

function diskFull(): Error {
  return Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
}
