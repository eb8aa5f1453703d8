/*
 * One attempt to send a mail: it is written from current data and goes over a connection that may stay open for the next.
 */
import type { Timer } from "../../../base/clock";
import { SECOND_MS } from "../../../base/time";
import type { Ctx } from "../../../context";
import type { Reader } from "../../../db/statements";
import { attemptOnce } from "../../sending/loop";
import { type Templates, toMessage } from "../compose";
import type { MailEnvelope, RelayConnection, RelayOptions } from "../relay";
import { noReply, type Reply, withoutAddresses } from "../reply";
import { classifyReply } from "../rules";
import { type MailSettings, noteRelayOffers } from "../settings";
import { findForSending, type MailRow } from "../store";
import { isSuppressed } from "../suppressions";
import { envelopeSender, findMailKey } from "../tokens";
import type { MailResult } from "./results";

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

/** Stages at which the relay was about to take the message. */
const BROKEN_OFF: ReadonlySet<string> = new Set(["rcpt", "data", "message"]);

/** Code of a reply after which the relay closes the connection. */
const CONNECTION_ENDS = 421;

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

/** Message that is ready to be sent. */
interface Written {
  envelope: Omit<MailEnvelope, "dsn">;
  message: Uint8Array;
  /** Number of the attempt, from 1. */
  attempt: number;
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

const MAILS_PER_CONNECTION = 100;

const CLOSE_AFTER_MS = 30 * SECOND_MS;

interface Idle {
  connection: RelayConnection;
  timer: Timer;
}

/** Open connections to the relay. Their number is limited by the caller. */
export class RelayPool {
  readonly #ctx: Ctx;
  readonly #egress: RelayOptions["egress"];
  readonly #signal: AbortSignal;
  readonly #settings: () => MailSettings | undefined;
  readonly #idle: Idle[] = [];
  readonly #inUse = new Set<RelayConnection>();
  /** Connections in use that are closed after their mail. */
  readonly #retired = new WeakSet<RelayConnection>();

  /** `signal` closes all connections, whatever they do. */
  constructor(
    ctx: Ctx,
    egress: RelayOptions["egress"],
    signal: AbortSignal,
    settings: () => MailSettings | undefined,
  ) {
    this.#ctx = ctx;
    this.#egress = egress;
    this.#signal = signal;
    this.#settings = settings;
    // Each connection closes itself; what is left are the timers of idle ones.
    signal.addEventListener("abort", () => this.retire());
  }

  /** Returns an open connection, or the reply for which there is none. */
  async take(): Promise<RelayConnection | { reply: Reply }> {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      idle.timer.cancel();
      if (idle.connection.isUsable) {
        this.#inUse.add(idle.connection);
        return idle.connection;
      }
      idle.connection.close();
    }
    const opened = await this.#open();
    if (!("reply" in opened)) this.#inUse.add(opened);
    return opened;
  }

  /** Keeps a connection for the next mail, or closes it. */
  give(connection: RelayConnection): void {
    this.#inUse.delete(connection);
    const isOver = this.#retired.has(connection) || connection.sent >= MAILS_PER_CONNECTION;
    if (isOver || !connection.isUsable) return connection.close();
    const timer = this.#ctx.clock.after(CLOSE_AFTER_MS, () => {
      this.#idle.splice(this.#idle.indexOf(idle), 1);
      connection.close();
    });
    const idle = { connection, timer };
    this.#idle.push(idle);
  }

  /** Closes a connection that must not be used again. */
  discard(connection: RelayConnection): void {
    this.#inUse.delete(connection);
    connection.close();
  }

  /** Closes idle connections now and the others after their mail, such as after a change of the settings. */
  retire(): void {
    for (const connection of this.#inUse) this.#retired.add(connection);
    for (const { connection, timer } of this.#idle.splice(0)) {
      timer.cancel();
      connection.close();
    }
  }

  async #open(): Promise<RelayConnection | { reply: Reply }> {
    const settings = this.#settings();
    if (!settings) return { reply: noReply("connect", "There is no relay.") };
    const { helloName, openRelay } = await import("../relay");
    const { baseUrl, clock } = this.#ctx;
    const deps = { egress: this.#egress, clock, signal: this.#signal };
    const opened = await openRelay({ settings, name: helloName(baseUrl), ...deps });
    if (!("reply" in opened)) void noteRelayOffers(this.#ctx, settings, opened.extensions);
    return opened;
  }
}
