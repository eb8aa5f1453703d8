/*
 * Changes by reports of senders. An alert ends when its sender says so: one that is missing from a later body has not
 * ended, since Alertmanager leaves out silenced ones. The state of the monitors follows in the engine.
 */
import type { Actor } from "../../../base/actor";
import { sha256Hex } from "../../../base/hash";
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
import { findMonitor, type MonitorRow } from "../store";
import {
  deleteOpenAlert,
  deleteOpenAlertsOf,
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
import { type ReportedAlert, storedLabels } from "./read";

/** Longest time before its report from which an alert counts. */
const STARTED_MAX_MS = DAY_MS;

/** Number of open alerts that are kept of a monitor. */
const OPEN_MAX = 10_000;

/** Number and age of the alerts that are kept although they matched nothing. */
export const UNMATCHED_MAX = 100;
export const UNMATCHED_MS = 7 * DAY_MS;

/** Cost of matching one alert with one monitor in the slices: a few µs, and more for long labels. */
const MATCH_COST = 0.02;
const CHARACTER_COST = 0.0001;

function costOf({ labels }: ReportedAlert): number {
  const length = Object.values(labels).reduce((sum, value) => sum + value.length, 0);
  return MATCH_COST + length * CHARACTER_COST;
}

/** Monitor of the type alert, with its compiled matchers. */
export interface AlertMonitor {
  id: string;
  num: number;
  createdAt: number;
  config: AlertConfig;
  levelOf(labels: Labels): AlertLevel;
}

/** Reads the monitors of the type alert. Compiling an expression takes up to a millisecond. */
export function* readAlertMonitors(reader: Reader): Generator<number, AlertMonitor[]> {
  const monitors: AlertMonitor[] = [];
  for (const { config: stored, ...row } of listAlertMonitors(reader, {})) {
    const config = stored as AlertConfig;
    monitors.push({ ...row, config, levelOf: levelsOf(config) });
    yield (config.match?.length ?? 0) + (config.degraded?.length ?? 0);
  }
  return monitors;
}

/** Returns the function that finds the level of labels by a config. */
function levelsOf({ match = [], degraded = [] }: AlertConfig): (labels: Labels) => AlertLevel {
  const isDown = compileMatchers(match);
  const isDegraded = compileMatchers(degraded);
  return (labels) =>
    isDown(labels) ? "down" : degraded.length > 0 && isDegraded(labels) ? "degraded" : "none";
}

/** Origin of a report. */
export interface ReportSource {
  /** Id of the API key, or of the monitor for its own token. */
  sender: string;
  format: AlertFormat;
  /** Unix ms. */
  now: number;
}

/** Part of a report that concerns one monitor. */
export interface ReportPart {
  monitor: AlertMonitor;
  /** Fingerprints of the alerts that it matched. */
  matched: string[];
  /** Rows of those that fire. */
  firing: OpenAlertRow[];
  /** Keys of those that were open. */
  ended: Pick<OpenAlertRow, "monitorNum" | "sender" | "fingerprint">[];
  /** Time of the report, unless one of the same minute is stored. */
  heartbeatAt: number | undefined;
}

/** Compares alerts of different fingerprints with the matchers of each monitor. */
export function* partsOf(
  reader: Reader,
  monitors: readonly AlertMonitor[],
  alerts: readonly ReportedAlert[],
  { sender, now }: ReportSource,
): Generator<number, ReportPart[]> {
  const fingerprints = JSON.stringify(alerts.map(({ fingerprint }) => fingerprint));
  const open = new Set(
    listReported(reader, { sender, fingerprints }).map(
      ({ monitorNum, fingerprint }) => `${monitorNum} ${fingerprint}`,
    ),
  );
  const nums = JSON.stringify(monitors.map(({ num }) => num));
  const reportedAt = new Map(
    listLastReports(reader, { nums }).map((row) => [row.monitorNum, row.heartbeatAt]),
  );
  const priced = alerts.map((alert) => ({ alert, cost: costOf(alert) }));
  const stored = new Map<ReportedAlert, Labels>();
  const labelsOf = (alert: ReportedAlert) => {
    const labels = stored.get(alert) ?? storedLabels(alert.labels);
    stored.set(alert, labels);
    return labels;
  };
  const parts: ReportPart[] = [];
  for (const monitor of monitors) {
    const { num: monitorNum, createdAt, levelOf } = monitor;
    const lastAt = reportedAt.get(monitorNum) ?? Number.NEGATIVE_INFINITY;
    const heartbeatAt = Math.abs(now - lastAt) < MINUTE_MS ? undefined : now;
    const part: ReportPart = { monitor, matched: [], firing: [], ended: [], heartbeatAt };
    for (const { alert, cost } of priced) {
      yield cost;
      const { fingerprint, labels, title } = alert;
      const level = alert.isTest ? "none" : levelOf(labels);
      const isOpen = open.has(`${monitorNum} ${fingerprint}`);
      if (level !== "none") part.matched.push(fingerprint);
      else if (!isOpen) continue;
      const key = { monitorNum, sender, fingerprint };
      if (alert.isFiring) {
        const earliest = Math.max(now - STARTED_MAX_MS, createdAt);
        const startedAt = Math.max(earliest, Math.min(alert.startsAt ?? now, now));
        const row = { labels: labelsOf(alert), level, startedAt, lastSeenAt: now, title };
        part.firing.push({ ...key, ...row });
      } else if (isOpen) part.ended.push(key);
    }
    parts.push(part);
  }
  return parts;
}

/** Writes what a report says to a monitor, unless it was deleted meanwhile. Returns true if that changed anything. */
export function savePart(tx: Tx, { monitor, firing, ended, heartbeatAt }: ReportPart): boolean {
  const { id, num: monitorNum, config } = monitor;
  const present = findMonitor(tx, { id });
  if (!present) return false;
  // The matchers may have changed since they were read.
  const levelOf = Bun.deepEquals(present.config, config)
    ? undefined
    : levelsOf(present.config as AlertConfig);
  let changes = 0;
  for (const key of ended) changes += deleteOpenAlert(tx, key);
  for (const row of firing) {
    changes += saveOpenAlert(tx, levelOf ? { ...row, level: levelOf(row.labels) } : row);
  }
  if (firing.length > 0 && changes > 0) trimOpenAlerts(tx, { monitorNum, kept: OPEN_MAX });
  if (heartbeatAt !== undefined) changes += saveHeartbeat(tx, { monitorNum, heartbeatAt });
  return changes > 0;
}

/** Keeps the last alerts that matched nothing, for people who look for them. */
export function keepUnmatched(
  tx: Tx,
  alerts: readonly ReportedAlert[],
  { sender, format, now }: ReportSource,
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
  const ended = key === ALL_ALERTS ? deleteOpenAlertsOf(tx, { monitorNum: row.num }) : endOne();
  if (ended === 0) return 0;
  const summary = `Ended ${plural(ended, "open alert")} of the monitor “${row.name}”`;
  audit(ctx, tx, actor, "monitor.end_alerts", id, summary);
  tx.afterCommit(() => monitoring.alertsChanged([id]));
  return ended;

  function endOne(): number {
    const [alert] = findOpenAlerts(tx, row.num, key);
    return alert ? deleteOpenAlert(tx, alert) : 0;
  }
}
