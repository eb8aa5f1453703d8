import type { IncomingMessage } from "node:http";
import { type Problem, unavailable } from "../../base/errors";
import type { Clock } from "../../base/clock";
import type { Log } from "../../base/log";
import { bodyOf, describeRefusal, Overdue, requestNode } from "../node-client";
import {
  CLIENT_HEADER,
  FORWARD_PATH,
  FORWARDED_HEADER,
  ORIGIN_HEADER,
  withoutConnection,
} from "../wire";

/** Requests under way at the same time. */
export const FORWARDS_MAX = 64;
/** Time until the primary's answer begins, and longest silence in it, in ms. */
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

/** Creates the client of the primary's application. */
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
        const { method, body } = request;
        const received = await requestNode(
          {
            address,
            method,
            pathAndQuery: FORWARD_PATH + request.pathAndQuery,
            headers: headersFor(request),
            body,
            token,
            deadlineMs: FORWARD_DEADLINE_MS,
          },
          clock,
        );
        received.on("close", release);
        received.on("error", (error) =>
          log.warn({ err: error }, "the primary's answer to a forwarded request is not complete"),
        );
        const headers = headersOf(received);
        if (!headers.has(FORWARDED_HEADER)) {
          received.destroy();
          const reason = describeRefusal(received.statusCode);
          throw new Refused(`${address} did not answer as the primary, but with ${reason}`);
        }
        counts.answered += 1;
        return toResponse(received, headers, method, clock);
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

/** The address answered, but not as this fleet's primary. */
class Refused extends Error {}

/** Returns the headers of the client and those between nodes, which replace the client's. */
function headersFor({ headers, origin, client }: Forwarded): Record<string, string> {
  const own = ["x-forwarded-for", "forwarded", "host", "content-length"];
  return {
    ...Object.fromEntries(withoutConnection(headers, own)),
    [ORIGIN_HEADER]: origin,
    [CLIENT_HEADER]: client,
  };
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  return headers;
}

function toResponse(
  received: IncomingMessage,
  headers: Headers,
  method: string,
  clock: Clock,
): Response {
  const { statusCode: status = 0 } = received;
  const isEmpty = method === "HEAD" || status === 204 || status === 304;
  if (isEmpty) received.destroy();
  const body = isEmpty ? null : bodyOf(received, clock, FORWARD_DEADLINE_MS);
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
