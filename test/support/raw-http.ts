import { connect, type Socket } from "node:net";

/** Nothing that a server of a test does takes longer. */
const PATIENCE_MS = 15_000;

/** One connection, for what `fetch` would never send. */
export interface RawConnection extends Disposable {
  send(text: string): void;
  /** Everything received so far. */
  received(): string;
  /** Resolves to everything received once it matches. Rejects when the server closes before. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves to everything received once the server has closed the connection. */
  untilClosed(): Promise<string>;
}

export async function openConnection(port: number): Promise<RawConnection> {
  const socket = connect({ host: "127.0.0.1", port });
  let text = "";
  let hasClosed = false;
  let wake = Promise.withResolvers<void>();
  const notify = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  await connected(socket);
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    notify();
  });
  // A reset is a way to close as well: the server refuses to read on.
  socket.on("error", () => {});
  socket.on("close", () => {
    hasClosed = true;
    notify();
  });
  return {
    send: (given) => void socket.write(given, "latin1"),
    received: () => text,
    async until(pattern) {
      while (!pattern.test(text)) {
        if (hasClosed) throw new Error(`the connection was closed without ${pattern}:\n${text}`);
        await wake.promise;
      }
      return text;
    },
    async untilClosed() {
      while (!hasClosed) await wake.promise;
      return text;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
}

/** An answer as it came over the wire. */
export interface RawAnswer {
  status: number;
  /** By lower-case name. */
  headers: Record<string, string>;
  body: string;
}

/**
 * Sends these lines as one request's head, with `Connection: close`, and reads the answer to its end.
 * Undefined where the server closes without a word.
 */
export async function rawRequest(
  port: number,
  lines: readonly string[],
  body = "",
): Promise<RawAnswer | undefined> {
  using connection = await openConnection(port);
  connection.send([...lines, "Connection: close", "", body].join("\r\n"));
  return parseAnswer(await connection.untilClosed());
}

export function parseAnswer(text: string): RawAnswer | undefined {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [statusLine = "", ...headerLines] = head.split("\r\n");
  const status = /^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1];
  if (status === undefined) return undefined;
  const headers = Object.fromEntries(
    headerLines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { status: Number(status), headers, body: rest.join("\r\n\r\n") };
}
