import { startRelay } from "./relay";

/** A relay that answers each message when the test says so. */
interface HeldRelay extends AsyncDisposable {
  port: number;
  connections(): number;
  /** Recipients of messages that wait for an answer, in the order of their arrival. */
  waiting(): string[];
  /** Recipients of all messages, in the order of their arrival. */
  arrived: string[];
  /** Message ids of all messages. */
  messageIds: string[];
  /** Maximum number of messages that waited at the same time. */
  readonly most: number;
  /** Resolves when this many messages have arrived in all. */
  until(count: number): Promise<void>;
  /** Accepts the message of a recipient, or the oldest one. */
  accept(recipient?: string): void;
  /** Accepts all messages, also later ones. */
  acceptAll(): void;
}

export async function startHeldRelay(): Promise<HeldRelay> {
  const held: { recipient: string; done: () => void }[] = [];
  const arrived: string[] = [];
  const messageIds: string[] = [];
  const watchers: { count: number; resolve: () => void }[] = [];
  let most = 0;
  let isOpen = false;
  const relay = await startRelay({
    onData(stream, session, done) {
      let text = "";
      stream.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
      stream.on("end", () => {
        const recipient = session.envelope.rcptTo[0]?.address ?? "";
        arrived.push(recipient);
        messageIds.push(/^Message-ID: (.*)$/im.exec(text)?.[1] ?? "");
        const entry = { recipient, done: () => done(null, "Ok") };
        if (isOpen) entry.done();
        else held.push(entry);
        most = Math.max(most, held.length);
        for (const { count, resolve } of watchers) if (arrived.length >= count) resolve();
      });
    },
  });
  return {
    port: relay.port,
    connections: () => relay.connections(),
    waiting: () => held.map(({ recipient }) => recipient),
    arrived,
    messageIds,
    get most() {
      return most;
    },
    until: (count) =>
      new Promise((resolve) => {
        if (arrived.length >= count) resolve();
        else watchers.push({ count, resolve });
      }),
    accept(recipient) {
      const index = held.findIndex((one) => recipient === undefined || one.recipient === recipient);
      if (index === -1) throw new Error(`no message to ${recipient ?? "anyone"} waits`);
      held.splice(index, 1)[0]?.done();
    },
    acceptAll() {
      isOpen = true;
      for (const { done } of held.splice(0)) done();
    },
    [Symbol.asyncDispose]: async () => {
      for (const { done } of held.splice(0)) done();
      await relay[Symbol.asyncDispose]();
    },
  };
}
