import type { Transform } from "node:stream";
import { DEFAULT_BODY_MAX_BYTES, Fault, type HttpAnswer } from "./model";

/** A decompressed body. */
interface Body {
  bytes: Uint8Array;
  /** True if the body is longer, or was cut off by its sender. */
  isTruncated: boolean;
}

/** Codings that are undone one after the other, at most. */
const CODINGS_MAX = 5;

/**
 * Decompresses the received part of a body, up to `maxBytes` bytes of the result. Several codings are undone in
 * turn, each up to the limit, so that no combination costs much more than one.
 */
export async function readBody(
  answer: HttpAnswer,
  maxBytes: number = DEFAULT_BODY_MAX_BYTES,
): Promise<Body | Fault> {
  const codings = ["content-encoding", "transfer-encoding"].flatMap((name) =>
    codingsIn(answer.headers.get(name) ?? ""),
  );
  let body: Body = { bytes: answer.sentBody, isTruncated: answer.isTruncated };
  if (codings.length > CODINGS_MAX) return UNKNOWN_CODING;
  for (const coding of codings.toReversed()) {
    if (body.bytes.length === 0) break;
    const decoded = await decompress(body, coding, maxBytes);
    const isGzip = coding === "gzip" || coding === "x-gzip";
    const first =
      isGzip && !body.isTruncated && isCutOff(decoded, maxBytes)
        ? await readFirstMember(body.bytes, maxBytes)
        : undefined;
    if (!first && decoded instanceof Fault) return decoded;
    body = first ?? (decoded as Body);
  }
  const isTruncated = body.isTruncated || body.bytes.length > maxBytes;
  return { bytes: body.bytes.subarray(0, maxBytes), isTruncated };
}

const UNKNOWN_CODING = new Fault(
  "protocol",
  "The body is compressed in a way that is not read.",
  undefined,
  true,
);

const NOT_COMPRESSED = new Fault(
  "protocol",
  "The body is not compressed as its header says.",
  undefined,
  true,
);

/** Returns the codings of a header in the order in which they were applied. */
function codingsIn(header: string): string[] {
  return header
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity" && name !== "chunked");
}

async function decompress(
  { bytes: sent, isTruncated }: Body,
  coding: string,
  maxBytes: number,
): Promise<Body | Fault> {
  const decoder = await createDecoder(coding, sent);
  if (!decoder) return UNKNOWN_CODING;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (outcome: Body | Fault) => {
      decoder.destroy();
      resolve(outcome);
    };
    decoder.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) settle({ bytes: Buffer.concat(chunks, maxBytes), isTruncated: true });
    });
    decoder.on("end", () => {
      const isCut = coding === "zstd" && !isWholeZstd(sent);
      settle({ bytes: Buffer.concat(chunks, length), isTruncated: isTruncated || isCut });
    });
    decoder.on("error", ({ code }: { code?: unknown }) => {
      // The data ends too early. What was read counts, as that of a body that is too long.
      if (code === "Z_BUF_ERROR")
        settle({ bytes: Buffer.concat(chunks, length), isTruncated: true });
      else settle(NOT_COMPRESSED);
    });
    decoder.end(sent);
  });
}

/** Returns true if the end of compressed data was not found, and the limit not reached. */
function isCutOff(decoded: Body | Fault, maxBytes: number): boolean {
  if (decoded instanceof Fault) return decoded === NOT_COMPRESSED;
  return decoded.isTruncated && decoded.bytes.length < maxBytes;
}

/** Flags of a gzip header (RFC 1952), and bytes of its fixed part and of its trailer. */
const GZIP = { crc: 2, extra: 4, name: 8, comment: 16, header: 10, trailer: 8 } as const;

/**
 * Decompresses gzip data after which something else follows, which the runtime takes for a member that is not
 * whole. Returns undefined unless the first member is whole, and is the only one.
 */
async function readFirstMember(sent: Uint8Array, maxBytes: number): Promise<Body | undefined> {
  const flags = sent[3] ?? 0;
  const endOfText = (from: number) => {
    const end = sent.indexOf(0, from);
    return end < 0 ? sent.length : end + 1;
  };
  let start: number = GZIP.header;
  if (flags & GZIP.extra) start += 2 + (sent[start] ?? 0) + 256 * (sent[start + 1] ?? 0);
  if (flags & GZIP.name) start = endOfText(start);
  if (flags & GZIP.comment) start = endOfText(start);
  if (flags & GZIP.crc) start += 2;
  const body = await decompress(
    { bytes: sent.subarray(start), isTruncated: false },
    "raw deflate",
    maxBytes,
  );
  if (body instanceof Fault || body.isTruncated) return undefined;
  const { crc32 } = await import("node:zlib");
  const trailer = Buffer.alloc(GZIP.trailer);
  trailer.writeUInt32LE(crc32(body.bytes));
  trailer.writeUInt32LE(body.bytes.length, 4);
  const at = Buffer.from(sent.buffer, sent.byteOffset, sent.length).lastIndexOf(trailer);
  const next = sent[at + GZIP.trailer];
  return at < 0 || next === 0x1f ? undefined : body;
}

/** Creates a decoder, whose error says if the data ends too early; undefined for an unknown coding. */
async function createDecoder(coding: string, sent: Uint8Array): Promise<Transform | undefined> {
  // Loaded at the first use: requests do not ask for compression, and most servers send none.
  const zlib = await import("node:zlib");
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip();
    case "deflate":
      // Some servers send the data without the frame that the name means.
      return hasZlibFrame(sent) ? zlib.createInflate() : zlib.createInflateRaw();
    case "raw deflate":
      return zlib.createInflateRaw();
    case "br":
      return zlib.createBrotliDecompress();
    case "zstd":
      return zlib.createZstdDecompress();
    default:
      return undefined;
  }
}

/** Returns true if data begins as RFC 1950 says. */
function hasZlibFrame([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}

const ZSTD_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;

/** Returns true if zstd data holds only whole frames (RFC 8878). The runtime does not say if it is cut off. */
function isWholeZstd(sent: Uint8Array): boolean {
  const view = new DataView(sent.buffer, sent.byteOffset, sent.byteLength);
  const size = view.byteLength;
  let at = 0;
  while (at < size) {
    if (at + 5 > size) return at > 0 && view.getUint8(at) !== (ZSTD_MAGIC & 0xff);
    const magic = view.getUint32(at, true);
    if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) {
      if (at + 8 > size) return false;
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    // What follows a frame and is none belongs to no body.
    if (magic !== ZSTD_MAGIC) return at > 0;
    const descriptor = view.getUint8(at + 4);
    const isSingle = (descriptor & 0x20) !== 0;
    const sizeFlag = descriptor >> 6;
    const sizeBytes = sizeFlag === 0 ? (isSingle ? 1 : 0) : 2 ** sizeFlag;
    at += 5 + (isSingle ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0) + sizeBytes;
    for (let isLast = false; !isLast;) {
      if (at + 3 > size) return false;
      const header = view.getUint8(at) | (view.getUint16(at + 1, true) << 8);
      isLast = (header & 1) === 1;
      const isRepeated = ((header >> 1) & 3) === 1;
      at += 3 + (isRepeated ? 1 : header >> 3);
    }
    at += (descriptor & 4) !== 0 ? 4 : 0;
  }
  return at === size;
}
