import type { Reader } from "../../db/statements";
import { FieldErrors, type IsInvalidField } from "../../base/validation";
import type { CreateMonitorBody, UpdateMonitorBody } from "./wire";
import { readParents } from "./dependencies";
import type { MonitorConfig } from "./probes";
import { resolveMonitorId } from "./records";
import {
  changedConfig,
  initialSettings,
  namedSettings,
  readComponents,
  settingsBefore,
  validateChangeable,
  validateConfig,
  validateSettings,
} from "./settings";
import { findMonitor } from "./store";

/** Returns unknown references and invalid settings in the body of a new monitor. */
export function createMonitorErrors(
  reader: Reader,
  input: Partial<CreateMonitorBody>,
  isInvalid: IsInvalidField,
): FieldErrors {
  const errors = new FieldErrors();
  const { type, config } = input;
  readComponents(reader, errors, input.component_ids ?? []);
  readParents(reader, errors, input.depends_on ?? []);
  if (type === undefined) return errors;
  if (config && !isInvalid("config")) validateConfig(errors, type, config, input.paused);
  if (!isInvalid("interval_seconds")) {
    const settings = namedSettings(input, initialSettings(type, input));
    validateSettings(errors, type, settings, config ?? {});
  }
  return errors;
}

/** Returns unknown references and invalid settings in a change of a monitor. */
export function updateMonitorErrors(
  reader: Reader,
  reference: string,
  input: Partial<UpdateMonitorBody>,
  isInvalid: IsInvalidField,
): FieldErrors {
  const errors = new FieldErrors();
  const row = findMonitor(reader, { id: resolveMonitorId(reader, reference) });
  if (!row) return errors;
  readComponents(reader, errors, input.component_ids ?? []);
  readParents(reader, errors, input.depends_on ?? [], row.id);
  validateChangeable(errors, row, input);
  if (row.type === "unsupported") return errors;
  const before = row.config as MonitorConfig;
  const config = input.config ? changedConfig(errors, row.type, before, input.config) : before;
  if (!isInvalid("interval_seconds") && !isInvalid("retry_interval_seconds")) {
    const settings = namedSettings(input, settingsBefore(row, input));
    validateSettings(errors, row.type, settings, config);
  }
  return errors;
}
