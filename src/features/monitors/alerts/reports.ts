/*
 * Takes the reports of senders. An alert ends when its sender says so: one that is missing from a later body has not
 * ended, since Alertmanager leaves out silenced ones. The state of the monitors follows in the engine.
 */
import type { Actor } from "../../../base/actor";
import { notFound, unavailable } from "../../../base/errors";
import { sha256Hex } from "../../../base/hash";
import { runInSlices } from "../../../base/in-slices";
import type { AlertFormat, AlertLevel } from "../../../base/status";
import { DAY_MS, MINUTE_MS } from "../../../base/time";
import { plural } from "../../../base/text";
import type { Ctx } from "../../../context";
import type { Reader, Tx } from "../../../db/statements";
import type { Labels } from "../../../db/tables/alerts";
import { audit } from "../../../events/audit";
import { saveHeartbeat } from "../job-store";
import type { Monitoring } from "../monitoring";
import type { AlertConfig } from "../probes/alert";
import { getMonitorRecord } from "../records";
import type { MonitorRow } from "../store";
import {
  deleteOpenAlert,
  listAlertMonitors,
  listAlertsOf,
  listLastReports,
  listReported,
  type OpenAlertRow,
  saveOpenAlert,
  saveUnmatched,
  setAlertLevel,
  trimOpenAlerts,
  trimUnmatched,
} from "./alert-store";
import { compileMatchers } from "./matchers";
import {
  formatOf,
  readAlerts,
  readMapped,
  type ReportedAlert,
  storedLabels,
  unknownShape,
} from "./read";

/** Bodies that are under way at most, since each may take a megabyte. */
const WAITING_MAX = 100;

/** Longest time before its report from which an alert counts. */
const STARTED_MAX_MS = DAY_MS;

/** Number of open alerts that are kept of a monitor. */
const OPEN_MAX = 10_000;

/** Number and age of the alerts that are kept although they matched nothing. */
const UNMATCHED_MAX = 100;
export const UNMATCHED_MS = 7 * DAY_MS;

/** Cost of matching one alert with one monitor in the slices: a few µs. */
const MATCH_COST = 0.02;

/** Monitor of the type alert with its compiled matchers. */
type AlertMonitor = ReturnType<typeof readAlertMonitors>[number];

/** Answer to a body. */
interface TakenAlerts {
  /** Number of alerts in the body. */
  alerts: number;
  /** Number of those that matched a monitor. */
  matched: number;
  /** Ids of the monitors that they matched. */
  monitors: string[];
}

/** Takes bodies of alerts. Each resolves once it is stored. */
export interface AlertIntake {
  /** Takes a body of a known format, for all monitors of that format. */
  ofKey(keyId: string, body: unknown): Promise<TakenAlerts>;
  /** Takes a body for one monitor. */
  ofToken(monitorId: string, body: unknown): Promise<TakenAlerts>;
}

/** Creates the intake. Bodies are taken one after another, so that the last report of an alert counts. */
export function createAlertIntake(
  ctx: Ctx,
  monitoring: Pick<Monitoring, "alertsChanged">,
): AlertIntake {
  let known: readonly AlertMonitor[] | undefined;
  ctx.signals.monitorsChanged.on(() => {
    known = undefined;
  });
  const monitors = () => (known ??= readAlertMonitors(ctx.db));
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (waiting >= WAITING_MAX) throw unavailable("Too many bodies of alerts wait; try again.", 1);
    waiting += 1;
    const result = last.then(work).finally(() => {
      waiting -= 1;
    });
    last = result.catch(() => {});
    return result;
  }

  async function take(
    from: Omit<Source, "now">,
    judges: readonly AlertMonitor[],
    reading: Generator<number, readonly ReportedAlert[]>,
  ): Promise<TakenAlerts> {
    const read = await runInSlices(reading);
    const source = { ...from, now: ctx.clock.now() };
    // Of an alert that a body has twice, the last one counts.
    const alerts = new Map(read.map((alert) => [alert.fingerprint, alert]));
    const parts = await runInSlices(partsOf(ctx.db, judges, alerts, source));
    const matched = new Set(parts.flatMap((part) => part.matched));
    const others = [...alerts.values()].filter(
      ({ fingerprint, isFiring }) => isFiring && !matched.has(fingerprint),
    );
    const save = (part: Part) =>
      ctx.db.write((tx) => {
        if (savePart(tx, part)) tx.afterCommit(() => monitoring.alertsChanged([part.id]));
      });
    await Promise.all([
      ...parts
        .filter(
          (part) => part.heartbeatAt !== undefined || part.firing.length + part.ended.length > 0,
        )
        .map(save),
      others.length > 0 && ctx.db.write((tx) => keepUnmatched(tx, others, source)),
    ]);
    const concerned = parts.filter((part) => part.matched.length > 0);
    return {
      alerts: read.length,
      matched: matched.size,
      monitors: concerned.map(({ id }) => id),
    };
  }

  return {
    ofKey: (sender, body) =>
      inTurn(() => {
        const format = formatOf(body) ?? unknownShape("Alertmanager or Grafana");
        const judges = monitors().filter(({ config }) => config.format === format);
        return take({ sender, format }, judges, readAlerts(format, body));
      }),
    ofToken: (monitorId, body) =>
      inTurn(() => {
        const monitor = monitors().find(({ id }) => id === monitorId);
        if (!monitor) throw notFound("monitor");
        const { format, mapping } = monitor.config;
        if (!mapping && formatOf(body) !== format) unknownShape(`the monitor's format ${format}`);
        const reading = mapping ? readMapped(mapping, body) : readAlerts(format, body);
        return take({ sender: monitorId, format }, [monitor], reading);
      }),
  };
}

function readAlertMonitors(reader: Reader) {
  return listAlertMonitors(reader, {}).map(({ config: stored, ...row }) => {
    const config = stored as AlertConfig;
    return { ...row, config, levelOf: levelsOf(config) };
  });
}

/** Returns the function that finds the level of labels by a config. */
function levelsOf({ match = [], degraded = [] }: AlertConfig): (labels: Labels) => AlertLevel {
  const isDown = compileMatchers(match);
  const isDegraded = compileMatchers(degraded);
  return (labels) =>
    isDown(labels) ? "down" : degraded.length > 0 && isDegraded(labels) ? "degraded" : "none";
}

/** Origin of a report. */
interface Source {
  /** Id of the API key, or of the monitor for its own token. */
  sender: string;
  format: AlertFormat;
  /** Unix ms. */
  now: number;
}

/** What a report says to one monitor. */
interface Part {
  id: string;
  monitorNum: number;
  /** Fingerprints of the alerts that it matched. */
  matched: string[];
  /** Rows of those that fire. */
  firing: OpenAlertRow[];
  /** Keys of those that were open. */
  ended: Pick<OpenAlertRow, "monitorNum" | "sender" | "fingerprint">[];
  /** Time of the report, unless one of the same minute is stored. */
  heartbeatAt: number | undefined;
}

/** Compares a report with the matchers of each monitor. */
function* partsOf(
  reader: Reader,
  monitors: readonly AlertMonitor[],
  alerts: ReadonlyMap<string, ReportedAlert>,
  { sender, now }: Source,
): Generator<number, Part[]> {
  const fingerprints = JSON.stringify([...alerts.keys()]);
  const open = new Set(
    listReported(reader, { sender, fingerprints }).map(
      ({ monitorNum, fingerprint }) => `${monitorNum} ${fingerprint}`,
    ),
  );
  const nums = JSON.stringify(monitors.map(({ num }) => num));
  const reportedAt = new Map(
    listLastReports(reader, { nums }).map((row) => [row.monitorNum, row.heartbeatAt]),
  );
  const parts: Part[] = [];
  for (const { id, num: monitorNum, createdAt, levelOf } of monitors) {
    const lastAt = reportedAt.get(monitorNum) ?? Number.NEGATIVE_INFINITY;
    const heartbeatAt = Math.abs(now - lastAt) < MINUTE_MS ? undefined : now;
    const part: Part = { id, monitorNum, matched: [], firing: [], ended: [], heartbeatAt };
    for (const alert of alerts.values()) {
      yield MATCH_COST;
      const { fingerprint, labels, title } = alert;
      const level = alert.isTest ? "none" : levelOf(labels);
      const isOpen = open.has(`${monitorNum} ${fingerprint}`);
      if (level === "none" && !isOpen) continue;
      part.matched.push(fingerprint);
      const key = { monitorNum, sender, fingerprint };
      if (alert.isFiring) {
        const earliest = Math.max(now - STARTED_MAX_MS, createdAt);
        const startedAt = Math.max(earliest, Math.min(alert.startsAt ?? now, now));
        const row = { labels: storedLabels(labels), level, startedAt, lastSeenAt: now, title };
        part.firing.push({ ...key, ...row });
      } else if (isOpen) part.ended.push(key);
    }
    parts.push(part);
  }
  return parts;
}

/** Writes what a report says to a monitor. Returns true if that changed anything. */
function savePart(tx: Tx, { monitorNum, firing, ended, heartbeatAt }: Part): boolean {
  let changes = 0;
  for (const key of ended) changes += deleteOpenAlert(tx, key);
  for (const row of firing) changes += saveOpenAlert(tx, row);
  if (firing.length > 0 && changes > 0) trimOpenAlerts(tx, { monitorNum, kept: OPEN_MAX });
  if (heartbeatAt !== undefined) changes += saveHeartbeat(tx, { monitorNum, heartbeatAt });
  return changes > 0;
}

/** Keeps the last alerts that matched nothing, for people who look for them. */
function keepUnmatched(
  tx: Tx,
  alerts: readonly ReportedAlert[],
  { sender, format, now }: Source,
): void {
  let changes = 0;
  // More of them would displace each other.
  for (const { fingerprint, labels, title, isTest } of alerts.slice(-UNMATCHED_MAX)) {
    const row = { sender, fingerprint, format, labels: storedLabels(labels), title, isTest };
    changes += saveUnmatched(tx, { ...row, seenAt: now });
  }
  if (changes > 0) trimUnmatched(tx, { kept: UNMATCHED_MAX, before: now - UNMATCHED_MS });
}

/** Gives the open alerts of a monitor the levels of changed matchers. */
export function setLevelsAgain(tx: Tx, { num, config }: Pick<MonitorRow, "num" | "config">): void {
  const levelOf = levelsOf(config as AlertConfig);
  for (const row of listAlertsOf(tx, { monitorNum: num })) {
    const level = levelOf(row.labels);
    if (level !== row.level) setAlertLevel(tx, { ...row, level });
  }
}

/** Number of hexadecimal digits that name an alert within its monitor. */
const KEY_LENGTH = 16;

/** Returns the name of an open alert within its monitor. */
export function keyOfAlert({ sender, fingerprint }: OpenAlertRow): string {
  return sha256Hex(`${sender} ${fingerprint}`).slice(0, KEY_LENGTH);
}

/** Stands for all open alerts of a monitor in place of the name of one. */
export const ALL_ALERTS = "all";

/** Lists the open alerts of a monitor, or the one with a name, unless it has ended. */
export function findOpenAlerts(reader: Reader, monitorNum: number, key: string): OpenAlertRow[] {
  const open = listAlertsOf(reader, { monitorNum });
  return key === ALL_ALERTS ? open : open.filter((row) => keyOfAlert(row) === key);
}

/** Ends open alerts, since a person knows that they do not fire. Returns their number. Throws `not_found`. */
export function endAlerts(
  ctx: Ctx,
  tx: Tx,
  monitoring: Pick<Monitoring, "alertsChanged">,
  { id, key }: { id: string; key: string },
  actor: Actor,
): number {
  const { row } = getMonitorRecord(tx, id);
  const ended = findOpenAlerts(tx, row.num, key);
  if (ended.length === 0) return 0;
  for (const alert of ended) deleteOpenAlert(tx, alert);
  const summary = `Ended ${plural(ended.length, "open alert")} of the monitor “${row.name}”`;
  audit(ctx, tx, actor, "monitor.end_alerts", id, summary);
  tx.afterCommit(() => monitoring.alertsChanged([id]));
  return ended.length;
}
