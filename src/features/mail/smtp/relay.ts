import type { Clock } from "../../../base/clock";
import { isAscii } from "../../../base/mail-address";
import { SECOND_MS, toIso } from "../../../base/time";
import type { Egress } from "../../../egress/egress";
import { Fault } from "../../../egress/model";
import type { OpenSocket } from "../../../egress/socket";
import type { MailSettings } from "../settings";
import { formatReply, noReply, redactCredentials, type RelayStage, type Reply } from "./reply";
import { type MailEnvelope, SmtpSession } from "./session";

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

/** Reason for which there is no connection to the relay. */
export class RelayFault {
  constructor(readonly reply: Reply) {}
}
