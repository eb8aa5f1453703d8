import { request as startRequest, type IncomingMessage } from "node:http";
import { request as startSecureRequest } from "node:https";
import type { Clock } from "../base/clock";
import { TOKEN_HEADER } from "./store";

/** Request to the private listener of a node. */
interface NodeRequest {
  /** URL of the listener. */
  address: string;
  method: string;
  pathAndQuery: string;
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array | string | undefined;
  /** Token of the fleet. */
  token: string;
  /** Time until the answer begins, in ms. */
  deadlineMs: number;
}

/** No answer began in time, or it stopped. */
export class Overdue extends Error {
  constructor() {
    super("the node did not answer in time");
  }
}

/**
 * Sends one request to a node and resolves when the answer begins. Connects directly, whatever proxy the environment
 * names, with a connection of its own: a kept one can end unseen, and the request on it would be lost.
 */
export function requestNode(request: NodeRequest, clock: Clock): Promise<IncomingMessage> {
  const { method, body, headers, token, deadlineMs, pathAndQuery: path } = request;
  const url = new URL(request.address);
  const start = url.protocol === "https:" ? startSecureRequest : startRequest;
  return new Promise((resolve, reject) => {
    const sent = start({
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: url.port,
      path,
      method,
      agent: false,
      headers: {
        ...headers,
        ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
        host: url.host,
        [TOKEN_HEADER]: token,
      },
    });
    const deadline = clock.after(deadlineMs, () => {
      reject(new Overdue());
      sent.destroy();
    });
    sent.on("error", (error) => {
      deadline.cancel();
      reject(error);
    });
    sent.on("response", (received) => {
      deadline.cancel();
      resolve(received);
    });
    sent.end(body);
  });
}

/**
 * Returns the body of an answer. It ends with `Overdue` if nothing arrives for `silenceMs` while more is wanted, such as
 * from a machine that hangs. A reader may take its time.
 */
export function bodyOf(
  received: IncomingMessage,
  clock: Clock,
  silenceMs: number,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks: AsyncIterator<Uint8Array<ArrayBuffer>> = received[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const limit = clock.after(silenceMs, () => received.destroy(new Overdue()));
        try {
          const { done, value } = await chunks.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } finally {
          limit.cancel();
        }
      },
      cancel: () => void received.destroy(),
    },
    // Reads only what is asked for.
    { highWaterMark: 0 },
  );
}

/** Describes the status by which a node refused a request. */
export function describeRefusal(status: number | undefined): string {
  return `status ${status}${status === 401 ? ", since ALLCLEAR_FLEET_SECRET differs" : ""}`;
}

/** The primary, as a replica reaches it. */
interface PrimaryAddress {
  /** Returns the URL of the primary's private listener; undefined while none is known. */
  primary(): string | undefined;
  /** Token of the fleet. */
  token: string;
}

/** Time until the primary's answer begins, and longest silence in it, in ms. */
const POST_DEADLINE_MS = 5_000;

/** Posts JSON to the primary, and returns the body of its answer. Throws unless that is a success. */
export async function postToPrimary(
  clock: Clock,
  { primary, token }: PrimaryAddress,
  path: string,
  body: unknown,
): Promise<string> {
  const address = primary();
  if (address === undefined) throw new Error("no primary is known");
  const received = await requestNode(
    {
      address,
      method: "POST",
      pathAndQuery: path,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      token,
      deadlineMs: POST_DEADLINE_MS,
    },
    clock,
  );
  const answer = await new Response(bodyOf(received, clock, POST_DEADLINE_MS)).text();
  const { statusCode = 0 } = received;
  if (statusCode < 200 || statusCode > 299) {
    throw new Error(`the primary answered ${statusCode}: ${answer.slice(0, 200)}`);
  }
  return answer;
}
