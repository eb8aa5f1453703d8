import type { TSchema } from "@sinclair/typebox";
import { type FieldError, invalidFields, schemaErrors } from "../../errors";
import { DATE_TIME_ERROR, parseDateTimeInput } from "../date-time-input";

/** Placeholder for an invalid time, until all errors are thrown together. */
const UNREAD = "1970-01-01T00:00:00.000Z";

/** Returns the field text of a time, to the minute in UTC. Empty for null. */
export function minuteOf(iso: string | null): string {
  return iso?.slice(0, 16) ?? "";
}

/**
 * Reads the times of a form and collects invalid ones. Stored times have milliseconds but fields
 * only minutes, so a typed minute that contains a known time means that time. An unedited form
 * therefore changes nothing, and no time falls before the start of the same minute.
 */
export class TimeReader {
  readonly #fields: FieldError[] = [];

  /**
   * Returns ISO 8601 with a zone. `known` lists the exact times that the minute may mean, in order
   * of preference.
   */
  read(name: string, typed: string, known: readonly (string | null)[]): string {
    const meant = known.find((iso) => iso !== null && minuteOf(iso) === typed.trim());
    const iso = meant ?? parseDateTimeInput(typed);
    if (iso === undefined || iso === null) {
      const detail = typed.trim() === "" ? "is empty" : DATE_TIME_ERROR;
      this.#fields.push({ pointer: `#/${name}`, detail });
      return UNREAD;
    }
    return iso;
  }

  /**
   * Throws `validation_failed` with every invalid time and all schema errors, if any time was
   * invalid.
   */
  throwIfAny(schema: TSchema, input: unknown): void {
    if (this.#fields.length === 0) return;
    throw invalidFields([...this.#fields, ...schemaErrors(schema, input)]);
  }
}
