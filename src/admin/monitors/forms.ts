import type { CreateMonitorBody, UpdateMonitorBody } from "../../features/monitors/bodies";
import { defaultSettings } from "../../features/monitors/settings";
import type { Monitor } from "../../features/monitors/model";
import { probeOf } from "../../features/monitors/probes";
import type { MonitorType, SupportedType } from "../../base/status";
import { NAME_MAX } from "../../base/texts";
import { defineForm, type FormDefinition } from "../../ui/forms/form";
import type { AssertionsContext } from "./assertion-field";
import { type FieldsContext, fieldsOf, type MonitorFields } from "./monitor-fields";
import { storedSecrets, withoutSecretParts } from "./stored-secrets";
import { chooseTiming, type Timing, timingOf } from "./timing";
import type { SecretsContext } from "./typed-secrets";
import { TYPE_FORMS } from "./types";
import type { WebhookSelection } from "./webhooks-field";
import type { DockerContext } from "./types/docker";
import type { CertificatesContext } from "./types/http-parts";
import { inputOf } from "./types/type-form";

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
  const { names, texts } = storedSecrets(type, { ...config });
  const secrets = Object.entries(probeOf(type).secrets ?? {}).map(([field, kind]) => [
    field,
    kind === "values"
      ? Object.fromEntries(names.map((name) => [name, ""]))
      : texts.includes(field)
        ? ""
        : null,
  ]);
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
  const secrets = Object.entries(probeOf(monitor.type).secrets ?? {}).map(([field, kind]) => [
    `config_${field}`,
    kind === "values" ? {} : null,
  ]);
  const config = withoutSecretParts(monitor.type, { ...monitor.config });
  return {
    ...monitorResource({ ...monitor, config }, webhooks),
    name: `${name}${SUFFIX}`,
    ...Object.fromEntries(secrets),
  };
}

/** Returns the stored assertions of a configuration, and its secrets without their values. */
export function storedParts(type: MonitorType, config: object = {}): MonitorContext["stored"] {
  const { assertions = [] } = config as Partial<AssertionsContext["stored"]>;
  return { ...storedSecrets(type, { ...config }), assertions };
}

/** Returns the body for a new monitor of a type. */
export function toCreation(type: SupportedType, input: MonitorInput): CreateMonitorBody {
  const { config, settings } = split(input, type);
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
  const { config, settings } = split(input, monitor.type, monitor);
  if (monitor.type === "unsupported") {
    const { retry_interval_seconds: _, ...changed } = settings;
    return changed;
  }
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
