import type { Tx } from "../../src/db/statements";
import { pauseMonitor } from "../../src/features/monitors/monitors";
import type { CreateMonitorBody } from "../../src/features/monitors/wire";
import { saveOpenAlert, saveUnmatched } from "../../src/features/monitors/alerts/alert-store";
import { type UnsupportedMonitor } from "../../src/features/monitors/imported";
import { getMonitorRecord } from "../../src/features/monitors/records";
import { ofMonitors } from "../../src/features/monitors/checks-store";
import { applyTransition } from "../../src/features/monitors/engine/transitions";
import {
  insertMonitorToken,
  insertSignal,
  saveHeartbeat,
  saveRun,
  trimSignals,
} from "../../src/features/monitors/job-store";
import {
  findMonitorState,
  type MonitorRow,
  saveCertificate,
} from "../../src/features/monitors/store";
import { retentionOf, rollUp } from "../../src/features/monitors/rollup";
import { newEvaluation } from "../../src/features/monitors/rules";
import type { Actor } from "../../src/base/actor";
import type { MonitorState } from "../../src/base/status";
import { sha256 } from "../../src/base/hash";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/base/time";
import type { DemoPage } from "../../src/demo/year";
import type { TestApp } from "./app";
import { clientCertificate } from "./raw-server";
import { createMonitor, createUnsupportedMonitor } from "./examined";

/** A state that a monitor entered: milliseconds before now, and the reason. */
interface StateChange {
  ago: number;
  state: MonitorState;
  message?: string;
}

interface Plan {
  input: Omit<CreateMonitorBody, "component_ids">;
  components?: readonly string[];
  createdAgo: number;
  /**
   * Returns the response time this long ago; null without a response, undefined without a check.
   */
  latency(ago: number): number | null | undefined;
  history: readonly StateChange[];
  certificateEndsIn?: number;
  isPaused?: boolean;
}

const CLIENT = await clientCertificate("good");
const EVERY_MS = 15 * MINUTE_MS;
const TIMED_OUT = "Timed out connecting.";

/** Returns a response time that varies like that of a real service, equal in every run. */
function usual(base: number, ago: number): number {
  const day = Math.sin((ago / DAY_MS) * 2 * Math.PI);
  const noise = ((ago / MINUTE_MS) * 7_919) % 97;
  return Math.round(base * (1 + day * 0.3) + noise * base * 0.006);
}

const isWithin = (ago: number, from: number, to: number) => ago <= from && ago > to;

const PLANS: readonly Plan[] = [
  {
    input: {
      type: "http",
      name: "Storefront",
      config: {
        url: "https://shop.northwind.example/",
        headers: { "X-Probe": "let-me-in" },
        assertions: [
          { source: "status", op: "eq", value: 200 },
          { source: "body", op: "contains", value: "Add to basket" },
        ],
      },
      on_down: "major_outage",
      degraded_after_ms: 2_000,
      tags: ["production", "Shop team"],
    },
    components: ["Storefront"],
    createdAgo: 95 * DAY_MS,
    latency(ago) {
      if (isWithin(ago, 6 * HOUR_MS, 5 * HOUR_MS)) return null;
      if (isWithin(ago, 16 * HOUR_MS, 15 * HOUR_MS)) return undefined;
      return usual(140, ago);
    },
    history: [
      { ago: 95 * DAY_MS, state: "up" },
      { ago: 61 * DAY_MS, state: "no_data" },
      { ago: 61 * DAY_MS - 3 * HOUR_MS, state: "up" },
      { ago: 6 * HOUR_MS, state: "down", message: TIMED_OUT },
      { ago: 5 * HOUR_MS, state: "up" },
    ],
    certificateEndsIn: 61 * DAY_MS,
  },
  {
    input: {
      type: "http",
      name: "Wiki",
      config: { url: "https://wiki.northwind.example/api/health?full=1" },
      degraded_after_ms: 800,
    },
    components: ["Wiki"],
    createdAgo: 40 * DAY_MS,
    latency: (ago) => usual(ago < 2 * HOUR_MS ? 1_300 : 320, ago),
    history: [
      { ago: 40 * DAY_MS, state: "up" },
      { ago: 2 * HOUR_MS, state: "degraded" },
    ],
  },
  {
    input: {
      type: "alert",
      name: "Warehouse alerts",
      config: {
        format: "alertmanager",
        match: ['team="warehouse"', 'severity="critical"'],
        degraded: ['team="warehouse"', 'severity="warning"'],
      },
    },
    createdAgo: 3 * DAY_MS,
    latency: () => undefined,
    history: [
      { ago: 3 * DAY_MS, state: "up" },
      { ago: 50 * MINUTE_MS, state: "degraded", message: "Picking is slow (and 1 other alert)" },
    ],
  },
  {
    input: {
      type: "tcp",
      name: "VPN gateway",
      config: { host: "vpn.northwind.example", port: 1194 },
      open_incident: "automatic",
      reminder_seconds: 3_600,
      group: "Offices",
      tags: ["production", "staff only"],
      notes: "Ask Ann before a restart.\nThe spare one is in rack 7.",
    },
    components: ["VPN"],
    createdAgo: 20 * DAY_MS,
    latency: (ago) =>
      ago < 25 * MINUTE_MS || isWithin(ago, 70 * HOUR_MS, 69 * HOUR_MS) ? null : usual(18, ago),
    history: [
      { ago: 20 * DAY_MS, state: "up" },
      { ago: 70 * HOUR_MS, state: "down", message: TIMED_OUT },
      { ago: 69 * HOUR_MS, state: "up" },
      { ago: 24 * MINUTE_MS, state: "down", message: TIMED_OUT },
    ],
  },
  {
    input: {
      type: "tcp",
      name: "Remote desktops",
      config: { host: "desktops.northwind.example", port: 3389 },
      depends_on: ["vpn-gateway"],
      group: "Offices",
    },
    createdAgo: 19 * DAY_MS,
    latency: (ago) => (ago < 24 * MINUTE_MS ? null : usual(31, ago)),
    history: [
      { ago: 19 * DAY_MS, state: "up" },
      { ago: 23 * MINUTE_MS, state: "unreachable", message: "Unreachable through “VPN gateway”." },
    ],
  },
  {
    input: {
      type: "tls",
      name: "Certificate of the shop",
      config: { host: "shop.northwind.example" },
    },
    createdAgo: 95 * DAY_MS,
    latency: (ago) => (ago < 3 * DAY_MS ? usual(60, ago) : undefined),
    history: [{ ago: 95 * DAY_MS, state: "up" }],
    certificateEndsIn: 9 * DAY_MS,
  },
  {
    input: {
      type: "push",
      name: "Nightly backup",
      config: { grace_seconds: 3_600, schedule: "30 2 * * *", time_zone: "Europe/Berlin" },
    },
    createdAgo: 30 * DAY_MS,
    latency: (ago) => (Math.floor(ago / EVERY_MS) % 96 === 46 ? usual(240_000, ago) : undefined),
    history: [{ ago: 30 * DAY_MS, state: "up" }],
  },
  {
    input: {
      type: "dns",
      name: "Mail of the shop",
      config: {
        name: "northwind.example",
        record_type: "MX",
        expected: ["10 mail.northwind.example"],
      },
    },
    createdAgo: 12 * DAY_MS,
    latency: (ago) => (ago > 5 * DAY_MS ? usual(9, ago) : undefined),
    history: [{ ago: 12 * DAY_MS, state: "up" }],
    isPaused: true,
  },
  {
    input: {
      type: "http",
      name: "Partner endpoint",
      config: {
        url: "https://partners.northwind.example/ready",
        oauth2: {
          token_url: "https://login.northwind.example/oauth2/token",
          client_id: "allclear",
          client_secret: "demo",
          scopes: ["health"],
        },
        client_certificate: CLIENT,
        proxy: {
          url: "http://proxy.northwind.example:3128",
          username: "monitoring",
          password: "demo",
        },
      },
    },
    createdAgo: 3 * SECOND_MS,
    latency: () => undefined,
    history: [],
  },
];

/** Of a type that cannot be checked. */
const IMPORTED: UnsupportedMonitor = {
  name: "Orders database",
  config: {
    source: "uptime-kuma",
    type: "mongodb",
    target: "orders.northwind.example:27017",
    settings: { connection: "mongodb://app:let-me-in@orders.northwind.example:27017" },
  },
  interval_seconds: 60,
  tags: ["production"],
};

/**
 * Adds monitors: most are up; one each is down, unreachable through it, slow, paused, new and imported
 * without being supported.
 */
export async function addMonitors(
  { ctx, clock }: TestApp,
  now: number,
  pages: readonly DemoPage[],
  by: Actor,
): Promise<void> {
  const componentOf = (name: string) => {
    const found = pages.flatMap((page) => {
      try {
        return [page.component(name)];
      } catch {
        return [];
      }
    });
    return found[0] ?? "";
  };
  for (const plan of PLANS) {
    clock.setWallClock(now - plan.createdAgo);
    const input = { ...plan.input, component_ids: (plan.components ?? []).map(componentOf) };
    // In order, since later actions depend on earlier ones.
    // oxlint-disable-next-line no-await-in-loop
    await ctx.db.write((tx) => {
      const { row } = createMonitor(ctx, tx, input as CreateMonitorBody, by).record;
      live({ ctx, clock }, tx, row, plan, now);
      if (!plan.isPaused) return;
      clock.setWallClock(now - 5 * DAY_MS);
      pauseMonitor(ctx, tx, row.id, by);
    });
  }
  clock.setWallClock(now - 2 * DAY_MS);
  await ctx.db.write((tx) => createUnsupportedMonitor(ctx, tx, IMPORTED, by));
  clock.setWallClock(now);
  const kept = retentionOf(ctx.config);
  let isMore = true;
  // oxlint-disable-next-line no-await-in-loop
  while (isMore) isMore = await ctx.db.write((tx) => rollUp(tx, { now }, kept));
}

/** Writes the heartbeat of a run that a job started. */
function report(tx: Tx, monitorNum: number, at: number, durationMs: number | null): void {
  saveHeartbeat(tx, { monitorNum, heartbeatAt: at });
  const startedAt = at - (durationMs ?? 0);
  const none = { monitorNum, rid: "", exitCode: null, message: null };
  insertSignal(tx, { ...none, at: startedAt, kind: "start", startedAt: null, durationMs: null });
  insertSignal(tx, { ...none, at, kind: "success", exitCode: 0, startedAt, durationMs });
  trimSignals(tx, { monitorNum, kept: 100 });
}

/** Adds a token of another product, a message, a failure and two open runs. */
function addJob(tx: Tx, { id: monitorId, num: monitorNum, createdAt }: MonitorRow, now: number) {
  const hash = sha256("a token of another product");
  const lastUsedAt = now - HOUR_MS;
  insertMonitorToken(tx, { hash, monitorId, kind: "kuma", createdAt, lastUsedAt });
  const rid = "0c5f4c6e-6a52-4b8e-9d5e-6f2d0f3a9c11";
  const none = { monitorNum, rid, exitCode: null, startedAt: null, durationMs: null };
  insertSignal(tx, { ...none, at: now - HOUR_MS, kind: "log", message: "2 of 9 volumes copied" });
  insertSignal(tx, {
    ...none,
    at: now - 40 * MINUTE_MS,
    kind: "fail",
    exitCode: 23,
    startedAt: now - 62 * MINUTE_MS,
    durationMs: 22 * MINUTE_MS,
    message: "rsync: some files could not be transferred",
  });
  saveRun(tx, { monitorNum, rid, startedAt: now - 2 * HOUR_MS });
  saveRun(tx, { monitorNum, rid: "", startedAt: now - 5 * MINUTE_MS });
}

/** Adds two open alerts, and two that matched nothing, one of them a test. */
function addAlerts(tx: Tx, { num: monitorNum }: MonitorRow, now: number): void {
  const sender = "key_01kah2v9w0e0rs6x0h3ye0a1bc";
  const labels = { team: "warehouse", severity: "warning", site: "north" };
  saveHeartbeat(tx, { monitorNum, heartbeatAt: now - MINUTE_MS });
  for (const [fingerprint, title, ago] of [
    ["c6eadffa33fcdf37", "Picking is slow", 50 * MINUTE_MS],
    ["bc97ff14869b13e3", "A scanner in hall 2 has not answered for 10 minutes", 20 * MINUTE_MS],
  ] as const) {
    const own = { monitorNum, sender, fingerprint, title, level: "degraded" as const };
    const startedAt = now - ago;
    saveOpenAlert(tx, { ...own, labels, startedAt, lastSeenAt: now - MINUTE_MS });
  }
  for (const [fingerprint, isTest, ago] of [
    ["01", false, HOUR_MS],
    ["02", true, DAY_MS],
  ] as const) {
    saveUnmatched(tx, {
      sender,
      fingerprint,
      format: isTest ? "grafana" : "alertmanager",
      labels: isTest
        ? { alertname: "TestAlert", instance: "Grafana" }
        : { alertname: "DiskFull", namespace: "archive", severity: "warning" },
      title: isTest ? "TestAlert" : "The disk of the archive is full in 4 hours",
      isTest,
      seenAt: now - ago,
    });
  }
}

function live(
  { ctx, clock }: Pick<TestApp, "ctx" | "clock">,
  tx: Tx,
  row: MonitorRow,
  plan: Plan,
  now: number,
): void {
  for (let ago = plan.createdAgo; ago > 0; ago -= EVERY_MS) {
    const latencyMs = plan.latency(ago);
    if (latencyMs === undefined) continue;
    const outcome = latencyMs === null ? "failed" : "ok";
    const message = latencyMs === null ? TIMED_OUT : null;
    ofMonitors.insertCheck(tx, { monitorNum: row.num, at: now - ago, outcome, latencyMs, message });
    if (row.type === "push") report(tx, row.num, now - ago, latencyMs);
  }
  if (row.type === "push") addJob(tx, row, now);
  if (row.type === "alert") addAlerts(tx, row, now);
  for (const { ago, state, message = null } of plan.history) {
    clock.setWallClock(now - ago);
    const before = findMonitorState(tx, { monitorNum: row.num });
    const [parent] = getMonitorRecord(tx, row.id).parents;
    const via = state === "unreachable" ? { unreachableVia: parent?.id ?? null } : {};
    const evaluation = { ...newEvaluation(state, now - ago), ...via };
    applyTransition(ctx, tx, row, { from: before?.state ?? "pending", evaluation, message });
  }
  if (plan.certificateEndsIn !== undefined) {
    saveCertificate(tx, {
      monitorNum: row.num,
      certificateExpiresAt: now + plan.certificateEndsIn,
    });
  }
}
