import type { Socket } from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import type { TlsMode } from "../../../base/config/mail";
import type { Clock } from "../../../base/clock";
import type { Redact, Reply } from "./reply";

/** Sender and recipient as SMTP sees them. */
export interface MailEnvelope {
  from: string;
  to: string;
  /** Asks for reports about failures, with the headers only, if the relay offers DSN. */
  dsn?: { envid: string } | undefined;
}

export interface SessionOptions {
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
