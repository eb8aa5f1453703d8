import { UPDATE_TEXT_MAX } from "../kernel/update-fields";
import { TextArea } from "../ui";
import type { Wording } from "./field-errors";

interface MessageFieldProps {
  label: string;
  value: string;
  hint?: string;
  /** How many lines are in sight. */
  rows?: number;
  wrong: Wording;
}

/** What an update tells people, in Markdown: the field `body`, as long as the API lets an update be. */
export function MessageField({ label, value, hint, rows = 4, wrong }: MessageFieldProps) {
  return (
    <TextArea
      label={label}
      name="body"
      value={value}
      hint={hint}
      error={wrong.about("body")}
      rows={rows}
      maxlength={UPDATE_TEXT_MAX}
      required
    />
  );
}
