import { connect } from "node:http2";
import type { Opened } from "./connect";
import { HandedSocket } from "./handed-socket";
import { headersOf, headersToSend } from "./http-headers";
import { bodyFact, BoundedBytes, BROKEN, INTERIM_ANSWERS_MAX } from "./http1";
import {
  DEFAULT_BODY_MAX_BYTES,
  Fault,
  type HttpAnswer,
  type HttpRequest,
  timedOut,
} from "./model";

const HEAD_MAX_BYTES = 64 * 1024;

/** Headers of HTTP/1 that HTTP/2 does not have. */
const NOT_SENT: ReadonlySet<string> = new Set(["host", "connection", "content-length"]);

/** Sends a request by HTTP/2, reads the answer and closes the connection in any case. */
export async function exchangeHttp2(
  request: HttpRequest,
  { socket, address, certificate }: Opened,
): Promise<HttpAnswer | Fault> {
  const { url, method, body, signal, steps, maxBodyBytes = DEFAULT_BODY_MAX_BYTES } = request;
  steps?.begin("request");
  const sent = headersToSend(request);
  // Frames and headers need some bytes of their own.
  const handed = new HandedSocket(socket, 2 * maxBodyBytes + 4 * HEAD_MAX_BYTES);
  // TLS, if any, has begun, so the session itself needs none.
  const session = connect(`http://${url.host}`, {
    createConnection: () => handed,
    settings: { enablePush: false, maxHeaderListSize: HEAD_MAX_BYTES },
  });
  let hasEnded = false;
  handed.prependListener(
    "data",
    foreignStreamGuard(() => (hasEnded = true)),
  );
  let head: Pick<HttpAnswer, "status" | "headers" | "lines"> | undefined;
  let onAbort = () => {};
  try {
    return await new Promise<HttpAnswer | Fault>((resolve) => {
      const fail = () =>
        resolve(
          head
            ? new Fault("connect", BROKEN, undefined, true)
            : (handed.fault ?? new Fault("protocol", "The answer is not HTTP/2.")),
        );
      onAbort = () =>
        resolve(head ? timedOut("reading the answer", true) : timedOut("waiting for the answer"));
      if (signal.aborted) return onAbort();
      signal.addEventListener("abort", onAbort);
      session.on("error", fail);
      session.on("close", fail);
      const stream = session.request({
        ":method": method,
        ":scheme": url.protocol.slice(0, -1),
        ":authority": sent.get("host")?.[1] ?? url.host,
        ":path": url.pathname + url.search,
        ...Object.fromEntries(
          [...sent]
            .filter(([name]) => !NOT_SENT.has(name))
            .map(([name, [, value]]) => [name, value]),
        ),
      });
      let interimAnswers = 0;
      const bytes = new BoundedBytes(maxBodyBytes);
      const finish = (isTruncated: boolean, isSkipped = false) => {
        if (!head) return fail();
        const read = { body: bytes.bytes, isTruncated, isSkipped };
        steps?.end(bodyFact(read));
        resolve({ ...head, sentBody: read.body, isTruncated, address, certificate });
      };
      stream.on("error", fail);
      stream.on("headers", () => {
        interimAnswers += 1;
        if (interimAnswers > INTERIM_ANSWERS_MAX) {
          resolve(new Fault("protocol", "The server sent interim answers without end."));
        }
      });
      stream.on("response", (headers) => {
        const lines = linesOf(headers);
        head = { status: Number(headers[":status"]), headers: headersOf(lines), lines };
        steps?.end(`HTTP status ${head.status}, by HTTP/2`);
        steps?.begin("body");
        const length = Number(head.headers.get("content-length") ?? Infinity);
        const isNeeded = length <= maxBodyBytes || (request.isBodyNeeded?.(head) ?? true);
        if (!isNeeded) finish(true, true);
      });
      stream.on("data", (chunk: Buffer) => {
        if (!bytes.append(chunk)) finish(true);
      });
      stream.on("end", () => (hasEnded ? finish(false) : fail()));
      if (body) stream.end(body);
      else stream.end();
    });
  } finally {
    signal.removeEventListener("abort", onAbort);
    session.destroy();
    handed.destroy();
    socket.destroy();
  }
}

/** Returns the headers of an answer as lines, without those of HTTP/2 itself. */
function linesOf(headers: Readonly<Record<string, string | string[] | undefined>>) {
  return Object.entries(headers)
    .filter(([name]) => !name.startsWith(":"))
    .flatMap(([name, value = []]) =>
      [value].flat().map((each): [name: string, value: string] => [name, each]),
    );
}

const HEADER_BYTES = 9;
const DATA = 0;
const HEADERS = 1;
const PUSH_PROMISE = 5;

/** Frames that are read, more than 4 MiB in pieces of a kilobyte need. Each costs the runtime some time. */
const FRAMES_MAX = 16 * 1024;

/** Flag of the last frame of a stream. */
const END_STREAM = 1;

/** Number of the only stream of a client that sends one request. */
const OWN_STREAM = 1;

/**
 * Returns a listener for the data of an HTTP/2 server that throws at a frame of a stream which the server
 * has begun. The runtime reports errors of such a stream to no listener, so that they would end the process.
 * It also throws after `FRAMES_MAX` frames. `onEnd` is called once the last frame of the own stream is complete; the
 * runtime reports it as it does a lost connection.
 */
export function foreignStreamGuard(onEnd?: () => void): (chunk: Buffer) => void {
  const header = Buffer.alloc(HEADER_BYTES);
  let filled = 0;
  let payloadLeft = 0;
  let frames = 0;
  let isLast = false;
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      const skipped = Math.min(payloadLeft, chunk.length - at);
      const copied = chunk.copy(header, filled, at + skipped);
      payloadLeft -= skipped;
      filled += copied;
      at += skipped + copied;
      if (filled === HEADER_BYTES) {
        filled = 0;
        frames += 1;
        if (frames > FRAMES_MAX) throw new Error("the server sends too many frames");
        payloadLeft = header.readUIntBE(0, 3);
        const stream = header.readUInt32BE(5) & 0x7f_ff_ff_ff;
        if (stream > OWN_STREAM || header[3] === PUSH_PROMISE) {
          throw new Error("the server has begun a stream");
        }
        const [, , , type = 0, flags = 0] = header;
        const canEnd = stream === OWN_STREAM && (type === DATA || type === HEADERS);
        isLast ||= canEnd && (flags & END_STREAM) !== 0;
      }
      if (!isLast || payloadLeft > 0) continue;
      isLast = false;
      onEnd?.();
    }
  };
}
