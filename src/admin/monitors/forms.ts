import {
  type CreateMonitorBody,
  defaultSettings,
  type Monitor,
  type UpdateMonitorBody,
} from "../../features/monitors";
import {
  type MonitorType,
  ON_DOWN,
  type OnDown,
  type OpenIncident,
} from "../../domain/monitor-state";
import { STATUS_WORDS } from "../../ui";
import { choiceField, selectField } from "../forms/choice-fields";
import { componentsField, type PageComponents, rowsByGroup } from "../forms/components-field";
import { nullable } from "../forms/field";
import { type AnyField, defineForm, type FormDefinition } from "../forms/form";
import { tagsField } from "../forms/tags-field";
import { integerField, nameField } from "../forms/text-fields";
import type { AssertionsContext } from "./assertion-field";
import type { SecretsContext } from "./secret-fields";
import { TYPE_FORMS } from "./types";

/** Fields of a monitor. Those of its configuration have the prefix `config_`. */
type MonitorInput = Omit<CreateMonitorBody, "type" | "config" | "retry_interval_seconds"> & {
  /** Null for the default, or the check interval if that is shorter. */
  retry_interval_seconds?: number | null;
  [name: `config_${string}`]: unknown;
};

/** Screen data of the field for components: the components of each page. */
interface ComponentsContext {
  pages: readonly (PageComponents & { id: string; name: string })[];
}

export type MonitorContext = ComponentsContext & AssertionsContext & SecretsContext;

/** Part of the configuration of an HTTP monitor, as the API shows it. */
interface HttpConfigShown {
  header_names: readonly string[];
  has_body: boolean;
  assertions: AssertionsContext["stored"]["assertions"];
}

export type MonitorFields = Readonly<Record<string, AnyField>>;

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

const affectedField = componentsField<ComponentsContext>({
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

/** Returns the form of a monitor type. */
export function monitorForm(
  type: MonitorType,
): FormDefinition<MonitorInput, MonitorContext, MonitorFields> {
  const { fields, folds = {}, advanced = {}, isPush } = TYPE_FORMS[type];
  const defaults = defaultSettings(type);
  const rare: MonitorFields = {
    ...(isPush
      ? {}
      : {
          timeout_ms: integerField({
            label: "Timeout (ms)",
            hint: "Time allowed for a whole check.",
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
              hint: "Interval until a threshold is reached. Empty means 10, or the check interval if that is shorter.",
            }),
          ),
        }),
    ...configFields(advanced),
  };
  const usual: MonitorFields = {
    name: nameField({
      hint: "Name of the service, such as “Checkout API”. Incidents opened by the monitor use this name.",
    }),
    ...configFields(fields),
    interval_seconds: integerField({
      label: isPush ? "Expect a call every (seconds)" : "Check every (seconds)",
      hint: "5 to 86,400.",
      initial: defaults.intervalSeconds ?? 0,
      isRequired: true,
    }),
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
    tags: tagsField(),
  };
  return defineForm<MonitorInput, MonitorContext>()(
    { ...usual, ...rare },
    {
      advanced: Object.keys(rare),
      folds: Object.fromEntries(
        Object.entries(folds).map(([title, names]) => [title, names.map(inputOf)]),
      ),
    },
  );
}

/** Returns the stored values of a monitor, by field. Stored header values and bodies are empty. */
export function monitorResource(monitor: Monitor): Readonly<Record<string, unknown>> {
  const { type, config } = monitor;
  const { fields, advanced } = TYPE_FORMS[type];
  const { headers, hasBody } = storedRequest(config);
  const shown: Readonly<Record<string, unknown>> = {
    ...config,
    headers: Object.fromEntries(headers.map((name) => [name, ""])),
    body: hasBody ? "" : null,
  };
  const names = Object.keys({ ...fields, ...advanced });
  return {
    ...monitor,
    retry_interval_seconds: retryInterval(monitor),
    ...Object.fromEntries(names.map((name) => [inputOf(name), shown[name] ?? null])),
  };
}

/** Returns the assertions of a presented configuration, and its secrets without their values. */
export function storedRequest(config: object = {}): MonitorContext["stored"] {
  const {
    header_names: headers = [],
    has_body: hasBody = false,
    assertions = [],
  } = config as Partial<HttpConfigShown>;
  return { headers, hasBody, assertions };
}

/** Returns the body for a new monitor of a type. */
export function toCreation(type: MonitorType, input: MonitorInput): CreateMonitorBody {
  const { config, settings } = split(input);
  const { retry_interval_seconds: retry, name = "", ...rest } = settings;
  const entries = Object.entries(config).filter(([, value]) => value !== null);
  return {
    ...rest,
    type,
    name,
    config: Object.fromEntries(entries),
    ...(retry == null ? {} : { retry_interval_seconds: retry }),
  };
}

/**
 * Returns the body for a change of a monitor. An empty retry interval becomes the default. A type
 * without this input keeps the stored one. Both are lowered to the check interval.
 */
export function toChange(input: Partial<MonitorInput>, monitor: Monitor): UpdateMonitorBody {
  const { config, settings } = split(input);
  const { retry_interval_seconds: retry = retryInterval(monitor), ...rest } = settings;
  const { interval_seconds: named = monitor.interval_seconds } = rest;
  const interval = named ?? Infinity;
  const longest = TYPE_FORMS[monitor.type].isPush
    ? monitor.retry_interval_seconds
    : defaultRetry(monitor.type);
  return {
    ...rest,
    ...(Object.keys(config).length === 0 ? {} : { config }),
    // An invalid interval is reported alone.
    ...(retry === null && !(interval >= 1)
      ? {}
      : { retry_interval_seconds: retry ?? Math.min(interval, longest) }),
  };
}

/** Returns the retry interval of a monitor; null for the default, and for types without one. */
function retryInterval({ type, retry_interval_seconds: retry }: Monitor): number | null {
  return TYPE_FORMS[type].isPush || retry === defaultRetry(type) ? null : retry;
}

function defaultRetry(type: MonitorType): number {
  return defaultSettings(type).retryIntervalSeconds;
}

function inputOf(configName: string): `config_${string}` {
  return `config_${configName}`;
}

function configFields(fields: MonitorFields): MonitorFields {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [inputOf(name), field]));
}

/** Separates the fields of the configuration from the others. */
function split<Input extends Partial<MonitorInput>>(input: Input) {
  const prefix = inputOf("");
  const entries = Object.entries(input);
  const config = entries.filter(([name]) => name.startsWith(prefix));
  const settings = entries.filter(([name]) => !name.startsWith(prefix));
  return {
    config: Object.fromEntries(
      config.map(([name, value]) => [name.slice(prefix.length), value]),
    ) as Record<string, unknown>,
    settings: Object.fromEntries(settings) as Partial<Omit<MonitorInput, `config_${string}`>>,
  };
}
