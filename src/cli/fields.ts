import type { FieldError } from "../errors";
import { UsageError } from "./command";

/** Flags for the fields of a schema. */
export interface FlagsOfFields {
  /** By the field's name: its flag, with the dashes. */
  flags: Readonly<Record<string, string>>;
  /** By the field's name: what was given where a field is a list, so that the wrong one is named. */
  listed?: Readonly<Record<string, readonly string[]>>;
}

/** Broken fields as the flags that they came from: the command was called wrongly. */
export function wrongFlags(
  fields: readonly FieldError[],
  { flags, listed = {} }: FlagsOfFields,
): UsageError {
  return new UsageError(
    fields.map(({ pointer, detail }) => {
      const [, field = "", index] = pointer.split("/");
      const given = index === undefined ? "" : ` ${listed[field]?.[Number(index)] || '""'}`;
      return `${flags[field] ?? field}${given} ${detail}.`;
    }),
  );
}
