import { Checkbox } from "../ui";

/** Label of the field, also used in errors. */
export const NOTIFY_LABEL = "Send notifications";

interface NotifyFieldProps {
  isChecked: boolean;
  error?: string | undefined;
  /** Text appended to the hint, for actions that notify again later. */
  also?: string;
}

/** Checkbox that decides if a form's change sends notifications. */
export function NotifyField({ isChecked, error, also = "" }: NotifyFieldProps) {
  return (
    <Checkbox
      label={NOTIFY_LABEL}
      name="notify"
      hint={`The status page shows the change either way. Unchecked, no notifications are sent${also}.`}
      isChecked={isChecked}
      error={error}
    />
  );
}
