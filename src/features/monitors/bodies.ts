import {
  OptionalKind,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from "@sinclair/typebox";
import { Check as isValid } from "@sinclair/typebox/value";
import {
  type MonitorType,
  ON_DOWN,
  OPEN_INCIDENT,
  SUPPORTED_TYPES,
  type SupportedType,
} from "../../base/status";
import { MonitorGroup, TagsInput } from "../../base/tags";
import { DESCRIPTION_MAX, NameText } from "../../base/texts";
import { ByTag, Nullable, OneOf, Text } from "../../base/schema";
import { capitalised } from "../../base/text";
import { ComponentReference } from "../components/references";
import { type MonitorConfig, probeOf, withNullableParts } from "./probes";
import { named, typeText } from "./model";

/* Bodies of requests about monitors. The config comes from the probe of the type. */

/** Maximum number of monitors that one depends on. */
export const PARENTS_MAX = 5;
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
export const REMINDER_MAX_SECONDS = 604_800;
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
  interval_seconds: Nullable(
    Type.Integer({
      minimum: INTERVALS.least,
      maximum: INTERVAL_MAX_SECONDS,
      description:
        "Time between checks, at most a day; of a push monitor the time between calls of its job, at most a year, or null without a deadline.",
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
  ...Settings
} = Fields.properties;
const OptionalSettings = Type.Partial(Type.Object(Settings)).properties;
export const OptionalReferences = {
  component_ids: Type.Optional(ComponentIds),
  depends_on: Type.Optional(DependsOn),
};

/** Fields of a monitor that callers and files set by name. */
export type MonitorSettings = Partial<
  Omit<Static<typeof Fields>, "name" | "paused" | "component_ids" | "depends_on">
>;

interface Settings extends MonitorSettings {
  component_ids?: string[];
  depends_on?: string[];
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
  const { change, config, secretParts = {} } = probeOf(type);
  if (change) return change;
  const fields = Object.entries((config as TObject).properties).map(([name, schema]) => {
    const field = withNullableParts(schema, secretParts[name]);
    return [name, Type.Optional(OptionalKind in schema ? Nullable(field) : field)];
  });
  return Type.Object(Object.fromEntries(fields), { additionalProperties: false });
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
