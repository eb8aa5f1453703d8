import { type TSchema, type Static } from "@sinclair/typebox";
import { Problem, unavailable } from "../base/errors";
import { OperatorError } from "../db/errors";
import { parseJson } from "../base/text";
import { MINUTE_MS, SECOND_MS } from "../base/time";
import { examine } from "../base/validation";
import type { Ctx } from "../context";
import { readBody } from "../egress/body";
import type { Egress } from "../egress/egress";
import { Fault, type HttpRequest } from "../egress/model";
import {
  AGENT_VERSION,
  RESULTS_PATH,
  ResultsAnswer,
  type SentResults,
  Work,
  WORK_PATH,
} from "../features/locations/agent-wire";
import { VERSION } from "../version";

/** Deadlines of requests. The server holds a poll for 30 seconds. */
const WORK_MAX_MS = 50 * SECOND_MS;
const RESULTS_DEADLINE_MS = 15 * SECOND_MS;

/** Longest answer, of 10,000 monitors with long configs. */
const ANSWER_MAX_BYTES = 128 * 1024 * 1024;

/** Waits after failures: without an answer, and after an answer that only a person can change. */
const RETRY_MS = { first: SECOND_MS, max: 15 * SECOND_MS, refused: MINUTE_MS };

/** Interval of looking for another token than one that was refused. */
const LOOK_MS = 2 * SECOND_MS;

/** Answer that is none of the server's usual ones, and that repeating the request does not change. */
export class RejectedRequest extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Server of the agent. */
export interface Server {
  /** Polls for work. Waits up to 30 seconds if there is nothing but what `etag` names. */
  work(etag: string | undefined): Promise<{ work: Work; etag: string | undefined }>;
  /**
   * Sends a batch. Rejects with `unavailable` if it is to be sent again, and with `RejectedRequest` for a batch that the server
   * cannot read.
   */
  send(batch: SentResults): Promise<Static<typeof ResultsAnswer>>;
  /** Waits until the next poll, or the stop. */
  pause(ms: number): Promise<void>;
  /** Waits after a failure, longer after each of several. */
  backOff(error: unknown): Promise<void>;
  /** Ends the requests under way, except those that send results. */
  stop(): void;
}

interface ServerOptions {
  /** Origin, such as `https://status.example.com`. */
  server: string;
  /** Returns the token. Read again for each request after one was refused. */
  readToken(): string;
  /** Called after each answer that shows that the server accepts the agent. */
  onContact(): void;
}

/** Creates the client of a server. It logs each change of the connection once. */
export function createServer(ctx: Ctx, egress: Egress, options: ServerOptions): Server {
  const { clock, log } = ctx;
  const stopped = new AbortController();
  let token: string | undefined;
  let refusedToken: string | undefined;
  /** Trouble that was logged last; undefined while the server answers. */
  let trouble: string | undefined;
  let failures = 0;

  function noteTrouble(text: string): void {
    if (text !== trouble) log.warn({ server: options.server }, text);
    trouble = text;
  }

  function noteContact(): void {
    if (trouble !== undefined) log.info({ server: options.server }, "the server answers again");
    trouble = undefined;
    failures = 0;
    options.onContact();
  }

  function hasOtherToken(): boolean {
    try {
      return options.readToken() !== refusedToken;
    } catch {
      // The file is being replaced.
      return false;
    }
  }

  async function exchange(
    path: string,
    deadlineMs: number,
    more: Pick<HttpRequest, "method" | "body"> & { headers?: Record<string, string> },
  ): Promise<{ body: unknown; etag: string | undefined }> {
    const abort = new AbortController();
    const deadline = clock.after(deadlineMs, () => abort.abort());
    const isPoll = more.method === "GET";
    const signal = isPoll ? AbortSignal.any([abort.signal, stopped.signal]) : abort.signal;
    try {
      token ??= options.readToken();
      const answer = await egress.request({
        url: new URL(path, options.server),
        method: more.method,
        body: more.body,
        headers: {
          Accept: "application/json",
          Authorization: `Bearer ${token}`,
          [AGENT_VERSION]: VERSION,
          "User-Agent": `Allclear/${VERSION}`,
          ...more.headers,
        },
        proxy: "outbound",
        policy: "monitor",
        maxBodyBytes: ANSWER_MAX_BYTES,
        signal,
      });
      if (answer instanceof Fault) throw unavailable(answer.message, 1);
      const read = await readBody(answer, ANSWER_MAX_BYTES);
      if (read instanceof Fault) throw unavailable(read.message, 1);
      const body = parseJson(new TextDecoder().decode(read.bytes));
      if (answer.status !== 200) throw rejection(answer.status, body);
      noteContact();
      return { body, etag: answer.headers.get("etag") };
    } catch (error) {
      if (error instanceof RejectedRequest && error.status === 401) {
        refusedToken = token;
        token = undefined;
      }
      if (!stopped.signal.aborted) noteTrouble(describe(error));
      throw error;
    } finally {
      deadline.cancel();
    }
  }

  /** Waits, until the stop or the abort of `signal` at most. */
  async function pause(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = clock.after(ms, resolve);
    const signals = [stopped.signal, ...(signal ? [signal] : [])];
    const end = () => resolve();
    for (const each of signals) each.addEventListener("abort", end, { once: true });
    if (!signals.some(({ aborted }) => aborted)) await promise;
    for (const each of signals) each.removeEventListener("abort", end);
    timer.cancel();
  }

  return {
    async work(etag) {
      const headers: Record<string, string> = etag === undefined ? {} : { "If-None-Match": etag };
      const answer = await exchange(WORK_PATH, WORK_MAX_MS, { method: "GET", headers });
      return { work: readAs(Work, answer.body), etag: answer.etag };
    },
    async send(batch) {
      const request = {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(batch),
      };
      const { body } = await exchange(RESULTS_PATH, RESULTS_DEADLINE_MS, request);
      return readAs(ResultsAnswer, body);
    },
    async backOff(error) {
      const usualMs = Math.min(RETRY_MS.first * 2 ** failures, RETRY_MS.max);
      failures += 1;
      const waiting = new AbortController();
      const look = clock.every(LOOK_MS, () => {
        if (token === undefined && refusedToken !== undefined && hasOtherToken()) waiting.abort();
      });
      await pause(error instanceof RejectedRequest ? RETRY_MS.refused : usualMs, waiting.signal);
      look.cancel();
    },
    pause: (ms) => pause(ms),
    stop: () => stopped.abort(),
  };
}

/** Statuses after which a batch is sent again: of limits, and of servers and proxies that cannot answer now. */
const RETRIED: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

function rejection(status: number, body: unknown): Error {
  const { detail } = (body ?? {}) as { detail?: unknown };
  const said = typeof detail === "string" ? ` ${detail.slice(0, 300)}` : "";
  const message = `The server answered with status ${status}.${said}`;
  return RETRIED.has(status) ? unavailable(message, 1) : new RejectedRequest(status, message);
}

/** Returns the trouble as a line of the log. No error of a request contains the token. */
function describe(error: unknown): string {
  const isKnown =
    error instanceof RejectedRequest || error instanceof Problem || error instanceof OperatorError;
  return isKnown ? error.message : "The server could not be asked, because of an internal error.";
}

function readAs<Schema extends TSchema>(schema: Schema, body: unknown): Static<Schema> {
  const [fault] = examine(schema, body, 1).errors.all;
  if (fault)
    throw unavailable(`The answer is not that of a server: ${fault.pointer} ${fault.detail}.`, 1);
  return body as Static<Schema>;
}
