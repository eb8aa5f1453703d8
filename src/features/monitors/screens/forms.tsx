import { invalidFields } from "../../../base/errors";
import { secretFields, withoutFacts } from "../../../base/secrets";
import {
  type MonitorType,
  ON_DOWN,
  type OnDown,
  type OpenIncident,
  type SupportedType,
} from "../../../base/status";
import { DESCRIPTION_MAX, NAME_MAX } from "../../../base/texts";
import { type Valid, validate } from "../../../base/validation";
import { STATUS_WORDS } from "../../../ui/blocks";
import { CheckboxList } from "../../../ui/choices";
import { TextField } from "../../../ui/form";
import {
  checkboxField,
  choiceField,
  integerField,
  nameField,
  selectField,
  tagsField,
  textAreaField,
} from "../../../ui/forms/fields";
import {
  type AnyField,
  defineForm,
  type Field,
  type FormDefinition,
  nullable,
} from "../../../ui/forms/form";
import {
  componentsField,
  type MonitorChoice,
  monitorsField,
  type PageComponents,
  rowsByGroup,
} from "../../../ui/forms/object-fields";
import { defaultSettings } from "../settings";
import { type MonitorConfig, probeOf } from "../probes";
import { occurrencesOf, scheduleOf } from "../probes/push";
import {
  CreateMonitorBody,
  intervalsOf,
  type Monitor,
  PARENTS_MAX,
  UpdateMonitorBody,
} from "../wire";
import type { AssertionsContext } from "./assertion-field";
import { type SecretsContext, storedSecrets } from "./secrets";
import { inputOf } from "./rows";
import type { CertificatesContext } from "./type-fields";
import { type DockerContext, TYPE_FORMS } from "./types";

/** End of the name of a clone. */
const SUFFIX = " (copy)";

/** Fields of a monitor. Those of its configuration have the prefix `config_`. */
type MonitorInput = Omit<CreateMonitorBody, "type" | "config" | "retry_interval_seconds"> & {
  /** Null for the default, or the check interval if that is shorter. */
  retry_interval_seconds?: number | null;
  /** Webhooks for selected monitors that get its events. */
  webhook_ids?: WebhookSelection;
  /** Only of push monitors. */
  timing?: Timing;
  [name: `config_${string}`]: unknown;
};

export type MonitorContext = FieldsContext &
  AssertionsContext &
  CertificatesContext &
  DockerContext &
  SecretsContext;

/** Returns the form of a monitor type. */
export function monitorForm(
  type: MonitorType,
): FormDefinition<MonitorInput, MonitorContext, MonitorFields> {
  const { folds = {} } = TYPE_FORMS[type];
  const { usual, rare } = fieldsOf(type);
  return defineForm<MonitorInput, MonitorContext>()(
    { ...usual, ...rare },
    {
      advanced: Object.keys(rare),
      folds: {
        ...Object.fromEntries(
          Object.entries(folds).map(([title, names]) => [title, names.map(inputOf)]),
        ),
        ...("depends_on" in usual && { Dependencies: ["depends_on"] }),
      },
    },
  );
}

/**
 * Returns the stored values of a monitor, by field. Secrets are empty.
 * `webhooks` are those for selected monitors that get its events.
 */
export function monitorResource(
  monitor: Monitor,
  webhooks: WebhookSelection,
): Readonly<Record<string, unknown>> {
  const { type, config } = monitor;
  const { fields, advanced } = TYPE_FORMS[type];
  const { names, texts } = storedSecrets(type, config);
  const secrets = secretFields(probeOf(type).config).flatMap(
    ({ field, kind }): [string, unknown][] => {
      if (kind === "values") return [[field, Object.fromEntries(names.map((name) => [name, ""]))]];
      return kind === "text" ? [[field, texts.includes(field) ? "" : null]] : [];
    },
  );
  const shown: Readonly<Record<string, unknown>> = { ...config, ...Object.fromEntries(secrets) };
  return {
    ...monitor,
    timing: timingOf(monitor),
    retry_interval_seconds: retryInterval(monitor),
    webhook_ids: webhooks,
    ...Object.fromEntries(
      Object.keys({ ...fields, ...advanced }).map((name) => [inputOf(name), shown[name] ?? null]),
    ),
  };
}

/** Returns the values of a new monitor's form that are filled in from another monitor, without its secrets. */
export function cloneResource(
  monitor: Monitor,
  webhooks: WebhookSelection,
): Readonly<Record<string, unknown>> {
  // Cut between code points, so that no character is split.
  const name = [...monitor.name].slice(0, NAME_MAX - SUFFIX.length).join("");
  const config = withoutFacts(probeOf(monitor.type).config, monitor.config);
  return { ...monitorResource({ ...monitor, config }, webhooks), name: `${name}${SUFFIX}` };
}

/** Returns the stored assertions of a configuration, and its secrets without their values. */
export function storedParts(type: MonitorType, config: object = {}): MonitorContext["stored"] {
  const { assertions = [] } = config as Partial<AssertionsContext["stored"]>;
  return { ...storedSecrets(type, config), assertions };
}

/** Returns the body for a new monitor of a type. Throws `validation_failed` with every invalid field. */
export function toCreation(type: SupportedType, input: MonitorInput): Valid<CreateMonitorBody> {
  const { config, settings } = split(input, type);
  const { retry_interval_seconds: retry, name = "", ...rest } = settings;
  const entries = Object.entries(config).filter(([, value]) => value !== null);
  return validate(CreateMonitorBody, {
    ...rest,
    type,
    name,
    config: Object.fromEntries(entries),
    ...(retry == null ? {} : { retry_interval_seconds: retry }),
  });
}

/**
 * Returns the body for a change of a monitor. An empty retry interval becomes the default. A type
 * without this input keeps the stored one. Both are lowered to the check interval. Throws as `toCreation` does.
 */
export function toChange(input: Partial<MonitorInput>, monitor: Monitor): Valid<UpdateMonitorBody> {
  const { config, settings } = split(input, monitor.type, monitor);
  if (monitor.type === "unsupported") {
    const { retry_interval_seconds: _, ...changed } = settings;
    return validate(UpdateMonitorBody, changed);
  }
  const { retry_interval_seconds: retry = retryInterval(monitor), ...rest } = settings;
  const { interval_seconds: named = monitor.interval_seconds } = rest;
  const interval = named ?? Infinity;
  const longest = TYPE_FORMS[monitor.type].isPush
    ? monitor.retry_interval_seconds
    : defaultRetry(monitor.type);
  return validate(UpdateMonitorBody, {
    ...rest,
    ...(Object.keys(config).length === 0 ? {} : { config }),
    // An invalid interval is reported alone.
    ...(retry === null && !(interval >= 1)
      ? {}
      : { retry_interval_seconds: retry ?? Math.min(interval, longest) }),
  });
}

/** Returns the retry interval of a monitor; null for the default, and for types without one. */
function retryInterval({ type, retry_interval_seconds: retry }: Monitor): number | null {
  return TYPE_FORMS[type].isPush || retry === defaultRetry(type) ? null : retry;
}

function defaultRetry(type: MonitorType): number {
  return defaultSettings(type).retryIntervalSeconds;
}

/**
 * Separates the fields of the configuration from the others. Those of a push monitor follow its timing;
 * `stored` is the monitor that they change.
 */
function split<Input extends Partial<MonitorInput>>(
  input: Input,
  type: MonitorType,
  stored?: Monitor,
) {
  const prefix = inputOf("");
  const entries = Object.entries(input);
  const typed = entries.filter(([name]) => name.startsWith(prefix));
  const config: Record<string, unknown> = Object.fromEntries(
    typed.map(([name, value]) => [name.slice(prefix.length), value]),
  );
  const {
    webhook_ids: _,
    timing,
    ...named
  } = Object.fromEntries(entries.filter(([name]) => !name.startsWith(prefix))) as Partial<
    Omit<MonitorInput, `config_${string}`>
  >;
  if (!TYPE_FORMS[type].isPush) return { config, settings: named };
  const { interval_seconds, ...others } = named;
  const interval = interval_seconds === undefined ? {} : { interval_seconds };
  const chosen =
    timing ?? timingOf(stored ?? { interval_seconds: interval_seconds ?? null, config: {} });
  const { config: changed, ...kept } = chooseTiming(chosen, { ...interval, config }, stored);
  return { config: changed, settings: { ...others, ...kept } };
}

export type MonitorFields = Readonly<Record<string, AnyField>>;

/** Screen data of the fields that all types have. */
interface FieldsContext extends WebhooksContext {
  /** Components of each page. */
  pages: readonly (PageComponents & { id: string; name: string })[];
  /** Groups that are offered. */
  groups: readonly string[];
  /** Monitors on which this one can depend. */
  others: readonly MonitorChoice[];
}

const INCIDENTS = [
  { value: "never", label: "Do not open an incident", hint: "Only the component statuses change." },
  {
    value: "draft",
    label: "Write a draft",
    hint: "The draft stays private until someone publishes it.",
  },
  {
    value: "automatic",
    label: "Publish an incident",
    hint: "Published at once. Resolved when the monitor is up again, unless someone has posted an update.",
  },
] as const;

const affectedField = componentsField<FieldsContext>({
  hint: "Components whose status changes while the monitor is down. Without any, no status changes.",
  unknown: "Select components that exist.",
  partsOf: ({ pages }) =>
    pages.flatMap((page) =>
      rowsByGroup(page, (component) => component).parts.map(({ key, title, rows }) => {
        const titles = [...(pages.length > 1 ? [page.name] : []), ...(title ? [title] : [])];
        const part = { key: `${page.id} ${key}`, rows };
        return titles.length === 0 ? part : { ...part, title: titles.join(" · ") };
      }),
    ),
});

const parentsField = monitorsField<FieldsContext>({
  label: "Depends on",
  hint: `Up to ${PARENTS_MAX} monitors, such as that of a router. While one of them is down or failing, this monitor is unreachable instead of down, without a message or an incident.`,
  choicesOf: ({ others }) => others,
  wordError: (detail) => `a monitor that ${detail}`,
});

/** Returns the fields of a monitor type: those that most monitors need, and the rest. */
function fieldsOf(type: MonitorType): { usual: MonitorFields; rare: MonitorFields } {
  const { fields, advanced = {}, isPush } = TYPE_FORMS[type];
  const defaults = defaultSettings(type);
  const name = nameField({
    hint: "Name of the service, such as “Checkout API”. Incidents opened by the monitor use this name.",
  });
  const labels = {
    group: nullable(groupField()),
    tags: tagsField(),
    notes: nullable(
      textAreaField({
        label: "Notes",
        hint: "Optional. For colleagues; visitors never see them.",
        rows: 2,
        maxlength: DESCRIPTION_MAX,
      }),
    ),
  };
  if (type === "unsupported") {
    return { usual: { name, component_ids: affectedField, ...labels }, rare: {} };
  }
  const interval = { interval_seconds: intervalField(type) };
  return {
    usual: {
      name,
      ...(isPush ? { timing: timingField, ...interval } : {}),
      ...configFields(fields),
      ...interval,
      component_ids: affectedField,
      on_down: selectField<OnDown>({
        label: "Component status while down",
        initial: defaults.onDown,
        options: ON_DOWN.map((value) => ({ value, label: STATUS_WORDS[value] })),
      }),
      open_incident: choiceField<OpenIncident>({
        label: "Incidents",
        hint: "Effect on the components' pages when the monitor goes down.",
        initial: defaults.openIncident,
        options: INCIDENTS,
      }),
      depends_on: parentsField,
      webhook_ids: webhooksField(),
      ...labels,
    },
    rare: rareFields(type, advanced),
  };
}

function rareFields(type: MonitorType, advanced: MonitorFields): MonitorFields {
  const { isPush } = TYPE_FORMS[type];
  const defaults = defaultSettings(type);
  return {
    ...(isPush
      ? {}
      : {
          timeout_ms: integerField({
            label: "Timeout (ms)",
            hint: "Time allowed for a whole check, up to 300,000. More than 60,000 needs an interval that is as long.",
            initial: defaults.timeoutMs,
            isRequired: true,
          }),
        }),
    degraded_after_ms: nullable(
      integerField({
        label: "Degraded above (ms)",
        hint: "Optional. Slower responses make the monitor degraded.",
      }),
    ),
    failure_threshold: integerField({
      label: "Failures until down",
      hint: "Consecutive failed checks before the monitor is down. The outage is dated from the first.",
      initial: defaults.failureThreshold,
      isRequired: true,
    }),
    success_threshold: integerField({
      label: "Successes until up",
      hint: "Consecutive successful checks before the monitor is up.",
      initial: defaults.successThreshold,
      isRequired: true,
    }),
    ...(isPush
      ? {}
      : {
          retry_interval_seconds: nullable(
            integerField({
              label: "Check again after (seconds)",
              hint: `Interval until a threshold is reached. Empty means ${intervalsOf(type).retry.toLocaleString("en")}, or the check interval if that is shorter.`,
            }),
          ),
        }),
    reminder_seconds: reminderField(),
    inverted: checkboxField({
      label: "Invert the result",
      hint: "A check that succeeds counts as failed, and one that fails as succeeded.",
      initial: defaults.inverted,
    }),
    ...configFields(advanced),
  };
}

/** Field for the interval. Calls of a job may have none, and with it no deadline. */
function intervalField(type: MonitorType): Field<string, number | null> {
  const { isPush = false } = TYPE_FORMS[type];
  const { maxIntervalSeconds: longest = 86_400 } = probeOf(type);
  const field = integerField({
    label: isPush ? "Interval (seconds)" : "Check every (seconds)",
    hint: isPush
      ? "For “At an interval”. 5 to 31,536,000."
      : `${intervalsOf(type).least.toLocaleString("en")} to ${longest.toLocaleString("en")}.`,
    initial: defaultSettings(type).intervalSeconds ?? 0,
    isRequired: !isPush,
  });
  if (!isPush) return field as Field<string, number | null>;
  return {
    ...field,
    toBody: (typed, context) => (typed.trim() === "" ? null : field.toBody(typed, context)),
    fromStored: (seconds) => (seconds === null ? "" : String(seconds)),
  };
}

/** Field for the time between reminders; empty for none, which is 0. */
function reminderField(): Field<string, number> {
  const field = integerField({
    label: "Remind every (seconds)",
    hint: "Optional. While the monitor is down, webhooks get an event each time. 300 to 604,800.",
  });
  return {
    ...field,
    toBody: (typed, context) => (typed.trim() === "" ? 0 : field.toBody(typed, context)),
    fromStored: (seconds) => (seconds === 0 ? "" : String(seconds)),
  };
}

/** Field for the group, which offers the existing ones. */
function groupField(): Field<string, string, FieldsContext> {
  const label = "Group";
  return {
    label,
    initial: "",
    read: (sent, name) => sent.text(name),
    toBody: (typed) => typed.trim(),
    fromStored: (group) => group,
    Input: ({ name, value, errors, context }) => (
      <TextField
        label={label}
        name={name}
        value={value}
        hint="Optional. Monitors can be listed by it. Visitors never see it."
        error={errors[name]}
        autocomplete="off"
        maxlength={NAME_MAX}
        suggestions={context.groups}
      />
    ),
  };
}

function configFields(fields: MonitorFields): MonitorFields {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [inputOf(name), field]));
}

const TIMINGS = [
  {
    value: "interval",
    label: "At an interval",
    hint: "A call is due each time the interval below has passed since the one before.",
  },
  {
    value: "schedule",
    label: "By a schedule",
    hint: "Calls are due at the times of the cron expression below.",
  },
  {
    value: "none",
    label: "Without a deadline",
    hint: "Only what the job reports changes the state.",
  },
] as const;

/** Ways in which the calls of a job are due. */
type Timing = (typeof TIMINGS)[number]["value"];

/** Field that decides which of interval and schedule counts. Without a choice, the filled one does. */
const timingField: Field<string, Timing> = {
  ...choiceField<Timing>({ label: "Expected calls", initial: "interval", options: TIMINGS }),
  toBody: (typed) => TIMINGS.find(({ value }) => value === typed)?.value,
};

/** Interval and config as a form names them. */
interface TypedTiming {
  interval_seconds?: number | null;
  config: MonitorConfig;
}

/** Returns the way in which the calls of a stored job are due. */
function timingOf({
  interval_seconds: interval,
  config,
}: Pick<Monitor, "interval_seconds" | "config">): Timing {
  if (scheduleOf(config)) return "schedule";
  return interval === null ? "none" : "interval";
}

/**
 * Returns the interval and config of a push monitor with the fields that belong to its timing. `typed` has the
 * fields of a new monitor, or those that change `stored`. Throws `validation_failed` for a typed schedule that
 * would be ignored.
 */
function chooseTiming(
  timing: Timing,
  typed: TypedTiming,
  stored: Pick<Monitor, "interval_seconds" | "config"> | undefined,
): TypedTiming {
  const { schedule, time_zone: zone, ...config } = typed.config;
  const before = stored ? scheduleOf(stored.config) : undefined;
  if (timing === "schedule") {
    return {
      config: {
        ...config,
        // A missing schedule is rejected by the service.
        ...(schedule === undefined && before ? {} : { schedule: schedule ?? "" }),
        ...(zone === undefined ? {} : { time_zone: zone }),
      },
    };
  }
  if (schedule && !before) {
    const detail = "Select “By a schedule”, or clear the schedule.";
    throw invalidFields([{ pointer: "#/timing", detail }]);
  }
  const { interval_seconds: interval = stored?.interval_seconds } = typed;
  return {
    // A missing interval is rejected by the service.
    interval_seconds: timing === "none" ? null : (interval ?? Number.NaN),
    config: before ? { ...config, schedule: null } : config,
  };
}

/** Number of due calls that the form shows. */
const CALLS_SHOWN = 5;

/** Times at which the calls of a job are due. */
export interface DueCalls {
  /** Unix ms; none without a schedule. */
  times: readonly number[];
  timeZone: string;
}

/** Returns the next times after `now` (unix ms) at which calls are due by a config. */
export function nextCalls(config: MonitorConfig, now: number): DueCalls {
  const { time_zone: timeZone = "UTC" } = scheduleOf(config) ?? {};
  return { timeZone, times: occurrencesOf(config)?.list(now, { count: CALLS_SHOWN }) ?? [] };
}

/** Screen data of the field: webhooks that get the events of selected monitors. */
interface WebhooksContext {
  webhooks: readonly {
    id: string;
    name: string;
    /** Name of the page to which the webhook is limited. */
    pageName: string | undefined;
  }[];
}

/** Ids of the webhooks that are checked in a form, and of those that were when it was shown. */
export interface WebhookSelection {
  checked: readonly string[];
  shown: readonly string[];
}

/** Returns the webhooks that the user of a form checked, and those that were unchecked. */
export function changesOf({ checked, shown }: WebhookSelection) {
  return {
    added: checked.filter((id) => !shown.includes(id)),
    removed: shown.filter((id) => !checked.includes(id)),
  };
}

/**
 * Field for the webhooks that get the events of this monitor; hidden without any for selected monitors. Hidden
 * inputs hold those that were checked, so that changes by others in the meantime are kept.
 */
function webhooksField(): Field<WebhookSelection, WebhookSelection, WebhooksContext> {
  const label = "Webhooks";
  const shownInput = (name: string) => `${name}_shown`;
  return {
    label,
    initial: { checked: [], shown: [] },
    read: (sent, name) => ({ checked: sent.all(name), shown: sent.all(shownInput(name)) }),
    // Sorted, so that a form with the same webhooks changes nothing.
    toBody: ({ checked, shown }) => ({ checked: checked.toSorted(), shown: shown.toSorted() }),
    fromStored: (selection) => selection,
    Input({ name, value: { checked, shown }, errors, context: { webhooks } }) {
      if (webhooks.length === 0 && errors[name] === undefined) return null;
      return (
        <>
          <CheckboxList
            legend={label}
            name={name}
            hint="Webhooks for selected monitors that get the events of this one. Those for all monitors are not listed."
            error={errors[name]}
            options={webhooks.map((webhook) => ({
              value: webhook.id,
              label: webhook.name,
              ...(webhook.pageName !== undefined && {
                hint: `Only while all components of the monitor are on the page ${webhook.pageName}.`,
              }),
              isChecked: checked.includes(webhook.id),
            }))}
          />
          {shown.map((id) => (
            <input key={id} type="hidden" name={shownInput(name)} value={id} />
          ))}
        </>
      );
    },
  };
}
