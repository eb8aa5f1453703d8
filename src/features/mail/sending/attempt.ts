import type { Ctx } from "../../../context";
import type { Reader } from "../../../db/statements";
import { attemptOnce } from "../../outgoing/waiting-rows";
import { type Templates, toMessage } from "../compose";
import { classifyReply } from "../rules";
import type { MailSettings } from "../settings";
import { type Reply, withoutAddresses } from "../smtp/reply";
import type { MailEnvelope } from "../smtp/session";
import { findForSending, type MailRow } from "../store";
import { isSuppressed } from "../suppressions";
import { envelopeSender, findMailKey } from "../tokens";
import type { RelayPool } from "./relays";
import type { MailResult } from "./results";

/** Message that is ready to be sent. */
interface Written {
  envelope: Omit<MailEnvelope, "dsn">;
  message: Uint8Array;
  /** Number of the attempt, from 1. */
  attempt: number;
}

/** Stages at which the relay was about to take the message. */
const BROKEN_OFF: ReadonlySet<string> = new Set(["rcpt", "data", "message"]);

/** Code of a reply after which the relay closes the connection. */
const CONNECTION_ENDS = 421;

/** End of an attempt. */
export type Attempted =
  /** Not sent. `answered`: by the relay; `isRefused` for now. */
  | { outcome: "ended" | "answered"; result: MailResult; isRefused: boolean }
  /** The mail is over already, or its mailing is held or stopped. */
  | { outcome: "gone" }
  /** This node may not be the primary. */
  | { outcome: "not_begun" }
  | RelayUnavailable;

/** `isBrokenOff` if that happened in the middle of the mail. */
export interface RelayUnavailable {
  outcome: "relay_unavailable";
  reply: Reply;
  isBrokenOff: boolean;
}

/** Attempts a mail once, with its current data in the database. */
export async function attemptMail(
  ctx: Ctx,
  deps: { templates: Templates; pool: RelayPool; settings: MailSettings },
  mailId: string,
): Promise<Attempted> {
  if (ctx.waitToSend && !(await ctx.waitToSend(mailId))) return { outcome: "not_begun" };
  const written = await writeMail(ctx, deps, mailId);
  if ("outcome" in written) return written;
  const name = { id: mailId, attempt: written.attempt };
  const send = () => sendOver(deps.pool, written, mailId);
  // A fault of the relay is no result of the mail.
  const reply = await attemptOnce(ctx, name, send, (sent) =>
    classifyReply(sent).result === "relay_unavailable"
      ? undefined
      : { ...sent, text: withoutAddresses(sent.text) },
  );
  const { result } = classifyReply(reply);
  if (result === "relay_unavailable") {
    return { outcome: result, reply, isBrokenOff: BROKEN_OFF.has(reply.stage) };
  }
  return {
    outcome: "answered",
    result: { kind: "reply", reply },
    isRefused: result === "retry",
  };
}

async function writeMail(
  ctx: Ctx,
  { templates, settings }: { templates: Templates; settings: MailSettings },
  mailId: string,
): Promise<Written | Attempted> {
  const mail = findForSending(ctx.db, { id: mailId });
  if (mail?.status !== "pending") return { outcome: "gone" };
  if (mail.mailingState === "held" || mail.mailingState === "stopped") return { outcome: "gone" };
  if (mail.expiresAt <= ctx.clock.now()) return ended("expired");
  if (isSuppressed(ctx.db, mail)) return ended("cancelled");
  try {
    return (await messageOf(ctx, templates, settings, mail)) ?? ended("cancelled");
  } catch (error) {
    ctx.log.error({ err: error, mail: mailId }, "a mail could not be written");
    return ended("unwritable");
  }
}

async function messageOf(
  ctx: Ctx,
  templates: Templates,
  settings: MailSettings,
  mail: MailRow,
): Promise<Written | undefined> {
  const template = templates[mail.template];
  if (!template) throw new Error(`there is no template ${mail.template}`);
  const composed = await template(mail, { ctx, settings });
  if (composed === "unwanted") return undefined;
  const from = envelopeFrom(ctx.db, settings, mail.id);
  return {
    envelope: { from, to: mail.recipient },
    message: toMessage(composed),
    attempt: mail.tries + 1,
  };
}

function envelopeFrom(reader: Reader, settings: MailSettings, mailId: string): string {
  const { bounceAddress, from } = settings;
  if (bounceAddress === null) return from.address;
  const key = findMailKey(reader);
  return key ? envelopeSender(key, bounceAddress, mailId) : bounceAddress;
}

function ended(kind: "expired" | "cancelled" | "unwritable"): Attempted {
  return { outcome: "ended", result: { kind }, isRefused: false };
}

/** Sends a message and leaves the connection ready for the next one, or closed. Returns the decisive reply. */
async function sendOver(
  pool: RelayPool,
  { envelope, message }: Written,
  envid: string,
): Promise<Reply> {
  for (;;) {
    const connection = await pool.take();
    if ("reply" in connection) return connection.reply;
    const isFirst = connection.sent === 0;
    const dsn = connection.extensions.has("DSN") ? { envid } : undefined;
    const reply = await connection.send({ envelope: { ...envelope, dsn }, message });
    const { result } = classifyReply(reply);
    if (result === "relay_unavailable") {
      pool.discard(connection);
      // The relay ended the connection after an earlier mail, such as the last that it takes over one. Nothing was sent.
      const isEnded = reply.code === null || reply.code === CONNECTION_ENDS;
      if (!isFirst && reply.stage === "mail" && isEnded) continue;
      return reply;
    }
    if (result !== "sent") await connection.reset();
    pool.give(connection);
    return reply;
  }
}
