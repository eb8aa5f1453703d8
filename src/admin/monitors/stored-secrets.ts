import { probeOf, storedField } from "../../features/monitors";
import type { MonitorType } from "../../domain/monitor-state";
import type { Form as SentForm } from "../../http";
import { readText } from "./secret-texts";
import { readRows } from "./secret-values";
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
    texts: secrets.flatMap(([field, kind]) =>
      kind === "text" && shown(field, kind) === true ? [field] : [],
    ),
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
  const texts = Object.keys(secretsOf(type)).flatMap((field): [string, string][] => {
    const { text, isRemoved } = readText(sent, `config_${field}`);
    const held = text || before.texts.get(field);
    return isRemoved || held === undefined ? [] : [[field, held]];
  });
  return { values: new Map(values), texts: new Map(texts) };
}

function secretsOf(type: MonitorType): Readonly<Record<string, "text" | "values">> {
  return probeOf(type).secrets ?? {};
}
