import type { Form } from "../http";

/**
 * Reads a multi-line field. CR LF, which browsers send, becomes LF, and text of white space only
 * becomes empty.
 */
export function multilineText(form: Form, name: string): string {
  const text = form.text(name).replaceAll("\r\n", "\n");
  return text.trim() === "" ? "" : text;
}
