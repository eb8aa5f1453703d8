import { redactText } from "../../domain/redact";
import type { Heartbeat } from "./monitoring";

/** Longest message that is kept, in code points. */
export const MESSAGE_MAX = 1_000;

/** Number of bytes of a body that are read. */
export const BODY_READ_BYTES = 10_000;

// oxlint-disable-next-line no-control-regex
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** Query parameters of a heartbeat, after their schema has passed. */
interface HeartbeatInput {
  status?: "up" | "down";
  msg?: string;
  ping?: string;
}

/** Returns the heartbeat that a job reports, its message redacted and cut, and whether it was cut. */
export function readHeartbeat({ status = "up", msg = "", ping = "" }: HeartbeatInput): {
  heartbeat: Heartbeat;
  isTruncated: boolean;
} {
  const characters = [...redactText(msg.trim())];
  const message = characters.slice(0, MESSAGE_MAX).join("").trim();
  return {
    heartbeat: {
      outcome: status === "up" ? "ok" : "failed",
      latencyMs: ping === "" ? null : Math.round(Number(ping)),
      message: message === "" ? null : message,
    },
    isTruncated: characters.length > MESSAGE_MAX,
  };
}

/** Returns the text of a body's beginning, without control characters; empty for bytes that are not UTF-8. */
export function messageInBody(bytes: Uint8Array): string {
  try {
    // A character that the beginning ends within is left out.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return text.replace(CONTROL_CHARACTERS, "");
  } catch {
    return "";
  }
}
