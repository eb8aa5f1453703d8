import { secretFields, withoutFacts } from "../../../base/secrets";
import {
  isPassive,
  isTimed,
  type MonitorType,
  ON_DOWN,
  type OnDown,
  type OpenIncident,
  SUPPORTED_TYPES,
  type SupportedType,
} from "../../../base/status";
import { capitalised, plural } from "../../../base/text";
import { DESCRIPTION_MAX, NAME_MAX } from "../../../base/texts";
import { type Valid, validate } from "../../../base/validation";
import type { WebhookFormat } from "../../../base/webhook";
import type { Reader } from "../../../db/statements";
import type { Form as SentForm } from "../../../http/form-body";
import { STATUS_WORDS } from "../../../ui/blocks";
import { CheckLines, Picker, SelectField } from "../../../ui/choices";
import { HiddenFields, TextField } from "../../../ui/form";
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
  type ValuesOf,
} from "../../../ui/forms/form";
import {
  componentsField,
  type MonitorChoice,
  monitorsField,
  type PageComponents,
  rowsByGroup,
} from "../../../ui/forms/object-fields";
import { NEW_WEBHOOK_PATH } from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { FORMATS } from "../../webhooks/formats/index";
import type { PlainAddress } from "../../webhooks/webhooks";
import { hasLocations } from "../monitor-locations";
import { type MonitorConfig, probeOf } from "../probes";
import { occurrencesOf, scheduleOf } from "../probes/push";
import { getMonitorRecord } from "../records";
import { addMonitorChangeErrors, addNewMonitorErrors, defaultSettings } from "../settings";
import {
  CreateMonitorBody,
  intervalsOf,
  type Monitor,
  PARENTS_MAX,
  UpdateMonitorBody,
} from "../wire";
import type { AssertionsContext } from "./assertion-field";
import { LOCATION_FIELDS, type LocationsContext } from "./location-fields";
import { type SecretsContext, storedSecrets } from "./secrets";
import { inputOf } from "./rows";
import type { CertificatesContext } from "./type-fields";
import { type DockerContext, type OfferedContext, TYPE_FORMS } from "./types";
import { latencyInWords, typeLabel } from "./words";

/** End of the name of a clone. */
const SUFFIX = " (copy)";

/** Fields of a monitor. Those of its configuration have the prefix `config_`. */
type MonitorInput = Omit<CreateMonitorBody, "type" | "config" | "retry_interval_seconds"> & {
  /** Null for the default, or the check interval if that is shorter. */
  retry_interval_seconds?: number | null;
  /** Components besides the one of `component_ids`. */
  more_component_ids?: string[];
  /** Webhooks for selected monitors that get its events. */
  webhook_ids?: WebhookSelection;
  /** Address that gets its events from now on. */
  endpoint?: PlainAddress;
  /** Only of push monitors. */
  timing?: Timing;
  [name: `config_${string}`]: unknown;
};

export type MonitorContext = FieldsContext &
  TypeContext &
  AssertionsContext &
  CertificatesContext &
  LocationsContext &
  DockerContext &
  OfferedContext &
  SecretsContext;

/**
 * Returns the form of a monitor type: the fields that a new monitor needs, and the others in a fold. `leading` come
 * first.
 */
export function monitorForm(
  type: MonitorType,
  leading: MonitorFields = {},
): FormDefinition<MonitorInput, MonitorContext, MonitorFields> {
  const { folds = {}, pairs = [] } = TYPE_FORMS[type];
  const further = furtherFields(type);
  return defineForm<MonitorInput, MonitorContext>()(
    { ...leading, ...askedFields(type), ...further },
    {
      advanced: Object.keys(further),
      summary: (values) => summaryOf(type, values),
      folds: {
        ...Object.fromEntries(
          Object.entries(folds).map(([title, names]) => [title, names.map(inputOf)]),
        ),
        "Retries and reminders": ["retry_interval_seconds", "reminder_seconds", "inverted"],
        "Further components": ["more_component_ids"],
        Dependencies: ["depends_on"],
        "Group, tags and notes": ["group", "tags", "notes"],
      },
      pairs: [
        ...pairs.map((pair) => pair.map(inputOf)),
        ["component_ids", "interval_seconds"],
        ["timeout_ms", "degraded_after_ms"],
        ["failure_threshold", "success_threshold"],
        ["on_down", "open_incident"],
        ["retry_interval_seconds", "reminder_seconds"],
      ],
    },
  );
}

/** Returns the form for a new monitor of a type, in which the type can be changed. */
export function newMonitorForm(type: SupportedType) {
  return monitorForm(type, { type: typeField(type) });
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
  const [component, ...more] = monitor.component_ids;
  return {
    ...monitor,
    component_ids: component === undefined ? [] : [component],
    more_component_ids: more,
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
export function toCreation(
  reader: Reader,
  type: SupportedType,
  input: MonitorInput,
): Valid<CreateMonitorBody> {
  const { config, settings, timingError } = split(input, type);
  const { retry_interval_seconds: retry, name = "", ...rest } = settings;
  const entries = Object.entries(config).filter(([, value]) => value !== null);
  const body = {
    ...rest,
    type,
    name,
    config: Object.fromEntries(entries),
    ...(retry == null ? {} : { retry_interval_seconds: retry }),
  };
  return validate(CreateMonitorBody, body, (valid, errors) => {
    if (timingError !== undefined) errors.add(["timing"], timingError);
    addNewMonitorErrors(reader, valid, errors);
  });
}

/**
 * Returns the body for a change of a monitor. An empty retry interval becomes the default. A type
 * without this input keeps the stored one. Both are lowered to the check interval. Throws as `toCreation` does.
 */
export function toChange(
  reader: Reader,
  input: Partial<MonitorInput>,
  monitor: Monitor,
): Valid<UpdateMonitorBody> {
  const { config, settings, timingError } = split(input, monitor.type, monitor);
  const { row } = getMonitorRecord(reader, monitor.id);
  const examined = (body: object) =>
    validate(UpdateMonitorBody, body, (valid, errors) => {
      if (timingError !== undefined) errors.add(["timing"], timingError);
      addMonitorChangeErrors(reader, row, valid, errors);
    });
  if (monitor.type === "unsupported") {
    const { retry_interval_seconds: _, ...changed } = settings;
    return examined(changed);
  }
  const { retry_interval_seconds: retry = retryInterval(monitor), ...rest } = settings;
  const { interval_seconds: named = monitor.interval_seconds } = rest;
  const interval = named ?? Infinity;
  const longest = isPassive(monitor.type)
    ? monitor.retry_interval_seconds
    : defaultRetry(monitor.type);
  return examined({
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
  return isPassive(type) || retry === defaultRetry(type) ? null : retry;
}

function defaultRetry(type: MonitorType): number {
  return defaultSettings(type).retryIntervalSeconds;
}

/**
 * Separates the fields of the configuration from the others. Those of a push monitor follow its timing, which may have an
 * error; `stored` is the monitor that they change.
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
    endpoint: __,
    component_ids: chosen,
    more_component_ids: more,
    timing,
    ...others
  } = Object.fromEntries(entries.filter(([name]) => !name.startsWith(prefix))) as Partial<
    Omit<MonitorInput, `config_${string}`>
  >;
  const [first, ...rest] = stored?.component_ids ?? [];
  const components = [...(chosen ?? (first === undefined ? [] : [first])), ...(more ?? rest)];
  const named = {
    ...others,
    ...((chosen ?? more) && { component_ids: [...new Set(components)] }),
  };
  if (!TYPE_FORMS[type].isPush) return { config, settings: named };
  const { interval_seconds, ...kept } = named;
  const interval = interval_seconds === undefined ? {} : { interval_seconds };
  const chosenTiming =
    timing ?? timingOf(stored ?? { interval_seconds: interval_seconds ?? null, config: {} });
  const { config: changed, ...timed } = chooseTiming(chosenTiming, { ...interval, config }, stored);
  return {
    config: changed,
    settings: { ...kept, ...timed },
    timingError: timingErrorOf(chosenTiming, config, stored),
  };
}

export type MonitorFields = Readonly<Record<string, AnyField>>;

/** Screen data of the fields that all types have. */
interface FieldsContext extends EndpointsContext {
  /** Components of each page. */
  pages: readonly (PageComponents & { id: string; name: string })[];
  /** Groups that are offered. */
  groups: readonly string[];
  /** Monitors on which this one can depend. */
  others: readonly MonitorChoice[];
}

const INCIDENTS = [
  { value: "never", label: "None, only the status changes", words: "no incident" },
  { value: "draft", label: "Write a draft, for someone to publish", words: "a draft incident" },
  { value: "automatic", label: "Publish one, and resolve it", words: "an incident" },
] as const;

/** Returns the components of all pages, by page and group. */
function partsOf({ pages }: Pick<FieldsContext, "pages">) {
  return pages.flatMap((page) =>
    rowsByGroup(page, (component) => component).parts.map(({ key, title, rows }) => {
      const titles = [...(pages.length > 1 ? [page.name] : []), ...(title ? [title] : [])];
      return { key: `${page.id} ${key}`, rows, title: titles.join(" · ") || undefined };
    }),
  );
}

/** Field for the component whose status changes while the monitor is down; hidden if there is none. */
const componentField: Field<string, string[], FieldsContext> = {
  label: "Component",
  initial: "",
  read: (sent, name) => sent.text(name),
  toBody: (id) => (id === "" ? [] : [id]),
  fromStored: ([id = ""]) => id,
  // The pointer of one id has its index.
  showError: ({ pointer, detail }) => ({
    detail: pointer.split("/").length > 2 ? "Select components that exist." : detail,
  }),
  Input({ name, value, errors, context }) {
    const options = partsOf(context).flatMap(({ title, rows }) =>
      rows.map((row) => ({ value: row.id, label: row.name, group: title })),
    );
    if (options.length === 0 && errors[name] === undefined) return null;
    return (
      <SelectField
        label="Component"
        name={name}
        value={value}
        error={errors[name]}
        options={[{ value: "", label: "None" }, ...options]}
      />
    );
  },
};

const moreComponents = componentsField<FieldsContext>({
  label: "Further components",
  hint: "Their status changes too while the monitor is down.",
  unknown: "Select components that exist.",
  partsOf,
});

/** Field for the other components, if there is more than one. Sorted, so that a form with the same ones changes nothing. */
const moreComponentsField: typeof moreComponents = {
  ...moreComponents,
  toBody: (ids) => ids.toSorted(),
  Input: (props) =>
    partsOf(props.context).flatMap(({ rows }) => rows).length > 1 ? (
      moreComponents.Input(props)
    ) : (
      <p class="hint">There are no other components yet.</p>
    ),
};

const parentsField = monitorsField<FieldsContext>({
  label: "Depends on",
  hint: `Up to ${PARENTS_MAX} monitors, such as that of a router. While one of them is down or failing, this monitor is unreachable instead of down, without a message or an incident.`,
  choicesOf: ({ others }) => others,
  wordError: (detail) => `a monitor that ${detail}`,
});

/** Returns the fields that the form of a type asks for: what is checked and how often, its component, and who is notified. */
function askedFields(type: MonitorType): MonitorFields {
  const { fields, isPush } = TYPE_FORMS[type];
  const { isReported = false } = probeOf(type);
  const name = nameField();
  if (type === "unsupported") return { name, component_ids: componentField };
  return {
    name,
    ...(isPush ? { timing: timingField } : {}),
    ...configFields(fields),
    component_ids: componentField,
    ...(isReported ? {} : { interval_seconds: intervalField(type) }),
    ...(hasLocations(type) && type !== "docker" ? LOCATION_FIELDS : {}),
    webhook_ids: notifyField(),
    endpoint: endpointField,
  };
}

/** Returns the fields that most monitors keep at their defaults. */
function furtherFields(type: MonitorType): MonitorFields {
  const { advanced = {} } = TYPE_FORMS[type];
  const { isReported = false } = probeOf(type);
  const isAsked = !isPassive(type);
  const defaults = defaultSettings(type);
  const labels = {
    more_component_ids: moreComponentsField,
    ...(type === "unsupported" ? {} : { depends_on: parentsField }),
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
  if (type === "unsupported") return labels;
  return {
    ...(!isAsked
      ? {}
      : {
          timeout_ms: integerField({
            label: "Timeout (ms)",
            hint: "Time allowed for a whole check, up to 300,000. More than 60,000 needs an interval that is as long.",
            initial: defaults.timeoutMs,
            isRequired: true,
          }),
        }),
    ...(isTimed(type)
      ? {
          degraded_after_ms: nullable(
            integerField({
              label: "Degraded above (ms)",
              hint: "Optional. Slower responses make the monitor degraded.",
            }),
          ),
        }
      : {}),
    ...(isReported ? {} : thresholdFields(defaults)),
    on_down: selectField<OnDown>({
      label: "Component status while down",
      initial: defaults.onDown,
      options: ON_DOWN.map((value) => ({ value, label: STATUS_WORDS[value] })),
    }),
    open_incident: selectField<OpenIncident>({
      label: "Incidents",
      hint: "On the pages of the components. An incident with an update by someone is not resolved by the monitor.",
      initial: defaults.openIncident,
      options: INCIDENTS,
    }),
    ...configFields(advanced),
    ...(!isAsked
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
    ...(isReported
      ? {}
      : {
          inverted: checkboxField({
            label: "Invert the result",
            hint: "A check that succeeds counts as failed, and one that fails as succeeded.",
            initial: defaults.inverted,
          }),
        }),
    ...labels,
  };
}

/** Returns the fields for the number of checks that change a state. */
function thresholdFields(defaults: ReturnType<typeof defaultSettings>): MonitorFields {
  return {
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
  };
}

/** Returns the values of the further fields in one line: "10 s timeout · down after 3 failures, up after 1 · …". */
function summaryOf(type: MonitorType, values: Readonly<Record<string, unknown>>): string {
  if (type === "unsupported") return "";
  const { summary } = TYPE_FORMS[type];
  const isAsked = !isPassive(type);
  const { isReported = false } = probeOf(type);
  const [timeout = 0, failures = 0, successes = 0] = [
    isAsked ? values["timeout_ms"] : 0,
    isReported ? 1 : values["failure_threshold"],
    isReported ? 1 : values["success_threshold"],
  ].map(Number);
  const incident = INCIDENTS.find(({ value }) => value === values["open_incident"]);
  const status = ON_DOWN.find((value) => value === values["on_down"]);
  if (Number.isNaN(timeout + failures + successes) || !incident || !status) return "";
  const parts = [
    ...(isAsked ? [`${latencyInWords(timeout)} timeout`] : []),
    ...(isReported ? [] : [`down after ${plural(failures, "failure")}, up after ${successes}`]),
    `then ${STATUS_WORDS[status].toLowerCase()}, ${incident.words}`,
    ...(summary ? [summary((name) => values[inputOf(name)])] : []),
  ];
  return capitalised(parts.join(" · "));
}

/** Name of the buttons that select a type. */
const CHOOSE_TYPE = "choose_type";

/** Returns the type of a submitted form, as chosen by a button or else as shown; undefined for an unknown one. */
export function sentType(sent: Pick<SentForm, "text">): SupportedType | undefined {
  const named = sent.text(CHOOSE_TYPE) || sent.text("type");
  return SUPPORTED_TYPES.find((type) => type === named);
}

/** Screen data of the type. */
interface TypeContext {
  /** True if one of the buttons that select a type was pressed. */
  isTypeChosen: boolean;
}

/** Returns true if one of the buttons that select a type was pressed. */
export function isTypeChosen(sent: Pick<SentForm, "text">): boolean {
  return sent.text(CHOOSE_TYPE) !== "";
}

/** Field for the type of a new monitor: buttons that show the form again with the fields of another type. */
function typeField(current: SupportedType): Field<string, never, TypeContext> {
  return {
    label: "Type",
    initial: current,
    read: (sent) => sentType(sent) ?? current,
    toBody: () => undefined,
    fromStored: (type) => type,
    Input: ({ name, context }) => (
      <>
        <HiddenFields values={{ [name]: current }} />
        <Picker
          label="Type"
          name={CHOOSE_TYPE}
          hasFocus={context.isTypeChosen}
          searchLabel="Search types"
          placeholder="What should be watched?"
          emptyText="No type has this name. “TCP port” watches any server that accepts connections."
          options={SUPPORTED_TYPES.map((type) => {
            const { purpose: note, words, icon } = TYPE_FORMS[type];
            return { value: type, label: typeLabel(type), note, words, icon };
          })}
          value={current}
        />
      </>
    ),
  };
}

/**
 * Returns the values for a form of another type, after one of the buttons was pressed that select it: what was typed, and
 * the defaults of the new type for the rest. Undefined if no such button was pressed.
 */
export function valuesForChosenType(sent: SentForm): ValuesOf<MonitorFields> | undefined {
  const chosen = sentType(sent);
  const shown = SUPPORTED_TYPES.find((type) => type === sent.text("type")) ?? "http";
  if (!isTypeChosen(sent) || chosen === undefined) return undefined;
  const before = newMonitorForm(shown);
  const after = newMonitorForm(chosen);
  const typed = Object.entries(before.read(sent)).filter(
    ([name, value]) => name in after.fields && !Bun.deepEquals(value, before.fields[name]?.initial),
  );
  return after.initial(Object.fromEntries(typed));
}

/** Choice of an interval that is not listed, and the name of its input. */
const OTHER = "other";
const otherOf = (name: string) => `${name}_${OTHER}`;

/** Intervals that are offered, in seconds, within the limits of a type. */
const INTERVALS = [10, 30, 60, 300, 900, 1_800, 3_600, 21_600, 86_400, 604_800];

const INTERVAL_UNITS = [
  { seconds: 86_400, word: "day" },
  { seconds: 3_600, word: "hour" },
  { seconds: 60, word: "minute" },
  { seconds: 1, word: "second" },
];

/** Returns "Every minute", "Every 90 seconds". */
function intervalLabel(seconds: number): string {
  const unit = INTERVAL_UNITS.find((each) => seconds % each.seconds === 0);
  if (!unit || seconds === unit.seconds) return `Every ${unit?.word}`;
  return `Every ${plural(seconds / unit.seconds, unit.word)}`;
}

/** Field for the interval: usual ones, or a number of seconds. Calls of a job may have none, and with it no deadline. */
function intervalField(type: MonitorType): Field<string, number | null> {
  const { isPush = false } = TYPE_FORMS[type];
  const { maxIntervalSeconds: longest = 86_400 } = probeOf(type);
  const { least } = intervalsOf(type);
  const initial = defaultSettings(type).intervalSeconds ?? 0;
  const label = "Interval";
  const seconds = integerField({ label, initial, isRequired: !isPush });
  return {
    label,
    inputs: { [otherOf("interval_seconds")]: "Interval in seconds" },
    initial: seconds.initial,
    read: (sent, name) => {
      const chosen = sent.text(name);
      return chosen === OTHER ? sent.text(otherOf(name)) : chosen;
    },
    toBody: (typed, context) =>
      isPush && typed.trim() === "" ? null : seconds.toBody(typed, context),
    fromStored: (stored) => (stored === null ? "" : String(stored)),
    showError: ({ detail }) => ({ input: otherOf("interval_seconds"), detail }),
    Input({ name, value, errors }) {
      const error = errors[otherOf(name)];
      const isNone = isPush && value === "";
      const isListed = error === undefined && (isNone || /^[1-9]\d*$/.test(value));
      const listed = INTERVALS.filter((each) => each >= least && each <= longest);
      const shown = new Set([...listed, ...(isListed && !isNone ? [Number(value)] : [])]);
      return (
        <div class="with-other">
          <SelectField
            label={label}
            name={name}
            value={isListed ? value : OTHER}
            options={[
              ...(isNone ? [{ value: "", label: "None" }] : []),
              ...[...shown]
                .sort((a, b) => a - b)
                .map((each) => ({ value: String(each), label: intervalLabel(each) })),
              { value: OTHER, label: "Other" },
            ]}
          />
          <TextField
            label="Interval in seconds"
            name={otherOf(name)}
            value={isListed ? "" : value}
            hint={`${least.toLocaleString("en")} to ${longest.toLocaleString("en")}.`}
            error={error}
            inputmode="numeric"
            autocomplete="off"
          />
        </div>
      );
    },
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
  { value: "interval", label: "At an interval" },
  { value: "schedule", label: "By a schedule" },
  { value: "none", label: "Without a deadline" },
] as const;

/** Ways in which the calls of a job are due. */
type Timing = (typeof TIMINGS)[number]["value"];

/** Field that decides which of interval and schedule counts, whose inputs show. Without a choice, the filled one does. */
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
 * fields of a new monitor, or those that change `stored`.
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
  const { interval_seconds: interval = stored?.interval_seconds } = typed;
  return {
    // A missing interval is rejected by the service.
    interval_seconds: timing === "none" ? null : (interval ?? Number.NaN),
    config: before ? { ...config, schedule: null } : config,
  };
}

/** Returns the error of a typed schedule that would be ignored. */
function timingErrorOf(
  timing: Timing,
  { schedule }: MonitorConfig,
  stored: Pick<Monitor, "config"> | undefined,
): string | undefined {
  const isIgnored = timing !== "schedule" && Boolean(schedule);
  if (!isIgnored || (stored && scheduleOf(stored.config))) return undefined;
  return "Select “By a schedule”, or clear the schedule.";
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

/** Screen data of the fields for endpoints. */
interface EndpointsContext {
  /** Endpoints that get the events of selected monitors, and of all monitors. */
  webhooks: readonly {
    id: string;
    name: string;
    /** Format and limits in a few words. */
    note: string;
    isForAll: boolean;
  }[];
  /** Formats for which an address is enough. */
  formats: readonly WebhookFormat[];
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
 * Field for the webhooks that get the events of this monitor. Hidden inputs hold those that were checked, so that changes
 * by others in the meantime are kept. Those for all monitors cannot be changed here.
 */
function notifyField(): Field<WebhookSelection, WebhookSelection, EndpointsContext> {
  const label = "Notify";
  const shownInput = (name: string) => `${name}_shown`;
  return {
    label,
    initial: { checked: [], shown: [] },
    read: (sent, name) => ({ checked: sent.all(name), shown: sent.all(shownInput(name)) }),
    // Sorted, so that a form with the same webhooks changes nothing.
    toBody: ({ checked, shown }) => ({ checked: checked.toSorted(), shown: shown.toSorted() }),
    fromStored: (selection) => selection,
    showError: ({ detail }) => ({ detail: `The endpoints ${detail}.` }),
    Input: ({ name, value: { checked, shown }, errors, context: { webhooks } }) => (
      <>
        <CheckLines
          legend={label}
          name={name}
          error={errors[name]}
          options={webhooks.map(({ id, name: itsName, note, isForAll }) => ({
            value: id,
            label: itsName,
            note: isForAll ? `${note}, for all monitors` : note,
            isChecked: isForAll || checked.includes(id),
            isFixed: isForAll,
          }))}
        >
          {webhooks.length === 0 ? <p class="hint">There is no endpoint yet.</p> : null}
        </CheckLines>
        {shown.map((id) => (
          <input key={id} type="hidden" name={shownInput(name)} value={id} />
        ))}
      </>
    ),
  };
}

/** Inputs of the field for a new endpoint. */
const ENDPOINT = { format: "endpoint_format", url: "endpoint_url" } as const;

/** Field for an address that gets the events of this monitor from now on, in a fold that is open without any endpoint. */
const endpointField: Field<PlainAddress, PlainAddress, EndpointsContext> = {
  label: "Endpoint",
  inputs: { [ENDPOINT.format]: "Send to", [ENDPOINT.url]: "Address" },
  initial: { format: "", url: "" },
  read: (sent) => ({ format: sent.text(ENDPOINT.format), url: sent.text(ENDPOINT.url) }),
  toBody: ({ format, url }) => (url.trim() === "" ? undefined : { format, url: url.trim() }),
  fromStored: () => ({ format: "", url: "" }),
  showError: ({ pointer, detail }) => ({
    input: pointer.endsWith("/format") ? ENDPOINT.format : ENDPOINT.url,
    detail,
  }),
  Input({ value: { format, url }, errors, context: { formats, webhooks } }) {
    const isWrong = Object.values(ENDPOINT).some((input) => errors[input] !== undefined);
    return (
      <details class="add-fold" open={isWrong || url !== "" || webhooks.length === 0}>
        <summary class="button">
          <Icon name="plus" />
          Add an endpoint
        </summary>
        <div class="pair">
          <SelectField
            label="Send to"
            name={ENDPOINT.format}
            value={format || formats[0]}
            error={errors[ENDPOINT.format]}
            options={formats.map((each) => ({ value: each, label: FORMATS[each].label }))}
          />
          <TextField
            label="Address"
            name={ENDPOINT.url}
            value={url}
            error={errors[ENDPOINT.url]}
            autocomplete="off"
            maxlength={2_000}
          />
        </div>
        <p class="hint">
          The URL of a channel{formats.includes("email") ? ", or an e-mail address" : ""}. For
          Telegram, Gotify or a program,{" "}
          <a href={NEW_WEBHOOK_PATH} target="_blank">
            create a webhook
          </a>
          .
        </p>
      </details>
    );
  },
};
