import { request as startRequest, type IncomingMessage } from "node:http";
import { request as startSecureRequest } from "node:https";
import { Readable } from "node:stream";
import { type Problem, unavailable } from "../errors";
import type { Clock } from "../kernel/clock";
import type { Log } from "../kernel/log";
import {
  CLIENT_HEADER,
  FORWARD_PATH,
  FORWARDED_HEADER,
  ORIGIN_HEADER,
  TOKEN_HEADER,
  withoutConnection,
} from "./wire";

/** Requests under way at the same time. */
export const FORWARDS_MAX = 64;
/** Time until the primary's answer begins, in ms. */
export const FORWARD_DEADLINE_MS = 10_000;
const RETRY_AFTER_SECONDS = 5;

/** Errors before anything was sent. */
const NOT_CONNECTED = new Set([
  "ConnectionRefused",
  "ECONNREFUSED",
  "EADDRNOTAVAIL",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "FailedToOpenSocket",
]);

const OUTCOMES = [
  "answered",
  "busy",
  "no_primary",
  "not_connected",
  "refused",
  "failed",
  "timed_out",
] as const;
export type ForwardOutcome = (typeof OUTCOMES)[number];

/** Request for the primary. */
export interface Forwarded {
  method: string;
  /** Origin, path and query as the client sent them. */
  origin: string;
  pathAndQuery: string;
  headers: Headers;
  /** The whole body; undefined without one. */
  body: Uint8Array | undefined;
  /** Client address. */
  client: string;
}

/** A request that the primary did not answer. */
export class NotForwarded {
  constructor(
    readonly outcome: ForwardOutcome,
    readonly problem: Problem,
  ) {}
}

export interface Forwarder {
  /** Sends a request once; it is never repeated, since its effect may be unknown. Never rejects. */
  send(request: Forwarded): Promise<Response | NotForwarded>;
  /** Number of requests since the start, by outcome. */
  counts(): Readonly<Record<ForwardOutcome, number>>;
}

interface ForwarderDependencies {
  clock: Clock;
  log: Log;
  /** Token of the fleet. */
  token: string;
  /** Returns the URL of the primary's private listener; undefined while none is known. */
  primary(): string | undefined;
}

/**
 * Creates the client of the primary. It connects directly, whatever proxy the environment names, with a
 * connection for each request: a kept one can end unseen, and the request on it would be lost.
 */
export function createForwarder({ clock, log, token, primary }: ForwarderDependencies): Forwarder {
  const counts = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<
    ForwardOutcome,
    number
  >;
  let underWay = 0;

  function refuse(outcome: ForwardOutcome, detail: string, cause?: unknown): NotForwarded {
    counts[outcome] += 1;
    if (cause !== undefined) log.warn({ err: cause }, "a request could not be forwarded");
    return new NotForwarded(outcome, unavailable(detail, RETRY_AFTER_SECONDS));
  }

  function explain(error: unknown): NotForwarded {
    if (error instanceof Overdue) return refuse("timed_out", UNKNOWN_OUTCOME, error);
    if (error instanceof Refused) return refuse("refused", UNREACHABLE, error);
    const { code = "" } = error as NodeJS.ErrnoException;
    return NOT_CONNECTED.has(code)
      ? refuse("not_connected", UNREACHABLE, error)
      : refuse("failed", UNKNOWN_OUTCOME, error);
  }

  return {
    async send(request) {
      const address = primary();
      if (address === undefined) return refuse("no_primary", UNREACHABLE);
      if (underWay >= FORWARDS_MAX) {
        return refuse("busy", "Too many requests are being forwarded. Try again.");
      }
      underWay += 1;
      const release = onceOnly(() => (underWay -= 1));
      try {
        const answer = await exchange(new URL(address), request, token, clock, release);
        counts.answered += 1;
        return answer;
      } catch (error) {
        release();
        return explain(error);
      }
    },
    counts: () => counts,
  };
}

const UNREACHABLE = "The primary cannot be reached, so nothing was changed. Try again.";
const UNKNOWN_OUTCOME =
  "The primary did not answer. A change may have been made: look before you repeat it, or repeat it with the same Idempotency-Key.";

/** No answer began within `FORWARD_DEADLINE_MS`. */
class Overdue extends Error {
  constructor() {
    super("the primary did not answer in time");
  }
}

/** The address answered, but not as this fleet's primary. */
class Refused extends Error {}

/** Sends a request and resolves when the answer begins. `release` is called at its end. */
function exchange(
  address: URL,
  request: Forwarded,
  token: string,
  clock: Clock,
  release: () => void,
): Promise<Response> {
  const start = address.protocol === "https:" ? startSecureRequest : startRequest;
  const { method, body } = request;
  return new Promise((resolve, reject) => {
    const sent = start({
      host: address.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: address.port,
      path: FORWARD_PATH + request.pathAndQuery,
      method,
      agent: false,
      headers: headersFor(request, token, address.host),
    });
    const deadline = clock.after(FORWARD_DEADLINE_MS, () => {
      reject(new Overdue());
      sent.destroy();
    });
    sent.on("error", (error) => {
      deadline.cancel();
      reject(error);
    });
    sent.on("response", (received) => {
      deadline.cancel();
      received.on("close", release);
      const headers = headersOf(received);
      if (headers.has(FORWARDED_HEADER)) resolve(toResponse(received, headers, method));
      else {
        const { statusCode } = received;
        reject(new Refused(`the primary's address refused a forwarded request (${statusCode})`));
        received.destroy();
      }
    });
    sent.end(body);
  });
}

/** Returns the headers of the client, the length of the body, and those between nodes, which replace the client's. */
function headersFor(request: Forwarded, token: string, host: string): Record<string, string> {
  const headers = withoutConnection(request.headers, ["x-forwarded-for", "forwarded", "host"]);
  headers.delete("content-length");
  return {
    ...Object.fromEntries(headers),
    ...(request.body && { "content-length": String(request.body.byteLength) }),
    host,
    [TOKEN_HEADER]: token,
    [ORIGIN_HEADER]: request.origin,
    [CLIENT_HEADER]: request.client,
  };
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  return headers;
}

function toResponse(received: IncomingMessage, headers: Headers, method: string): Response {
  const { statusCode: status = 0 } = received;
  const isEmpty = method === "HEAD" || status === 204 || status === 304;
  if (isEmpty) received.resume();
  const body = isEmpty ? null : (Readable.toWeb(received) as unknown as ReadableStream);
  const kept = withoutConnection(headers, ["date", FORWARDED_HEADER]);
  return new Response(body, { status, headers: kept });
}

function onceOnly(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) run();
    isDone = true;
  };
}
