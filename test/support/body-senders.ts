import { settle } from "./clock";
import { openConnection, type RawConnection } from "./raw-http";
import type { ServedApp } from "./served-app";

/** Headers of a form that is sent in chunks. */
export const CHUNKED_FORM = [
  "Content-Type: application/x-www-form-urlencoded",
  "Transfer-Encoding: chunked",
];

/** Opens a connection and sends the head of a request with the dashboard's origin. */
export async function beginRequest(
  { origin }: ServedApp,
  requestLine: string,
  headers: readonly string[],
): Promise<RawConnection> {
  const { port, host } = new URL(origin);
  const connection = await openConnection(Number(port));
  const head = [`${requestLine} HTTP/1.1`, `Host: ${host}`, `Origin: ${origin}`, ...headers];
  connection.send(`${head.join("\r\n")}\r\n\r\n`);
  return connection;
}

/** Returns the number of requests counted for a route so far, by status. */
export function countedOf({ app }: ServedApp, route: string): Record<string, number> {
  const found: Record<string, number> = {};
  for (const family of app.app.routes.counts.families()) {
    for (const { labels, value } of family.read()) {
      if (labels?.["route"] === route) found[labels["status"] ?? ""] = value;
    }
  }
  return found;
}

/** Resolves once this number of requests is counted for a route. */
export async function untilCounted(site: ServedApp, route: string, total: number): Promise<void> {
  const sum = () => Object.values(countedOf(site, route)).reduce((all, value) => all + value, 0);
  while (sum() < total) await settle();
}

/** Resolves once the server has read what was sent before. */
export async function untilRead({ origin }: ServedApp): Promise<void> {
  const { status } = await fetch(`${origin}/healthz`);
  if (status !== 200) throw new Error(`/healthz answered ${status}`);
}

/** Sends chunks of one byte for as long as the connection is open. Resolves to everything received. */
export async function sendForever(connection: RawConnection): Promise<string> {
  const chunks = "1\r\na\r\n".repeat(1_000);
  const closed = connection.untilClosed();
  let isClosed = false;
  void closed.then(() => (isClosed = true));
  while (!isClosed) {
    connection.send(chunks);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return closed;
}
