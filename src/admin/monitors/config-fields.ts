/** A field of a type's config, as the form has it. Its name in the form is `config_` and its own. */
export interface ConfigField {
  /** In the config. */
  name: string;
  label: string;
  hint?: string;
  kind: "text" | "whole" | "lines" | "choice" | "check";
  /** Of a choice. */
  options?: readonly { value: string; label: string }[];
  /** What stands in the form for a new monitor; `yes` for what is checked. */
  initial: string;
  /** Whether a config may do without it: then an empty field is none. */
  isOptional?: boolean;
  /** Whether it stands below the fold, with what most monitors leave as it is. */
  isRare?: boolean;
}

/** Texts by the names of the form's fields. */
export type Texts = Readonly<Record<string, string>>;

export function formName(field: string): string {
  return `config_${field}`;
}

/** What stands in the fields of a config as it is shown. */
export function textsOfConfig(fields: readonly ConfigField[], shown: object): Texts {
  const config = shown as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    fields.map((field) => [formName(field.name), toText(field, config[field.name])]),
  );
}

/** The part of a config that the fields ask for; null for what is left empty and may be. */
export function configOfTexts(
  fields: readonly ConfigField[],
  texts: Texts,
): Record<string, unknown> {
  return Object.fromEntries(
    fields.map((field) => [field.name, toValue(field, texts[formName(field.name)] ?? "")]),
  );
}

function toText({ kind }: ConfigField, value: unknown): string {
  if (kind === "check") return value === true ? "yes" : "";
  if (value === undefined || value === null) return "";
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/** What is none of what it should be goes on as it was typed, for the service to judge. */
function toValue({ kind, isOptional }: ConfigField, typed: string): unknown {
  const text = typed.trim();
  if (kind === "check") return text === "yes";
  if (text === "" && isOptional) return null;
  if (kind === "whole") return wholeNumber(text);
  if (kind !== "lines") return text;
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** NaN, which the service refuses, for what is no number. */
export function wholeNumber(typed: string): number {
  const text = typed.trim();
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}
