/*
 * Fetches JSON documents of other products for importers, to public addresses and allowed networks only.
 * `fetchDocument` is the entrance.
 */
import type { Clock } from "../base/clock";
import { SECOND_MS } from "../base/time";
import { OperatorError } from "../db/errors";
import { readBody } from "../egress/body";
import type { Egress } from "../egress/egress";
import { Fault, type HttpAnswer } from "../egress/model";
import { parseModestJson } from "./kit";

const MEBIBYTES_MAX = 8;
const BYTES_MAX = MEBIBYTES_MAX * 1024 * 1024;
const DEADLINE_MS = 30 * SECOND_MS;
const REDIRECTS_MAX = 5;

/** Number of waits for one document, and the time of each unless the server names it. */
const WAITS_MAX = 5;
const WAIT_MS = 60 * SECOND_MS;
/** Longest time that a server can name. */
const NAMED_WAIT_MAX_MS = 600 * SECOND_MS;

/** Answers of a server that is asked too often: Statuspage's REST API answers 420. */
const TOO_OFTEN: ReadonlySet<number> = new Set([420, 429]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Dependencies of reading a page from the network. */
export interface FetchDependencies {
  egress: Pick<Egress, "request">;
  clock: Pick<Clock, "now" | "monotonic" | "after">;
  wait(ms: number): Promise<void>;
  /** Shows a line to the person who waits. */
  progress(line: string): void;
}

/** A fetched document with its decompressed size; undefined where the server has none (404). */
export type Fetched = { document: unknown; bytes: number } | undefined;

interface FetchOptions {
  /** Value of the header `Authorization`, which is a secret. With it, no redirect is followed. */
  authorization?: string;
}

/**
 * Returns the address below which an API answers that is called with a key: `path` for one without a path. Throws an
 * OperatorError unless it begins with https://.
 */
export function apiAddress(address: URL, path: string): URL {
  if (address.protocol !== "https:") {
    throw new OperatorError(
      "The address must begin with https://, since the API key is sent to it.",
    );
  }
  const base = new URL(address.pathname === "/" ? path : `${address.pathname}/`, address);
  base.pathname = base.pathname.replace(/\/+$/, "/");
  return base;
}

/**
 * Fetches a JSON document, to public addresses and allowed networks only. Waits where the server asks to. Throws an
 * OperatorError, without secrets, for anything but a document and 404.
 */
export async function fetchDocument(
  deps: FetchDependencies,
  address: URL,
  options: FetchOptions = {},
): Promise<Fetched> {
  let url = address;
  let redirects = 0;
  let waits = 0;
  for (;;) {
    const answer = await requestOnce(deps, url, options);
    const { status } = answer;
    if (TOO_OFTEN.has(status) && waits < WAITS_MAX) {
      waits += 1;
      const ms = waitOf(answer, deps.clock.now());
      deps.progress(`${url.host} asks to wait for ${Math.ceil(ms / SECOND_MS)} seconds.`);
      await deps.wait(ms);
      continue;
    }
    const location = answer.headers.get("location");
    if (REDIRECTS.has(status) && location !== undefined && options.authorization === undefined) {
      redirects += 1;
      const target = URL.parse(location, url);
      if (redirects > REDIRECTS_MAX || !target) throw failure(url, "redirects without an end");
      url = target;
      continue;
    }
    if (status === 404) return undefined;
    if (options.authorization !== undefined && (status === 401 || status === 403)) {
      throw failure(url, `does not accept the API key (status ${status})`);
    }
    if (status !== 200) throw failure(url, `answered with status ${status}`);
    return documentOf(answer, url);
  }
}

async function requestOnce(
  { egress, clock }: FetchDependencies,
  url: URL,
  { authorization }: FetchOptions,
): Promise<HttpAnswer> {
  const deadline = new AbortController();
  const timer = clock.after(DEADLINE_MS, () => deadline.abort());
  try {
    const answer = await egress.request({
      url,
      method: "GET",
      headers: {
        Accept: "application/json",
        ...(authorization !== undefined && { Authorization: authorization }),
      },
      maxBodyBytes: BYTES_MAX,
      policy: "webhook",
      proxy: "outbound",
      signal: deadline.signal,
    });
    if (answer instanceof Fault) throw failure(url, `cannot be read: ${answer.message}`);
    return answer;
  } finally {
    timer.cancel();
  }
}

async function documentOf(answer: HttpAnswer, url: URL): Promise<NonNullable<Fetched>> {
  const body = await readBody(answer, BYTES_MAX);
  if (body instanceof Fault) throw failure(url, `cannot be read: ${body.message}`);
  if (body.isTruncated) throw failure(url, `is larger than ${MEBIBYTES_MAX} MiB`);
  const document = parseDocument(new TextDecoder().decode(body.bytes), shown(url));
  return { document, bytes: body.bytes.byteLength };
}

/** Returns the time to wait, in ms: the one that the server names, in seconds or as a date. */
function waitOf({ headers }: HttpAnswer, now: number): number {
  const named = headers.get("retry-after")?.trim() ?? "";
  const ms = /^\d{1,9}$/.test(named) ? Number(named) * SECOND_MS : Date.parse(named) - now;
  return Number.isNaN(ms) ? WAIT_MS : Math.min(Math.max(ms, SECOND_MS), NAMED_WAIT_MAX_MS);
}

function failure(url: URL, problem: string): OperatorError {
  return new OperatorError(`${shown(url)} ${problem.replace(/\.$/, "")}.`);
}

/** Returns an address without credentials and query. */
function shown({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

/** Parses a JSON text. Throws an OperatorError, with the name of the document, for one that cannot be read. */
export function parseDocument(text: string, name: string): unknown {
  const document = parseModestJson(text, name);
  if (document === undefined) throw new OperatorError(`${name} is no JSON.`);
  return document;
}
