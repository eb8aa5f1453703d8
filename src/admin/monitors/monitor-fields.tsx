import { defaultSettings } from "../../features/monitors/settings";
import { intervalsOf, PARENTS_MAX } from "../../features/monitors/bodies";
import { probeOf } from "../../features/monitors/probes";
import { type MonitorType, ON_DOWN, type OnDown, type OpenIncident } from "../../base/status";
import { DESCRIPTION_MAX, NAME_MAX } from "../../base/texts";
import { STATUS_WORDS } from "../../ui/blocks";
import { TextField } from "../../ui/form";
import {
  checkboxField,
  choiceField,
  integerField,
  nameField,
  selectField,
  tagsField,
  textAreaField,
} from "../../ui/forms/fields";
import {
  componentsField,
  type MonitorChoice,
  monitorsField,
  type PageComponents,
  rowsByGroup,
} from "../../ui/forms/object-fields";
import { type AnyField, type Field, nullable } from "../../ui/forms/form";
import { timingField } from "./timing";
import { TYPE_FORMS } from "./types";
import { inputOf } from "./types/type-form";
import { type WebhooksContext, webhooksField } from "./webhooks-field";

export type MonitorFields = Readonly<Record<string, AnyField>>;

/** Screen data of the fields that all types have. */
export interface FieldsContext extends WebhooksContext {
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
export function fieldsOf(type: MonitorType): { usual: MonitorFields; rare: MonitorFields } {
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
