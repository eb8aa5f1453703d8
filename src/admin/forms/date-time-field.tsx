import { DATE_TIME_ERROR, parseDateTimeInput } from "../date-time-input";
import { DateTimeField } from "../../ui";
import type { Field } from "./field";

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
