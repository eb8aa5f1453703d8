import { redactText } from "../../base/redaction";
import type { Notice, Report } from "./monitoring";

// oxlint-disable-next-line no-control-regex
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

const EXIT_CODE = /^\d{1,9}$/;
export const EXIT_CODE_MAX = 255;

/** Meaning of the last part of a path. */
export type Meaning = Pick<Notice, "kind"> | Pick<Report, "outcome" | "exitCode">;

/**
 * Finds the meaning of a signal's name: `start`, `log`, `fail` or an exit code. Undefined for any other name;
 * "too large" for an exit code above 255.
 */
export function findMeaning(signal: string): Meaning | "too large" | undefined {
  if (signal === "start" || signal === "log") return { kind: signal };
  if (signal === "fail") return { outcome: "failed" };
  if (!EXIT_CODE.test(signal)) return undefined;
  const exitCode = Number(signal);
  if (exitCode > EXIT_CODE_MAX) return "too large";
  return { outcome: exitCode === 0 ? "ok" : "failed", exitCode };
}

/**
 * Returns a message as it is stored: without control characters, redacted, trimmed and cut to `max` code points;
 * null for an empty one.
 */
export function messageOf(text: string, max: number): { message: string | null; isCut: boolean } {
  // Before the redaction, which a control character within a secret would evade.
  const characters = [...redactText(text.replace(CONTROL_CHARACTERS, "").trim())];
  const message = characters.slice(0, max).join("").trim();
  return { message: message === "" ? null : message, isCut: characters.length > max };
}

/** Returns the text of a body's beginning; empty for bytes that are not UTF-8. */
export function messageInBody(bytes: Uint8Array): string {
  try {
    // An incomplete character at the end is left out.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return "";
  }
}
