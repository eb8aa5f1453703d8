import { Checkbox } from "../ui";

/** What the question is called, in complaints too. */
export const NOTIFY_LABEL = "Notify people";

interface NotifyFieldProps {
  isChecked: boolean;
  error?: string | undefined;
  /** What it holds for besides, as the end of a clause. */
  also?: string;
}

/** Whether people are told of what a form publishes. */
export function NotifyField({ isChecked, error, also = "" }: NotifyFieldProps) {
  return (
    <Checkbox
      label={NOTIFY_LABEL}
      name="notify"
      hint={`Unchecked, people get no message${also}; the page shows it in any case.`}
      isChecked={isChecked}
      error={error}
    />
  );
}
