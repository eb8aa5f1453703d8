import { politeRelay, type RelaySession, startScriptedRelay } from "./relay";

/** A relay whose answers a test decides for each command, or by `decide` for each session. It takes everything else. */
interface Mailboxes extends AsyncDisposable {
  port: number;
  connections(): number;
  /** Recipients of accepted mails, in order. */
  accepted: string[];
  /** Commands of all connections, in order. */
  commands: string[];
  /** Replies by command (`MAIL`, `RCPT`, `DATA`, `.`; "" for the greeting), or by recipient; null closes the connection. */
  answers: Record<string, string | null>;
}

export async function startMailboxes(
  answers: Record<string, string | null> = {},
  extensions: readonly string[] = [],
  decide: (line: string, session: RelaySession) => string | null | undefined = () => undefined,
): Promise<Mailboxes> {
  const polite = politeRelay({}, extensions);
  const accepted: string[] = [];
  const commands: string[] = [];
  const replyTo = (line: string): string | null | undefined => {
    const to = /^RCPT TO:<(.*?)>/.exec(line)?.[1];
    if (to !== undefined && Object.hasOwn(answers, to)) return answers[to];
    const key = line === "" || line === "." ? line : (/^[A-Z]+/.exec(line)?.[0] ?? line);
    return Object.hasOwn(answers, key) ? answers[key] : polite(line);
  };
  const relay = await startScriptedRelay((line, session) => {
    session.recipient = /^RCPT TO:<(.*?)>/.exec(line)?.[1] ?? session.recipient;
    const decided = decide(line, session);
    const reply = decided === undefined ? replyTo(line) : decided;
    if (line !== "") commands.push(line);
    if (line === "." && reply?.startsWith("2")) {
      accepted.push(session.recipient);
      session.mails += 1;
    }
    return reply;
  });
  return {
    port: relay.port,
    connections: () => relay.connections(),
    accepted,
    commands,
    answers,
    [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
  };
}
