/* Bodies of requests about monitors. The config comes from the probe of the type. */
import { type Static, type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { Check as isValid } from "@sinclair/typebox/value";
import { ByTag, Instant, Nullable, OneOf, Text } from "../../base/schema";
import { changeSchema } from "../../base/secrets";
import {
  CHECK_OUTCOMES,
  DOWN_WHEN,
  MONITOR_STATES,
  MONITOR_TYPES,
  type MonitorType,
  ON_DOWN,
  OPEN_INCIDENT,
  SUPPORTED_TYPES,
  type SupportedType,
} from "../../base/status";
import { MonitorGroup, TagsInput } from "../../base/tags";
import { capitalised } from "../../base/text";
import { DESCRIPTION_MAX, LineText, NameText } from "../../base/texts";
import { toIso, toIsoOrNull } from "../../base/time";
import { presentSteps, type Step, STEP_NAMES } from "../../egress/steps";
import { ComponentReference } from "../components/references";
import { Status } from "../components/wire";
import { LocationReference } from "../locations/wire";
import type { CheckRow } from "./checks-store";
import { checksByLocation, type MonitorLocation, type StateAtLocation } from "./monitor-locations";
import type { ContactSource } from "./agent-contact";
import type { CheckNowResult } from "./monitoring";
import { type MonitorConfig, probeOf } from "./probes";
import type { MonitorRecord } from "./records";
import type { StateRow } from "./store";

/** Maximum length of the note of an acknowledgement. */
export const NOTE_MAX = 500;

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
    location: Type.Optional(
      Type.String({
        description:
          "Ref of the location; only of results of monitors that other locations than the server check.",
      }),
    ),
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

const CheckSteps = Type.Array(CheckStep, {
  description:
    "Steps of the check, which are not stored. Empty if a check of the monitor had begun before, or if the monitor was changed meanwhile. Assertions take no time of their own; those after a failed one are left out.",
});

const MonitorCheckAtLocation = Type.Object(
  {
    location: Type.String({ description: "Ref of the location; local is the server." }),
    check: Nullable(Check),
    steps: CheckSteps,
    error: Type.Optional(Type.String({ description: "Reason for which there is no result." })),
  },
  { title: "MonitorCheckAtLocation" },
);

export const CheckWithSteps = Type.Object(
  {
    ...Check.properties,
    steps: CheckSteps,
    locations: Type.Optional(
      Type.Array(MonitorCheckAtLocation, {
        description:
          "Results of all locations, also of those without one. Only of monitors that other locations than the server check.",
      }),
    ),
  },
  { title: "MonitorCheckWithSteps" },
);

/** Body of an acknowledgement. */
export const AcknowledgeBody = Type.Object(
  {
    note: Type.Optional(
      LineText({
        minLength: 1,
        maxLength: NOTE_MAX,
        description: "What is being done, for colleagues. Visitors never see it.",
        examples: ["The provider is restarting the host."],
      }),
    ),
  },
  { additionalProperties: false },
);
export type AcknowledgeBody = Static<typeof AcknowledgeBody>;

const Acknowledgement = Type.Object(
  {
    at: Instant,
    by: Type.Object({
      kind: OneOf(["user", "key", "cli", "system"]),
      id: Nullable(Type.String({ description: "Id of the user or of the API key." })),
      label: Type.String({ examples: ["Ada Lovelace"] }),
    }),
    note: Nullable(Type.String()),
  },
  {
    title: "MonitorAcknowledgement",
    description:
      "Who looks after the outage, until the monitor recovers. Not in the data of events.",
  },
);

const CommonFields = Type.Object({
  id: Type.String({ examples: ["mon_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
  ref: Type.String({ examples: ["checkout-api"] }),
  name: Type.String({ examples: ["Checkout API"] }),
  component_ids: Type.Array(Type.String()),
  depends_on: Type.Array(Type.String(), { description: "Ids of the monitors it depends on." }),
  locations: Type.Array(Type.String(), {
    description:
      "Refs of the locations that check it; local is the server. Empty for types that wait for reports.",
    examples: [["local", "berlin"]],
  }),
  down_when: OneOf(DOWN_WHEN),
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
  acknowledgement: Nullable(Acknowledgement),
  last_check: Nullable(Check),
  certificate_expires_at: Nullable(Instant),
  version: Type.Integer({ minimum: 1 }),
  created_at: Instant,
  updated_at: Instant,
});

const MonitorAtLocation = Type.Object(
  {
    location: Type.String({ description: "Ref of the location; local is the server." }),
    name: Type.String(),
    state: MonitorStateText,
    since: Instant,
    last_check: Nullable(Check),
    is_silent: Type.Boolean({
      description:
        "True if its agent has not called for 90 seconds, counted from the creation of a location that it has never called for; the last state still counts.",
    }),
    is_left_out: Type.Boolean({
      description: "True if its agent has not called for 11.5 minutes, so that it does not count.",
    }),
  },
  { title: "MonitorAtLocation" },
);
type MonitorAtLocation = Static<typeof MonitorAtLocation>;

const AtLocations = Type.Optional(
  Type.Array(MonitorAtLocation, {
    description:
      "State at each location. Only of one monitor that is read by itself, and that other locations check.",
  }),
);

export interface Monitor extends Static<typeof CommonFields> {
  type: MonitorType;
  config: object;
  at_locations?: MonitorAtLocation[];
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
  const fields = { id, ref, name, type: typeText(type), config, ...rest };
  return Type.Object({ ...fields, at_locations: AtLocations, ...more }, { title });
}

const nameOf = (type: MonitorType) => `${capitalised(type)}Monitor`;

/** Returns the schema of one type of monitors, with a name for generated clients. */
function typeText<Type extends MonitorType>(type: Type) {
  return OneOf([type], { title: `${nameOf(type)}Type` });
}

/** Gives a schema a name for generated clients, unless it has one. */
function named(title: string, schema: TSchema): TSchema {
  return { title, ...schema };
}

const SHAPES = Object.fromEntries(
  SUPPORTED_TYPES.map((type) => [type, shapeOf(type, nameOf(type))]),
);
const Unsupported = shapeOf("unsupported", nameOf("unsupported"));
const RevealedPush = shapeOf("push", "RevealedPushMonitor", Secrets);
const RevealedAlert = shapeOf("alert", "RevealedAlertMonitor", Secrets);

export const Monitor = ByTag<Monitor>(
  "type",
  { ...SHAPES, unsupported: Unsupported },
  { title: "Monitor" },
);

export const CreatedMonitor = ByTag<RevealedMonitor>(
  "type",
  { ...SHAPES, push: RevealedPush, alert: RevealedAlert },
  { title: "CreatedMonitor" },
);

export const RotatedMonitor = ByTag<RevealedMonitor>(
  "type",
  { push: RevealedPush, alert: RevealedAlert },
  { title: "RotatedMonitor" },
);

const {
  id,
  ref,
  name,
  notes: _hidden,
  acknowledgement: _seen,
  ...CommonEventFields
} = CommonFields.properties;

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

type PlainCheck = Pick<CheckRow, "at" | "outcome" | "latencyMs" | "message">;

export function presentCheck(row: PlainCheck, location?: Pick<MonitorLocation, "ref">): Check {
  const { at, outcome, latencyMs, message } = row;
  const check = { at: toIso(at), outcome, latency_ms: latencyMs, message };
  return location ? { ...check, location: location.ref } : check;
}

/** Returns a result with the steps of its check, and with those of each location of its monitor. */
export function presentCheckWithSteps(
  row: CheckNowResult,
  steps: readonly Step[],
  locations: readonly MonitorLocation[],
): Static<typeof CheckWithSteps> {
  const each = checksByLocation(row, steps, locations);
  return {
    ...presentCheck(row),
    steps: presentSteps(steps),
    ...(each && {
      locations: each.map(({ location, check, steps: own, error }) => ({
        location: location.ref,
        check: check ? presentCheck(check) : null,
        steps: presentSteps(own),
        ...(error !== undefined && { error }),
      })),
    }),
  };
}

/** Returns the evaluations of a monitor at its locations, with the contact of their agents. */
export function presentAtLocations(
  states: readonly StateAtLocation[],
  agents: Pick<ContactSource, "presenceOf">,
): MonitorAtLocation[] {
  return states.map(({ location, state, lastCheck }) => {
    const presence = agents.presenceOf(location.id);
    return {
      location: location.ref,
      name: location.name,
      state: state.state,
      since: toIso(state.since),
      last_check: lastCheck ? presentCheck(lastCheck) : null,
      is_silent: presence !== "present",
      is_left_out: presence === "left_out",
    };
  });
}

/** Returns a monitor as the API and events show it, without header values, bodies and tokens. */
export function presentMonitor(record: MonitorRecord): Monitor {
  const { row, state, components, parents, locations, lastCheck } = record;
  return {
    id: row.id,
    ref: row.ref,
    name: row.name,
    type: row.type,
    config: probeOf(row.type).present(row.config as MonitorConfig),
    component_ids: components.map(({ id }) => id),
    depends_on: parents.map(({ id }) => id),
    locations: locations.map(({ ref }) => ref),
    down_when: row.downWhen,
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
    acknowledgement: presentAcknowledgement(state.acknowledgement),
    last_check: lastCheck ? presentCheck(lastCheck) : null,
    certificate_expires_at: toIsoOrNull(state.certificateExpiresAt),
    version: row.version,
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
  };
}

function presentAcknowledgement(stored: StateRow["acknowledgement"]): Monitor["acknowledgement"] {
  return stored && { ...stored, at: toIso(stored.at) };
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

/** Maximum number of monitors that one depends on. */
export const PARENTS_MAX = 5;
/** Maximum number of locations of one monitor. */
export const MONITOR_LOCATIONS_MAX = 10;
/** Maximum number of components of one monitor. */
const COMPONENTS_MAX = 100;
const CHECKS_IN_A_ROW_MAX = 100;
/** Maximum number of fields in a change of a config, more than any type has. */
const CONFIG_FIELDS_MAX = 50;
/** Maximum length of the id or ref of a monitor. */
const REFERENCE_MAX = 100;
const DAY_SECONDS = 86_400;
const INTERVAL_MAX_SECONDS = 31_536_000;
/** Bounds of the time between reminders, in seconds. */
export const REMINDER_MIN_SECONDS = 300;
const REMINDER_MAX_SECONDS = 604_800;
/** Timeout in ms that is allowed with any interval. */
export const SHORT_TIMEOUT_MS = 60_000;
/** Intervals of types that do not declare others, in seconds. */
const INTERVALS = { default: 60, retry: 10, least: 5 };

const Fields = Type.Object({
  name: NameText,
  component_ids: Type.Array(ComponentReference, {
    uniqueItems: true,
    maxItems: COMPONENTS_MAX,
    description:
      "Components whose status the monitor sets while it is down, of one page or several.",
    examples: [["cmp_01kah2v9w0e0rs6x0h3ye0a1bc", "acme:checkout-api"]],
  }),
  depends_on: Type.Array(Text({ minLength: 1, maxLength: REFERENCE_MAX }), {
    uniqueItems: true,
    maxItems: PARENTS_MAX,
    description:
      "Monitors, by id or ref, without which this one cannot be checked, such as that of its router. While one of them is down or failing, this monitor is unreachable instead of down.",
    examples: [["mon_01kah2v9w0e0rs6x0h3ye0a1bc", "router"]],
  }),
  locations: Type.Array(LocationReference, {
    uniqueItems: true,
    maxItems: MONITOR_LOCATIONS_MAX,
    description:
      "Locations that check it, by id or ref; `local` is the server. Types that wait for reports have none, docker only the server. Default: local.",
    examples: [["local", "berlin"]],
  }),
  down_when: OneOf(DOWN_WHEN, {
    description:
      "Number of locations that must find it down, of those that report: any, a majority (of two: both), or all. Default: majority.",
  }),
  interval_seconds: Nullable(
    Type.Integer({
      minimum: INTERVALS.least,
      maximum: INTERVAL_MAX_SECONDS,
      description:
        "Time between checks, at most a day; of a push monitor the time between calls of its job, at most a year, or null without a deadline; of an alert monitor null.",
    }),
  ),
  timeout_ms: Type.Integer({
    minimum: 100,
    maximum: 300_000,
    description: `Maximum duration of a whole check; more than ${SHORT_TIMEOUT_MS} needs an interval that is as long. Default: 10000.`,
  }),
  failure_threshold: Type.Integer({
    minimum: 1,
    maximum: CHECKS_IN_A_ROW_MAX,
    description: "Consecutive failures after which the monitor is down. Default: 3, for push 1.",
  }),
  success_threshold: Type.Integer({
    minimum: 1,
    maximum: CHECKS_IN_A_ROW_MAX,
    description: "Consecutive successes after which the monitor is up again. Default: 1.",
  }),
  retry_interval_seconds: Type.Integer({
    minimum: 1,
    maximum: DAY_SECONDS,
    description:
      "Time between checks until a threshold is reached, at most the interval. Default: 10, for domain 3600, or the interval if that is shorter.",
  }),
  degraded_after_ms: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: 300_000,
      description: "Response time above which the monitor is degraded; null for never.",
    }),
  ),
  on_down: OneOf(ON_DOWN, {
    description: "Status of the components while the monitor is down. Default: partial_outage.",
  }),
  open_incident: OneOf(OPEN_INCIDENT, {
    description:
      "Selects if an outage of the monitor opens an incident or joins one, which is resolved once all of its monitors are up again. Default: never.",
  }),
  inverted: Type.Boolean({
    description:
      "True if a check that succeeds counts as failed, and one that fails as succeeded. Default: false.",
  }),
  reminder_seconds: Type.Integer({
    minimum: 0,
    maximum: REMINDER_MAX_SECONDS,
    description:
      "Time between `monitor.reminder` events while the monitor is down, 300 to 604800; 0 for none. Default: 0.",
  }),
  group: Nullable(MonitorGroup),
  tags: TagsInput,
  notes: Nullable(
    Text({
      maxLength: DESCRIPTION_MAX,
      description: "Notes for colleagues, which visitors never see; null for none.",
    }),
  ),
  paused: Type.Boolean({ description: "True to create it paused. Default: false." }),
});

const {
  name: Name,
  paused: Paused,
  component_ids: ComponentIds,
  depends_on: DependsOn,
  locations: Locations,
  ...Settings
} = Fields.properties;
const OptionalSettings = Type.Partial(Type.Object(Settings)).properties;
export const OptionalReferences = {
  component_ids: Type.Optional(ComponentIds),
  depends_on: Type.Optional(DependsOn),
  locations: Type.Optional(Locations),
};

/** Fields of a monitor that callers and files set by name. */
export type MonitorSettings = Partial<
  Omit<Static<typeof Fields>, "name" | "paused" | "component_ids" | "depends_on" | "locations">
>;

interface Settings extends MonitorSettings {
  component_ids?: string[];
  depends_on?: string[];
  locations?: string[];
}

export interface CreateMonitorBody extends Settings {
  name: string;
  type: SupportedType;
  paused?: boolean;
  /** Optional if the type requires no field. */
  config?: MonitorConfig;
}

/** Returns the schema of a new monitor of a type, with its config and further fields. */
export function creationOf(type: MonitorType, config: TSchema, more: TProperties): TObject {
  const namedConfig = named(`${capitalised(type)}Config`, config);
  return Type.Object(
    {
      type: typeText(type),
      name: Name,
      // Optional if no field of the config is required.
      config: isValid(config, {}) ? Type.Optional(namedConfig) : namedConfig,
      ...OptionalSettings,
      interval_seconds: Type.Optional(intervalOf(type)),
      paused: Type.Optional(Paused),
      ...more,
    },
    { additionalProperties: false, title: `Create${capitalised(type)}Monitor` },
  );
}

/** Returns the default intervals of a type and its shortest one, in seconds. */
export function intervalsOf(type: MonitorType): typeof INTERVALS {
  return probeOf(type).intervals ?? INTERVALS;
}

/** Returns the schema of the interval of a type. */
export function intervalOf(type: MonitorType): TSchema {
  const { maxIntervalSeconds: maximum = DAY_SECONDS, canOmitInterval = false } = probeOf(type);
  const { default: usual, least: minimum } = intervalsOf(type);
  if (probeOf(type).isReported) {
    return Nullable(Type.Integer({ minimum, maximum, description: "Null: it has no interval." }));
  }
  const description = canOmitInterval
    ? `Time between calls of the job; null without a deadline. Default: ${usual}.`
    : `Time between checks. Default: ${usual}.`;
  const interval = Type.Integer({ minimum, maximum, description });
  return canOmitInterval ? Nullable(interval) : interval;
}

export const CreateMonitorBody = ByTag<CreateMonitorBody>(
  "type",
  Object.fromEntries(
    SUPPORTED_TYPES.map((type) => [
      type,
      creationOf(type, probeOf(type).config, OptionalReferences),
    ]),
  ),
  { title: "CreateMonitor" },
);

export interface UpdateMonitorBody extends Settings {
  name?: string;
  /** Schema by the monitor's type: `changeSchemaOf`. */
  config?: Readonly<Record<string, unknown>>;
}

/** Returns the schema of `config` in a change of a monitor. */
export function changeSchemaOf(type: MonitorType): TSchema {
  const { change, config } = probeOf(type);
  return change ?? changeSchema(config);
}

export const UpdateMonitorBody = Type.Unsafe<UpdateMonitorBody>(
  Type.Object(
    {
      name: Type.Optional(Name),
      ...OptionalReferences,
      ...OptionalSettings,
      config: Type.Optional(
        Type.Object(
          {},
          {
            anyOf: SUPPORTED_TYPES.map((type) => ({
              ...changeSchemaOf(type),
              title: `Update${capitalised(type)}Config`,
            })),
            maxProperties: CONFIG_FIELDS_MAX,
            description:
              "Fields of the monitor's type, which cannot be changed. Omitted fields keep their values, including secrets; null clears an optional field.",
          },
        ),
      ),
    },
    { additionalProperties: false, minProperties: 1, examples: [{ interval_seconds: 30 }] },
  ),
);
