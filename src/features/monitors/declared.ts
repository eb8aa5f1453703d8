import type { TProperties } from "@sinclair/typebox";
import { FieldErrors, type FieldError } from "../../errors";
import { MONITOR_TYPES, type MonitorType } from "../../domain/monitor-state";
import { ByTag } from "../../kernel/schema";
import { creationOf, type MonitorSettings } from "./bodies";
import { declareConfig, declaredConfigSchema } from "./declared-config";
import { mapSecrets } from "./declared-secrets";
import { type MonitorConfig, probeOf } from "./probes";
import { defaultSettings, validateSettings, namedSettings } from "./settings";
import type { MonitorRow } from "./store";

/** A monitor as a declarative file tells it: what is left out has its default. */
export interface DeclaredMonitor extends MonitorSettings {
  name: string;
  type: MonitorType;
  paused?: boolean;
  config?: MonitorConfig;
}

/** The schema of such a monitor, with fields of the file's own. */
export function declaredMonitorSchema<More>(more: TProperties) {
  const shapes = MONITOR_TYPES.map((type) => [
    type,
    creationOf(type, declaredConfigSchema(type), more),
  ]);
  return ByTag<DeclaredMonitor & More>("type", Object.fromEntries(shapes));
}

/** Returns errors that the schema of a declared monitor cannot express. */
export function validateDeclaredMonitor(monitor: DeclaredMonitor): readonly FieldError[] {
  const errors = new FieldErrors();
  errors.addAll(["config"], probeOf(monitor.type).validate(monitor.config ?? {}));
  validateSettings(errors, settingsOf(monitor));
  return errors.all;
}

/** The same monitor with other secrets: `change` is given each that is told, and its pointer. */
export function mapDeclaredSecrets<Monitor extends DeclaredMonitor>(
  monitor: Monitor,
  change: (text: string, at: string) => string,
): Monitor {
  const { type, config } = monitor;
  if (!config) return monitor;
  const at = (inner: string) => `#/config${inner.slice(1)}`;
  return { ...monitor, config: mapSecrets(type, config, (text, inner) => change(text, at(inner))) };
}

/** A monitor that is there as a file tells it: with null in the places of its secrets. */
export function declareMonitor(row: MonitorRow): DeclaredMonitor {
  const { name, type, intervalSeconds, paused } = row;
  // The interval by itself: other defaults depend on it.
  const least = { ...defaultSettings(type, intervalSeconds), ...intervalOf(defaultSettings(type)) };
  const defaults: Record<string, unknown> = namesOf(least);
  const config = declareConfig(type, row.config);
  return {
    name,
    type,
    ...Object.fromEntries(
      Object.entries(namesOf(row)).filter(([field, value]) => value !== defaults[field]),
    ),
    ...(paused && { paused }),
    ...(Object.keys(config).length > 0 && { config }),
  };
}

type Settings = ReturnType<typeof defaultSettings>;

const intervalOf = ({ intervalSeconds }: Settings) => ({ intervalSeconds });

/** The settings of a monitor in a file, and the defaults of the others. */
export function settingsOf(monitor: DeclaredMonitor): Settings {
  return namedSettings(monitor, defaultSettings(monitor.type, monitor.interval_seconds));
}

/** Settings by their names in a file and a body. */
export function namesOf(settings: Settings): Required<MonitorSettings> {
  return {
    interval_seconds: settings.intervalSeconds,
    timeout_ms: settings.timeoutMs,
    failure_threshold: settings.failureThreshold,
    success_threshold: settings.successThreshold,
    retry_interval_seconds: settings.retryIntervalSeconds,
    degraded_after_ms: settings.degradedAfterMs,
    on_down: settings.onDown,
    open_incident: settings.openIncident,
  };
}
