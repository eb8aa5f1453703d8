import { connect } from "node:http2";
import type { Opened } from "./connect";
import { Fault, timedOut } from "./fault";
import { HandedSocket } from "./handed-socket";
import { bodyFact, BoundedBytes, BROKEN, INTERIM_ANSWERS_MAX } from "./http-reader";
import { foreignStreamGuard } from "./http2-frames";
import { DEFAULT_BODY_MAX_BYTES, type HttpAnswer, type HttpRequest } from "./model";
import { headersOf, headersToSend } from "./request-headers";

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
