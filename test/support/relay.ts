import type { AddressInfo, Server } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { MailSettings } from "../../src/features/mail/settings";
import { openRelay, type RelayOptions } from "../../src/features/mail/relay";
import { createTestClock, type TestClock } from "./clock";
import { createTestEgress, patience } from "./egress";
import { certificateText, type OnConnection, startRawServer } from "./raw-server";

/** A mail that a test's relay took. */
export interface TakenMail {
  from: string;
  to: string[];
  text: string;
  user: string | undefined;
  /** True if it came over TLS. */
  isSecure: boolean;
  /** Name that EHLO sent. */
  name: string;
}

export interface TestRelay extends AsyncDisposable {
  port: number;
  mails: TakenMail[];
  /** Number of connections so far. */
  connections(): number;
}

interface TestRelayOptions extends SMTPServerOptions {
  certificate?: "good" | "expired" | "other" | "self";
  /** Accepted credentials; without them AUTH is not offered. */
  credentials?: { user: string; password: string };
  /** Called after each taken mail. */
  onTaken?: () => void;
}

/** Starts a relay on a free port of loopback. */
export async function startRelay(options: TestRelayOptions = {}): Promise<TestRelay> {
  const { certificate = "good", credentials, onTaken, ...more } = options;
  const pem = await certificateText(certificate);
  const mails: TakenMail[] = [];
  let connections = 0;
  const server = new SMTPServer({
    key: pem,
    cert: pem,
    logger: false,
    hideSize: true,
    disableReverseLookup: true,
    authOptional: credentials === undefined,
    disabledCommands: credentials === undefined ? ["AUTH"] : [],
    closeTimeout: 100,
    onConnect(_session, done) {
      connections += 1;
      done();
    },
    onAuth(auth, _session, done) {
      const isRight =
        auth.username === credentials?.user && auth.password === credentials?.password;
      if (isRight) done(null, { user: auth.username });
      else done(Object.assign(new Error("Authentication failed"), { responseCode: 535 }));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom ? mailFrom.address : "",
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString("utf8"),
          user: (session.user as string | false) || undefined,
          isSecure: session.secure,
          name: String(session.hostNameAppearsAs),
        });
        onTaken?.();
        done(null, "2.0.0 Ok: queued as 4XyZ");
      });
    },
    ...more,
  });
  server.on("error", () => {});
  const listener: Server = server.listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  return {
    port: (listener.address() as AddressInfo).port,
    mails,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Returns the different Message-IDs of mails by recipient. */
export function idsByRecipient(mails: readonly TakenMail[]): Map<string, Set<string>> {
  const ids = new Map<string, Set<string>>();
  for (const { to, text } of mails) {
    const [recipient = ""] = to;
    const id = /^Message-ID: (.*)$/im.exec(text)?.[1] ?? "";
    ids.set(recipient, (ids.get(recipient) ?? new Set()).add(id));
  }
  return ids;
}

/** A connection to a scripted relay. */
export interface RelaySession {
  isData: boolean;
  /** Last recipient, and number of accepted mails, where the script records them. */
  recipient: string;
  /** Last line of a subject. */
  subject: string;
  mails: number;
  /** Calls a function at the end of the connection. */
  closed(ended: () => void): void;
}

/**
 * Starts a relay that answers each line by `answers`: a reply, undefined for none, or null to close the
 * connection. The line "" stands for the connection itself.
 */
export function startScriptedRelay(
  answers: (line: string, session: RelaySession) => string | null | undefined,
) {
  const onConnection: OnConnection = (socket) => {
    const session: RelaySession = {
      isData: false,
      recipient: "",
      subject: "",
      mails: 0,
      closed: (ended) => void socket.once("close", ended),
    };
    let rest = "";
    const answer = (line: string) => {
      const reply = answers(line, session);
      if (reply === null) socket.destroy();
      else if (reply !== undefined) socket.write(`${reply}\r\n`);
      if (reply?.startsWith("354")) session.isData = true;
    };
    socket.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString("latin1")).split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (session.isData && line.startsWith("Subject: ")) session.subject = line;
        if (session.isData && line !== ".") continue;
        session.isData = false;
        answer(line);
      }
    });
    answer("");
  };
  return startRawServer(onConnection);
}

/** Returns the answers of a relay that takes everything, except what `special` answers. */
export function politeRelay(
  special: Readonly<Record<string, string | null | undefined>> = {},
  extensions: readonly string[] = [],
) {
  return (line: string): string | null | undefined => {
    const key = line === "" || line === "." ? line : (/^[A-Za-z]+/.exec(line)?.[0] ?? line);
    if (Object.hasOwn(special, key)) return special[key];
    if (key === "") return "220 relay.test ESMTP";
    if (key === "EHLO") {
      return ["250-relay.test", ...extensions.map((one) => `250-${one}`), "250 HELP"].join("\r\n");
    }
    if (key === "DATA") return "354 Go ahead";
    return key === "QUIT" ? "221 Bye" : "250 2.0.0 Ok";
  };
}

/** Opens a connection to a relay on loopback, which a flag has named. */
export async function connectToRelay(
  { port }: { port: number },
  {
    clock = createTestClock(),
    host = "localhost",
    ...settings
  }: Partial<MailSettings> & { clock?: TestClock } = {},
  more: Partial<RelayOptions> = {},
) {
  const { egress } = await createTestEgress(
    { localhost: [["127.0.0.1"]], "relay.test": [["127.0.0.1"]] },
    { clock, env: { ALLCLEAR_SMTP_HOST: host, ALLCLEAR_MAIL_FROM: "status@example.com" } },
  );
  return openRelay({
    settings: { host, port, tls: "starttls", ...settings },
    name: "status.example.com",
    egress,
    clock,
    signal: patience(),
    ...more,
  });
}
