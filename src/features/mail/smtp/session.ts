import type { TLSSocket } from "node:tls";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Timer } from "../../../base/clock";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/time";
import { noReply, parseReply, type RelayStage, type Reply, STAGE_NAMES } from "./reply";
import { isHandshakeError, rejectionOf, type SmtpError, stageOf } from "./smtp-error";
import type { MailEnvelope, SessionOptions } from "./session-options";
import { Transcript } from "./transcript";

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
