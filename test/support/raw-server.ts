import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions, type TLSSocket } from "node:tls";

/** A server on a free port of loopback. Disposing it closes its connections. */
export interface RawServer extends AsyncDisposable {
  port: number;
  /** Returns the number of accepted connections. */
  connections(): number;
  /** Resolves when all accepted connections are closed. */
  allClosed(): Promise<void>;
}

/**
 * Handles an accepted connection. Errors of the connection are ignored, since the client detects
 * them.
 */
export type OnConnection = (socket: Socket) => void;

/** Starts a server that handles each connection by `onConnection`. */
export function startRawServer(onConnection: OnConnection): Promise<RawServer> {
  const server = createServer();
  return started(server, "connection", onConnection);
}

/** Starts such a server with TLS and a certificate from `certificates/`. */
export async function startTlsServer(
  certificate: "good" | "expired" | "other" | "self" | "chain" | "odd" | "renewed-chain",
  onConnection: OnConnection,
  options: TlsOptions = {},
): Promise<RawServer> {
  const pem = await certificateText(certificate);
  const server = createTlsServer({ key: pem, cert: pem, ...options });
  server.on("tlsClientError", () => {});
  return started(server, "secureConnection", onConnection);
}

/**
 * Reads a certificate; `root` has signed `good`, `expired` and `other`, and `authority` the chain in `chain`. That in
 * `odd` has a key of a kind that the runtime does not know. That in `renewed-chain` ends with `old-authority`, whose name
 * and key `renewed-authority` has for longer.
 */
export function certificateText(name: string): Promise<string> {
  return Bun.file(new URL(`certificates/${name}.pem`, import.meta.url)).text();
}

/** Returns a certificate of the tests with its key, in PEM. */
export async function clientCertificate(
  name: string,
): Promise<{ certificate: string; key: string }> {
  const pem = await certificateText(name);
  const [certificate = ""] = /-----BEGIN CERTIFICATE[^]*?END CERTIFICATE-----/.exec(pem) ?? [];
  const [key = ""] = /-----BEGIN [A-Z ]*PRIVATE KEY[^]*?PRIVATE KEY-----/.exec(pem) ?? [];
  return { certificate, key };
}

/** Answers each request by `answer` once its headers have arrived. */
export function answering(answer: string | ((request: string) => string)): OnConnection {
  return (socket) => {
    let request = "";
    socket.on("data", (chunk: Buffer) => {
      request += chunk.toString("latin1");
      if (!isComplete(request)) return;
      socket.end(typeof answer === "string" ? answer : answer(request), "latin1");
      request = "";
    });
  };
}

/** Builds a response with a body and its length. */
export function httpAnswer(
  status: number,
  body = "",
  headers: Record<string, string> = {},
): string {
  const lines = Object.entries({ "Content-Length": String(body.length), ...headers });
  return `HTTP/1.1 ${status} -\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
}

function isComplete(request: string): boolean {
  const end = request.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const length = Number(/^content-length: (\d+)/im.exec(request)?.[1] ?? 0);
  return request.length >= end + 4 + length;
}

async function started(
  server: ReturnType<typeof createServer>,
  event: "connection" | "secureConnection",
  onConnection: OnConnection,
): Promise<RawServer> {
  const open = new Set<Socket | TLSSocket>();
  let accepted = 0;
  let whenClosed = Promise.withResolvers<void>();
  server.on(event, (socket: Socket) => {
    accepted += 1;
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      open.delete(socket);
      if (open.size > 0) return;
      whenClosed.resolve();
      whenClosed = Promise.withResolvers();
    });
    onConnection(socket);
    // A socket that is not read does not notice that the other side has closed.
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => accepted,
    allClosed: () => (open.size === 0 ? Promise.resolve() : whenClosed.promise),
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
