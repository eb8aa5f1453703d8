/*
 * Answers of web servers and what a check makes of them. A row is a name, what the server sends, the monitor's
 * settings and the result that counts: add one for each answer that is found elsewhere.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { createMonitoring } from "../../../../src/features/monitors/engine/engine";
import { createTestApp, type TestApp } from "../../../support/app";
import { type OnConnection, type RawServer, startRawServer } from "../../../support/raw-server";

/** Bytes as text with one character per byte, or a function that returns the answer to a request. */
type Sent = string | Buffer | ((request: string) => string | Buffer);

interface Row {
  name: string;
  sent: Sent;
  /** Config of the monitor without its URL. */
  config?: object;
  /** Settings of the monitor beside its config. */
  monitor?: object;
  state: "up" | "down";
  /** Message of the result; null if omitted. */
  message?: string | RegExp | null;
  /** Parts of the details of steps, by the name of the step. */
  steps?: Record<string, string>;
  /** True for a server that leaves the connection open. */
  staysOpen?: boolean;
}

const bytes = (...parts: (string | Buffer)[]) =>
  Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part)),
  );

/** An answer with status 200, header lines as they are given, and a body with its length. */
const ok = (lines: string, body: string | Buffer = "OK") =>
  bytes(`HTTP/1.1 200 OK\r\n${lines}Content-Length: ${bytes(body).length}\r\n\r\n`, body);

const contains = (value: string) => ({ assertions: [{ source: "body", op: "contains", value }] });
const lacks = (value: string) => ({ assertions: [{ source: "body", op: "not_contains", value }] });
const matches = (value: string) => ({ assertions: [{ source: "body", op: "matches", value }] });
const json = (op: string, value: unknown) => ({
  assertions: [{ source: "json", property: "$.a", op, value }],
});
const header = (property: string, value: string) => ({
  assertions: [{ source: "header", property, op: "eq", value }],
});

const INVERTED = { inverted: true };

/** Deviations from HTTP that browsers and curl read. */
const LENIENT: Row[] = [
  {
    name: "control characters in a header value",
    sent: "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\x0bc\x02; path=/\r\nContent-Length: 2\r\n\r\nOK",
    config: contains("OK"),
    state: "up",
    steps: { request: "HTTP status 200; odd: control characters in a header" },
  },
  {
    name: "lines that end without CR",
    sent: "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 2\n\nOK",
    config: contains("OK"),
    state: "up",
    steps: { request: "odd: lines that end without CR" },
  },
  {
    name: "a space before a colon",
    sent: "HTTP/1.1 200 OK\r\nX-A : a\r\nContent-Length: 2\r\n\r\nOK",
    config: header("X-A", "a"),
    state: "up",
    steps: { request: "odd: a space before a colon" },
  },
  {
    name: "a header that continues on the next lines",
    sent: ok("X-A: a\r\n b\r\n\t c\r\n"),
    config: header("x-a", "a b c"),
    state: "up",
    steps: { request: "odd: a header that continues on the next line" },
  },
  {
    name: "a header without a name",
    sent: ok(": a\r\n"),
    config: contains("OK"),
    state: "up",
    steps: { request: "odd: a header without a name" },
  },
  {
    name: "a header line without a colon",
    sent: ok("nonsense\r\n"),
    config: contains("OK"),
    state: "up",
    steps: { request: "odd: a header line without a colon" },
  },
  {
    name: "a header name with characters of its own",
    sent: ok("X[A]: a\r\n"),
    config: contains("OK"),
    state: "up",
    steps: { request: "odd: a header name with odd characters" },
  },
  {
    name: "an equal length given twice",
    sent: ok("Content-Length: 2\r\n"),
    config: contains("OK"),
    state: "up",
    steps: { request: "odd: its length several times" },
  },
  {
    name: "an equal length given twice in a line",
    sent: "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nOK",
    config: contains("OK"),
    state: "up",
    steps: { request: "odd: its length several times" },
  },
  {
    name: "bytes after the end of the body",
    sent: bytes(ok("", "OK"), "HTTP/1.1 500 -\r\n\r\nmore"),
    config: { assertions: [{ source: "body", op: "eq", value: "OK" }] },
    state: "up",
    steps: { body: "2 bytes; odd: bytes after its end" },
  },
  {
    name: "a length that is no number",
    sent: "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nOK",
    config: contains("OK"),
    state: "up",
    steps: { request: "odd: a length that is no number" },
  },
  {
    name: "a length although the end is marked by chunks",
    sent: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nOK\r\n0\r\n\r\n",
    config: { assertions: [{ source: "body", op: "eq", value: "OK" }] },
    state: "up",
    steps: { request: "odd: a length although its end is marked" },
  },
  {
    name: "sizes of chunks with spaces, zeros, extensions and bare line feeds",
    sent: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n 2 \r\nOK\r\n0003;a=b\r\n all\n0A\n with 10 b\r\n0\r\nX: y\r\n\r\n",
    config: { assertions: [{ source: "body", op: "eq", value: "OK al with 10 b" }] },
    state: "down",
    message: "The answer is not HTTP: its chunks cannot be read.",
  },
  {
    name: "sizes of chunks with spaces, zeros and extensions",
    sent: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2 \r\nOK\r\n0004;a=b\r\n all\n0A\n with 10 b\r\n0\r\nX: y\r\n\r\n",
    config: { assertions: [{ source: "body", op: "eq", value: "OK all with 10 b" }] },
    state: "up",
    steps: { body: "16 bytes; odd: spaces at the size of a chunk" },
  },
  {
    name: "chunks without the empty line after the last",
    sent: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n0\r\n",
    config: contains("OK"),
    state: "up",
  },
  {
    name: "a status line without a reason, after an empty line",
    sent: "\r\nHTTP/1.1 200\r\nContent-Length: 2\r\n\r\nOK",
    config: contains("OK"),
    state: "up",
    steps: { request: "odd: empty lines before the status" },
  },
  {
    name: "a status line without a space before the reason",
    sent: "HTTP/1.1 200OK\r\nContent-Length: 2\r\n\r\nOK",
    config: contains("OK"),
    state: "up",
    steps: { request: "HTTP status 200; odd: an odd status line" },
  },
  {
    name: "the status line of a radio station",
    sent: "ICY 200 OK\r\nicy-name: Allclear\r\n\r\n\xff\xfb",
    state: "up",
    steps: { request: "odd: an odd status line", body: "not read, since no assertion needs it" },
  },
  {
    name: "20 cookies of 1,000 bytes",
    sent: ok(
      Array.from({ length: 20 }, (_, n) => `Set-Cookie: c${n}=${"x".repeat(1_000)}\r\n`).join(""),
    ),
    state: "up",
  },
  {
    name: "headers of 64 kB",
    sent: ok(`X-A: ${"x".repeat(63_000)}\r\nX-B: b\r\n`),
    config: header("X-B", "b"),
    state: "up",
  },
  {
    name: "an answer without a reason to close, with a body until the end",
    sent: "HTTP/1.0 200 OK\r\n\r\nOK",
    config: { assertions: [{ source: "body", op: "eq", value: "OK" }] },
    state: "up",
  },
];

/** Answers that leave in doubt what they mean. */
const REFUSED: Row[] = [
  {
    name: "a NUL byte in a header",
    sent: ok("X-A: a\0b\r\n"),
    state: "down",
    message: "The answer is not HTTP: a header has a NUL byte.",
  },
  {
    name: "different lengths",
    sent: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nOKs",
    state: "down",
    message: "The answer is not HTTP: it names different lengths.",
  },
  {
    name: "a length and one that is no number",
    sent: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: many\r\n\r\nOK, failed",
    state: "down",
    message: "The answer is not HTTP: it names different lengths.",
  },
  {
    name: "a status of four digits",
    sent: "HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nOK",
    state: "down",
    message: "The answer is not HTTP.",
  },
  {
    name: "a status below 100 before an answer",
    sent: bytes("HTTP/1.1 000 -\r\n\r\n", ok("")),
    state: "down",
    message: "The answer is not HTTP.",
  },
  {
    name: "a CR within the size of a chunk",
    sent: `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r2\n${"x".repeat(18)}\r\n0\r\n\r\n`,
    config: contains("xx"),
    state: "down",
    message: "The answer is not HTTP: its chunks cannot be read.",
  },
  ...[
    ["before a size", ""],
    ["after a size", "1"],
    ["in an extension", "1;"],
    ["after data", "1\r\nb"],
  ].map(([where, sent]): Row => ({
    name: `CR bytes without end ${where} of a chunk`,
    sent: `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${sent}${"\r".repeat(70_000)}`,
    config: contains("b"),
    staysOpen: true,
    state: "down",
    message: "The answer is not HTTP: its chunks cannot be read.",
  })),
  {
    name: "headers of more than 64 KiB",
    sent: ok(`X-A: ${"x".repeat(65_536)}\r\n`),
    state: "down",
    message: "The headers of the answer are too large.",
  },
  {
    name: "more than 2,000 headers",
    sent: ok("A: b\r\n".repeat(2_001)),
    state: "down",
    message: "The answer has more than 2,000 headers.",
  },
  {
    name: "a page without a status line",
    sent: "<html>OK</html>",
    state: "down",
    message: "The answer is not HTTP.",
  },
  {
    name: "the greeting of another protocol",
    sent: "220 mail.example.com ESMTP\r\n",
    staysOpen: true,
    state: "down",
    message: "The answer is not HTTP.",
  },
  {
    name: "a beginning of an answer, then the end of the connection",
    sent: "HTTP/1.1 200 OK\r\nX-A: a\r\n",
    state: "down",
    message: "The connection broke in the middle of the answer.",
  },
  {
    name: "a body that is shorter than its length",
    sent: "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nOK",
    state: "down",
    message: "The connection broke in the middle of the answer.",
  },
  {
    name: "chunk extensions without end",
    sent: `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${`1;${"x".repeat(1_000)}\r\nb\r\n`.repeat(70)}0\r\n\r\n`,
    config: contains("b"),
    state: "down",
    message: "The answer is not HTTP: its chunks cannot be read.",
  },
];

const LONG = bytes("x".repeat(300_000), Buffer.from("KEYWORD-ü-Grüße 中文 OK"));
const LIMIT = "Only the first 256 KiB of the body were read.";

/** Bodies that are read in part. */
const BEYOND: Row[] = [
  {
    name: "contains: a word beyond the limit is not known",
    sent: ok("", LONG),
    config: contains("KEYWORD"),
    state: "down",
    message: `The body should contain “KEYWORD”. ${LIMIT}`,
  },
  {
    name: "not_contains: a word beyond the limit is not known",
    sent: ok("", LONG),
    config: lacks("KEYWORD"),
    state: "down",
    message: `The body should not contain “KEYWORD”. ${LIMIT}`,
  },
  {
    name: "inverted: a word beyond the limit is not known",
    sent: ok("", LONG),
    config: contains("KEYWORD"),
    monitor: INVERTED,
    state: "down",
    message: `The body should contain “KEYWORD”. ${LIMIT}`,
  },
  {
    name: "contains: a word within the limit is found",
    sent: ok("", bytes("KEYWORD", LONG)),
    config: contains("KEYWORDx"),
    state: "up",
  },
  {
    name: "not_contains: a word within the limit is found",
    sent: ok("", bytes("KEYWORD", LONG)),
    config: lacks("KEYWORDx"),
    state: "down",
    message: "The body should not contain “KEYWORDx”.",
  },
  {
    name: "eq: a longer body is another one",
    sent: ok("", LONG),
    config: { assertions: [{ source: "body", op: "eq", value: "x" }] },
    state: "down",
    message: "The body should be “x”.",
  },
  {
    name: "ne: a longer body is another one",
    sent: ok("", LONG),
    config: { assertions: [{ source: "body", op: "ne", value: "x" }] },
    state: "up",
  },
  {
    name: "eq: a body that begins as expected is not known",
    sent: ok("", Buffer.from("中".repeat(500))),
    config: {
      max_body_kb: 1,
      assertions: [{ source: "body", op: "eq", value: "中".repeat(500) }],
    },
    state: "down",
    message: `The body should be “${"中".repeat(80)}…”. Only the first 1 KiB of the body were read.`,
  },
  {
    name: "max_body_kb: the word is read",
    sent: ok("Content-Type: text/plain; charset=utf-8\r\n", LONG),
    config: { ...contains("KEYWORD-ü-Grüße 中文"), max_body_kb: 300 },
    state: "up",
  },
  {
    name: "max_body_kb: the limit of another size is named",
    sent: ok("", LONG),
    config: { ...contains("KEYWORD"), max_body_kb: 4 },
    state: "down",
    message: "The body should contain “KEYWORD”. Only the first 4 KiB of the body were read.",
  },
  {
    name: "matches: a match beyond 65,536 characters is not known",
    sent: ok("", bytes("x".repeat(70_000), "KEYWORD")),
    config: matches("KEYWORD"),
    state: "down",
    message: "The body should match /KEYWORD/. Only its first 65,536 characters were searched.",
  },
  {
    name: "matches: inverted, a match beyond 65,536 characters is not known",
    sent: ok("", bytes("x".repeat(70_000), "KEYWORD")),
    config: matches("KEYWORD"),
    monitor: INVERTED,
    state: "down",
    message: "The body should match /KEYWORD/. Only its first 65,536 characters were searched.",
  },
  {
    name: "matches: the end of the part that is searched is no end",
    sent: ok("", bytes("y".repeat(70_000), "z")),
    config: matches("y$"),
    state: "down",
    message: "The body should match /y$/. Only its first 65,536 characters were searched.",
  },
  ...(
    [
      ["a character", "x[^x]"],
      ["the end of a word", "x\\b"],
    ] as const
  ).map(([what, pattern]): Row => ({
    name: `matches: ${what} after the part that is searched is not known`,
    sent: ok("", "x".repeat(70_000)),
    config: matches(pattern),
    state: "down",
    message: `The body should match /${pattern}/. Only its first 65,536 characters were searched.`,
  })),
  {
    name: "matches: a match that reaches the end of the part that is searched is found",
    sent: ok("", "x".repeat(70_000)),
    config: matches("^x.*"),
    state: "up",
  },
  {
    name: "matches: a match within the part that is searched is found",
    sent: ok("", bytes("KEYWORD", "x".repeat(70_000))),
    config: matches("^KEYWORD"),
    state: "up",
  },
  {
    name: "json: a document that is too long is not known",
    sent: ok("", `{"a":"${"x".repeat(300_000)}"}`),
    config: json("ne", "y"),
    state: "down",
    message: "The body is too long to be read as JSON: only its first 256 KiB were read.",
  },
  {
    name: "json: inverted, a document that is too long is not known",
    sent: ok("", `{"a":"${"x".repeat(300_000)}"}`),
    config: json("eq", "y"),
    monitor: INVERTED,
    state: "down",
    message: "The body is too long to be read as JSON: only its first 256 KiB were read.",
  },
  {
    name: "json: inverted, a body that is none says nothing of the value",
    sent: ok("", "<html>"),
    config: json("eq", "y"),
    monitor: INVERTED,
    state: "down",
    message: "The body is not JSON.",
  },
  {
    name: "json: a length in a document of 300 KB is read with max_body_kb",
    sent: ok("", `{"a":"${"x".repeat(300_000)}"}`),
    config: { ...json("length_eq", 300_000), max_body_kb: 512 },
    state: "up",
  },
  {
    name: "a body that breaks off says nothing to an inverted monitor",
    sent: "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nOK",
    config: contains("KEYWORD"),
    monitor: INVERTED,
    state: "down",
    message: "The connection broke in the middle of the answer.",
  },
  {
    name: "a status that is not 2xx is a known failure of an inverted monitor",
    sent: "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n",
    monitor: INVERTED,
    state: "up",
    message: "Inverted: the check itself failed. The status is 503; it should be 2xx.",
  },
  {
    name: "an assertion that the whole body decides is a known failure of an inverted monitor",
    sent: ok(""),
    config: contains("KEYWORD"),
    monitor: INVERTED,
    state: "up",
    message: "Inverted: the check itself failed. The body should contain “KEYWORD”.",
  },
];

const SAID = "Allclear says: all well.";
const coded = (coding: string, body: string | Buffer) =>
  ok(`Content-Encoding: ${coding}\r\n`, body);

const CUT_OFF =
  /^The body should not contain “KEYWORD”\. Only the first \d+ bytes? of the body were read\.$/;

/** Content codings. */
const CODED: Row[] = [
  ...(
    [
      ["gzip", "gzip", gzipSync(SAID)],
      ["x-gzip", "x-gzip", gzipSync(SAID)],
      ["another case", "GZip", gzipSync(SAID)],
      ["two members", "gzip", bytes(gzipSync("Allclear says: "), gzipSync("all well."))],
      ["gzip with more after its end", "gzip", bytes(gzipSync(SAID), "\r\nmore")],
      ["deflate with more after its end", "deflate", bytes(deflateSync(SAID), "\r\nmore")],
      ["br with more after its end", "br", bytes(brotliCompressSync(SAID), "\r\nmore")],
      ["zstd with more after its end", "zstd", bytes(zstdCompressSync(SAID), "\r\n")],
      ["deflate in a zlib frame", "deflate", deflateSync(SAID)],
      ["deflate without a frame", "deflate", deflateRawSync(SAID)],
      ["br", "br", brotliCompressSync(SAID)],
      ["zstd", "zstd", zstdCompressSync(SAID)],
      ["identity", "identity", SAID],
      ["identity and gzip", "identity, gzip", gzipSync(SAID)],
      ["gzip, then br", "gzip, br", brotliCompressSync(gzipSync(SAID))],
      ["gzip twice", "gzip, gzip", gzipSync(gzipSync(SAID))],
      ["an empty one", "", SAID],
    ] as const
  ).map(([name, coding, body]): Row => ({
    name: `a body with the coding ${name}`,
    sent: coded(coding, body),
    config: { assertions: [{ source: "body", op: "eq", value: SAID }] },
    state: "up",
  })),
  {
    name: "a transfer coding",
    sent: bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", gzipSync(SAID)),
    config: { assertions: [{ source: "body", op: "eq", value: SAID }] },
    state: "up",
  },
  ...["gzip", "deflate", "br", "zstd"].map((coding): Row => ({
    name: `an empty body with the coding ${coding}`,
    sent: coded(coding, ""),
    config: lacks("x"),
    state: "up",
  })),
  ...(
    [
      ["gzip", gzipSync(SAID)],
      ["deflate", deflateSync(SAID)],
      ["br", brotliCompressSync(SAID)],
      ["zstd", zstdCompressSync(SAID)],
    ] as const
  ).map(([coding, body]): Row => ({
    name: `a body with the coding ${coding} that is cut off decides nothing`,
    sent: coded(coding, body.subarray(0, -3)),
    config: lacks("KEYWORD"),
    state: "down",
    message: CUT_OFF,
  })),
  ...[INVERTED, {}].map((monitor): Row => ({
    name: `eq: what was read of a body that is cut off may be all of it${monitor === INVERTED ? ", inverted" : ""}`,
    sent: coded("gzip", gzipSync(SAID).subarray(0, -3)),
    config: { assertions: [{ source: "body", op: "eq", value: SAID }] },
    monitor,
    state: "down",
    message: `The body should be “${SAID}”. Only the first 24 bytes of the body were read.`,
  })),
  {
    name: "ne: what was read of a body that is cut off may be all of it",
    sent: coded("gzip", gzipSync(SAID).subarray(0, -3)),
    config: { assertions: [{ source: "body", op: "ne", value: SAID }] },
    state: "down",
    message: `The body should not be “${SAID}”. Only the first 24 bytes of the body were read.`,
  },
  {
    name: "a second member of gzip that is cut off decides nothing",
    sent: coded("gzip", bytes(gzipSync("Allclear"), gzipSync("KEYWORD").subarray(0, 12))),
    config: lacks("KEYWORD"),
    state: "down",
    message: CUT_OFF,
  },
  {
    name: "a body that is not compressed as its header says",
    sent: coded("gzip", "OK"),
    config: lacks("KEYWORD"),
    state: "down",
    message: "The body is not compressed as its header says.",
  },
  {
    name: "inverted, a body that cannot be decompressed",
    sent: coded("compress", "OK"),
    config: contains("KEYWORD"),
    monitor: INVERTED,
    state: "down",
    message: "The body is compressed in a way that is not read.",
  },
  {
    name: "an unknown coding without an assertion on the body",
    sent: coded("compress", "OK"),
    state: "up",
  },
  {
    name: "a body of 64 MB in a few KB",
    sent: coded("gzip, br", brotliCompressSync(gzipSync(Buffer.alloc(64 << 20, "x")))),
    config: lacks("y"),
    state: "down",
    message: `The body should not contain “y”. ${LIMIT}`,
  },
];

/** Bodies without end. The servers leave the connection open. */
const ENDLESS: Row[] = [
  {
    name: "an event stream",
    sent: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n",
    staysOpen: true,
    state: "up",
    steps: { body: "not read, since no assertion needs it" },
  },
  {
    name: "the pictures of a camera in chunks",
    sent: "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n--x\r\n\r\n",
    staysOpen: true,
    config: {
      assertions: [
        { source: "header", property: "content-type", op: "contains", value: "multipart" },
      ],
    },
    state: "up",
  },
  {
    name: "a declared length beyond the limit",
    sent: "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nOK",
    staysOpen: true,
    state: "up",
  },
  {
    name: "an error whose page does not end",
    sent: "HTTP/1.1 503 No\r\n\r\nOK",
    staysOpen: true,
    state: "down",
    message: "The status is 503; it should be 2xx.",
  },
  {
    name: "an error whose page does not end, with an assertion on the body",
    sent: "HTTP/1.1 503 No\r\n\r\nOK",
    staysOpen: true,
    config: contains("OK"),
    state: "down",
    message: "The status is 503; it should be 2xx.",
  },
  {
    name: "a redirect whose page does not end",
    sent: (request) =>
      request.startsWith("GET / ") ? "HTTP/1.1 302 -\r\nLocation: /b\r\n\r\nsee" : ok(""),
    staysOpen: true,
    config: contains("OK"),
    state: "up",
  },
];

describe.each([
  ["answers that browsers read", LENIENT],
  ["answers that are refused", REFUSED],
  ["bodies that are read in part", BEYOND],
  ["content codings", CODED],
  ["bodies without end", ENDLESS],
] as const)("%s", (_subject, rows) => {
  let app: TestApp;
  let key: string;
  let engine: ReturnType<typeof createMonitoring>;

  beforeAll(async () => {
    app = await createTestApp({ monitoring: (ctx) => (engine = createMonitoring(ctx)) });
    key = await app.keyWith("manage:monitors");
  });
  afterAll(async () => {
    await engine.stop();
    await app[Symbol.asyncDispose]();
  });

  test.each(rows.map((row) => [row.name, row] as const))("%s", async (_name, row) => {
    await using server = await startRawServer(sending(row));
    const { check, state } = await checkOnce(app, key, server, row);
    if (row.message instanceof RegExp) expect(check.message).toMatch(row.message);
    else expect(check.message).toBe(row.message ?? null);
    expect(check.outcome).toBe(row.state === "up" ? "ok" : "failed");
    expect(state).toBe(row.state);
    for (const [name, detail] of Object.entries(row.steps ?? {})) {
      const found = check.steps.find((step: { name: string }) => step.name === name);
      expect(found?.detail).toContain(detail);
    }
    await server.allClosed();
  });
});

/** Answers each request as a row says. */
function sending({ sent, staysOpen = false }: Row): OnConnection {
  return (socket) =>
    socket.once("data", (chunk: Buffer) => {
      const answer = typeof sent === "function" ? sent(chunk.toString("latin1")) : sent;
      socket.write(bytes(answer));
      if (!staysOpen) socket.end();
    });
}

/** Creates the monitor of a row, which one failure makes down, and checks it. */
async function checkOnce(
  { call }: TestApp,
  key: string,
  { port }: RawServer,
  { name, config, monitor }: Row,
) {
  const created = await call("/api/v1/monitors", {
    key,
    method: "POST",
    json: {
      type: "http",
      name: name.slice(0, 60),
      failure_threshold: 1,
      config: { url: `http://127.0.0.1:${port}/`, ...config },
      ...monitor,
    },
  });
  if (created.status !== 201) throw new Error(created.text);
  const path = `/api/v1/monitors/${created.body.id}`;
  const { body: check } = await call(`${path}/check`, { key, method: "POST" });
  const { body: after } = await call(path, { key });
  return { check, state: after.state };
}
