import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import {
  CHECK_OUTCOMES,
  MONITOR_STATES,
  MONITOR_TYPES,
  type MonitorType,
  ON_DOWN,
  OPEN_INCIDENT,
  SUPPORTED_TYPES,
} from "../../base/status";
import { type Step, STEP_NAMES } from "../../egress/steps";
import { ByTag, Instant, Nullable, OneOf } from "../../base/schema";
import { capitalised } from "../../base/text";
import { toIso, toIsoOrNull } from "../../base/time";
import { Status } from "../components/wire";
import type { CheckRow } from "./checks-store";
import { type MonitorConfig, probeOf } from "./probes";
import type { MonitorRecord } from "./records";

export const MonitorTypeText = OneOf(MONITOR_TYPES, { title: "MonitorType" });
export const MonitorStateText = OneOf(MONITOR_STATES, {
  title: "MonitorState",
  description:
    "pending: not checked yet; maintenance: checks continue but do not count; no_data: the server could not check it; unreachable: it fails while a monitor it depends on is down or failing.",
});

export const Check = Type.Object(
  {
    at: Instant,
    outcome: OneOf(CHECK_OUTCOMES, {
      description: "unknown: the server could not check, for example without a network connection.",
    }),
    latency_ms: Nullable(Type.Integer({ description: "Null without a response." })),
    message: Nullable(Type.String({ description: "Reason for a failure." })),
  },
  { title: "MonitorCheck" },
);
export type Check = Static<typeof Check>;

const CheckStep = Type.Object(
  {
    name: OneOf(STEP_NAMES),
    duration_ms: Type.Number({ description: "In tenths of a millisecond." }),
    ok: Type.Boolean(),
    detail: Nullable(
      Type.String({
        description: "Facts, such as addresses, or the reason of a failure. Contains no secret.",
        examples: ["example.com: 203.0.113.5"],
      }),
    ),
  },
  { title: "MonitorCheckStep" },
);

export const CheckWithSteps = Type.Object(
  {
    ...Check.properties,
    steps: Type.Array(CheckStep, {
      description:
        "Steps of the check, which are not stored. Empty if a check of the monitor had begun before, or if the monitor was changed meanwhile. Assertions take no time of their own; those after a failed one are left out.",
    }),
  },
  { title: "MonitorCheckWithSteps" },
);

const CommonFields = Type.Object({
  id: Type.String({ examples: ["mon_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
  ref: Type.String({ examples: ["checkout-api"] }),
  name: Type.String({ examples: ["Checkout API"] }),
  component_ids: Type.Array(Type.String()),
  depends_on: Type.Array(Type.String(), { description: "Ids of the monitors it depends on." }),
  interval_seconds: Nullable(
    Type.Integer({ description: "Null for a push monitor without a deadline." }),
  ),
  timeout_ms: Type.Integer(),
  failure_threshold: Type.Integer(),
  success_threshold: Type.Integer(),
  retry_interval_seconds: Type.Integer(),
  degraded_after_ms: Nullable(Type.Integer()),
  on_down: OneOf(ON_DOWN),
  open_incident: OneOf(OPEN_INCIDENT),
  inverted: Type.Boolean(),
  reminder_seconds: Type.Integer({ description: "0 for no reminders." }),
  group: Nullable(Type.String({ description: "Never shown to visitors." })),
  tags: Type.Array(Type.String(), { description: "Never shown to visitors." }),
  notes: Nullable(
    Type.String({ description: "Never shown to visitors, and not in the data of events." }),
  ),
  paused: Type.Boolean(),
  state: MonitorStateText,
  state_since: Instant,
  unreachable_via: Nullable(
    Type.String({
      description: "Id of the monitor through which it is unreachable; null in other states.",
    }),
  ),
  last_check: Nullable(Check),
  certificate_expires_at: Nullable(Instant),
  version: Type.Integer({ minimum: 1 }),
  created_at: Instant,
  updated_at: Instant,
});

export interface Monitor extends Static<typeof CommonFields> {
  type: MonitorType;
  config: object;
}

/** A monitor in the only answer that shows the token of its job, if it has one. */
interface RevealedMonitor extends Monitor {
  token?: string | null;
  heartbeat_url?: string | null;
}

const Secrets = {
  token: Nullable(
    Type.String({
      description:
        "Token with which the job calls. Shown only once; the server stores only its hash.",
    }),
  ),
  heartbeat_url: Nullable(
    Type.String({ description: "URL that the job calls with GET or POST. It contains the token." }),
  ),
};

function shapeOf(type: MonitorType, title: string, more: TObject["properties"] = {}): TObject {
  const { id, ref, name, ...rest } = CommonFields.properties;
  const config = named(`${capitalised(type)}ConfigShown`, probeOf(type).shown);
  return Type.Object({ id, ref, name, type: typeText(type), config, ...rest, ...more }, { title });
}

const nameOf = (type: MonitorType) => `${capitalised(type)}Monitor`;

/** Returns the schema of one type of monitors, with a name for generated clients. */
export function typeText<Type extends MonitorType>(type: Type) {
  return OneOf([type], { title: `${nameOf(type)}Type` });
}

/** Gives a schema a name for generated clients, unless it has one. */
export function named(title: string, schema: TSchema): TSchema {
  return { title, ...schema };
}

const SHAPES = Object.fromEntries(
  SUPPORTED_TYPES.map((type) => [type, shapeOf(type, nameOf(type))]),
);
const Unsupported = shapeOf("unsupported", nameOf("unsupported"));
const RevealedPush = shapeOf("push", "RevealedPushMonitor", Secrets);

export const Monitor = ByTag<Monitor>(
  "type",
  { ...SHAPES, unsupported: Unsupported },
  { title: "Monitor" },
);

export const CreatedMonitor = ByTag<RevealedMonitor>(
  "type",
  { ...SHAPES, push: RevealedPush },
  { title: "CreatedMonitor" },
);

export const RotatedMonitor = RevealedPush;

const { id, ref, name, notes: _hidden, ...CommonEventFields } = CommonFields.properties;

const EventFields = {
  id,
  ref,
  name,
  type: MonitorTypeText,
  config: Type.Object(
    {},
    { additionalProperties: true, description: "As the API shows it. Empty if it is too large." },
  ),
  ...CommonEventFields,
  components: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), status: Status })),
  truncated: Type.Optional(
    Type.Literal(true, { description: "Present if something was left out." }),
  ),
};

const EventMonitor = Type.Object(EventFields, { title: "EventMonitor" });

/** The data of the event of a monitor's new state. */
export const MonitorEventData = Type.Object(
  {
    ...EventFields,
    outage: Nullable(
      Type.Object({
        started_at: Instant,
        ended_at: Nullable(Instant),
        duration_ms: Nullable(Type.Integer()),
      }),
    ),
  },
  { title: "MonitorEventData" },
);

/** The data of a reminder. */
export const MonitorReminderData = Type.Object(
  {
    monitor: EventMonitor,
    down_since: Instant,
    count: Type.Integer({ description: "Number of the reminder in this outage." }),
  },
  { title: "MonitorReminderData" },
);

/** The data of a warning about a certificate. */
export const CertificateEventData = Type.Object(
  {
    monitor: EventMonitor,
    host: Type.String({ examples: ["shop.example.com"] }),
    intermediate: Nullable(
      Type.String({
        description:
          "Name of the certificate that expires, if it is another one of the chain than the server's.",
      }),
    ),
    not_after: Instant,
    days_left: Type.Integer(),
  },
  { title: "CertificateEventData" },
);

export function presentCheck(row: CheckRow): Check {
  const { at, outcome, latencyMs, message } = row;
  return { at: toIso(at), outcome, latency_ms: latencyMs, message };
}

/** Returns a result with the steps of its check. */
export function presentCheckWithSteps(
  row: CheckRow,
  steps: readonly Step[],
): Static<typeof CheckWithSteps> {
  return {
    ...presentCheck(row),
    steps: steps.map(({ name, durationMs, isOk, detail }) => ({
      name,
      duration_ms: durationMs,
      ok: isOk,
      detail,
    })),
  };
}

/** Returns a monitor as the API and events show it, without header values, bodies and tokens. */
export function presentMonitor(record: MonitorRecord): Monitor {
  const { row, state, components, parents, lastCheck } = record;
  return {
    id: row.id,
    ref: row.ref,
    name: row.name,
    type: row.type,
    config: probeOf(row.type).present(row.config as MonitorConfig),
    component_ids: components.map(({ id }) => id),
    depends_on: parents.map(({ id }) => id),
    interval_seconds: row.intervalSeconds,
    timeout_ms: row.timeoutMs,
    failure_threshold: row.failureThreshold,
    success_threshold: row.successThreshold,
    retry_interval_seconds: row.retryIntervalSeconds,
    degraded_after_ms: row.degradedAfterMs,
    on_down: row.onDown,
    open_incident: row.openIncident,
    inverted: row.inverted,
    reminder_seconds: row.reminderSeconds,
    group: row.group,
    tags: row.tags,
    notes: row.notes,
    paused: row.paused,
    state: state.state,
    state_since: toIso(state.since),
    unreachable_via: state.unreachableVia,
    last_check: lastCheck ? presentCheck(lastCheck) : null,
    certificate_expires_at: toIsoOrNull(state.certificateExpiresAt),
    version: row.version,
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
  };
}

/** Returns a monitor with its job's token and the URL to call, if it has one. */
export function revealMonitor(
  record: MonitorRecord,
  token: string | undefined,
  baseUrl: string,
): RevealedMonitor {
  const monitor = presentMonitor(record);
  if (token === undefined) return monitor;
  return { ...monitor, token, heartbeat_url: `${baseUrl}/api/v1/heartbeats/${token}` };
}

/** Returns the monitor with null for the token and its URL. */
export function concealMonitor(revealed: RevealedMonitor): RevealedMonitor {
  return revealed.token === undefined
    ? revealed
    : { ...revealed, token: null, heartbeat_url: null };
}
