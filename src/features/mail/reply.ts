/** Step of an SMTP session. `message` is the reply to the end of DATA. */
export type RelayStage =
  "connect" | "greeting" | "ehlo" | "starttls" | "auth" | "mail" | "rcpt" | "data" | "message";

/** Result of a step: a reply of the relay, or the reason for which there is none. */
export interface Reply {
  stage: RelayStage;
  /** Null without a reply, such as after a time-out or a lost connection. */
  code: number | null;
  /** Enhanced status code (RFC 3463), such as `5.1.1`. */
  enhanced: string | null;
  /** The relay's own words without codes, or a sentence. At most 500 characters, without credentials. */
  text: string;
}

/** Names of the stages as the relay's commands. */
export const STAGE_NAMES: Readonly<Record<RelayStage, string>> = {
  connect: "connection",
  greeting: "greeting",
  ehlo: "EHLO",
  starttls: "STARTTLS",
  auth: "AUTH",
  mail: "MAIL FROM",
  rcpt: "RCPT TO",
  data: "DATA",
  message: "end of DATA",
};

/** Names of the steps of a connection, as people read them. */
export const STEP_NAMES: Readonly<Record<RelayStage | "lookup" | "tls", string>> = {
  ...STAGE_NAMES,
  lookup: "Look-up",
  connect: "Connection",
  tls: "TLS",
  greeting: "Greeting",
  message: "End of DATA",
};

const TEXT_MAX = 500;

/** Number of characters that are read: normalising combining marks takes quadratic time. */
const READ_MAX = 2 * TEXT_MAX;

/** Returns the result of a step without a reply. */
export function noReply(stage: RelayStage, text: string): Reply {
  return { stage, code: null, enhanced: null, text };
}

/** Returns a reply as the relay sent it: "550 5.1.1 No such user". */
export function formatReply({ code, enhanced, text }: Pick<Reply, "code" | "enhanced" | "text">) {
  return [code, enhanced, text].filter((part) => part !== null && part !== "").join(" ");
}

/** Removes addresses from the words of a relay or an admin, for places without any such as the log. */
export function withoutAddresses(text: string): string {
  // Begins only at the start of a word: otherwise a long word without an @ would take quadratic time.
  return text.replaceAll(/(?<![^\s<>])[^\s<>]+@[^\s<>]+/g, "…");
}

/** Makes text of a relay safe to show and to store on one line. */
export function cleanReply(text: string): string {
  return text
    .slice(0, READ_MAX)
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim()
    .slice(0, TEXT_MAX)
    .toWellFormed();
}
