import { type FieldError, pointer } from "../../errors";
import type { MonitorType } from "../../domain/monitor-state";
import { MISSING_SECRET, describeSecretChange } from "../../domain/secret-change";
import { type MonitorConfig, probeOf } from "./probes";

/*
 * Secrets in a file, which need not hold them. One that is null is there and stays as it is, and so do all of
 * a field that is left out; where there is none to keep, that is an error. An empty text takes one away, and
 * a record those that it does not name.
 */

type Fields = Record<string, unknown>;

/** Returns the fields of a type's config that hold secrets. */
export function secretsOf(type: MonitorType): Readonly<Record<string, "text" | "values">> {
  return probeOf(type).secrets ?? {};
}

/** The secrets of a config, each as null. */
export function concealedSecrets(type: MonitorType, config: MonitorConfig): Fields {
  const concealed: Fields = {};
  for (const [field, kind] of Object.entries(secretsOf(type))) {
    const names = Object.keys(stored(config[field]));
    if (names.length === 0) continue;
    concealed[field] =
      kind === "text" ? null : Object.fromEntries(names.map((name) => [name, null]));
  }
  return concealed;
}

/** The same config with other secrets: `change` is given each that is told, and its pointer. */
export function mapSecrets(
  type: MonitorType,
  config: MonitorConfig,
  change: (text: string, at: string) => string,
): MonitorConfig {
  const map = (value: unknown, at: string) =>
    typeof value === "string" ? change(value, at) : value;
  const mapped = Object.entries(config).map(([field, value]) => {
    if (secretsOf(type)[field] === "text") return [field, map(value, pointer(field))];
    if (!secretsOf(type)[field] || !isRecord(value)) return [field, value];
    const entries = Object.entries(value);
    return [
      field,
      Object.fromEntries(entries.map(([name, text]) => [name, map(text, pointer(field, name))])),
    ];
  });
  return Object.fromEntries(mapped);
}

/** Desired secrets of a new monitor and of an existing one, and both without their values. */
export interface DesiredSecrets {
  /** The config that makes a new one. */
  creation: Fields;
  /** The change of one that is there. */
  change: Fields;
  present: Fields;
  desired: Fields;
  /** The secrets that should be kept, and are not there. */
  missing: FieldError[];
}

export function desiredSecrets(
  type: MonitorType,
  declared: MonitorConfig,
  known: MonitorConfig,
): DesiredSecrets {
  const outcome: DesiredSecrets = {
    creation: {},
    change: {},
    present: {},
    desired: {},
    missing: [],
  };
  for (const [field, kind] of Object.entries(secretsOf(type))) {
    const before = stored(known[field]);
    const asked = askedOf(declared[field], before);
    // Names are anybody's, such as `constructor` and `__proto__`.
    const [creation, change] = [new Map<string, unknown>(), new Map<string, unknown>()];
    for (const [name, text] of Object.entries(asked)) {
      const path = kind === "text" ? [field] : [field, name];
      const has = Object.hasOwn(before, name) ? before[name] : undefined;
      const told = describeSecretChange(has, text);
      outcome.present[path.join(".")] = told.present;
      outcome.desired[path.join(".")] = told.desired;
      if (text === null) {
        if (has === undefined) {
          outcome.missing.push({ pointer: pointer(...path), detail: MISSING_SECRET });
        }
        continue;
      }
      change.set(name, text === "" ? null : text);
      if (text !== "") creation.set(name, text);
    }
    if (creation.size > 0) outcome.creation[field] = ofKind(kind, creation);
    if (change.size > 0) outcome.change[field] = ofKind(kind, change);
  }
  return outcome;
}

/** Returns the desired value of each secret of a field: null keeps it, an empty text removes it. */
function askedOf(declared: unknown, before: Record<string, string>): Record<string, string | null> {
  const all = (value: string | null) =>
    Object.fromEntries(Object.keys(before).map((name) => [name, value]));
  if (declared === undefined) return all(null);
  return isRecord(declared)
    ? { ...all(""), ...(declared as Record<string, string | null>) }
    : { [ALONE]: declared as string | null };
}

/** The name of the secret of a field that has one alone. */
const ALONE = "";

function stored(value: unknown): Record<string, string> {
  const given = isRecord(value) ? Object.entries(value) : [[ALONE, value] as const];
  return Object.fromEntries(given.filter((entry): entry is [string, string] => entry[1] != null));
}

function ofKind(kind: "text" | "values", secrets: ReadonlyMap<string, unknown>): unknown {
  return kind === "text" ? secrets.get(ALONE) : Object.fromEntries(secrets);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
