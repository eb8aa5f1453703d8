/** Field of a monitor type's configuration. Its form name is its own with the prefix `config_`. */
export interface ConfigField {
  /** Name in the configuration. */
  name: string;
  label: string;
  hint?: string;
  kind: "text" | "whole" | "lines" | "choice" | "check";
  /** Options of a choice. */
  options?: readonly { value: string; label: string }[];
  /** Initial text of the form for a new monitor; `yes` checks a box. */
  initial: string;
  /** True if the configuration may omit the field; then empty text becomes null. */
  isOptional?: boolean;
  /**
   * True if the field is inside the fold, with settings that most monitors keep at their defaults.
   */
  isRare?: boolean;
}

/** Texts by form field name. */
export type Texts = Readonly<Record<string, string>>;

export function formName(field: string): string {
  return `config_${field}`;
}

/** Converts a configuration to field texts. */
export function textsOfConfig(fields: readonly ConfigField[], shown: object): Texts {
  const config = shown as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    fields.map((field) => [formName(field.name), toText(field, config[field.name])]),
  );
}

/** Converts field texts to their part of the configuration. Empty optional fields become null. */
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

/**
 * Converts typed text. Invalid text is passed on unchanged, so the service reports all errors
 * together.
 */
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

/** Converts text to a whole number. Invalid text becomes NaN, which the service rejects. */
export function wholeNumber(typed: string): number {
  const text = typed.trim();
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}
