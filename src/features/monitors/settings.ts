/*
 * Settings, config and references of a monitor as bodies name them: defaults, and the errors that no schema expresses.
 * A verb reads a body that its schema has examined. For the valid fields of an invalid body, the route reads them with
 * the same function, so that one answer lists every invalid field; `isInvalid` then names those that have errors.
 */
import type { TSchema } from "@sinclair/typebox";
import { conflict, type FieldError } from "../../base/errors";
import { isTimed, LOCAL, type MonitorType } from "../../base/status";
import { SECOND_MS } from "../../base/time";
import { examine, FieldErrors, type IsInvalidField, schemaErrors } from "../../base/validation";
import type { Reader } from "../../db/statements";
import { pathInList, resolveComponents } from "../components/references";
import { readParents } from "./dependencies";
import { readLocations } from "./monitor-locations";
import { type MonitorConfig, probeOf } from "./probes/index";
import { scheduleOf } from "./probes/push";
import { originOf } from "./probes/unsupported";
import type { MonitorRow } from "./store";
import {
  changeSchemaOf,
  type CreateMonitorBody,
  intervalOf,
  intervalsOf,
  type MonitorSettings,
  REMINDER_MIN_SECONDS,
  SHORT_TIMEOUT_MS,
  type UpdateMonitorBody,
} from "./wire";

/** True for no field: the whole body is valid. */
const NONE_INVALID: IsInvalidField = () => false;

/** Completes a new monitor. Adds errors of its config, of unknown references and of settings that contradict it. */
export function readNewMonitor(
  reader: Reader,
  input: Omit<CreateMonitorBody, "type" | "name"> & { type: MonitorType },
  errors: FieldErrors,
  isInvalid = NONE_INVALID,
) {
  const { type, config = {}, paused = false } = input;
  const settings = namedSettings(input, initialSettings(type, input));
  const references = readReferences(reader, input, errors, { type });
  const { componentIds = [], parentIds = [], locationIds = [LOCAL] } = references;
  const needsProgram = !paused && locationIds.includes(LOCAL);
  if (!isInvalid("config")) validateConfig(errors, type, config, needsProgram);
  else errors.addAll(["config"], requiredFieldErrors(type, config));
  if (!isInvalid("interval_seconds")) validateSettings(errors, type, settings, config);
  return { config, settings, componentIds, parentIds, locationIds };
}

/**
 * Adds the errors of a new monitor that its schema cannot express to those of its schema. `valid` has the valid fields of
 * its body.
 */
export function addNewMonitorErrors(
  reader: Reader,
  valid: Partial<CreateMonitorBody>,
  errors: FieldErrors,
): void {
  const further = new FieldErrors();
  const { type } = valid;
  if (type === undefined) readReferences(reader, valid, further, {});
  else readNewMonitor(reader, { ...valid, type }, further, (field) => errors.concerns(field));
  errors.addMissing(further);
}

/** Adds the errors of a change as `addNewMonitorErrors` does. */
export function addMonitorChangeErrors(
  reader: Reader,
  row: MonitorRow,
  valid: UpdateMonitorBody,
  errors: FieldErrors,
): void {
  const further = new FieldErrors();
  readMonitorChange(reader, row, valid, further, (field) => errors.concerns(field));
  errors.addMissing(further);
}

/**
 * Returns the errors of the required fields of a config without its invalid optional ones. Errors of others may only follow
 * from what is left out.
 */
function requiredFieldErrors(type: MonitorType, config: MonitorConfig): FieldError[] {
  const probe = probeOf(type);
  const whole = validFields(probe.config, config);
  const required: readonly string[] = probe.config.required ?? [];
  if (!required.every((field) => Object.hasOwn(whole, field))) return [];
  const isRequired = ({ pointer }: FieldError) => required.includes(pointer.split("/")[1] ?? "");
  return probe.validate(whole).filter(isRequired);
}

/** Returns the top-level fields that have no error, nor any of their parts. */
function validFields<Fields extends object>(schema: TSchema, fields: Fields): Fields {
  const { errors } = examine(schema, fields);
  const valid = Object.entries(fields).filter(([field]) => !errors.concerns(field));
  return Object.fromEntries(valid) as Fields;
}

/**
 * Returns settings, config and references of a monitor after a change; components, parents and locations are undefined
 * if it does not name them. Adds errors as `readNewMonitor` does, and those of fields that cannot be changed.
 */
export function readMonitorChange(
  reader: Reader,
  row: MonitorRow,
  input: UpdateMonitorBody,
  errors: FieldErrors,
  isInvalid = NONE_INVALID,
) {
  validateChangeable(errors, row, input);
  const settings = namedSettings(input, settingsBefore(row, input));
  const before: MonitorConfig = row.config;
  const config =
    input.config === undefined || row.type === "unsupported"
      ? before
      : changedConfig(errors, row.type, before, input.config);
  const references = readReferences(reader, input, errors, row);
  if (!isInvalid("interval_seconds") && !isInvalid("retry_interval_seconds")) {
    validateSettings(errors, row.type, settings, config);
  }
  return { settings, config, ...references };
}

/**
 * Returns the ids of the components, parents and locations that a body names, undefined if it does not name that kind.
 * Adds the errors of `resolveComponents`, `readParents` and `readLocations`. The monitor has an id if it exists, and a
 * type if it is valid.
 */
function readReferences(
  reader: Reader,
  {
    component_ids: components,
    depends_on: parents,
    locations,
  }: Pick<UpdateMonitorBody, "component_ids" | "depends_on" | "locations">,
  errors: FieldErrors,
  { id, type }: Partial<Pick<MonitorRow, "id" | "type">>,
) {
  const componentIds =
    components &&
    resolveComponents(reader, components, errors, pathInList("component_ids")).map(
      (each) => each.id,
    );
  const parentIds = parents && readParents(reader, errors, parents, id);
  const locationIds = locations && readLocations(reader, errors, locations, type);
  return { componentIds, parentIds, locationIds };
}

/** Fields that can be changed of a monitor which this version cannot check. The others are kept as they were imported. */
const CHANGEABLE: ReadonlySet<string> = new Set([
  "name",
  "component_ids",
  "group",
  "tags",
  "notes",
] satisfies (keyof UpdateMonitorBody)[]);

/** Adds errors of fields that cannot be changed, since this version cannot check the monitor. */
function validateChangeable(
  errors: FieldErrors,
  { type }: Pick<MonitorRow, "type">,
  input: object,
): void {
  if (type !== "unsupported") return;
  for (const field of Object.keys(input).filter((name) => !CHANGEABLE.has(name))) {
    errors.add([field], "cannot be changed, since this version cannot check the monitor");
  }
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
  | "downWhen"
  | "group"
  | "tags"
  | "notes"
>;

const FAILURE_THRESHOLD = 3;

/** Returns the default settings of a type for an interval. */
export function defaultSettings(
  type: MonitorType,
  intervalSeconds: number | null = probeOf(type).isReported ? null : intervalsOf(type).default,
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
    downWhen: "majority",
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
function settingsBefore(settings: Settings, { config = {} }: NamedTiming): Settings {
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
    downWhen: input.down_when ?? others.downWhen,
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
  addFixedErrors(errors, type, settings);
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

/** Settings that monitors of reports keep at their defaults, by their names in bodies. */
const FIXED = {
  interval_seconds: "intervalSeconds",
  failure_threshold: "failureThreshold",
  success_threshold: "successThreshold",
  inverted: "inverted",
} as const;

function addFixedErrors(errors: FieldErrors, type: MonitorType, settings: Settings): void {
  const defaults = defaultSettings(type);
  const fixed = {
    ...(isTimed(type) ? {} : ({ degraded_after_ms: "degradedAfterMs" } as const)),
    ...(probeOf(type).isReported ? FIXED : {}),
  };
  for (const [field, column] of Object.entries(fixed)) {
    if (settings[column] === defaults[column]) continue;
    errors.add([field], `must be ${defaults[column]} for the type ${type}`);
  }
}

/**
 * Adds errors of a new monitor's config that its schema cannot express. A program that checks need may be missing
 * from the server while it does not check the monitor.
 */
export function validateConfig(
  errors: FieldErrors,
  type: MonitorType,
  config: MonitorConfig,
  needsProgram = true,
): void {
  const probe = probeOf(type);
  const program = needsProgram ? probe.findMissingProgram?.() : undefined;
  if (program !== undefined) {
    errors.add(
      ["config"],
      `needs the program ${program}, which is not installed on the server: install it, or pause the monitor`,
    );
  }
  errors.addAll(["config"], probe.validate(config));
}

/** Returns the config after a change of some of its fields. Adds errors; invalid fields change nothing. */
function changedConfig(
  errors: FieldErrors,
  type: MonitorType,
  before: MonitorConfig,
  change: Readonly<Record<string, unknown>>,
): MonitorConfig {
  const probe = probeOf(type);
  const schema = changeSchemaOf(type);
  const { errors: configErrors } = examine(schema, change);
  errors.addAll(["config"], configErrors);
  const readable = validFields(schema, change);
  const after = probe.merge(before, readable);
  // A valid change can make the whole config invalid.
  const { errors: faults } = examine(probe.config, after);
  const further = () =>
    configErrors.isEmpty ? probe.validate(after) : requiredFieldErrors(type, after);
  for (const part of [
    probe.validateChange?.(before, readable) ?? [],
    faults.isEmpty ? further() : faults,
  ]) {
    const found = new FieldErrors();
    found.addAll(["config"], part);
    // A field that is invalid, or a required secret that is dropped, gets one error.
    errors.addMissing(found);
  }
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
