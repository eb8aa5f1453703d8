import {
  type CreateMonitorBody,
  defaultSettings,
  type Monitor,
  type UpdateMonitorBody,
} from "../../features/monitors";
import type { Form } from "../../http";
import type { MonitorType } from "../../domain/monitor-state";
import {
  type ConfigField,
  configOfTexts,
  formName,
  type Texts,
  textsOfConfig,
  wholeNumber,
} from "./config-fields";
import {
  NO_REQUEST,
  readRequest,
  requestChange,
  type RequestValues,
  storedRequest,
} from "./request-values";
import type { Secrets } from "./typed-secrets";
import { TYPE_FORMS } from "./types";

/** Typed values of the monitor form. */
export interface MonitorValues {
  type: MonitorType;
  /** Texts by field name. */
  texts: Texts;
  /** Ids of components. */
  components: readonly string[];
  request: RequestValues;
}

/** Labels of the fields that every type has, by the service's field names. */
const SETTING_LABELS = {
  interval_seconds: "Check every (seconds)",
  component_ids: "Components",
  on_down: "Component status while down",
  open_incident: "Incidents",
  timeout_ms: "Timeout (ms)",
  failure_threshold: "Failures until down",
  success_threshold: "Successes until up",
  retry_interval_seconds: "Check again after (seconds)",
  degraded_after_ms: "Degraded above (ms)",
} as const;

/** Returns the labels in the order of the form, for its errors. */
export function labelsOf(type: MonitorType): Record<string, string> {
  const { fields, sendsRequests, isPush } = TYPE_FORMS[type];
  const own = fields.map(({ name, label }) => [formName(name), label] as const);
  return {
    name: "Name",
    ...Object.fromEntries(own),
    ...(sendsRequests
      ? { config_assertions: "Conditions", config_headers: "Headers", config_body: "Body" }
      : {}),
    ...SETTING_LABELS,
    ...(isPush ? { interval_seconds: "Expect a call every (seconds)" } : {}),
  };
}

/** Ids read from a form: one more than the limit, so that the service rejects longer lists. */
const COMPONENTS_MAX = 101;

/** Returns the initial values of the form for a new monitor of a type. */
export function emptyMonitor(type: MonitorType, components: readonly string[]): MonitorValues {
  const { fields } = TYPE_FORMS[type];
  const initial = fields.map(({ name, initial: text }) => [formName(name), text] as const);
  // Of the retry interval the default depends on what is typed as the interval.
  const settings = { ...textsOfSettings(defaultSettings(type)), retry_interval_seconds: "" };
  return {
    type,
    texts: { name: "", ...settings, ...Object.fromEntries(initial) },
    components,
    request: NO_REQUEST,
  };
}

export function storedMonitor(monitor: Monitor): MonitorValues {
  const { type, config } = monitor;
  const { fields, sendsRequests } = TYPE_FORMS[type];
  return {
    type,
    texts: {
      name: monitor.name,
      ...textsOfSettings({
        intervalSeconds: monitor.interval_seconds,
        timeoutMs: monitor.timeout_ms,
        failureThreshold: monitor.failure_threshold,
        successThreshold: monitor.success_threshold,
        retryIntervalSeconds: monitor.retry_interval_seconds,
        degradedAfterMs: monitor.degraded_after_ms,
        onDown: monitor.on_down,
        openIncident: monitor.open_incident,
      }),
      ...textsOfConfig(fields, config),
    },
    components: monitor.component_ids,
    request: sendsRequests ? storedRequest(config) : NO_REQUEST,
  };
}

/** Reads the typed values. */
export function readMonitor(form: Form, type: MonitorType): MonitorValues {
  const { fields, sendsRequests } = TYPE_FORMS[type];
  const names = [
    "name",
    ...Object.keys(SETTING_LABELS),
    ...fields.map(({ name }) => formName(name)),
  ];
  return {
    type,
    texts: Object.fromEntries(
      names.map((name) => [name, form.text(name).replaceAll("\r\n", "\n")] as const),
    ),
    components: form.all("component_ids").slice(0, COMPONENTS_MAX),
    request: sendsRequests ? readRequest(form) : NO_REQUEST,
  };
}

/** Converts form values to a new monitor. The service validates them. */
export function toCreation(values: MonitorValues, secrets: Secrets): CreateMonitorBody {
  const { type, texts, components } = values;
  const { fields } = TYPE_FORMS[type];
  const config = {
    ...configOfTexts(fields, texts),
    ...requestChange(values.request, secrets, undefined),
  };
  return {
    type,
    name: (texts["name"] ?? "").trim(),
    config: withoutNulls(config),
    component_ids: [...components],
    ...toSettings(values),
  };
}

/**
 * Returns the requested change, with only those configuration fields that differ from the stored
 * ones.
 */
export function toChange(
  values: MonitorValues,
  secrets: Secrets,
  monitor: Monitor,
): UpdateMonitorBody {
  const { type, texts, components } = values;
  const stored = storedMonitor(monitor).texts;
  const isChanged = ({ name }: ConfigField) => texts[formName(name)] !== stored[formName(name)];
  const config = {
    ...configOfTexts(TYPE_FORMS[type].fields.filter(isChanged), texts),
    ...(TYPE_FORMS[type].sendsRequests
      ? requestChange(values.request, secrets, monitor.config)
      : {}),
  };
  const settings = toSettings(values);
  return {
    name: (texts["name"] ?? "").trim(),
    component_ids: [...components],
    ...settings,
    // Nobody sees it of what is called: it goes along.
    ...(TYPE_FORMS[type].isPush && settings.interval_seconds < monitor.retry_interval_seconds
      ? { retry_interval_seconds: settings.interval_seconds }
      : {}),
    ...(Object.keys(config).length > 0 ? { config } : {}),
  };
}

type Settings = ReturnType<typeof defaultSettings>;

function textsOfSettings(settings: Settings): Texts {
  return {
    interval_seconds: String(settings.intervalSeconds),
    timeout_ms: String(settings.timeoutMs),
    failure_threshold: String(settings.failureThreshold),
    success_threshold: String(settings.successThreshold),
    retry_interval_seconds: String(settings.retryIntervalSeconds),
    degraded_after_ms: settings.degradedAfterMs === null ? "" : String(settings.degradedAfterMs),
    on_down: settings.onDown,
    open_incident: settings.openIncident,
  };
}

function toSettings({ type, texts }: MonitorValues) {
  const text = (name: keyof typeof SETTING_LABELS) => texts[name] ?? "";
  const number = (name: keyof typeof SETTING_LABELS) => wholeNumber(text(name));
  const hasRetry = text("retry_interval_seconds").trim() !== "";
  return {
    interval_seconds: number("interval_seconds"),
    failure_threshold: number("failure_threshold"),
    success_threshold: number("success_threshold"),
    degraded_after_ms: text("degraded_after_ms").trim() === "" ? null : number("degraded_after_ms"),
    on_down: text("on_down") as Settings["onDown"],
    open_incident: text("open_incident") as Settings["openIncident"],
    ...(TYPE_FORMS[type].isPush ? {} : { timeout_ms: number("timeout_ms") }),
    ...(TYPE_FORMS[type].isPush || !hasRetry
      ? {}
      : { retry_interval_seconds: number("retry_interval_seconds") }),
  };
}

function withoutNulls(config: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
}
