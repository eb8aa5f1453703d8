import type { Socket } from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Clock, Timer } from "../../../base/clock";
import type { TlsMode } from "../../../base/config/mail";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/time";
import {
  noReply,
  parseReply,
  type Redact,
  type RelayStage,
  type Reply,
  STAGE_NAMES,
} from "./reply";

/** Sender and recipient as SMTP sees them. */
export interface MailEnvelope {
  from: string;
  to: string;
  /** Asks for reports about failures, with the headers only, if the relay offers DSN. */
  dsn?: { envid: string } | undefined;
}

interface SessionOptions {
  /** Connected socket; with TLS if the mode is `implicit`. */
  socket: Socket;
  tls: TlsMode;
  tlsOptions: ConnectionOptions;
  /** Name that EHLO sends. */
  name: string;
  clock: Clock;
  redact: Redact;
  /** Called with every reply. */
  onReply?: ((reply: Reply) => void) | undefined;
  /** Checks a connection that STARTTLS has encrypted, before anything is sent. A result ends the session. */
  onSecure: (socket: TLSSocket) => Reply | undefined;
  /** Called once, when nothing more can be sent. */
  onEnd: () => void;
  /** Converts an error of the TLS handshake to a sentence. */
  handshakeError: (error: unknown) => string;
}

const REPLY_TIMEOUT_MS = 30 * SECOND_MS;

/** Limit of the reply to the end of DATA. */
const MESSAGE_TIMEOUT_MS = 5 * MINUTE_MS;

const QUIT_TIMEOUT_MS = 5 * SECOND_MS;

/** Limit of a reply, in bytes. */
const REPLY_MAX_BYTES = 64 * 1024;

/** An SMTP session over an open socket: one operation at a time, each with a result and never an error. */
export class SmtpSession {
  readonly #smtp: SMTPConnection;
  readonly #options: SessionOptions;
  readonly #transcript = new Transcript({
    onCommand: () => this.#onCommand(),
    onReply: (stage, raw) => this.#onReply(stage, raw),
  });
  #ehlo = "";
  #isChecked = false;
  #isClosed = false;
  #settle: ((result: Reply | undefined) => void) | undefined;
  #expiresAt = 0;
  #timer: Timer | undefined;

  constructor(options: SessionOptions) {
    const { socket, tls, tlsOptions, name } = options;
    this.#options = options;
    const isImplicit = tls === "implicit";
    this.#smtp = new SMTPConnection({
      connection: socket,
      secure: isImplicit,
      secured: isImplicit,
      requireTLS: tls === "starttls",
      opportunisticTLS: tls === "opportunistic",
      ignoreTLS: tls === "none",
      tls: tlsOptions,
      name,
      maxResponseSize: REPLY_MAX_BYTES,
      // The limits are kept here, by the clock.
      connectionTimeout: HOUR_MS,
      greetingTimeout: HOUR_MS,
      socketTimeout: HOUR_MS,
      transactionLog: true,
      logger: this.#transcript.logger,
    });
    this.#smtp.on("error", (error: SmtpError) => this.#end(this.#failure(error)));
    this.#smtp.on("end", () => {
      this.#close();
      // The library closes the connection before it reports the reply that was the reason.
      queueMicrotask(() => this.#end(this.#lost()));
    });
  }

  /** Reads the greeting, sends EHLO and begins TLS as the mode says. Returns the reason of a failure. */
  open(): Promise<Reply | undefined> {
    return this.#run((settle) =>
      this.#smtp.connect((error?: Error | null) =>
        error ? this.#end(this.#failure(error)) : settle(undefined),
      ),
    );
  }

  /** Signs in. Returns the reason of a failure. */
  login(method: "PLAIN" | "LOGIN", user: string, pass: string): Promise<Reply | undefined> {
    return this.#run((settle) =>
      this.#smtp.login({ method, user, pass }, (error?: Error | null) =>
        error ? this.#end(this.#failure(error)) : settle(undefined),
      ),
    );
  }

  /** Sends one message. Returns the decisive reply. */
  async send({ from, to, dsn }: MailEnvelope, message: Uint8Array): Promise<Reply> {
    const envelope = {
      from,
      to: [to],
      ...(dsn && { dsn: { ret: "HDRS", envid: dsn.envid, notify: "FAILURE" } }),
    };
    const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    const reply = await this.#run((settle) =>
      this.#smtp.send(envelope, bytes, (error, info) =>
        settle(error ? this.#failure(error) : this.#parse("message", info?.response ?? "")),
      ),
    );
    return reply ?? this.#lost();
  }

  /** Ends a begun transaction. Returns the reason of a failure. */
  reset(): Promise<Reply | undefined> {
    return this.#run((settle) =>
      this.#smtp.reset((error?: Error | null) =>
        error ? this.#end(this.#failure(error)) : settle(undefined),
      ),
    );
  }

  /** Says goodbye. An operation in progress is ended at once. */
  quit(): void {
    if (this.#isClosed) return;
    const isBusy = this.#settle !== undefined;
    this.#end(noReply(this.#transcript.current, "The connection was closed by Allclear."), isBusy);
    if (isBusy) return;
    this.#smtp.quit();
    this.#options.clock.after(QUIT_TIMEOUT_MS, () => this.#smtp.close());
  }

  /** True while messages can be sent. */
  get isUsable(): boolean {
    return !this.#isClosed;
  }

  get isSecure(): boolean {
    return this.#smtp.secure;
  }

  /** Lines of the last reply to EHLO after the greeting, without codes and in upper case. */
  get ehloLines(): string[] {
    return this.#ehlo
      .toUpperCase()
      .split(/\r?\n/)
      .slice(1)
      .map((line) => line.replace(/^\d{3}[ -]/, "").trim());
  }

  async #run(start: (settle: (result: Reply | undefined) => void) => void) {
    if (this.#isClosed) return this.#lost();
    const { promise, resolve } = Promise.withResolvers<Reply | undefined>();
    const settle = (result: Reply | undefined) => {
      if (this.#settle === settle) this.#settle = undefined;
      resolve(result);
    };
    this.#settle = settle;
    this.#extend();
    this.#timer ??= this.#arm();
    start(settle);
    return promise;
  }

  /** Ends the session, and the operation in progress with this result. */
  #end(result: Reply, isAbrupt = true): void {
    this.#close();
    this.#settle?.(result);
    if (isAbrupt) this.#smtp.close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#options.onEnd();
  }

  #extend(): void {
    const limit = this.#transcript.current === "message" ? MESSAGE_TIMEOUT_MS : REPLY_TIMEOUT_MS;
    this.#expiresAt = this.#options.clock.monotonic() + limit;
  }

  /** Checks the time limit. There is one timer for all operations, since setting it for each costs more. */
  #arm(): Timer {
    const { clock } = this.#options;
    const rest = this.#expiresAt - clock.monotonic();
    return clock.after(Math.min(REPLY_TIMEOUT_MS, rest), () => {
      this.#timer = undefined;
      if (!this.#settle) return;
      if (clock.monotonic() >= this.#expiresAt) this.#end(this.#timedOut());
      else this.#timer = this.#arm();
    });
  }

  #onCommand(): void {
    this.#extend();
    const { tls, onSecure } = this.#options;
    if (tls === "implicit" || !this.#smtp.secure || this.#isChecked) return;
    this.#isChecked = true;
    const problem = onSecure(this.#smtp._socket as TLSSocket);
    if (problem) this.#end(problem);
  }

  #onReply(stage: RelayStage, raw: string): void {
    this.#extend();
    this.#options.onReply?.(this.#parse(stage, raw));
    if (!raw.startsWith("2")) return;
    // The library would send the message. Replies that were not asked for could then look like its acceptance.
    if (stage === "data") this.#end(rejectionOf(this.#parse(stage, raw)));
    if (stage !== "ehlo") return;
    this.#ehlo = raw;
    const needsTls = this.#options.tls === "starttls" && !this.#smtp.secure;
    if (needsTls && !this.ehloLines.some((line) => /^STARTTLS\b/.test(line))) {
      this.#end(noReply("starttls", "The relay does not offer STARTTLS."));
    }
  }

  #parse(stage: RelayStage, raw: string): Reply {
    return parseReply(stage, raw, this.#options.redact);
  }

  #failure(error: SmtpError): Reply {
    const { current, answered } = this.#transcript;
    const stage = stageOf(error) ?? (error.response === undefined ? current : answered);
    if (error.response !== undefined) return rejectionOf(this.#parse(stage, error.response));
    if (isHandshakeError(error, stage)) {
      const text = this.#options.handshakeError({ code: error.originalCode });
      return noReply("starttls", text);
    }
    return error.code === "ETIMEDOUT" ? this.#timedOut() : this.#lost(stage);
  }

  #lost(stage = this.#transcript.current): Reply {
    return noReply(stage, "The connection was closed.");
  }

  #timedOut(): Reply {
    const stage = this.#transcript.current;
    return noReply(stage, `Timed out waiting for the relay (${STAGE_NAMES[stage]}).`);
  }
}

/** Error of the SMTP library. */
interface SmtpError extends Error {
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
function stageOf({ command = "", code }: SmtpError): RelayStage | undefined {
  if (command === "DATA") return code === "EMESSAGE" ? "message" : "data";
  return command.startsWith("AUTH") ? "auth" : ERROR_STAGES[command];
}

function isHandshakeError({ code }: SmtpError, stage: RelayStage): boolean {
  return code === "ETLS" || (code === "ESOCKET" && stage === "starttls");
}

/** Returns a reply that ended a command. A reply that rejects nothing was not expected, and counts as none. */
function rejectionOf(reply: Reply): Reply {
  if (reply.code !== null && reply.code >= 400) return reply;
  return noReply(reply.stage, `The relay sent an unexpected reply: ${reply.text}`.slice(0, 500));
}

/** Stages by the commands that begin them. Other lines belong to AUTH. */
const STAGES: readonly [RegExp, RelayStage][] = [
  [/^(?:EHLO|HELO) /, "ehlo"],
  [/^STARTTLS$/, "starttls"],
  [/^(?:MAIL FROM:|RSET$|QUIT$)/, "mail"],
  [/^RCPT TO:/, "rcpt"],
  [/^DATA$/, "data"],
];

/**
 * Finds out to which command each reply belongs, also of commands that are sent without waiting
 * (PIPELINING). Its logger is called by the SMTP library before it sends or interprets a line.
 */
class Transcript {
  /** Stages whose replies are awaited, in order. */
  readonly #awaited: RelayStage[] = ["greeting"];
  #answered: RelayStage = "connect";

  readonly logger: ReturnType<typeof createLogger>;

  constructor(listener: {
    /** Called before a command is sent. */
    onCommand(): void;
    onReply(stage: RelayStage, raw: string): void;
  }) {
    this.logger = createLogger({
      client: (line) => {
        // The end of an empty message; its reply is awaited already.
        if (line === ".") return;
        this.#awaited.push(STAGES.find(([pattern]) => pattern.test(line))?.[1] ?? "auth");
        listener.onCommand();
      },
      server: (raw) => {
        const stage = this.#awaited.shift() ?? this.#answered;
        this.#answered = stage;
        if (stage === "data" && raw.startsWith("3")) this.#awaited.unshift("message");
        listener.onReply(stage, raw);
      },
    });
  }

  /** Stage that is waited for. */
  get current(): RelayStage {
    return this.#awaited[0] ?? this.#answered;
  }

  /** Stage of the last reply. */
  get answered(): RelayStage {
    return this.#answered;
  }
}

/** Creates a logger that passes on the lines of client and server, and nothing else. */
function createLogger(lines: Readonly<Record<string, (line: string) => void>>) {
  const ignore = () => undefined;
  return {
    trace: ignore,
    debug: ({ tnx = "" }: { tnx?: string }, text: unknown) => lines[tnx]?.(String(text)),
    info: ignore,
    warn: ignore,
    error: ignore,
    fatal: ignore,
  };
}
