import { expect, test } from "bun:test";
import fc from "fast-check";
import { Fault } from "../../src/egress/model";
import { HttpReader, type ReadAnswer } from "../../src/egress/http1";

const MAX_BYTES = 32;

/** Answers of several kinds, right and odd. */
const ANSWERS = [
  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: a\r\n b\r\n\r\nhello",
  "HTTP/1.1 100 -\r\n\r\nHTTP/1.1 200 OK\nX-A : a\n: b\nnone\n\nuntil the end",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2 ;x=y\r\nhe\r\n03\r\nllo\r\n0\r\nA: b\r\n\r\n",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n30\r\n" + "x".repeat(48) + "\r\n0\r\n\r\n",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r;a\r\nhe\r\r\n1\r2\nb\r\n0\r\n\r\n",
  "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n",
  "HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nab",
  "\r\nHTTP/1.1 200\r\n\r\n",
  "ICY 200 OK\r\n\r\nradio",
  "ICY\t200 OK\r\n\r\nradio",
  "220 mail ready\r\n",
  "\0\0\0\x04\0\0\0\0\0",
].map((text) => Buffer.from(text, "latin1"));

/** Reads chunks and then the end of the connection. */
function read(chunks: readonly Buffer[]): ReadAnswer | Fault | undefined {
  const outcomes: (ReadAnswer | Fault)[] = [];
  let heads = 0;
  const reader = new HttpReader({
    method: "GET",
    maxBodyBytes: MAX_BYTES,
    isBodyNeeded: () => true,
    onHead: () => void (heads += 1),
    onEnd: (outcome) => outcomes.push(outcome),
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.close();
  expect(outcomes).toHaveLength(1);
  expect(heads).toBeLessThanOrEqual(1);
  const [outcome] = outcomes;
  if (outcome && !(outcome instanceof Fault)) {
    expect(outcome.body.length).toBeLessThanOrEqual(MAX_BYTES);
  }
  return outcome;
}

/** The outcome as a text, without a fact that only some splits show. */
function meaningOf(outcome: ReadAnswer | Fault | undefined): string {
  if (outcome === undefined || outcome instanceof Fault) return outcome?.message ?? "none";
  const { status, lines, body, isTruncated } = outcome;
  return JSON.stringify([status, lines, Buffer.from(body).toString("latin1"), isTruncated]);
}

function splitAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set(cuts.map((cut) => cut % bytes.length))].toSorted((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

test("an answer means the same however its bytes are divided", () => {
  const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 200 });
  fc.assert(
    fc.property(fc.constantFrom(...ANSWERS), cuts, (bytes, at) => {
      expect(meaningOf(read(splitAt(bytes, at)))).toBe(meaningOf(read([bytes])));
    }),
    { numRuns: 2_000 },
  );
});

test("any bytes end as one answer or one fault within the limits", () => {
  const change = fc.record({ at: fc.nat({ max: 200 }), byte: fc.nat({ max: 255 }) });
  const changes = fc.array(change, { maxLength: 8 });
  fc.assert(
    fc.property(fc.constantFrom(...ANSWERS), changes, (answer, changed) => {
      const bytes = Buffer.from(answer);
      for (const { at, byte } of changed) bytes[at % bytes.length] = byte;
      const whole = meaningOf(read([bytes]));
      expect(meaningOf(read(Array.from(bytes, (byte) => Buffer.of(byte))))).toBe(whole);
    }),
    { numRuns: 5_000 },
  );
});
