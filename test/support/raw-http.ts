import { connect, type Socket } from "node:net";

/** Time limit of all requests of a test, in milliseconds. */
const PATIENCE_MS = 4 * 60_000;

/** A connection for requests that `fetch` cannot send. */
export interface RawConnection extends Disposable {
  send(text: string): void;
  /** Returns everything received so far. */
  received(): string;
  /** Resolves to everything received once it matches. Rejects if the server closes first. */
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
  // A server that stops reading may reset the connection.
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

/** A raw HTTP response. */
interface RawAnswer {
  status: number;
  /** Headers by lower-case name. */
  headers: Record<string, string>;
  body: string;
}

/**
 * Sends these lines as the head of a request with `Connection: close` and reads the whole response.
 * Returns undefined if the server closes without one.
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
