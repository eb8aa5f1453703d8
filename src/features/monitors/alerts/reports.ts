/*
 * What a report of alerts changes. An alert ends when its sender says so: one that is missing from a later body has not
 * ended, since Alertmanager leaves out silenced ones. The state of the monitors follows in the engine.
 */
import type { Actor } from "../../../base/actor";
import { sha256Hex } from "../../../base/hash";
import type { AlertFormat, AlertLevel } from "../../../base/status";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../base/time";
import { plural } from "../../../base/text";
import type { Ctx } from "../../../context";
import type { Reader, Tx } from "../../../db/statements";
import type { Labels } from "../../../db/tables/alerts";
import { audit } from "../../../events/audit";
import { saveHeartbeat } from "../job-store";
import type { Monitoring } from "../monitoring";
import { type AlertConfig, staleMsOf } from "../probes/alert";
import { getMonitorRecord } from "../records";
import type { MonitorRow } from "../store";
import {
  deleteOpenAlert,
  deleteOpenAlertsOf,
  deleteStaleAlerts,
  listAlertMonitors,
  listAlertsOf,
  listKnownUnmatched,
  listLastReports,
  listReported,
  type OpenAlertRow,
  saveOpenAlert,
  saveUnmatched,
  setAlertLevel,
  touchOpenAlerts,
  trimOpenAlerts,
  trimUnmatched,
} from "./alert-store";
import { compileMatchers, type MatchesLabels } from "./matchers";
import { type ReportedAlert, storedLabels } from "./read";

/** Monitor of the type alert with its compiled matchers. */
export interface AlertMonitor {
  id: string;
  num: number;
  createdAt: number;
  config: AlertConfig;
  levelOf(labels: Labels): AlertLevel;
}

/** The monitors of the type alert, in memory, read again after monitors changed. */
export interface AlertDirectory {
  /** Returns the monitors that judge the bodies of a format. */
  ofFormat(format: AlertFormat): readonly AlertMonitor[];
  find(id: string): AlertMonitor | undefined;
}

export function createAlertDirectory(ctx: Ctx): AlertDirectory {
  let byId: ReadonlyMap<string, AlertMonitor> | undefined;
  ctx.signals.monitorsChanged.on(() => {
    byId = undefined;
  });
  const all = () =>
    (byId ??= new Map(
      listAlertMonitors(ctx.db, {}).map(({ config: stored, ...row }) => {
        const config = stored as AlertConfig;
        return [row.id, { ...row, config, levelOf: levelsOf(config) }];
      }),
    ));
  return {
    ofFormat: (format) => [...all().values()].filter(({ config }) => config.format === format),
    find: (id) => all().get(id),
  };
}

/** Returns the function that finds the level of labels by a config. */
function levelsOf({ match = [], degraded }: AlertConfig): AlertMonitor["levelOf"] {
  const isDown = compileMatchers(match);
  const isDegraded: MatchesLabels = degraded?.length ? compileMatchers(degraded) : () => false;
  return (labels) => (isDown(labels) ? "down" : isDegraded(labels) ? "degraded" : "none");
}

/** A report of a sender, and the monitors that judge it. */
export interface AlertReport {
  /** Id of the API key, or of the monitor for its own token. */
  sender: string;
  format: AlertFormat;
  monitors: readonly AlertMonitor[];
  alerts: readonly ReportedAlert[];
  /** Unix ms. */
  now: number;
  /** Time since which senders could reach this server, in unix ms. */
  heardSince: number;
}

/** Changes of a report, for transactions of a limited size. */
export interface ReportPlan {
  /** Number of alerts that matched a monitor. */
  matched: number;
  /** Ids of the monitors that they matched. */
  monitorIds: readonly string[];
  /** Changes in the order in which they must be written. */
  changes: readonly ((tx: Tx) => void)[];
  /** Ids of the monitors whose state may change. */
  affected: ReadonlySet<string>;
}

/** Time in which a further report of an alert is not written. */
const SEEN_EXACT_MS = MINUTE_MS;
const UNMATCHED_EXACT_MS = HOUR_MS;

/** Longest time before its report from which an alert counts. */
const STARTED_MAX_MS = DAY_MS;

/** Number of open alerts that are kept of a monitor. */
const OPEN_MAX = 10_000;

/** Number and age of the alerts that are kept although they matched nothing. */
const UNMATCHED_MAX = 100;
export const UNMATCHED_MS = 7 * DAY_MS;

/** Cost of matching one alert with one monitor in the slices: a few µs. */
const MATCH_COST = 0.02;

/** Compares a report with what is stored. Of an alert that a body has twice, the last one counts. */
export function* planReport(
  reader: Reader,
  { sender, format, monitors, alerts, now, heardSince }: AlertReport,
): Generator<number, ReportPlan> {
  const byFingerprint = new Map(alerts.map((alert) => [alert.fingerprint, alert]));
  const fingerprints = JSON.stringify([...byFingerprint.keys()]);
  const stored = new Map(
    listReported(reader, { sender, fingerprints }).map((row) => [
      `${row.monitorNum} ${row.fingerprint}`,
      row,
    ]),
  );
  const nums = JSON.stringify(monitors.map(({ num }) => num));
  const reportedAt = new Map(
    listLastReports(reader, { nums }).map((row) => [row.monitorNum, row.heartbeatAt]),
  );
  const changes: ((tx: Tx) => void)[] = [];
  const affected = new Set<string>();
  const matched = new Set<string>();
  const monitorIds: string[] = [];
  const seenAgain = new Set<string>();
  for (const { id, num: monitorNum, createdAt, config, levelOf } of monitors) {
    const seenBy = staleBy(config, now, heardSince);
    const own: ((tx: Tx) => void)[] = [];
    let opened = 0;
    let isMatched = false;
    for (const alert of byFingerprint.values()) {
      yield MATCH_COST;
      const { fingerprint, labels, isFiring, title, isTest } = alert;
      const row = stored.get(`${monitorNum} ${fingerprint}`);
      const level = isTest ? "none" : levelOf(labels);
      if (level === "none" && !row) continue;
      isMatched = true;
      matched.add(fingerprint);
      const key = { monitorNum, sender, fingerprint };
      if (!isFiring) {
        if (row) own.push((tx) => deleteOpenAlert(tx, key));
      } else if (!row || row.title !== title || row.lastSeenAt <= seenBy) {
        const earliest = Math.max(now - STARTED_MAX_MS, createdAt);
        const startedAt = Math.max(earliest, Math.min(alert.startsAt ?? now, now));
        const opening: OpenAlertRow = {
          ...key,
          labels: storedLabels(labels),
          level,
          startedAt,
          lastSeenAt: now,
          title,
        };
        own.push((tx) => saveOpenAlert(tx, opening));
        if (!row) opened += 1;
      } else if (now - row.lastSeenAt >= SEEN_EXACT_MS) seenAgain.add(fingerprint);
    }
    if (isMatched) monitorIds.push(id);
    const heartbeatAt = reportedAt.get(monitorNum) ?? null;
    if (heartbeatAt === null || own.length > 0) affected.add(id);
    if (own.length > 0) changes.push((tx) => deleteStaleAlerts(tx, { monitorNum, seenBy }), ...own);
    if (opened > 0) changes.push((tx) => trimOpenAlerts(tx, { monitorNum, kept: OPEN_MAX }));
    if (heartbeatAt === null || Math.abs(now - heartbeatAt) >= SEEN_EXACT_MS) {
      changes.push((tx) => saveHeartbeat(tx, { monitorNum, heartbeatAt: now }));
    }
  }
  if (seenAgain.size > 0) {
    const seen = { sender, fingerprints: JSON.stringify([...seenAgain]), lastSeenAt: now };
    changes.push((tx) => touchOpenAlerts(tx, seen));
  }
  const others = [...byFingerprint.values()].filter(
    ({ fingerprint, isFiring }) => isFiring && !matched.has(fingerprint),
  );
  changes.push(...planUnmatched(reader, { sender, format, alerts: others, now }));
  return { matched: matched.size, monitorIds, changes, affected };
}

/** Returns the time up to which the last report of an alert makes it stale. No time counts in which nobody could report. */
export function staleBy(config: AlertConfig, now: number, heardSince: number): number {
  const seenBy = now - staleMsOf(config);
  return seenBy < heardSince ? 0 : seenBy;
}

/** Returns the changes that keep the alerts which matched nothing, for people who look for them. */
function planUnmatched(
  reader: Reader,
  { sender, format, alerts, now }: Omit<AlertReport, "monitors" | "heardSince">,
): ((tx: Tx) => void)[] {
  // More of them would displace each other.
  const last = alerts.slice(-UNMATCHED_MAX);
  if (last.length === 0) return [];
  const fingerprints = JSON.stringify(last.map(({ fingerprint }) => fingerprint));
  const known = new Map(
    listKnownUnmatched(reader, { sender, fingerprints }).map((row) => [
      row.fingerprint,
      row.seenAt,
    ]),
  );
  const fresh = last.filter(({ fingerprint }) => {
    const seenAt = known.get(fingerprint);
    return seenAt === undefined || Math.abs(now - seenAt) >= UNMATCHED_EXACT_MS;
  });
  if (fresh.length === 0) return [];
  const changes = fresh.map(({ fingerprint, labels, title, isTest }) => {
    const row = { sender, fingerprint, format, labels: storedLabels(labels), title, isTest };
    return (tx: Tx) => void saveUnmatched(tx, { ...row, seenAt: now });
  });
  const trim = (tx: Tx) =>
    void trimUnmatched(tx, { kept: UNMATCHED_MAX, before: now - UNMATCHED_MS });
  return [...changes, trim];
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

/** Returns an open alert of a monitor by its name; undefined if it has ended. */
export function findOpenAlert(
  reader: Reader,
  monitorNum: number,
  key: string,
): OpenAlertRow | undefined {
  return listAlertsOf(reader, { monitorNum }).find((row) => keyOfAlert(row) === key);
}

/**
 * Ends the open alerts of a monitor, or the one with a name, since a person knows that it is not firing. Returns their
 * number. Throws `not_found`.
 */
export function endAlerts(
  ctx: Ctx,
  tx: Tx,
  monitoring: Pick<Monitoring, "alertsChanged">,
  { id, key }: { id: string; key?: string },
  actor: Actor,
): number {
  const { row } = getMonitorRecord(tx, id);
  const one = key === undefined ? undefined : findOpenAlert(tx, row.num, key);
  if (key !== undefined && !one) return 0;
  const ended = one ? deleteOpenAlert(tx, one) : deleteOpenAlertsOf(tx, { monitorNum: row.num });
  if (ended === 0) return 0;
  const summary = `Ended ${plural(ended, "open alert")} of the monitor “${row.name}”`;
  audit(ctx, tx, actor, "monitor.end_alerts", id, summary);
  tx.afterCommit(() => monitoring.alertsChanged([id]));
  return ended;
}
