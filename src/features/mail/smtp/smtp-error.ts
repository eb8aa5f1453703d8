import { noReply, type RelayStage, type Reply } from "./reply";

/** Error of the SMTP library. */
export interface SmtpError extends Error {
  code?: string;
  originalCode?: string;
  command?: string;
  response?: string;
}

const ERROR_STAGES: Readonly<Record<string, RelayStage>> = {
  EHLO: "ehlo",
  HELO: "ehlo",
  STARTTLS: "starttls",
  "MAIL FROM": "mail",
  "RCPT TO": "rcpt",
};

/** Returns the stage of a refused command; undefined for other errors. */
export function stageOf({ command = "", code }: SmtpError): RelayStage | undefined {
  if (command === "DATA") return code === "EMESSAGE" ? "message" : "data";
  return command.startsWith("AUTH") ? "auth" : ERROR_STAGES[command];
}

export function isHandshakeError({ code }: SmtpError, stage: RelayStage): boolean {
  return code === "ETLS" || (code === "ESOCKET" && stage === "starttls");
}

/** Returns a reply that ended a command. A reply that rejects nothing was not expected, and counts as none. */
export function rejectionOf(reply: Reply): Reply {
  if (reply.code !== null && reply.code >= 400) return reply;
  return noReply(reply.stage, `The relay sent an unexpected reply: ${reply.text}`.slice(0, 500));
}
