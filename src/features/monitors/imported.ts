/*
 * Monitors as only imports write them: of types that this version cannot check, replaced as a whole, and in a state that
 * the source knew. Those of other types are always paused and keep their settings, so that a version that knows the
 * type can check them.
 */
import { type Actor, SYSTEM_ACTOR } from "../../base/actor";
import { conflict } from "../../base/errors";
import type { ManagedMetadata } from "../../base/ids";
import { FieldErrors, type Valid, validate } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { openCauses } from "../components/statuses";
import { deleteSpans, insertSpan, type SpanRow } from "./spans-store";
import { readParents } from "./dependencies";
import { saveHeartbeat } from "./job-store";
import {
  type AppliedIds,
  insertNewMonitor,
  pauseMonitor,
  resumeMonitor,
  saveMonitor,
} from "./monitors";
import { type MonitorConfig, probeOf } from "./probes/index";
import type { UnsupportedConfig } from "./probes/unsupported";
import { getMonitorRecord, type MonitorRecord } from "./records";
import { newEvaluation } from "./rules";
import { readNewMonitor } from "./settings";
import { listComponentsOfMonitors, type MonitorRow, saveEvaluation, saveReminder } from "./store";
import { CreateMonitorBody, creationOf, type MonitorSettings, OptionalReferences } from "./wire";

/** An imported monitor. Its settings are kept for a version that checks its type. */
export interface UnsupportedMonitor extends MonitorSettings {
  name: string;
  config: UnsupportedConfig;
  component_ids?: string[];
  depends_on?: string[];
}

const UnsupportedMonitorBody = creationOf(
  "unsupported",
  probeOf("unsupported").config,
  OptionalReferences,
);

/**
 * Creates a paused monitor of a type that this version cannot check. Only importers do: requests, forms and
 * files are rejected. Throws `validation_failed` that names every invalid field, or `conflict` for a ref
 * that is taken.
 */
export function createUnsupportedMonitor(
  ctx: Ctx,
  tx: Tx,
  monitor: Valid<ReplacingMonitor & { type: "unsupported" }>,
  actor: Actor,
  metadata: ManagedMetadata & AppliedIds = {},
): MonitorRecord {
  const created = { ...monitor, paused: true, ...readReplacingMonitor(tx, monitor) };
  return insertNewMonitor(ctx, tx, created, actor, metadata).record;
}

/** A whole monitor of an import, of a type that can be checked or not. */
export type ReplacingMonitor = CreateMonitorBody | (UnsupportedMonitor & { type: "unsupported" });

/** Compares a monitor of an import with the schema of its type. Throws `validation_failed`. */
export function validateReplacingMonitor<Input extends ReplacingMonitor>(
  input: Input,
): Valid<Input> {
  const schema = input.type === "unsupported" ? UnsupportedMonitorBody : CreateMonitorBody;
  return validate(schema, input) as Valid<Input>;
}

/** Completes the settings of a monitor of an import, without writing. Throws `validation_failed`. */
export function readReplacingMonitor(reader: Reader, input: Valid<ReplacingMonitor>) {
  const errors = new FieldErrors();
  const valid = readNewMonitor(reader, input, errors);
  errors.throwIfAny();
  return valid;
}

/**
 * Replaces all settings of a monitor, also the secrets, by those of a new one; its id, ref, tokens and history stay.
 * One that could not be checked may get another type. It watches the components and depends on the monitors that
 * are named.
 *
 * Throws `not_found`, `validation_failed` that names every invalid field, or `conflict` for another type.
 */
export function replaceMonitor(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: Valid<ReplacingMonitor>,
  actor: Actor,
): MonitorRecord {
  const before = getMonitorRecord(tx, id);
  const { type: typeBefore } = before.row;
  const { name, type } = input;
  if (type !== typeBefore && typeBefore !== "unsupported") {
    throw conflict(`It is of the type ${typeBefore} here, which cannot become ${type}.`);
  }
  const valid = readReplacingMonitor(tx, input);
  const errors = new FieldErrors();
  const parentIds = readParents(tx, errors, input.depends_on ?? [], id);
  errors.throwIfAny();
  const config: MonitorConfig = valid.config;
  const desired = { ...before.row, ...valid.settings, name, type, config };
  saveMonitor(ctx, tx, before, { ...valid, desired, parentIds }, actor);
  const isPaused = type === "unsupported" || input.paused === true;
  return (isPaused ? pauseMonitor : resumeMonitor)(ctx, tx, id, actor);
}

/** State of a monitor before its creation here. Times in unix ms. */
interface PastState {
  state: "up" | "down";
  /** Start of the state, no later than the creation. */
  since: number;
  /** Text of an outage. */
  message: string | null;
  /** Last beat. */
  at: number;
}

/**
 * Lets a new monitor that is not paused go on in a state, so that people are notified of the end of a known outage,
 * and not of its start. This itself notifies nobody, and gives its components the status.
 */
export function continueFrom(ctx: Ctx, tx: Tx, monitor: MonitorRow, past: PastState): void {
  const { num: monitorNum, id: sourceId, name, onDown: status, createdAt: from } = monitor;
  const { state, since, at, message } = past;
  replaceSpans(tx, monitorNum, [{ startedAt: from, endedAt: null, state, message }]);
  saveEvaluation(tx, { ...newEvaluation(state, since), monitorNum });
  if (state === "up") {
    if (monitor.type === "push") saveHeartbeat(tx, { monitorNum, heartbeatAt: at });
    return;
  }
  const components = listComponentsOfMonitors(tx, { monitorIds: JSON.stringify([sourceId]) });
  const componentIds = components.map(({ id }) => id);
  const reason = { source: "monitor", actor: SYSTEM_ACTOR, reason: name, notify: false } as const;
  openCauses(ctx, tx, { source: "monitor", sourceId, componentIds, status, from }, reason);
  saveReminder(tx, { monitorNum, reminders: 0, remindedAt: ctx.clock.now() });
}

/**
 * Gives a new monitor that is not paused a state that was known when the source was stopped. Nothing is known from
 * `heldUntil` on (unix ms), and its first check decides.
 */
export function rememberState(
  tx: Tx,
  { num, createdAt }: MonitorRow,
  { state, at, message }: PastState,
  heldUntil: number,
): void {
  replaceSpans(tx, num, [
    { startedAt: at, endedAt: heldUntil, state, message },
    { startedAt: heldUntil, endedAt: createdAt, state: "no_data", message: null },
    { startedAt: createdAt, endedAt: null, state: "pending", message: null },
  ]);
}

/** Replaces the timeline of a new monitor. */
function replaceSpans(
  tx: Tx,
  monitorNum: number,
  spans: readonly Omit<SpanRow, "monitorNum">[],
): void {
  deleteSpans(tx, { monitorNum });
  for (const span of spans) insertSpan(tx, { monitorNum, ...span });
}
