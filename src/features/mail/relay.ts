import type { Socket } from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Clock, Timer } from "../../base/clock";
import type { TlsMode } from "../../base/config/mail";
import { isAscii } from "../../base/mail-address";
import { HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../base/time";
import type { Egress } from "../../egress/egress";
import { Fault } from "../../egress/model";
import type { OpenSocket } from "../../egress/handed-socket";
import {
  cleanReply,
  formatReply,
  noReply,
  type RelayStage,
  type Reply,
  STAGE_NAMES,
} from "./reply";
import type { MailSettings } from "./settings";

/** Limit of the look-up, the connection and a handshake that begins with it. */
const CONNECT_TIMEOUT_MS = 10 * SECOND_MS;

/** Step of a connection, in the words of the relay where it has any. */
export interface RelayStep {
  step: RelayStage | "lookup" | "tls";
  isOk: boolean;
  text: string;
}

export interface RelayOptions {
  settings: Pick<MailSettings, "host" | "port" | "tls" | "ca" | "user" | "password">;
  /** Name that EHLO sends: see `helloName`. */
  name: string;
  egress: Pick<Egress, "socket">;
  clock: Clock;
  /** Closes the connection, whatever it does. */
  signal: AbortSignal;
  onStep?: ((step: RelayStep) => void) | undefined;
}

/** Sender and recipient as SMTP sees them. */
export interface MailEnvelope {
  from: string;
  to: string;
  /** Asks for reports about failures, with the headers only, if the relay offers DSN. */
  dsn?: { envid: string } | undefined;
}

/** A connection that has signed in. It never throws. One message is sent at a time. */
export interface RelayConnection {
  /** Keywords of the extensions that the relay offers, in upper case, such as `SMTPUTF8`. */
  readonly extensions: ReadonlySet<string>;
  /** Returns the decisive reply: the refusal, or the reply to the end of DATA. */
  send(mail: { envelope: MailEnvelope; message: Uint8Array }): Promise<Reply>;
  /** Number of messages that were begun. */
  readonly sent: number;
  /** Ends a transaction that was refused. Required before the next message. */
  reset(): Promise<void>;
  close(): void;
  /** False once the connection is lost or closed. */
  readonly isUsable: boolean;
}

/** Reason for which there is no connection to the relay. */
export class RelayFault {
  constructor(readonly reply: Reply) {}
}

/** Connects to a relay and signs in. */
export async function openRelay(options: RelayOptions): Promise<RelayConnection | RelayFault> {
  const { settings, egress, clock, signal, name, onStep } = options;
  const { host, port, tls, ca, user, password } = settings;
  const fail = (reply: Reply, step: RelayStep["step"] = reply.stage): RelayFault => {
    onStep?.({ step, isOk: false, text: formatReply(reply) });
    return new RelayFault(reply);
  };
  const hasCredentials = user !== undefined && password !== undefined;
  if (hasCredentials && tls !== "implicit" && tls !== "starttls") {
    return fail(noReply("auth", "A password is not sent without TLS that is verified."));
  }

  const deadline = new AbortController();
  const timer = clock.after(CONNECT_TIMEOUT_MS, () => deadline.abort());
  const opened = await egress.socket({
    host,
    port,
    policy: "mail",
    signal: AbortSignal.any([signal, deadline.signal]),
    ca,
    ...(tls === "implicit" && { tls: { verify: true } }),
  });
  timer.cancel();
  if (opened instanceof Fault) return fail(noReply("connect", opened.message), stepOf(opened));
  onStep?.({ step: "lookup", isOk: true, text: opened.addresses.join(", ") });
  onStep?.({ step: "connect", isOk: true, text: `${opened.address}, port ${port}` });
  if (tls === "implicit") onStep?.(tlsStep(opened, opened.socket as TlsSocket, opened.certificate));

  const session = new SmtpSession({
    socket: opened.socket,
    tls,
    tlsOptions: opened.startTls.options,
    name,
    clock,
    redact: redactCredentials(settings),
    onReply: onStep && ((reply) => onStep(replyStep(reply))),
    onEnd: () => signal.removeEventListener("abort", onAbort),
    handshakeError: (error) => opened.startTls.fault(error).message,
    onSecure(socket) {
      const certificate = opened.startTls.check(socket, tls === "starttls");
      if (certificate instanceof Fault) return noReply("starttls", certificate.message);
      onStep?.(tlsStep(opened, socket, certificate));
      return undefined;
    },
  });
  // Removed with the connection, since the signal may last as long as the process.
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) session.quit();
  const problem = (await session.open()) ?? (hasCredentials ? await signIn() : undefined);
  if (problem) {
    session.quit();
    return problem.code === null ? fail(problem) : new RelayFault(problem);
  }
  return connectionOf(session);

  function onAbort(): void {
    session.quit();
  }

  async function signIn(): Promise<Reply | undefined> {
    if (!session.isSecure) return noReply("auth", "The connection is not encrypted.");
    const methods = session.ehloLines.flatMap((line) => /^AUTH[\s=](.*)/.exec(line)?.[1] ?? []);
    const offered = new Set(methods.flatMap((list) => list.split(/[\s=]+/)));
    if (offered.has("PLAIN")) return session.login("PLAIN", user ?? "", password ?? "");
    if (offered.has("LOGIN")) return session.login("LOGIN", user ?? "", password ?? "");
    return noReply(
      "auth",
      offered.size === 0
        ? "The relay offers no AUTH, so the user name and password cannot be used."
        : "The relay offers neither AUTH PLAIN nor AUTH LOGIN.",
    );
  }
}

function connectionOf(session: SmtpSession): RelayConnection {
  const extensions = new Set(session.ehloLines.map((line) => line.split(/[\s=]/, 1)[0] ?? ""));
  let sent = 0;
  return {
    extensions,
    get sent() {
      return sent;
    },
    get isUsable() {
      return session.isUsable;
    },
    async send({ envelope, message }) {
      sent += 1;
      if (!isAscii(envelope.to + envelope.from) && !extensions.has("SMTPUTF8")) {
        const text = "The relay takes no address with characters outside ASCII (SMTPUTF8).";
        return { stage: "rcpt", code: 553, enhanced: "5.6.7", text };
      }
      return session.send(envelope, message);
    },
    async reset() {
      await session.reset();
    },
    close: () => session.quit(),
  };
}

/** Replaces text that must not be shown. */
type Redact = (text: string) => string;

/** Returns a function that replaces credentials, also in the encodings in which they are sent. */
function redactCredentials(credentials: {
  user?: string | undefined;
  password?: string | undefined;
}): Redact {
  const { user = "", password = "" } = credentials;
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const secrets =
    password === "" ? [] : [base64(`\0${user}\0${password}`), base64(password), password];
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
}

/** Returns the name that EHLO sends: the host of the public address. */
export function helloName(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  if (hostname.startsWith("[")) return `[IPv6:${hostname.slice(1)}`;
  return /^[\d.]+$/.test(hostname) ? `[${hostname}]` : hostname;
}

function stepOf({ kind }: Fault): RelayStep["step"] {
  if (kind === "tls") return "tls";
  return kind === "dns" || kind === "refused" ? "lookup" : "connect";
}

function replyStep(reply: Reply): RelayStep {
  // 334 asks for the next line of AUTH.
  return {
    step: reply.stage,
    isOk: reply.code !== null && reply.code < 400,
    text: formatReply(reply),
  };
}

type TlsSocket = Parameters<OpenSocket["startTls"]["check"]>[0];

function tlsStep(
  { startTls }: OpenSocket,
  socket: TlsSocket,
  certificate: OpenSocket["certificate"],
): RelayStep {
  const protocol = socket.getProtocol() ?? "TLS";
  if (!certificate) return { step: "tls", isOk: true, text: `${protocol}, no certificate` };
  const { subject, issuer, expiresAt, problem } = certificate;
  const facts = [
    `${protocol}, certificate for ${subject || startTls.options.servername}`,
    `issued by ${issuer || "an unnamed authority"}`,
    `valid until ${toIso(expiresAt).slice(0, 10)}`,
  ].join(", ");
  return {
    step: "tls",
    isOk: true,
    text: problem === null ? facts : `${facts}; not verified: ${problem}`,
  };
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
class SmtpSession {
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

/** Limit of characters of a reply that are read. */
const READ_MAX = 10_000;

const LINE = /^(\d{3})(?:[ -](?:([245]\.\d{1,3}\.\d{1,3})(?=\s|$))?\s*(.*))?$/;

/** Parses the lines of a reply. */
function parseReply(stage: RelayStage, raw: string, redact: Redact): Reply {
  const lines = raw.slice(0, READ_MAX).split(/\r?\n/);
  let code: number | null = null;
  let enhanced: string | null = null;
  const texts: string[] = [];
  for (const line of lines) {
    const [, digits, status, text = ""] = LINE.exec(line) ?? [
      undefined,
      undefined,
      undefined,
      line,
    ];
    if (digits !== undefined) code = Number(digits);
    enhanced ??= status ?? null;
    texts.push(text);
  }
  return { stage, code, enhanced, text: cleanReply(redact(texts.join(" "))) };
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
