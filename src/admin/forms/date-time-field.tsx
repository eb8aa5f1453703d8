import { parseInstant } from "../../base/time";
import { DateTimeField } from "../../ui/inputs";
import type { Field } from "./field";

// Values of `datetime-local` inputs, and text typed in browsers without such inputs.
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)Z?$/;

/** Error of a date and time field, as the continuation of its label. */
export const DATE_TIME_ERROR = "must be a date and a time such as 2027-01-31 14:00";

/** Screen data that a form with times needs. The times are also shown in the page's time zone. */
export interface TimeZoneContext {
  page: { timeZone: string };
}

/**
 * Field for a date and a time in UTC, to the minute. Stored times have milliseconds. An unedited
 * field has the same text as the stored time, so that it changes nothing.
 */
export function dateTimeField(options: {
  label: string;
  hint?: string;
  isRequired?: boolean;
}): Field<string, string, TimeZoneContext> & Pick<Required<Field<string, string>>, "showError"> {
  const { label, hint, isRequired = false } = options;
  return {
    label,
    initial: "",
    read: (sent, name) => sent.text(name),
    // Invalid text is passed on, since the service would use the stored time for an omitted field.
    toBody: (typed) => parseDateTimeInput(typed) ?? typed,
    showError({ detail }, typed) {
      if (typed.trim() === "") return { detail: "is empty" };
      return { detail: parseDateTimeInput(typed) === undefined ? DATE_TIME_ERROR : detail };
    },
    fromStored: (iso) => iso.slice(0, 16),
    Input: ({ name, value, errors, context }) => (
      <DateTimeField
        label={label}
        name={name}
        value={value}
        hint={hint}
        error={errors[name]}
        timeZone={context.page.timeZone}
        required={isRequired}
      />
    ),
  };
}

/**
 * Converts the text of a date and time field, `YYYY-MM-DDTHH:MM[:SS]` in UTC, to ISO 8601 with a
 * zone. Undefined for invalid text such as 30 February.
 */
export function parseDateTimeInput(typed: string): string | undefined {
  const match = DATE_TIME.exec(typed.trim());
  if (!match) return undefined;
  const ms = parseInstant(`${match[1]}T${match[2]}Z`);
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
