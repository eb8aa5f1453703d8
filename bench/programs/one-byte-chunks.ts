/**
 * Sends many bodies at once, each in chunks of one byte, and prints as JSON how they were answered:
 * `one-byte-chunks URL PATH CONNECTIONS BYTES`. All come from one address, as a trusted proxy names it.
 */
export interface ChunkFlood {
  /** Number of connections by the status of their answer; `closed` for those that had none. */
  answers: Record<string, number>;
  /** Bytes written to the sockets. */
  sent: number;
  ms: number;
}

const CHUNK = "1\r\na\r\n";
const CHUNKS_AT_ONCE = 16_384;
const chunks = Buffer.from(CHUNK.repeat(CHUNKS_AT_ONCE));

const [url = "", path = "", connections = "", bytes = ""] = process.argv.slice(2);
const { host, origin, hostname, port } = new URL(url);
const head = [
  `POST ${path} HTTP/1.1`,
  `Host: ${host}`,
  `Origin: ${origin}`,
  "X-Forwarded-For: 198.51.100.1",
  "Content-Type: application/x-www-form-urlencoded",
  "Transfer-Encoding: chunked",
  "\r\n",
].join("\r\n");

const flood: ChunkFlood = { answers: {}, sent: 0, ms: 0 };
const since = performance.now();
await Promise.all(Array.from({ length: Number(connections) }, sendOne));
flood.ms = performance.now() - since;
process.stdout.write(JSON.stringify(flood));
process.exit(0);

/** Sends one body for as long as the server reads it, also after its answer. */
async function sendOne(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let answer = "";
  let left = Number(bytes);
  let isEnded = false;
  let pending: Buffer = Buffer.from(head);

  function nextPart(): Buffer | undefined {
    if (isEnded) return undefined;
    if (left === 0) {
      isEnded = true;
      return Buffer.from("0\r\n\r\n");
    }
    const count = Math.min(left, CHUNKS_AT_ONCE);
    left -= count;
    return chunks.subarray(0, count * CHUNK.length);
  }

  function write(socket: Bun.Socket): void {
    for (;;) {
      const written = socket.write(pending);
      if (written < 0) return;
      flood.sent += written;
      pending = pending.subarray(written);
      if (pending.byteLength > 0) return;
      const next = nextPart();
      if (!next) return;
      pending = next;
    }
  }

  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: write,
      drain: write,
      data(socket, data) {
        answer += data.toString("latin1");
        if (isEnded) socket.end();
      },
      close: () => resolve(),
      error: () => resolve(),
    },
  });
  await promise;
  const status = answer.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length) || "closed";
  flood.answers[status] = (flood.answers[status] ?? 0) + 1;
}
