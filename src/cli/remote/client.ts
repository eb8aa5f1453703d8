/*
 * Requests of commands to the API of a server, which may be on any machine. All tries of one POST have the same
 * Idempotency-Key, so a connection that is cut after the server made an object does not make a second one.
 */
import { trustedAuthorities } from "../../base/config/network";
import { parseBaseUrl, parseInteger } from "../../base/config/parse";
import type { FieldError } from "../../base/errors";
import { oneLine, parseJson } from "../../base/text";
import { SECOND_MS } from "../../base/time";
import { isPrivateUrl } from "../../base/private-url";
import { VERSION } from "../../version";
import {
  type Command,
  type ExitCode,
  Failure,
  type Flag,
  type Invocation,
  JSON_FLAG,
  type Setting,
  UsageError,
} from "../command";
import { createPrinter, printable, type Printer } from "../print";

/** Exit codes of commands to a server, besides 0 and 2 (wrong usage). */
export const EXIT = {
  refused: 1,
  credential: 3,
  noAnswer: 4,
  conflict: 5,
  failOn: 6,
} as const;

export const SERVER: Setting<string> = {
  flag: "server",
  env: "ALLCLEAR_SERVER",
  parse: parseBaseUrl,
  default: undefined,
  placeholder: "URL",
  help: "Address of the server, such as https://status.example.com.",
  // A URL may contain a password.
  isHidden: true,
};

const KEY: Setting<string> = {
  flag: undefined,
  env: "ALLCLEAR_KEY",
  fileEnv: "ALLCLEAR_KEY_FILE",
  parse: (text) => text.trim(),
  default: undefined,
  placeholder: "KEY",
  help: "API key, or a file that contains it. Has no flag, since other processes can read arguments.",
};

const TIMEOUT: Setting<number> = {
  flag: "timeout",
  env: "ALLCLEAR_TIMEOUT",
  parse: parseInteger(1, 600),
  default: "10",
  placeholder: "SECONDS",
  help: "Time for each answer of the server. Without one, a request is sent up to four times.",
};

const ALLOW_HTTP: Flag = {
  name: "allow-http",
  help: "Send the key over http:// to another machine, though others can read it on its way.",
};

export const SETTINGS: readonly Setting<unknown>[] = [SERVER, KEY, TIMEOUT];

/** Returns a command to a server, with the settings and flags that each has. */
export function remoteCommand(command: Omit<Command, "settings" | "options">): Command {
  const flags = [...(command.flags ?? []), ALLOW_HTTP];
  return { ...command, flags, settings: SETTINGS, options: ["caFile"] };
}

/** Prints an answer as JSON if the command is asked for that, else in words. */
export function printAnswer<T>(
  invocation: Invocation,
  answer: T,
  inWords: (printer: Printer, answer: T) => void,
): ExitCode {
  const printer = createPrinter(invocation);
  if (invocation.isSet(JSON_FLAG.name)) printer.json(answer);
  else inWords(printer, answer);
  return 0;
}

/** Characters that a header can contain; the server says if the key is one of its own. */
const KEY_SHAPE = /^[\x21-\x7e]{1,200}$/;

/** Number of times that a request is sent, if there is no answer or the server asks to try again. */
const TRIES = 4;
/** Waits before the second, third and fourth try, in ms, unless the server names one. */
const WAITS_MS = [1_000, 2_000, 4_000] as const;
/** Longest wait that the server can ask for, in ms. The limit of a key is counted in minutes. */
const RETRY_AFTER_MAX_MS = 60 * SECOND_MS;

/** Longest body that is read, in bytes. The largest pages have documents of a few megabytes. */
const BODY_MAX_BYTES = 32 * 1024 * 1024;

/** Server with the credential for it. */
export interface Connection {
  /** Origin, such as `https://status.example.com`. */
  server: string;
  key: string;
  timeoutMs: number;
  /** Authorities (PEM) that are trusted, if they are not those of the runtime alone. */
  authorities?: readonly string[] | undefined;
  /** Shows a person that a request is sent again, and with an empty text that this is over. */
  showWait?: ((state: string) => void) | undefined;
}

/** Network and time of the machine. */
export interface Machine {
  fetch(url: string, init: BunFetchRequestInit): Promise<Response>;
  sleep(ms: number): Promise<void>;
  /** Unix ms. */
  now(): number;
}

export const MACHINE: Machine = {
  fetch: (url, init) => fetch(url, init),
  sleep: (ms) => Bun.sleep(ms),
  now: () => Date.now(),
};

/** Body of a successful answer. */
export interface Reply<T> {
  body: T;
  /** Entity tag; undefined if the server sends none. */
  etag: string | undefined;
}

/** Requests to one server. Each throws a Failure for anything but success. */
export interface Client {
  readonly server: string;
  /** Reads a path. Returns undefined if it still has the given entity tag. */
  read<T>(path: string, etag?: string): Promise<Reply<T> | undefined>;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
  /** `tries`: number of times that it is sent, if there are to be fewer. */
  patch<T>(path: string, body: object, tries?: number): Promise<T>;
  /** Returns the time of the server in unix ms, which may differ from that of this machine. */
  now(): number;
  /** Sends no request again from now on, such as after Ctrl-C. */
  stopRetrying(): void;
}

/** Returns a client by the settings of a command. Throws a UsageError without a server, a Failure without a key. */
export function connect(invocation: Invocation): Client {
  const { config, isSet, output, setting } = invocation;
  const server = setting(SERVER);
  if (server === undefined) throw new UsageError(["--server or ALLCLEAR_SERVER is missing."]);
  if (!isPrivateUrl(new URL(server)) && !isSet(ALLOW_HTTP.name)) {
    throw new UsageError([
      "--server must begin with https://, since others could read the key; --allow-http permits it.",
    ]);
  }
  const key = setting(KEY) ?? "";
  if (!KEY_SHAPE.test(key)) {
    const problem = key === "" ? "must be set" : "must be an API key";
    throw new Failure(`ALLCLEAR_KEY or ALLCLEAR_KEY_FILE ${problem}.`, EXIT.credential);
  }
  const showWait = (state: string) => {
    if (output.show) output.show(state);
    else if (state !== "") output.err(state);
  };
  return createClient({
    server,
    key,
    timeoutMs: (setting(TIMEOUT) ?? 0) * SECOND_MS,
    authorities: config.caFile && trustedAuthorities([config.caFile.pem]),
    showWait,
  });
}

/** Failed try of a request. */
interface Miss {
  message: string;
  exitCode: number;
  /** True if a later try may succeed. */
  canRetry: boolean;
  /** Wait that the server asks for. */
  waitMs?: number | undefined;
}

interface Sent {
  method: "GET" | "POST" | "PATCH";
  path: string;
  body?: object;
  etag?: string | undefined;
  tries?: number | undefined;
}

export function createClient(connection: Connection, machine: Machine = MACHINE): Client {
  const { server, key, timeoutMs, authorities, showWait } = connection;
  const stopped = Promise.withResolvers<void>();
  let hasStopped = false;
  /** Time of the server minus that of this machine, in ms. */
  let aheadMs = 0;

  async function attempt({ method, path }: Sent, init: BunFetchRequestInit) {
    try {
      const response = await machine.fetch(server + path, {
        ...init,
        method,
        // A redirect could lead to another host, which must not get the key.
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMs),
        // A proxy could read a request without TLS.
        ...(server.startsWith("http:") && { proxy: false }),
        ...(authorities && { tls: { ca: [...authorities] } }),
      });
      const text = await readText(response);
      return text === undefined ? tooLong(server) : { response, text };
    } catch (error) {
      return networkMiss(server, timeoutMs, error as Error & { code?: string });
    }
  }

  async function request<T>(sent: Sent): Promise<Reply<T> | undefined> {
    const { method, body, etag, tries = TRIES } = sent;
    const headers: Record<string, string> = {
      Authorization: `Bearer ${key}`,
      Accept: "application/json",
      "User-Agent": `allclear/${VERSION}`,
      ...(body && { "Content-Type": "application/json" }),
      ...(method === "POST" && { "Idempotency-Key": crypto.randomUUID() }),
      ...(etag !== undefined && { "If-None-Match": etag }),
    };
    const init = { headers, ...(body && { body: JSON.stringify(body) }) };
    for (let count = 1; ; count += 1) {
      const outcome = await attempt(sent, init);
      let miss: Miss | undefined;
      if ("response" in outcome) {
        const { response, text } = outcome;
        const sentAt = Date.parse(response.headers.get("date") ?? "");
        if (!Number.isNaN(sentAt)) aheadMs = sentAt - machine.now();
        if (response.status === 304) return undefined;
        const parsed = parseJson(text);
        miss = missOf(connection, response, parsed, { body, now: machine.now() + aheadMs });
        if (!miss) return { body: parsed as T, etag: response.headers.get("etag") ?? undefined };
      } else {
        miss = outcome;
      }
      const waitMs = miss.waitMs ?? WAITS_MS[count - 1] ?? 0;
      const isLast = count >= tries || hasStopped;
      if (!miss.canRetry || isLast || waitMs > RETRY_AFTER_MAX_MS) {
        throw new Failure(miss.message, miss.exitCode);
      }
      showWait?.(`${miss.message} Trying again in ${waitMs / SECOND_MS} s.`);
      await Promise.race([machine.sleep(waitMs), stopped.promise]);
      showWait?.("");
      if (hasStopped) throw new Failure(miss.message, miss.exitCode);
    }
  }

  /** Returns the body of an answer that cannot be 304. */
  async function bodyOf<T>(sent: Sent): Promise<T> {
    const reply = await request<T>(sent);
    if (!reply) throw new Failure(`${server} sent no content.`, EXIT.noAnswer);
    return reply.body;
  }

  return {
    server,
    read: (path, etag) => request({ method: "GET", path, etag }),
    get: (path) => bodyOf({ method: "GET", path }),
    post: (path, body) => bodyOf({ method: "POST", path, body }),
    patch: (path, body, tries) => bodyOf({ method: "PATCH", path, body, tries }),
    now: () => machine.now() + aheadMs,
    stopRetrying() {
      hasStopped = true;
      stopped.resolve();
    },
  };
}

/** Returns the body of an answer; undefined if it is too long. */
async function readText({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    if (length > BODY_MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function tooLong(server: string): Miss {
  const message = `The answer of ${server} has more than ${BODY_MAX_BYTES} bytes.`;
  return { message, exitCode: EXIT.noAnswer, canRetry: false };
}

/** Codes of errors that a certificate causes, for which another try is no use. */
const CERTIFICATE_ERROR = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS/;

/** Reasons of frequent errors in words. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ConnectionRefused: "the connection was refused",
  ECONNRESET: "the connection was closed",
  ConnectionClosed: "the connection was closed",
  ENOTFOUND: "the name of the host is not known",
  EPROTO: "TLS failed, which the server may not speak on this port",
};

function networkMiss(
  server: string,
  timeoutMs: number,
  { name, code = "", message }: Error & { code?: string },
): Miss {
  const isLate = name === "TimeoutError";
  const words = REASONS[code] ?? oneLine(message || code).replace(/\.$/, "");
  const reason = isLate ? `none within ${timeoutMs / SECOND_MS} s` : words;
  return {
    message: `No answer from ${server}: ${reason}.`,
    exitCode: EXIT.noAnswer,
    canRetry: !CERTIFICATE_ERROR.test(code),
  };
}

/** Answers of proxies whose server does not answer, and of Allclear if it asks to try again. */
const RETRIED: readonly number[] = [429, 502, 503, 504];

/** Returns the failure that an answer reports; undefined for success. */
function missOf(
  { server }: Connection,
  { status, headers }: Response,
  answer: unknown,
  { body, now }: { body: object | undefined; now: number },
): Miss | undefined {
  // Only answers of Allclear have such an id of their request.
  const isOurs = headers.get("x-request-id")?.startsWith("req_") ?? false;
  const isObject = typeof answer === "object" && answer !== null;
  if (isOurs && isObject && status >= 200 && status < 300) return undefined;
  const waitMs = retryAfterMs(headers.get("retry-after"), now);
  const canRetry = RETRIED.includes(status);
  if (status >= 300 && status < 400) {
    const target = printable(headers.get("location") ?? "another address");
    const message = `${server} redirects to ${target}. Name the address of the server itself.`;
    return { message, exitCode: EXIT.noAnswer, canRetry };
  }
  if (!isOurs || !isObject) {
    const message = `Another program answers at ${server}, with status ${status}.`;
    return { message, exitCode: EXIT.noAnswer, canRetry, waitMs };
  }
  const message = describeProblem(answer as ProblemDocument, status, body);
  return { message, exitCode: exitCodeOf(status), canRetry, waitMs };
}

function exitCodeOf(status: number): number {
  if (status === 401 || status === 403) return EXIT.credential;
  if (status === 409 || status === 412) return EXIT.conflict;
  return status === 429 || status >= 500 ? EXIT.noAnswer : EXIT.refused;
}

/** Error of the API, as far as it is shown. */
interface ProblemDocument {
  detail?: unknown;
  errors?: readonly FieldError[];
}

/** Returns the error in one line, and a line for each invalid field of the body that was sent. */
function describeProblem(
  { detail, errors = [] }: ProblemDocument,
  status: number,
  body: object | undefined,
): string {
  const first = typeof detail === "string" ? detail : `The server answered with status ${status}.`;
  const fields = errors.map((field) => `  ${describeField(field, body)}`);
  return [first, ...fields].map(printable).join("\n");
}

/** Returns an invalid field with its error. An entry of a list is named by its value. */
function describeField({ pointer = "", detail }: Partial<FieldError>, body: unknown): string {
  const steps = pointer.split("/").slice(1);
  let value = body;
  for (const step of steps) value = (value as Record<string, unknown> | undefined)?.[step];
  const isEntry = steps.length > 1 && /^\d+$/.test(steps.at(-1) ?? "") && typeof value === "string";
  const name = isEntry ? [...steps.slice(0, -1), value].join(" ") : steps.join(" ");
  return `${name} ${detail}`.trim();
}

/**
 * Returns the wait of a Retry-After header in ms: seconds, or a date as proxies send it, by the time of the server (unix
 * ms). Other texts name none.
 */
function retryAfterMs(text: string | null, now: number): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}(\.\d*)?$/.test(text)) return Math.ceil(Number(text) * SECOND_MS);
  const at = text.endsWith("GMT") ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
