/* One request and its answer by HTTP/1, over an open connection. Hostile servers are read within limits. */
import { plural } from "../base/text";
import { type Opened, tlsFault } from "./connect";
import { headersOf, headersToSend } from "./http-headers";
import {
  codeOf,
  DEFAULT_BODY_MAX_BYTES,
  Fault,
  type HttpAnswer,
  type HttpRequest,
  socketFault,
  timedOut,
} from "./model";
import type { RequestSocket } from "./plain-socket";

/** Sends the request, reads the answer and closes the connection in any case. */
export function exchange(
  request: HttpRequest,
  opened: Opened<RequestSocket>,
): Promise<HttpAnswer | Fault> {
  const { method, body, signal, steps, maxBodyBytes = DEFAULT_BODY_MAX_BYTES } = request;
  const { socket } = opened;
  steps?.begin("request");
  return new Promise((resolve) => {
    let isSettled = false;
    const settle = (outcome: HttpAnswer | Fault) => {
      if (isSettled) return;
      isSettled = true;
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      resolve(outcome);
    };
    const reader = new HttpReader({
      method,
      maxBodyBytes,
      isBodyNeeded: ({ status, lines }) =>
        request.isBodyNeeded?.({ status, headers: headersOf(lines), lines }) ?? true,
      onHead({ status }, oddities) {
        if (isSettled) return;
        steps?.end(withOddities(`HTTP status ${status}`, oddities));
        steps?.begin("body");
      },
      onEnd(outcome) {
        if (outcome instanceof Fault) return settle(outcome);
        // The end of a connection that was given up is that of some bodies too.
        if (isSettled) return;
        const { oddities, lines } = outcome;
        steps?.end(withOddities(bodyFact(outcome), oddities));
        settle({
          status: outcome.status,
          headers: headersOf(lines),
          lines,
          sentBody: outcome.body,
          isTruncated: outcome.isTruncated,
          address: opened.address,
          certificate: opened.certificate,
        });
      },
    });
    const onAbort = () =>
      settle(
        reader.hasHead
          ? timedOut("reading the answer", true)
          : timedOut("waiting for the answer", reader.hasBegun),
      );
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort);
    socket.on("data", (chunk: Buffer) => reader.push(chunk));
    socket.on("end", () => reader.close());
    socket.on("close", () => reader.close());
    socket.on("error", (error) =>
      settle(
        reader.hasBegun ? new Fault("connect", BROKEN, undefined, true) : exchangeFault(error),
      ),
    );
    const head = Buffer.from(headOf(request), "latin1");
    socket.write(body ? Buffer.concat([head, Buffer.from(body)]) : head);
  });
}

/** Adds what was odd in an answer to a fact of a step. */
function withOddities(fact: string, oddities: readonly string[]): string {
  return oddities.length === 0 ? fact : `${fact}; odd: ${oddities.join(", ")}`;
}

function headOf(request: HttpRequest): string {
  const { method, url } = request;
  let head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\n`;
  for (const [name, value] of headersToSend(request).values()) head += `${name}: ${value}\r\n`;
  return `${head}Connection: close\r\n\r\n`;
}

function exchangeFault(error: unknown): Fault {
  const code = codeOf(error);
  // With TLS 1.3, the server judges a client certificate after the handshake.
  if (code.startsWith("ERR_SSL_")) return tlsFault(error);
  return code === "ECONNRESET" || code === "EPIPE"
    ? new Fault("connect", "The connection was closed without an answer.")
    : socketFault(error);
}

/** Limits of the head of an answer, with interim answers counted each for itself. */
const HEAD_MAX_BYTES = 64 * 1024;
const HEADERS_MAX = 2_000;

/** Maximum number of interim responses (1xx). */
export const INTERIM_ANSWERS_MAX = 10;

/** Limit of all that surrounds chunks beyond their sizes and line breaks. */
const EXTENSIONS_MAX_BYTES = 64 * 1024;

/** CR bytes that surround a chunk. */
const CR_PER_CHUNK = 2;

/** Chunks that are read, after which the body counts as longer: each costs time, even with a single byte. */
const CHUNKS_MAX = 256 * 1024;

const FRAME_HEADER_BYTES = 9;

/** Bytes by which the beginning of a status line is known. */
const START_BYTES = 16;

const LF = 0x0a;
const CR = 0x0d;

/** Header lines in their order: names in lower case, values with one character per byte. */
type HeaderLines = readonly (readonly [name: string, value: string])[];

/** Status and headers of an answer. */
interface AnswerHead {
  status: number;
  lines: HeaderLines;
}

interface ReaderOptions {
  method: string;
  /** Limit of the body as sent, without its framing. */
  maxBodyBytes: number;
  /** Returns false if the body shall not be read, unless it is short and its length known. */
  isBodyNeeded: (head: AnswerHead) => boolean;
  /** Called with each final head, before its body. */
  onHead: (head: AnswerHead, oddities: readonly string[]) => void;
  /** Called once, with the answer or a fault. Nothing is read afterwards. */
  onEnd: (outcome: ReadAnswer | Fault) => void;
}

/** A complete answer. */
export interface ReadAnswer extends AnswerHead {
  body: Uint8Array;
  /** True if the body is longer than what was read. */
  isTruncated: boolean;
  /** True if the body was left unread, since it was not needed. */
  isSkipped: boolean;
  /** Deviations from HTTP that were seen after the head. */
  oddities: readonly string[];
}

type Phase =
  | "status"
  | "headers"
  /** Body up to the declared length, or the end of a chunk. */
  | "counted"
  | "chunk size"
  | "chunk extension"
  | "chunk end"
  | "trailers"
  | "until close";

/** The server answered with a frame of HTTP/2. */
export const SPEAKS_HTTP2 = new Fault("protocol", "The server speaks only HTTP/2.");

/**
 * Reads an answer of HTTP/1 as browsers and curl do: deviations that leave its meaning clear are noted, not
 * refused. The answer ends at its limits, and never costs more than its bytes.
 */
export class HttpReader {
  readonly #options: ReaderOptions;
  #phase: Phase = "status";
  /** Pieces of a line whose end has not arrived. */
  #pieces: Buffer[] = [];
  #headBytes = 0;
  #status = 0;
  #lines: [name: string, value: string][] = [];
  #interimAnswers = 0;
  #oddities = new Set<string>();
  readonly #body: BoundedBytes;
  /** Bytes left of the declared length or the chunk. */
  #left = 0;
  #isChunked = false;
  /** Digits of the current size of a chunk. */
  #digits = 0;
  #extensionBytes = 0;
  #chunks = 0;
  /** True if bytes have arrived after what was read last. */
  #hasMore = false;
  #isDone = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#body = new BoundedBytes(options.maxBodyBytes);
  }

  /** True once a part of the answer has arrived. */
  get hasBegun(): boolean {
    return this.#headBytes > 0 || this.#interimAnswers > 0;
  }

  /** True once the status and all headers have arrived, so that only the body can be missing. */
  get hasHead(): boolean {
    return this.#phase !== "status" && this.#phase !== "headers";
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.#isDone) {
      switch (this.#phase) {
        case "counted":
        case "until close":
          at = this.#readBody(chunk, at);
          break;
        case "chunk size":
        case "chunk extension":
        case "chunk end":
          at = this.#readChunkFrame(chunk, at);
          break;
        default:
          at = this.#readLine(chunk, at);
      }
    }
  }

  /** Reports that the server has closed the connection. */
  close(): void {
    if (this.#isDone) return;
    this.#hasMore = false;
    const isWhole = this.#phase === "until close" || this.#phase === "trailers";
    if (isWhole) return this.#finish(false);
    if (this.#phase === "status") {
      const begun = this.#startOf(Buffer.concat(this.#pieces));
      if (begun instanceof Fault) return this.#fail(begun);
    }
    this.#fail(
      this.hasBegun
        ? new Fault("connect", BROKEN, undefined, true)
        : new Fault("connect", "The connection was closed without an answer."),
    );
  }

  /** Reads up to the end of a line, and returns the index after it. */
  #readLine(chunk: Buffer, from: number): number {
    const found = chunk.indexOf(LF, from);
    const to = found < 0 ? chunk.length : found;
    this.#headBytes += to - from + (found < 0 ? 0 : 1);
    if (this.#headBytes > HEAD_MAX_BYTES) {
      this.#fail(new Fault("protocol", "The headers of the answer are too large."));
      return to;
    }
    this.#pieces.push(chunk.subarray(from, to));
    if (found < 0) {
      const isEarly = this.#phase === "status" && this.#headBytes - (to - from) < START_BYTES;
      const begun = isEarly ? this.#startOf(Buffer.concat(this.#pieces)) : undefined;
      if (begun instanceof Fault) this.#fail(begun);
      return to;
    }
    const bytes = this.#pieces.length > 1 ? Buffer.concat(this.#pieces) : chunk.subarray(from, to);
    this.#pieces = [];
    this.#hasMore = chunk.length > to + 1;
    const hasCr = bytes[bytes.length - 1] === CR;
    if (!hasCr) this.#note("lines that end without CR");
    const line = bytes.toString("latin1", 0, bytes.length - (hasCr ? 1 : 0));
    if (this.#phase === "status") this.#readStatus(line, bytes);
    else if (this.#phase === "headers") this.#readHeader(line);
    else if (line === "") this.#finish(false);
    return to + 1;
  }

  /** Returns a fault as soon as the first bytes can be no beginning of a status line. */
  #startOf(bytes: Buffer): Fault | undefined {
    if (isFrame(bytes)) return SPEAKS_HTTP2;
    if (bytes[0] === 0 && bytes.length < FRAME_HEADER_BYTES) return undefined;
    const text = bytes.subarray(0, START_BYTES).toString("latin1").trimStart();
    const isPossible =
      "HTTP/".startsWith(text.slice(0, 5).toUpperCase()) ||
      "ICY".startsWith(text.slice(0, 3).toUpperCase());
    return isPossible ? undefined : NOT_HTTP;
  }

  #readStatus(line: string, bytes: Buffer): void {
    if (line.trim() === "") return this.#note("empty lines before the status");
    const [, version, status] = STATUS_LINE.exec(line) ?? [];
    if (status === undefined) {
      return this.#fail(this.#startOf(bytes) ?? NOT_HTTP);
    }
    if (version === undefined || !USUAL_STATUS_LINE.test(line)) this.#note("an odd status line");
    this.#status = Number(status);
    this.#phase = "headers";
  }

  #readHeader(line: string): void {
    if (line === "") return this.#endHead();
    if (this.#lines.length === HEADERS_MAX) {
      const limit = plural(HEADERS_MAX, "header");
      return this.#fail(new Fault("protocol", `The answer has more than ${limit}.`));
    }
    if (line.includes("\0")) {
      return this.#fail(new Fault("protocol", "The answer is not HTTP: a header has a NUL byte."));
    }
    if (CONTROL.test(line)) this.#note("control characters in a header");
    if (line.startsWith(" ") || line.startsWith("\t")) {
      this.#note("a header that continues on the next line");
      const last = this.#lines.at(-1);
      if (last) last[1] += last[1] === "" ? trimmed(line) : ` ${trimmed(line)}`;
      return;
    }
    const colon = line.indexOf(":");
    if (colon < 0) return this.#note("a header line without a colon");
    const name = line.slice(0, colon);
    const bare = name.trimEnd();
    if (bare === "") return this.#note("a header without a name");
    if (bare !== name) this.#note("a space before a colon");
    else if (!TOKEN.test(bare)) this.#note("a header name with odd characters");
    this.#lines.push([bare.toLowerCase(), trimmed(line.slice(colon + 1))]);
  }

  #endHead(): void {
    const status = this.#status;
    if (status === 101) {
      return this.#fail(new Fault("protocol", "The server switched to another protocol."));
    }
    if (status < 200) {
      this.#interimAnswers += 1;
      this.#lines = [];
      this.#headBytes = 0;
      this.#phase = "status";
      if (this.#interimAnswers > INTERIM_ANSWERS_MAX) {
        this.#fail(new Fault("protocol", "The server sent interim answers without end."));
      }
      return;
    }
    const length = this.#readFraming();
    if (length instanceof Fault) return this.#fail(length);
    const { isBodyNeeded, maxBodyBytes, onHead } = this.#options;
    const head = { status, lines: this.#lines };
    onHead(head, [...this.#oddities]);
    this.#oddities.clear();
    if (length === 0) return this.#finish(false);
    const isShort = length !== undefined && length <= maxBodyBytes;
    if (!isShort && !isBodyNeeded(head)) return this.#finish(true, true);
    if (isShort) this.#body.expect(length);
  }

  /** Decides how the body ends. Returns its length; undefined for an unknown one. */
  #readFraming(): number | undefined | Fault {
    const codings = valuesOf(this.#lines, "transfer-encoding").filter(
      (name) => name !== "identity",
    );
    this.#isChunked = codings.at(-1) === "chunked";
    const lengths = valuesOf(this.#lines, "content-length");
    const numbers = new Set(
      lengths.map((each) => (/^\d{1,15}$/.test(each) ? Number(each) : Number.NaN)),
    );
    this.#phase = this.#isChunked ? "chunk size" : "until close";
    if (this.#options.method === "HEAD" || this.#status === 204 || this.#status === 304) return 0;
    if (lengths.length > 1 && numbers.size === 1) this.#note("its length several times");
    if (codings.length > 0) {
      if (lengths.length > 0) this.#note("a length although its end is marked");
      return undefined;
    }
    if (numbers.size > 1) {
      return new Fault("protocol", "The answer is not HTTP: it names different lengths.");
    }
    const [length = Number.NaN] = numbers;
    if (Number.isNaN(length)) {
      if (lengths.length > 0) this.#note("a length that is no number");
      return undefined;
    }
    this.#phase = "counted";
    this.#left = length;
    return length;
  }

  /** Reads the body up to its end, or that of a chunk, and returns the index after it. */
  #readBody(chunk: Buffer, from: number): number {
    const isCounted = this.#phase === "counted";
    const to = isCounted ? Math.min(chunk.length, from + this.#left) : chunk.length;
    this.#left -= to - from;
    this.#hasMore = chunk.length > to;
    if (!this.#body.append(chunk, from, to)) {
      this.#finish(true);
      return to;
    }
    if (!isCounted || this.#left > 0) return to;
    if (this.#isChunked) this.#phase = "chunk end";
    else this.#finish(false);
    return to;
  }

  /** Reads the size of a chunk, or the line break after its data. */
  #readChunkFrame(chunk: Buffer, from: number): number {
    let at = from;
    for (; at < chunk.length && !this.#isDone; at += 1) {
      const byte = chunk[at] ?? 0;
      if (this.#phase === "chunk end" && byte !== CR) {
        if (byte !== LF) return this.#failChunk(at);
        this.#phase = "chunk size";
        continue;
      }
      if (byte === LF) {
        if (this.#digits === 0) return this.#failChunk(at);
        this.#digits = 0;
        this.#phase = this.#left === 0 ? "trailers" : "counted";
        this.#headBytes = 1;
        this.#chunks += 1;
        if (this.#chunks > CHUNKS_MAX) this.#finish(true);
        return at + 1;
      }
      const digit = this.#phase === "chunk size" ? hexDigit(byte) : -1;
      if (digit >= 0) {
        this.#digits += 1;
        this.#left = this.#left * 16 + digit;
        // Zeros before a size are allowed; 2^52 bytes are beyond all limits.
        if (this.#digits > 64 || this.#left > 2 ** 52) return this.#failChunk(at);
        continue;
      }
      this.#extensionBytes += 1;
      const extensionsMax = EXTENSIONS_MAX_BYTES + CR_PER_CHUNK * (this.#chunks + 1);
      if (this.#extensionBytes > extensionsMax) return this.#failChunk(at);
      if (byte === CR) {
        if (this.#digits > 0) this.#phase = "chunk extension";
        continue;
      }
      const isSpace = isBlank(byte);
      if (isSpace) this.#note("spaces at the size of a chunk");
      if (isSpace && this.#digits === 0) continue;
      if (this.#phase === "chunk size" && !isSpace && byte !== 0x3b) return this.#failChunk(at);
      this.#phase = "chunk extension";
    }
    return at;
  }

  #failChunk(at: number): number {
    this.#fail(
      new Fault("protocol", "The answer is not HTTP: its chunks cannot be read.", undefined, true),
    );
    return at;
  }

  #finish(isTruncated: boolean, isSkipped = false): void {
    if (!isTruncated && this.#hasMore) this.#note("bytes after its end");
    this.#isDone = true;
    this.#options.onEnd({
      status: this.#status,
      lines: this.#lines,
      body: this.#body.bytes,
      isTruncated,
      isSkipped,
      oddities: [...this.#oddities],
    });
  }

  #fail(fault: Fault): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#options.onEnd(fault);
  }

  #note(oddity: string): void {
    this.#oddities.add(oddity);
  }
}

/** Bytes up to a limit, which cost no more in many small pieces than in one. */
export class BoundedBytes {
  readonly #max: number;
  #buffer = Buffer.alloc(0);
  #length = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Makes room for bytes to come, within the limit. */
  expect(length: number): void {
    if (length <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(
      Math.min(this.#max, Math.max(length, this.#buffer.length * 2)),
    );
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }

  /** Adds a part of a chunk. Returns false if not all of it fits. */
  append(chunk: Buffer, from = 0, to = chunk.length): boolean {
    const length = Math.min(this.#length + to - from, this.#max);
    const hasRoom = this.#length + to - from <= this.#max;
    this.expect(length);
    chunk.copy(this.#buffer, this.#length, from, from + length - this.#length);
    this.#length = length;
    return hasRoom;
  }
}

/** Describes a body in the steps of a check. */
export function bodyFact({
  body,
  isTruncated,
  isSkipped,
}: Pick<ReadAnswer, "body" | "isTruncated" | "isSkipped">): string {
  if (isSkipped) return "not read, since no assertion needs it";
  return isTruncated ? `more than ${plural(body.length, "byte")}` : plural(body.length, "byte");
}

export const BROKEN = "The connection broke in the middle of the answer.";

const NOT_HTTP = new Fault("protocol", "The answer is not HTTP.");

const STATUS_LINE = /^\s*(?:HTTP\/(\d(?:\.\d)?)|ICY)[ \t]+([1-9]\d\d)(?!\d)/i;

const USUAL_STATUS_LINE = /^HTTP\/1\.[01] \d{3}(?: |$)/;

// Control characters other than tab.
// eslint-disable-next-line no-control-regex
const CONTROL = /[\x01-\x08\x0b-\x1f\x7f]/;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Returns the value of a hexadecimal digit; -1 for another byte. */
function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** Returns true if bytes begin with a frame of HTTP/2 with which a server begins: its settings. */
function isFrame(bytes: Buffer): boolean {
  if (bytes.length < FRAME_HEADER_BYTES) return false;
  return bytes[0] === 0 && bytes[3] === 4 && bytes.readUInt32BE(5) === 0;
}

/** Returns a text without spaces and tabs at both ends. */
function trimmed(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Returns the entries of a list in all headers of a name, in lower case. */
function valuesOf(lines: HeaderLines, name: string): string[] {
  return lines
    .filter(([each]) => each === name)
    .flatMap(([, value]) => value.split(","))
    .map((entry) => trimmed(entry).toLowerCase())
    .filter((entry) => entry !== "");
}
