import type { Form } from "../http";

/**
 * What was written in a field of several lines. Browsers send a line's end as CR LF, and everything else
 * here writes LF; a text of blanks alone is none.
 */
export function multilineText(form: Form, name: string): string {
  const text = form.text(name).replaceAll("\r\n", "\n");
  return text.trim() === "" ? "" : text;
}
