/**
 * Reads a URL at a constant rate: `constant-rate URL PER_SECOND SECONDS [HEADER VALUE]…`, and prints the number of
 * requests. Fails if an answer is not 200, or if other work of the machine halves the rate.
 */
import { openConnection, requestText } from "../support/connection";

const CONNECTIONS = 64;
const TICK_MS = 1;

const [target = "", perSecond = "", seconds = "", ...rest] = process.argv.slice(2);
const headers: Record<string, string> = {};
for (let at = 0; at < rest.length; at += 2) headers[rest[at] ?? ""] = rest[at + 1] ?? "";
const url = new URL(target);
const request = requestText(url.origin, url.pathname, { headers });
const connections = Array.from({ length: CONNECTIONS }, () => openConnection(url.origin));
const free = await Promise.all(connections);

let sent = 0;
const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<void>();
const beganAt = performance.now();

function sendDue(): void {
  const elapsedSeconds = (performance.now() - beganAt) / 1_000;
  if (elapsedSeconds >= Number(seconds)) {
    if (free.length === CONNECTIONS) end();
    return;
  }
  while (sent < elapsedSeconds * Number(perSecond)) {
    // The one unused for the longest time: the runtime closes a connection on which no request comes for ten seconds.
    const connection = free.shift();
    if (!connection) return;
    sent += 1;
    connection.send(request).then(({ status }) => {
      if (status !== 200) fail(new Error(`an answer was ${status}`));
      free.push(connection);
    }, fail);
  }
}

const timer = setInterval(sendDue, TICK_MS);
await ended;
clearInterval(timer);
if (sent < (Number(perSecond) * Number(seconds)) / 2) {
  throw new Error(`only ${sent} requests were sent in ${seconds} s`);
}
console.log(sent);
process.exit();
