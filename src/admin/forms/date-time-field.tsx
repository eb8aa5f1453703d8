import { parseInstant } from "../../kernel/time";
import { DateTimeField } from "../../ui";
import type { Field } from "./field";

// Values that browsers send for `datetime-local`, and text typed in browsers without such a field.
const TYPED = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)Z?$/;

/** Error of a date and time field, as the continuation of its label. */
export const DATE_TIME_ERROR = "must be a date and a time such as 2027-01-31 14:00";

/** Screen data of a form with times: the page in whose time zone they are shown as well. */
export interface TimeZoneContext {
  page: { timeZone: string };
}

/**
 * Field for a date and a time in UTC, to the minute. Stored times have milliseconds; an unedited
 * field equals the stored value, so that it changes nothing.
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
    // Unreadable text is passed on, so that the service does not compare other times with a stored one.
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
  const match = TYPED.exec(typed.trim());
  if (!match) return undefined;
  const ms = parseInstant(`${match[1]}T${match[2]}Z`);
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
