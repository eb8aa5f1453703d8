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

/** Deadline of a poll, which the server holds for 30 seconds. */
const WORK_DEADLINE_MS = 50 * SECOND_MS;

/** Deadline of a batch of results, and the time after which its answer shows that the network was gone meanwhile. */
const RESULTS_DEADLINE_MS = 15 * SECOND_MS;
const ANSWERS_WITHIN_MS = 5 * SECOND_MS;

/** Longest answer, of 10,000 monitors with long configs. */
const ANSWER_MAX_BYTES = 128 * 1024 * 1024;

/** Waits after failures: without an answer, and after an answer that only a person can change. */
const RETRY_MS = { first: SECOND_MS, max: 15 * SECOND_MS, refused: MINUTE_MS };

/** Interval of looking for another token than one that was refused. */
const LOOK_MS = 2 * SECOND_MS;

/** Answer with a status that repeating the request does not change, such as 401 or 409. */
export class RejectedRequest extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

interface ServerOptions {
  /** Origin, such as `https://status.example.com`. */
  server: string;
  /** Returns the token. Read again for each request after one was refused. */
  readToken(): string;
  /** Called after each answer that shows that the server accepts the agent. */
  onContact(): void;
}

type ServerRequest = Pick<HttpRequest, "method" | "body" | "headers"> &
  Partial<Pick<HttpRequest, "signal">>;

/** Client of the server. It logs each change of the connection once. */
export class Server {
  readonly #ctx: Ctx;
  readonly #egress: Egress;
  readonly #options: ServerOptions;
  readonly #stopped = new AbortController();
  #token: string | undefined;
  #refusedToken: string | undefined;
  /** Trouble that was logged last; undefined while the server answers. */
  #trouble: string | undefined;
  #failures = 0;
  #cutOffUntil = Number.NEGATIVE_INFINITY;
  /** Aborted when the token is refused. */
  #refused = new AbortController();

  constructor(ctx: Ctx, egress: Egress, options: ServerOptions) {
    this.#ctx = ctx;
    this.#egress = egress;
    this.#options = options;
  }

  /**
   * Time until which the server could not be reached, in unix ms; Infinity while it cannot. Any answer shows that it can
   * be reached, and one to a batch that took long that it could not be meanwhile.
   */
  get cutOffUntil(): number {
    return this.#cutOffUntil;
  }

  /** Polls for work. Waits up to 30 seconds if there is nothing but what `etag` names. */
  async work(etag: string | undefined): Promise<{ work: Work; etag: string | undefined }> {
    const headers: Record<string, string> = etag === undefined ? {} : { "If-None-Match": etag };
    // With a token that was refused, the server would answer at the end of the poll.
    const signal = AbortSignal.any([this.#stopped.signal, this.#refused.signal]);
    const answer = await this.#exchange(WORK_PATH, WORK_DEADLINE_MS, {
      method: "GET",
      headers,
      signal,
    });
    return { work: readAs(Work, answer.body), etag: answer.etag };
  }

  /**
   * Sends a batch. Rejects with `unavailable` if it is to be sent again, and with `RejectedRequest` for a batch that
   * the server cannot read.
   */
  async send(batch: SentResults): Promise<Static<typeof ResultsAnswer>> {
    const request = {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(batch),
    };
    const { body } = await this.#exchange(RESULTS_PATH, RESULTS_DEADLINE_MS, request);
    return readAs(ResultsAnswer, body);
  }

  /** Waits until the next poll, the stop, or the abort of `signal`. */
  async pause(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#ctx.clock.after(ms, resolve);
    const signals = [this.#stopped.signal, ...(signal ? [signal] : [])];
    const end = () => resolve();
    for (const each of signals) each.addEventListener("abort", end, { once: true });
    if (!signals.some(({ aborted }) => aborted)) await promise;
    for (const each of signals) each.removeEventListener("abort", end);
    timer.cancel();
  }

  /** Waits after a failure, longer after each of several. Another token than one that was refused ends the wait. */
  async backOff(error: unknown): Promise<void> {
    const usualMs = Math.min(RETRY_MS.first * 2 ** this.#failures, RETRY_MS.max);
    this.#failures += 1;
    const waiting = new AbortController();
    const look = this.#ctx.clock.every(LOOK_MS, () => {
      if (this.#hasOtherToken()) waiting.abort();
    });
    await this.pause(error instanceof RejectedRequest ? RETRY_MS.refused : usualMs, waiting.signal);
    look.cancel();
  }

  /** Ends the poll under way and all waits. Batches that are being sent go on. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Sends a request. Notes if the server answers, or the trouble with it. */
  async #exchange(
    path: string,
    deadlineMs: number,
    request: ServerRequest,
  ): Promise<{ body: unknown; etag: string | undefined }> {
    const abort = new AbortController();
    const deadline = this.#ctx.clock.after(deadlineMs, () => abort.abort());
    const signals = [abort.signal, ...(request.signal ? [request.signal] : [])];
    try {
      const answer = await this.#request(path, { ...request, signal: AbortSignal.any(signals) });
      if (answer instanceof Fault) {
        if (!request.signal?.aborted) this.#cutOffUntil = Infinity;
        throw unavailable(answer.message, 1);
      }
      this.#noteContact();
      return answer;
    } catch (error) {
      const isEnded = request.signal?.aborted === true || this.#stopped.signal.aborted;
      if (!isEnded) this.#noteTrouble(describe(error));
      if (error instanceof RejectedRequest && error.status === 401) this.#dropToken();
      throw error;
    } finally {
      deadline.cancel();
    }
  }

  async #request(
    path: string,
    { headers, ...request }: ServerRequest & { signal: AbortSignal },
  ): Promise<{ body: unknown; etag: string | undefined } | Fault> {
    this.#token ??= this.#options.readToken();
    const { clock } = this.#ctx;
    const sentAt = clock.now();
    const answer = await this.#egress.request({
      ...request,
      url: new URL(path, this.#options.server),
      headers: {
        Accept: "application/json",
        Authorization: `Bearer ${this.#token}`,
        [AGENT_VERSION]: VERSION,
        "User-Agent": `Allclear/${VERSION}`,
        ...headers,
      },
      proxy: "outbound",
      policy: "monitor",
      maxBodyBytes: ANSWER_MAX_BYTES,
    });
    if (answer instanceof Fault) return answer;
    const isLate = request.method === "POST" && clock.now() - sentAt > ANSWERS_WITHIN_MS;
    if (isLate || this.#cutOffUntil === Infinity) this.#cutOffUntil = clock.now();
    const read = await readBody(answer, ANSWER_MAX_BYTES);
    if (read instanceof Fault) throw unavailable(read.message, 1);
    const body = parseJson(new TextDecoder().decode(read.bytes));
    if (answer.status !== 200) throw rejection(answer.status, body);
    return { body, etag: answer.headers.get("etag") };
  }

  /** Drops a token that was refused, and ends the poll with it. */
  #dropToken(): void {
    this.#refusedToken = this.#token;
    this.#token = undefined;
    this.#refused.abort();
    this.#refused = new AbortController();
  }

  #noteTrouble(text: string): void {
    const { server } = this.#options;
    if (text !== this.#trouble) this.#ctx.log.warn({ server }, text);
    this.#trouble = text;
  }

  #noteContact(): void {
    const { server, onContact } = this.#options;
    if (this.#trouble !== undefined) this.#ctx.log.info({ server }, "the server answers again");
    this.#trouble = undefined;
    this.#failures = 0;
    onContact();
  }

  /** Returns true if the token was refused and there is another one. */
  #hasOtherToken(): boolean {
    if (this.#token !== undefined || this.#refusedToken === undefined) return false;
    try {
      return this.#options.readToken() !== this.#refusedToken;
    } catch {
      // The file is being replaced.
      return false;
    }
  }
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
