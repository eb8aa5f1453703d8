import { parseJson } from "../../../base/text";

/** Value of a column. */
export type KumaValue = string | number | null;

/** Row of a table, by column. */
export type Row<Column extends string = string> = Readonly<Record<Column, KumaValue>>;

/** Returns a value as text; empty for null. */
export function text(value: KumaValue | undefined): string {
  return value === null || value === undefined ? "" : String(value);
}

/** Returns a value as text without white space at its ends; undefined if nothing is left. */
export function given(value: KumaValue | undefined): string | undefined {
  return text(value).trim() || undefined;
}

/** Returns a value as a finite number; `fallback` for everything else. */
export function number(value: KumaValue | undefined, fallback: number): number {
  const found = value === null || value === undefined || value === "" ? NaN : Number(value);
  return Number.isFinite(found) ? found : fallback;
}

/** Returns a value as a flag. Tools that write into the database also write words. */
export function flag(value: KumaValue | undefined): boolean {
  return text(value).toLowerCase() === "true" || number(value, 0) !== 0;
}

/** Returns a value as a list of texts; empty if it is no JSON list. Numbers become texts. */
export function list(value: KumaValue | undefined): string[] {
  const parsed = parseJson(text(value));
  if (!Array.isArray(parsed)) return [];
  return (parsed as unknown[]).filter((entry) => entry !== null).map((entry) => textOf(entry));
}

/** Returns an object of a JSON text; undefined for any other text. */
export function object(value: KumaValue | undefined): Record<string, unknown> | undefined {
  const parsed = parseJson(text(value));
  return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
    ? (parsed as Record<string, unknown>)
    : undefined;
}

/**
 * Returns a value of a JSON document as text: for lists and objects their JSON. Empty for null, and for a list so deep
 * that it cannot be written.
 */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value as string | number);
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return "";
  }
}
