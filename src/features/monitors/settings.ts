import { conflict } from "../../base/errors";
import type { MonitorType } from "../../base/status";
import { SECOND_MS } from "../../base/time";
import { examine, FieldErrors, schemaErrors, validate } from "../../base/validation";
import type { Reader } from "../../db/statements";
import { pathInList, resolveComponents } from "../components/references";
import { readParents } from "./dependencies";
import { type MonitorConfig, probeOf } from "./probes/index";
import { scheduleOf } from "./probes/push";
import { originOf } from "./probes/unsupported";
import { getMonitorRecord } from "./records";
import type { MonitorRow } from "./store";
import {
  changeSchemaOf,
  type CreateMonitorBody,
  intervalOf,
  intervalsOf,
  type MonitorSettings,
  REMINDER_MIN_SECONDS,
  SHORT_TIMEOUT_MS,
  UpdateMonitorBody,
} from "./wire";

/** Completes a new monitor that its schema accepts. Throws as `validateNewMonitor` does. */
export function readNewMonitor(
  reader: Reader,
  input: Omit<CreateMonitorBody, "type"> & { type: MonitorType },
) {
  const { type, config = {}, component_ids: references = [], depends_on: parents = [] } = input;
  const settings = namedSettings(input, initialSettings(type, input));
  const errors = new FieldErrors();
  validateConfig(errors, type, config, input.paused);
  const componentIds = readComponents(reader, errors, references);
  const parentIds = readParents(reader, errors, parents);
  validateSettings(errors, type, settings, config);
  errors.throwIfAny();
  return { config, settings, componentIds, parentIds };
}

/** Columns of a monitor that callers set, in addition to its name and config. */
type Settings = Pick<
  MonitorRow,
  | "intervalSeconds"
  | "timeoutMs"
  | "failureThreshold"
  | "successThreshold"
  | "retryIntervalSeconds"
  | "degradedAfterMs"
  | "onDown"
  | "openIncident"
  | "inverted"
  | "reminderSeconds"
  | "group"
  | "tags"
  | "notes"
>;

const FAILURE_THRESHOLD = 3;

/** Returns the default settings of a type for an interval. */
export function defaultSettings(
  type: MonitorType,
  intervalSeconds: number | null = intervalsOf(type).default,
): Settings {
  return {
    intervalSeconds,
    timeoutMs: 10_000,
    failureThreshold: probeOf(type).failureThreshold ?? FAILURE_THRESHOLD,
    successThreshold: 1,
    retryIntervalSeconds: Math.min(intervalsOf(type).retry, intervalSeconds ?? Infinity),
    degradedAfterMs: null,
    onDown: "partial_outage",
    openIncident: "never",
    inverted: false,
    reminderSeconds: 0,
    group: null,
    tags: [],
    notes: null,
  };
}

/** Interval and config as a body names them. */
interface NamedTiming {
  interval_seconds?: number | null;
  config?: MonitorConfig;
}

/** Returns the settings of a new monitor by default. One with a schedule has no interval. */
export function initialSettings(type: MonitorType, input: NamedTiming): Settings {
  const { interval_seconds: interval, config = {} } = input;
  return defaultSettings(type, interval === undefined && scheduleOf(config) ? null : interval);
}

/** Returns the settings of a monitor before a change that names them. A schedule that it gives ends the interval. */
export function settingsBefore(settings: Settings, { config = {} }: NamedTiming): Settings {
  return typeof config["schedule"] === "string" ? { ...settings, intervalSeconds: null } : settings;
}

/** Returns the settings that a body names, and `others` for the rest. */
export function namedSettings(input: MonitorSettings, others: Settings): Settings {
  return {
    intervalSeconds:
      input.interval_seconds === undefined ? others.intervalSeconds : input.interval_seconds,
    timeoutMs: input.timeout_ms ?? others.timeoutMs,
    failureThreshold: input.failure_threshold ?? others.failureThreshold,
    successThreshold: input.success_threshold ?? others.successThreshold,
    retryIntervalSeconds: input.retry_interval_seconds ?? others.retryIntervalSeconds,
    degradedAfterMs:
      input.degraded_after_ms === undefined ? others.degradedAfterMs : input.degraded_after_ms,
    onDown: input.on_down ?? others.onDown,
    openIncident: input.open_incident ?? others.openIncident,
    inverted: input.inverted ?? others.inverted,
    reminderSeconds: input.reminder_seconds ?? others.reminderSeconds,
    group: input.group === undefined ? others.group : input.group,
    tags: input.tags ?? others.tags,
    notes: input.notes === undefined ? others.notes : input.notes,
  };
}

/**
 * Adds errors of settings that contradict each other, the type or the config. The schemas of changes have
 * passed, which are the same for all types.
 */
export function validateSettings(
  errors: FieldErrors,
  type: MonitorType,
  settings: Settings,
  config: MonitorConfig,
): void {
  const { intervalSeconds, retryIntervalSeconds, reminderSeconds, timeoutMs } = settings;
  const [error] = schemaErrors(intervalOf(type), intervalSeconds);
  if (error) errors.add(["interval_seconds"], error.detail);
  else if (intervalSeconds !== null && scheduleOf(config)) {
    errors.add(["interval_seconds"], "must be null, since the schedule tells when calls are due");
  }
  if (reminderSeconds > 0 && reminderSeconds < REMINDER_MIN_SECONDS) {
    errors.add(["reminder_seconds"], `must be 0 or at least ${REMINDER_MIN_SECONDS}`);
  }
  const timeoutMaxMs = Math.max(SHORT_TIMEOUT_MS, (intervalSeconds ?? Infinity) * SECOND_MS);
  if (timeoutMs > timeoutMaxMs) {
    errors.add(["timeout_ms"], `must be at most ${timeoutMaxMs}, or the interval must be longer`);
  }
  if (intervalSeconds !== null && retryIntervalSeconds > intervalSeconds) {
    errors.add(
      ["retry_interval_seconds"],
      `must not be longer than the interval of ${intervalSeconds} seconds`,
    );
  }
}

/** Returns the ids of the components that a body names. Adds the errors of `resolveComponents`. */
export function readComponents(
  reader: Reader,
  errors: FieldErrors,
  references: readonly string[],
): string[] {
  return resolveComponents(reader, references, errors, pathInList("component_ids")).map(
    ({ id }) => id,
  );
}

/**
 * Adds errors of a new monitor's config that its schema cannot express. A program that checks need may be missing
 * while the monitor is paused.
 */
export function validateConfig(
  errors: FieldErrors,
  type: MonitorType,
  config: MonitorConfig,
  isPaused = false,
): void {
  const probe = probeOf(type);
  const program = isPaused ? undefined : probe.findMissingProgram?.();
  if (program !== undefined) {
    errors.add(
      ["config"],
      `needs the program ${program}, which is not installed on the server: install it, or pause the monitor`,
    );
  }
  errors.addAll(["config"], probe.validate(config));
}

/**
 * Returns the config after a change of some of its fields. Adds errors; the earlier config is
 * returned if the change itself is invalid.
 */
export function changedConfig(
  errors: FieldErrors,
  type: MonitorType,
  before: MonitorConfig,
  change: Readonly<Record<string, unknown>>,
): MonitorConfig {
  const probe = probeOf(type);
  const { errors: configErrors } = examine(changeSchemaOf(type), change);
  errors.addAll(["config"], configErrors);
  if (!configErrors.isEmpty) return before;
  const after = probe.merge(before, change);
  // A valid change can make the whole config invalid.
  const { errors: faults } = examine(probe.config, after);
  errors.addAll(["config"], probe.validateChange?.(before, change) ?? []);
  const outcome = new FieldErrors();
  outcome.addAll(["config"], faults.isEmpty ? probe.validate(after) : faults);
  // A required secret that is dropped gets one error.
  errors.addMissing(outcome);
  return after;
}

/** Throws `conflict` that names the type of a monitor which this version cannot check. */
export function requireSupported({ type, config }: Pick<MonitorRow, "type" | "config">): void {
  if (type !== "unsupported") return;
  const origin = originOf(config);
  throw conflict(
    `This version cannot check monitors of the type ${origin.type}, imported from ${origin.source}.`,
  );
}

/** Fields of such a monitor that can be changed. The others are kept as they were imported. */
const CHANGEABLE: ReadonlySet<string> = new Set([
  "name",
  "component_ids",
  "group",
  "tags",
  "notes",
] satisfies (keyof UpdateMonitorBody)[]);

/** Adds errors of fields that cannot be changed, since this version cannot check the monitor. */
export function validateChangeable(
  errors: FieldErrors,
  { type }: Pick<MonitorRow, "type">,
  input: object,
): void {
  if (type !== "unsupported") return;
  for (const field of Object.keys(input).filter((name) => !CHANGEABLE.has(name))) {
    errors.add([field], "cannot be changed, since this version cannot check the monitor");
  }
}

/**
 * Validates a change of a monitor, without writing. Returns the monitor before, and its settings and
 * config after the change. Throws `not_found`, or `validation_failed` that names every invalid field.
 */
export function validateMonitorChange(reader: Reader, id: string, input: UpdateMonitorBody) {
  validate(UpdateMonitorBody, input);
  const before = getMonitorRecord(reader, id);
  const { row } = before;
  const errors = new FieldErrors();
  validateChangeable(errors, row, input);
  const settings = namedSettings(input, settingsBefore(row, input));
  const config =
    input.config === undefined || row.type === "unsupported"
      ? row.config
      : changedConfig(errors, row.type, row.config as MonitorConfig, input.config);
  const componentIds = input.component_ids && readComponents(reader, errors, input.component_ids);
  const parentIds = input.depends_on && readParents(reader, errors, input.depends_on, row.id);
  validateSettings(errors, row.type, settings, config as MonitorConfig);
  errors.throwIfAny();
  return { before, settings, config, componentIds, parentIds };
}
