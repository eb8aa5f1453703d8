import type { TSchema } from "@sinclair/typebox";
import { type FieldError, invalidFields, schemaErrors } from "../../errors";
import { DATE_TIME_ERROR, parseDateTimeInput } from "../date-time-input";

/** Stands for a time that could not be read, until all that is wrong is told together. */
const UNREAD = "1970-01-01T00:00:00.000Z";

/** A moment of an incident as it stands in a field: its minute in UTC. Empty for null. */
export function minuteOf(iso: string | null): string {
  return iso?.slice(0, 16) ?? "";
}

/**
 * Reads the times of a form, and remembers those that are none. Incidents happen to the millisecond and
 * people write minutes: a minute in which a moment lies that is known stands for that moment, so that a
 * form which is sent as it came changes nothing, and what happens in the first minute is not before it.
 */
export class TimeReader {
  readonly #fields: FieldError[] = [];

  /** ISO 8601 with its zone. `known` go from the first to the last that the minute may stand for. */
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

  /** Throws `validation_failed` with every time that is none, and all else that breaks the schema. */
  throwIfAny(schema: TSchema, input: unknown): void {
    if (this.#fields.length === 0) return;
    throw invalidFields([...this.#fields, ...schemaErrors(schema, input)]);
  }
}
