import type { Reader } from "../../db";
import { FieldErrors, type IsInvalidField } from "../../errors";
import type { CreateMonitorBody, UpdateMonitorBody } from "./bodies";
import { readParents } from "./dependencies";
import type { MonitorConfig } from "./probes";
import { resolveMonitorId } from "./records";
import {
  changedConfig,
  defaultSettings,
  validateConfig,
  validateSettings,
  namedSettings,
  readComponents,
} from "./settings";
import { findMonitor } from "./store";
import { validateChangeable } from "./unsupported";

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
  if (config && !isInvalid("config")) validateConfig(errors, type, config);
  if (!isInvalid("interval_seconds")) {
    const defaults = defaultSettings(type, input.interval_seconds);
    validateSettings(errors, type, namedSettings(input, defaults));
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
  if (input.config && row.type !== "unsupported")
    changedConfig(errors, row.type, row.config as MonitorConfig, input.config);
  if (!isInvalid("interval_seconds") && !isInvalid("retry_interval_seconds")) {
    validateSettings(errors, row.type, namedSettings(input, row));
  }
  return errors;
}
