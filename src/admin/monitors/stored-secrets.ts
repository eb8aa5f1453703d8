import { probeOf, storedField } from "../../features/monitors/probes";
import type { MonitorType } from "../../base/status";
import type { Form as SentForm } from "../../http/form-body";
import { readText } from "./secret-texts";
import { readRows } from "./secret-values";
import { inputOf } from "./types/type-form";
import type { Secrets, SecretsContext } from "./typed-secrets";

/** Returns which secrets of a shown configuration are stored. */
export function storedSecrets(
  type: MonitorType,
  config: Readonly<Record<string, unknown>>,
): SecretsContext["stored"] {
  const secrets = Object.entries(secretsOf(type));
  const shown = (field: string, kind: "text" | "values") => config[storedField(field, kind)];
  return {
    names: secrets.flatMap(([field, kind]) =>
      kind === "values" ? ((shown(field, kind) as string[] | undefined) ?? []) : [],
    ),
    texts: [
      ...secrets.flatMap(([field, kind]) =>
        kind === "text" && shown(field, kind) === true ? [field] : [],
      ),
      ...secretPartsOf(type).flatMap(({ field, part }) =>
        isPartStored(config[field], part) ? [textOfPart({ field, part })] : [],
      ),
    ],
  };
}

/**
 * Returns the secrets typed so far: those of a submitted form, and earlier ones whose inputs are
 * empty now.
 */
export function secretsIn(type: MonitorType, sent: SentForm, before: Secrets): Secrets {
  const values = readRows(sent)
    .filter(({ isRemoved }) => !isRemoved)
    .map(({ name, value }) => [name, value || before.values.get(name)] as const)
    .filter((entry): entry is [string, string] => entry[1] !== undefined);
  const fields = [...Object.keys(secretsOf(type)), ...secretPartsOf(type).map(textOfPart)];
  const texts = fields.flatMap((field): [string, string][] => {
    const { text, isRemoved } = readText(sent, inputOf(field));
    const held = text || before.texts.get(field);
    return isRemoved || held === undefined ? [] : [[field, held]];
  });
  return { values: new Map(values), texts: new Map(texts) };
}

/** Secret part of an object in a configuration. */
interface SecretPart {
  field: string;
  part: string;
}

function secretPartsOf(type: MonitorType): SecretPart[] {
  return Object.entries(probeOf(type).secretParts ?? {}).flatMap(([field, parts]) =>
    parts.map((part) => ({ field, part })),
  );
}

/** Returns the name of a secret part among the texts. */
function textOfPart({ field, part }: SecretPart): string {
  return `${field}_${part}`;
}

function isPartStored(shown: unknown, part: string): boolean {
  return (shown as Record<string, unknown> | null | undefined)?.[`has_${part}`] === true;
}

/** Returns a shown configuration as if no secret part were stored. */
export function withoutSecretParts(
  type: MonitorType,
  config: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const copy: Record<string, unknown> = { ...config };
  for (const { field, part } of secretPartsOf(type)) {
    if (isPartStored(copy[field], part)) {
      copy[field] = { ...(copy[field] as object), [`has_${part}`]: false };
    }
  }
  return copy;
}

function secretsOf(type: MonitorType): Readonly<Record<string, "text" | "values">> {
  return probeOf(type).secrets ?? {};
}
