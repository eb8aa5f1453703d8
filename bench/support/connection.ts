/** One answer, its body as it came over the wire: compressed, where it was sent compressed. */
export interface Answer {
  status: number;
  /** By lower-case name. */
  headers: Map<string, string>;
  body: Buffer<ArrayBuffer>;
}

interface RequestOptions {
  headers?: Record<string, string>;
  /** Makes it a POST of these fields, sent from the server's own origin as a browser does. */
  form?: Record<string, string>;
  /** Makes it a PATCH of this as JSON. */
  patch?: object;
  /** Makes it a request of this method with a JSON text. */
  json?: { method: string; text: string };
}

/** A socket that is kept open. It costs its user next to nothing, so that the server is measured. */
export interface Connection {
  /** Sends what `requestText` made and reads the whole answer. One at a time. Throws when it closes. */
  send(request: string): Promise<Answer>;
  close(): void;
}

const HEAD_END = "\r\n\r\n";

/** Connects to the server of a URL of the loopback. */
export async function openConnection(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url);
  let received = Buffer.alloc(0);
  let waiting: PromiseWithResolvers<Answer> | undefined;
  let failure: Error | undefined;
  /** Bytes that the socket has not taken yet: it takes no more than its buffer holds. */
  let unsent: Buffer = Buffer.alloc(0);
  const fail = (error: Error) => {
    failure ??= error;
    waiting?.reject(error);
  };
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_socket, chunk) {
        received = Buffer.concat([received, chunk]);
        try {
          const answer = readAnswer(received);
          if (!answer) return;
          received = Buffer.alloc(0);
          waiting?.resolve(answer);
        } catch (error) {
          fail(error as Error);
        }
      },
      drain(socket) {
        unsent = unsent.subarray(socket.write(unsent));
      },
      error: (_socket, error) => fail(error),
      close: () => fail(new Error(`${url} closed the connection`)),
    },
  });
  return {
    send(request) {
      if (failure) return Promise.reject(failure);
      waiting = Promise.withResolvers<Answer>();
      const bytes = Buffer.from(request);
      unsent = bytes.subarray(socket.write(bytes));
      return waiting.promise;
    },
    close: () => void socket.end(),
  };
}

/** A request as it goes over the wire: made before the clock starts. */
export function requestText(
  url: string,
  path: string,
  { headers = {}, form, patch, json }: RequestOptions = {},
): string {
  const { host, origin } = new URL(url);
  const [method, mediaType, body] = form
    ? ["POST", "application/x-www-form-urlencoded", new URLSearchParams(form).toString()]
    : patch
      ? ["PATCH", "application/json", JSON.stringify(patch)]
      : json
        ? [json.method, "application/json", json.text]
        : ["GET", "", ""];
  const all = {
    Host: host,
    ...(form && { Origin: origin }),
    ...(mediaType !== "" && {
      "Content-Type": mediaType,
      "Content-Length": String(Buffer.byteLength(body)),
    }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

/** The answer that some bytes are; undefined as long as some of it is missing. */
function readAnswer(received: Buffer<ArrayBuffer>): Answer | undefined {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const [first = "", ...lines] = received.toString("latin1", 0, headEnd).split("\r\n");
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const isEmpty = / 304 /.test(first);
  const length = isEmpty ? 0 : Number(headers.get("content-length") ?? Number.NaN);
  if (!Number.isInteger(length)) throw new Error(`an answer does not tell its length: ${first}`);
  const body = received.subarray(headEnd + HEAD_END.length);
  if (body.byteLength < length) return undefined;
  return { status: Number(first.split(" ")[1]), headers, body };
}
