import { UPDATE_TEXT_MAX } from "../features/timeline";
import { TextArea } from "../ui";
import type { Wording } from "./field-errors";

interface MessageFieldProps {
  label: string;
  value: string;
  hint?: string;
  /** Number of visible lines. */
  rows?: number;
  wrong: Wording;
}

/** Field `body` for the text of an update in Markdown, with the API's length limit. */
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
