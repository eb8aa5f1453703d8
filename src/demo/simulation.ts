import type { Egress } from "../egress/egress";
import { Fault } from "../egress/model";
import type { Clock, Timer } from "../base/clock";
import { MINUTE_MS, SECOND_MS } from "../base/time";
import type { RunImport } from "../imports/jobs";
import { type MonitorConfig, probeOf } from "../features/monitors/probes";
import type { Monitoring } from "../features/monitors/monitoring";
import type { MonitorType } from "../base/status";
import { MONITOR_PLANS, SLOW_FACTOR } from "./monitor-plans";
import type { DemoJob } from "./monitors";
import type { Fraction } from "./year";

/** Period in which one monitor degrades, fails and recovers, in ms. In every second period, three fail together. */
const CYCLE_MS = 4 * MINUTE_MS;
const FAILING_TOGETHER = 3;
/** Parts of a period, in ms after its start: slow, then failing, then as usual. */
const SLOW_FROM_MS = 40 * SECOND_MS;
const FAILING_FROM_MS = 85 * SECOND_MS;
const RECOVERED_FROM_MS = 160 * SECOND_MS;
/** Later for several monitors, so that the incident has an update about those that joined it. */
const ALL_RECOVERED_FROM_MS = 200 * SECOND_MS;
const CERTIFICATE_MS = 61 * 24 * 60 * MINUTE_MS;
/** One of so many webhook requests is answered with an error, so that a retry can be seen. */
const FAILING_REQUEST = 9;

const NO_CONNECTION = new Fault("refused", "The demo makes no connections.");

type Run = NonNullable<ReturnType<typeof probeOf>["run"]>;

/** Usual response times and targets of the planned monitors. */
const PLANNED = MONITOR_PLANS.flatMap(({ input, latencyMs, hasTrouble = false }) =>
  latencyMs === null
    ? []
    : [{ target: targetOf(input.type, input.config as MonitorConfig), latencyMs, hasTrouble }],
);
const TROUBLED = PLANNED.filter(({ hasTrouble }) => hasTrouble);

function targetOf(type: MonitorType, config: MonitorConfig): string {
  return `${type} ${probeOf(type).targetOf(config)}`;
}

/** Returns the state of a target at a time after the start of the demo, in ms. */
function conditionOf(
  target: string,
  elapsedMs: number,
  fraction: Fraction,
): "ok" | "slow" | "failing" {
  const cycle = Math.floor(elapsedMs / CYCLE_MS);
  const first = Math.floor(fraction("cycle", cycle) * TROUBLED.length);
  const own = TROUBLED.findIndex((plan) => plan.target === target);
  const isShared = cycle % 2 === 1;
  const place = (own - first + TROUBLED.length) % TROUBLED.length;
  if (own < 0 || place >= (isShared ? FAILING_TOGETHER : 1)) return "ok";
  const into = elapsedMs % CYCLE_MS;
  const recoveredFrom = isShared ? ALL_RECOVERED_FROM_MS : RECOVERED_FROM_MS;
  if (into < SLOW_FROM_MS || into >= recoveredFrom) return "ok";
  return into < FAILING_FROM_MS ? "slow" : "failing";
}

/** Returns a function that finds the probe of a type. Its checks connect to nothing. */
export function createSimulatedProbes(clock: Clock, fraction: Fraction) {
  const startedAt = clock.monotonic();
  return (type: MonitorType): { run: Run } => ({
    async run(config) {
      const target = targetOf(type, config);
      const elapsedMs = clock.monotonic() - startedAt;
      const condition = conditionOf(target, elapsedMs, fraction);
      if (condition === "failing") {
        return { outcome: "failed", latencyMs: null, message: "Timed out connecting." };
      }
      const usual = PLANNED.find((plan) => plan.target === target)?.latencyMs ?? 80;
      const spread = 0.8 + 0.4 * fraction("check", target, Math.round(elapsedMs));
      const factor = spread * (condition === "slow" ? SLOW_FACTOR : 1);
      const latencyMs = Math.max(1, Math.round(usual * factor));
      const isSecure = type === "tls" || target.includes("https:");
      const [, host = ""] = target.split(" ");
      const expiresAt = clock.now() + CERTIFICATE_MS;
      return {
        outcome: "ok",
        latencyMs,
        message: null,
        ...(isSecure ? { certificate: { host, fingerprint: "demo", expiresAt } } : {}),
      };
    },
  });
}

/** Returns outgoing connections that never leave the process: webhooks reach a receiver in it. */
export function createDemoEgress(): Egress {
  let requests = 0;
  const refuse = async () => NO_CONNECTION;
  return {
    resolve: refuse,
    ping: refuse,
    connect: refuse,
    socket: refuse,
    query: refuse,
    inspectContainer: refuse,
    async request({ policy }) {
      if (policy !== "webhook") return NO_CONNECTION;
      requests += 1;
      const isRefused = requests % FAILING_REQUEST === 0;
      const answer = isRefused ? { error: "busy" } : { received: requests };
      return {
        status: isRefused ? 503 : 200,
        headers: new Map([["content-type", "application/json"]]),
        sentBody: new TextEncoder().encode(JSON.stringify(answer)),
        isTruncated: false,
        certificate: null,
        address: "127.0.0.1",
      };
    },
  };
}

/** Reports the runs of jobs in time, each minute at most. */
export function startJobs(
  clock: Clock,
  monitoring: Pick<Monitoring, "heartbeat">,
  jobs: readonly DemoJob[],
): Timer {
  let lookedAt = clock.now();
  return clock.every(MINUTE_MS, () => {
    const now = clock.now();
    for (const { monitorId, intervalMs } of jobs) {
      if (Math.floor(now / intervalMs) === Math.floor(lookedAt / intervalMs)) continue;
      const report = { outcome: "ok", latencyMs: 42 * SECOND_MS, message: null } as const;
      // It rejects only while the server stops.
      monitoring.heartbeat(monitorId, report).catch(() => {});
    }
    lookedAt = now;
  });
}

/** Imports nothing, since another process could connect to other hosts. */
export const refuseImport: RunImport = async () => ({
  failure: {
    message: "The demo imports nothing, since no connection leaves it. Import into an own server.",
    fields: [],
  },
});
