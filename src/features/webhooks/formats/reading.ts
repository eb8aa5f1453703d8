/*
 * Readers of an event's data, which is JSON that an earlier version may have written. Missing or
 * unexpected values are undefined.
 */
import { isObject } from "../../../base/text";

export type Data = Readonly<Record<string, unknown>>;

export function textOf(data: Data, field: string): string | undefined {
  const value = data[field];
  return typeof value === "string" ? value : undefined;
}

export function recordOf(data: Data, field: string): Data | undefined {
  return asRecord(data[field]);
}

export function recordsOf(data: Data, field: string): Data[] {
  const value = data[field];
  if (!Array.isArray(value)) return [];
  return value.map(asRecord).filter((one) => one !== undefined);
}

function asRecord(value: unknown): Data | undefined {
  return isObject(value) ? value : undefined;
}

/** Returns the value if it is one of `values`. */
export function oneOf<const T extends string>(
  values: readonly T[],
  value: string | undefined,
): T | undefined {
  return values.find((option) => option === value);
}
