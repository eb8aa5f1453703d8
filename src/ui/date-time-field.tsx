import { isUtcZone } from "../kernel/time";
import { controlAttributes, Field, type FieldProps } from "./field";
import { zoneTime } from "./zone-time";

interface DateTimeFieldProps extends FieldProps {
  /** `YYYY-MM-DDTHH:MM` in UTC, or what was typed and is none. */
  value: string;
  /** The page's zone: below the field the same moment is told by its clock. */
  timeZone?: string | undefined;
  required?: boolean;
}

/**
 * A date and a time in UTC; the label is to say so. A script tells the moment by other clocks while it
 * is typed, the reader's own included.
 */
export function DateTimeField(props: DateTimeFieldProps) {
  const { value, timeZone = "UTC", required, ...field } = props;
  const at = Date.parse(`${value}Z`);
  const zone = isUtcZone(timeZone) ? undefined : timeZone;
  const control = controlAttributes(field);
  const zonesId = `${control.id}-zones`;
  const describedBy = [control["aria-describedby"], zonesId].filter(Boolean).join(" ");
  return (
    <Field {...field}>
      <input
        class="input moment"
        type="datetime-local"
        value={value}
        required={required}
        autocomplete="off"
        data-zone={zone ?? ""}
        {...control}
        aria-describedby={describedBy}
      />
      <p class="hint" id={zonesId}>
        {zone === undefined || Number.isNaN(at) ? "" : zoneTime(at, zone)}
      </p>
    </Field>
  );
}
