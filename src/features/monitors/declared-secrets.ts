import { type FieldError, pointer } from "../../base/errors";
import type { MonitorType } from "../../base/status";
import { describeSecretChange, MISSING_SECRET } from "../../base/secrets";
import { type MonitorConfig, probeOf } from "./probes";

/*
 * Secrets of monitors in a configuration file. Null keeps a stored secret, and a field that is left
 * out keeps all of its secrets; keeping a secret that is not stored is an error. An empty text
 * removes a secret, and a record removes those that it does not name.
 */

type Fields = Record<string, unknown>;

/** Returns the fields of a type's config that hold secrets. */
export function secretsOf(type: MonitorType): Readonly<Record<string, "text" | "values">> {
  return probeOf(type).secrets ?? {};
}

/** Returns the secret parts of objects in a type's config, by field. */
function secretPartsOf(type: MonitorType): [field: string, names: readonly string[]][] {
  return Object.entries(probeOf(type).secretParts ?? {});
}

/** Returns a shown field without the facts about its secret parts. */
export function openParts(type: MonitorType, field: string, shown: unknown): unknown {
  const names = probeOf(type).secretParts?.[field];
  if (!names || !isRecord(shown)) return shown;
  const { ...open } = shown;
  for (const name of names) delete open[`has_${name}`];
  return open;
}

/** Returns the secrets of a config, each as null. Objects with secret parts are returned whole. */
export function concealedSecrets(type: MonitorType, config: MonitorConfig): Fields {
  const concealed: Fields = {};
  for (const [field, kind] of Object.entries(secretsOf(type))) {
    const names = Object.keys(secretsIn(config[field]));
    if (names.length === 0) continue;
    concealed[field] =
      kind === "text" ? null : Object.fromEntries(names.map((name) => [name, null]));
  }
  for (const [field, names] of secretPartsOf(type)) {
    const parts = config[field];
    if (!isRecord(parts)) continue;
    const stored = names.filter((name) => parts[name] != null);
    concealed[field] = { ...parts, ...Object.fromEntries(stored.map((name) => [name, null])) };
  }
  return concealed;
}

/**
 * Returns the config with each secret replaced by the result of `change`, which receives the secret
 * and its pointer.
 */
export function mapSecrets(
  type: MonitorType,
  config: MonitorConfig,
  change: (text: string, at: string) => string,
): MonitorConfig {
  const map = (value: unknown, at: string) =>
    typeof value === "string" ? change(value, at) : value;
  const parts = new Map(secretPartsOf(type));
  const mapped = Object.entries(config).map(([field, value]) => {
    if (parts.has(field) && isRecord(value)) {
      const secrets = parts.get(field)?.filter((name) => value[name] !== undefined) ?? [];
      const entries = secrets.map((name) => [name, map(value[name], pointer(field, name))]);
      return [field, { ...value, ...Object.fromEntries(entries) }];
    }
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
  /** Secrets in the config of a new monitor. */
  creation: Fields;
  /** Changed secrets of an existing monitor. */
  change: Fields;
  current: Fields;
  desired: Fields;
  /** Errors for secrets to keep that are not stored. */
  missing: FieldError[];
}

export function desiredSecrets(
  type: MonitorType,
  declared: MonitorConfig,
  current: MonitorConfig,
): DesiredSecrets {
  const outcome: DesiredSecrets = {
    creation: {},
    change: {},
    current: {},
    desired: {},
    missing: [],
  };
  for (const [field, kind] of Object.entries(secretsOf(type))) {
    const before = secretsIn(current[field]);
    const desired = desiredOf(declared[field], before);
    // Maps, since names such as `constructor` and `__proto__` can occur.
    const [creation, change] = [new Map<string, unknown>(), new Map<string, unknown>()];
    for (const [name, text] of Object.entries(desired)) {
      const path = kind === "text" ? [field] : [field, name];
      const stored = Object.hasOwn(before, name) ? before[name] : undefined;
      const described = describeSecretChange(stored, text);
      outcome.current[path.join(".")] = described.current;
      outcome.desired[path.join(".")] = described.desired;
      if (text === null) {
        if (stored === undefined) {
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
  for (const [field, names] of secretPartsOf(type)) addParts(outcome, field, names);
  return outcome;

  /** Adds an object with secret parts. An object that the file leaves out is removed as a whole. */
  function addParts(
    { missing, ...outcomes }: DesiredSecrets,
    field: string,
    names: readonly string[],
  ) {
    const parts = declared[field];
    if (!isRecord(parts)) return;
    const stored = isRecord(current[field]) ? current[field] : {};
    const [creation, change] = [{ ...parts }, { ...parts }];
    for (const name of names) {
      const text = parts[name];
      const described = describeSecretChange(stored[name] ?? undefined, text);
      outcomes.current[`${field}.${name}`] = described.current;
      outcomes.desired[`${field}.${name}`] = described.desired;
      if (text === null && stored[name] == null) {
        missing.push({ pointer: pointer(field, name), detail: MISSING_SECRET });
      }
      if (text == null || text === "") delete creation[name];
      if (text == null) delete change[name];
      else if (text === "") change[name] = null;
    }
    outcomes.creation[field] = creation;
    outcomes.change[field] = change;
  }
}

/** Returns the desired value of each secret of a field: null keeps it, an empty text removes it. */
function desiredOf(
  declared: unknown,
  before: Record<string, string>,
): Record<string, string | null> {
  const all = (value: string | null) =>
    Object.fromEntries(Object.keys(before).map((name) => [name, value]));
  if (declared === undefined) return all(null);
  return isRecord(declared)
    ? { ...all(""), ...(declared as Record<string, string | null>) }
    : { [SINGLE]: declared as string | null };
}

/** Key for the secret of a field with a single one. */
const SINGLE = "";

function secretsIn(value: unknown): Record<string, string> {
  const declaredFields = isRecord(value) ? Object.entries(value) : [[SINGLE, value] as const];
  return Object.fromEntries(
    declaredFields.filter((entry): entry is [string, string] => entry[1] != null),
  );
}

function ofKind(kind: "text" | "values", secrets: ReadonlyMap<string, unknown>): unknown {
  return kind === "text" ? secrets.get(SINGLE) : Object.fromEntries(secrets);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
