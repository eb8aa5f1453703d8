import { type FileHandle, open, rm } from "node:fs/promises";
import { trustedAuthorities } from "../base/config/network";
import { sha256Hex } from "../base/hash";
import { objectKeyError } from "../base/ids";
import type { S3Address, StoreCredentials } from "../base/store-address";
import {
  compareKeys,
  DEFAULT_DEADLINE_MS,
  GET_MAX_BYTES,
  type ObjectStore,
  ObjectStoreError,
  type StoreOperation,
  type PutOptions,
  removeEach,
  requireKey,
  type StoreDependencies,
  type StoredObject,
} from "./object-store";

/** Maximum size of one page of a listing, in bytes: a thousand keys with all their characters encoded. */
const LIST_MAX_BYTES = 8 * 1_024 * 1_024;

/** Objects that are removed at the same time. */
const REMOVALS_AT_ONCE = 8;

/** Size of the parts of an upload. Their number is limited, so those of very large files are larger. */
const PART_BYTES = 8 * 1_024 * 1_024;
const PARTS_MAX = 10_000;

/** Tries of a part, with pauses between them that grow by this time in ms. */
const PART_TRIES = 3;
const PART_PAUSE_MS = 1_000;

/** Maximum size of the answers about an upload, in bytes. */
const UPLOAD_MAX_BYTES = 64 * 1_024;

/** Opens a bucket of an S3-compatible server. */
export function openBucket(
  address: S3Address,
  credentials: StoreCredentials,
  deps: StoreDependencies,
): ObjectStore {
  const client = createS3Client(address, credentials, deps);
  const base = address.path === "" ? "" : `${address.path}/`;

  /** Reads a body of limited size. */
  async function readAll(
    request: S3Request,
    response: S3Response,
    maxBytes: number,
  ): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    await response.read((piece) => {
      size += piece.byteLength;
      if (size > maxBytes) throw unreadable(request, `has more than ${maxBytes} bytes`);
      pieces.push(piece);
    });
    return Buffer.concat(pieces, size);
  }

  function unreadable({ operation, key = "" }: S3Request, reason: string): ObjectStoreError {
    const message = `The answer of the store ${client.name} ${reason}: ${operation} ${key}.`;
    return new ObjectStoreError("refused", message);
  }

  /** Returns true if there is no such object. Throws for all other statuses than 200. */
  async function isMissing(request: S3Request, response: S3Response): Promise<boolean> {
    if (response.status === 200) return false;
    const error = await client.rejection(request, response);
    // A missing bucket is an error of the operator.
    if (response.status === 404 && !error.message.includes("NoSuchBucket")) return true;
    throw error;
  }

  function etagOf(request: S3Request, response: S3Response): string {
    const etag = response.headers.get("etag");
    if (etag === null || etag === "") throw unreadable(request, "has no entity tag");
    return etag;
  }

  async function listPage(prefix: string, parameters: Record<string, string>) {
    const request: S3Request = {
      operation: "list",
      method: "GET",
      key: undefined,
      subject: prefix,
      parameters: {
        "list-type": "2",
        "encoding-type": "url",
        prefix: `${base}${prefix}`,
        ...parameters,
      },
    };
    return client.send(request, async (response) => {
      if (response.status !== 200) throw await client.rejection(request, response);
      const xml = (await readAll(request, response, LIST_MAX_BYTES)).toString();
      const page = parseListPage(xml);
      if (page === undefined) throw unreadable(request, "is not a list of objects");
      return page;
    });
  }

  async function removeOne(key: string): Promise<void> {
    const request: S3Request = { operation: "remove", method: "DELETE", key };
    await client.send(request, async (response) => {
      if (response.status === 200 || response.status === 204) return;
      await isMissing(request, response);
    });
  }

  /** Sends a request about an upload in parts, and returns the text of an element in the answer. */
  async function requestUpload(request: S3Request, element: string): Promise<string> {
    return client.send(request, async (response) => {
      if (response.status !== 200) throw await client.rejection(request, response);
      const xml = (await readAll(request, response, UPLOAD_MAX_BYTES)).toString();
      // A server can find an error after the status was sent.
      const text = elementText(xml, element);
      if (text === undefined || text === "") throw unreadable(request, `has no ${element}`);
      return text;
    });
  }

  /** Sends one part, several times if the store does not take it. Resolves to its entity tag. */
  async function sendPart(request: S3Request): Promise<string> {
    for (let tried = 1; ; tried++) {
      try {
        return await client.send(request, async (response) => {
          if (response.status === 200) return etagOf(request, response);
          throw await client.rejection(request, response);
        });
      } catch (error) {
        const isFinal =
          !(error instanceof ObjectStoreError) ||
          (error.status !== undefined && error.status < 500) ||
          request.signal?.aborted;
        if (isFinal || tried === PART_TRIES) throw error;
        await pause(tried * PART_PAUSE_MS);
      }
    }
  }

  function pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    deps.clock.after(ms, resolve);
    return promise;
  }

  /** Writes an open file as one object in parts. The object exists once the last request has succeeded. */
  async function uploadParts(
    key: string,
    source: FileHandle,
    size: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const common = { operation: "write", key, ...(signal && { signal }) } as const;
    const type = { "content-type": "application/octet-stream" };
    const begin: S3Request = {
      ...common,
      method: "POST",
      parameters: { uploads: "" },
      headers: type,
    };
    const uploadId = await requestUpload(begin, "UploadId");
    try {
      const partBytes = Math.max(PART_BYTES, Math.ceil(size / PARTS_MAX));
      const buffer = Buffer.allocUnsafe(Math.min(partBytes, size));
      let parts = "";
      for (let number = 1, at = 0; at < size; number++) {
        const body = await readPart(source, buffer, at);
        if (body.length === 0) throw new Error("the file became shorter while it was uploaded");
        const parameters = { partNumber: String(number), uploadId };
        const etag = await sendPart({ ...common, method: "PUT", parameters, body });
        parts += `<Part><PartNumber>${number}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`;
        at += body.length;
      }
      const xml = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`;
      await requestUpload(
        { ...common, method: "POST", parameters: { uploadId }, body: Buffer.from(xml) },
        "ETag",
      );
    } catch (error) {
      // Parts that were sent take space. Those of a process that was killed stay.
      const abort: S3Request = {
        operation: "remove",
        method: "DELETE",
        key,
        parameters: { uploadId },
      };
      await client.send(abort, async () => {}).catch(() => {});
      throw error;
    }
  }

  return {
    name: client.name,
    clockSkewMs: client.clockSkewMs,

    async get(key) {
      const request: S3Request = { operation: "read", method: "GET", key: requireKey(key, base) };
      return client.send(request, async (response) => {
        if (await isMissing(request, response)) return undefined;
        const bytes = await readAll(request, response, GET_MAX_BYTES);
        return { bytes, etag: etagOf(request, response) };
      });
    },

    async download(key, file) {
      const request: S3Request = { operation: "read", method: "GET", key: requireKey(key, base) };
      return client.send(request, async (response) => {
        if (await isMissing(request, response)) return undefined;
        const etag = etagOf(request, response);
        const target = await open(file, "w", 0o600);
        let size = 0;
        let isWhole = false;
        try {
          await response.read(async (piece) => {
            size += piece.byteLength;
            await target.writeFile(piece);
          }, true);
          isWhole = true;
        } finally {
          await target.close();
          if (!isWhole) await rm(file, { force: true });
        }
        return { size, etag };
      });
    },

    async put(key, bytes, options = {}) {
      const request: S3Request = {
        operation: "write",
        method: "PUT",
        key: requireKey(key, base),
        headers: headersOf(options),
        body: bytes,
        isSentOnce: isConditional(options),
      };
      return client.send(request, async (response) => {
        if (response.status === 200) return { etag: etagOf(request, response) };
        const error = await client.rejection(request, response);
        if (isConditional(options) && response.status === 412) return "changed";
        // Amazon answers a condition on an object that is missing with 404.
        const isGone = response.status === 404 && error.message.includes("NoSuchKey");
        if (options.ifMatch !== undefined && isGone) return "changed";
        throw error;
      });
    },

    async upload(key, file, signal) {
      requireKey(key, base);
      await using source = await open(file);
      const { size } = await source.stat();
      if (size > PART_BYTES) {
        // The file is open until the end.
        await uploadParts(key, source, size, signal);
        return;
      }
      const body = await source.readFile();
      await sendPart({ operation: "write", method: "PUT", key, body, ...(signal && { signal }) });
    },

    async list(prefix, startAfter = "") {
      const found: StoredObject[] = [];
      let parameters: Record<string, string> = startAfter
        ? { "start-after": `${base}${startAfter}` }
        : {};
      for (let highest = ""; ;) {
        const { objects, next } = await listPage(prefix, parameters);
        const before = highest;
        for (const { key: fullKey, ...facts } of objects) {
          if (compareKeys(fullKey, highest) <= 0) continue;
          highest = fullKey;
          const key = fullKey.slice(base.length);
          // Some servers ignore `start-after`.
          const isInside =
            fullKey.startsWith(`${base}${prefix}`) && compareKeys(key, startAfter) > 0;
          if (isInside && objectKeyError(key) === undefined) found.push({ key, ...facts });
        }
        if (next === undefined) return found;
        if (highest === before) {
          const message = `The store ${client.name} does not end its list: list ${prefix}.`;
          throw new ObjectStoreError("refused", message);
        }
        parameters = { "continuation-token": next };
      }
    },

    async remove(keys) {
      for (const key of keys) requireKey(key, base);
      await removeEach(keys, REMOVALS_AT_ONCE, removeOne);
    },
  };
}

function isConditional({ ifMatch, ifNoneMatch }: PutOptions): boolean {
  return ifMatch !== undefined || ifNoneMatch === true;
}

function headersOf(options: PutOptions): Record<string, string> {
  const { type = "application/octet-stream", cacheControl, contentEncoding, ifMatch } = options;
  return {
    "content-type": type,
    ...(cacheControl === undefined ? {} : { "cache-control": cacheControl }),
    ...(contentEncoding === undefined ? {} : { "content-encoding": contentEncoding }),
    ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
    ...(options.ifNoneMatch === true ? { "if-none-match": "*" } : {}),
  };
}

/** A request for an object, or for the bucket if `key` is undefined. */
interface S3Request {
  operation: StoreOperation;
  method: "GET" | "PUT" | "POST" | "DELETE";
  /** Key without the path of the address. */
  key: string | undefined;
  /** For messages, if it is not the key. */
  subject?: string;
  parameters?: Readonly<Record<string, string>>;
  /** Signed headers, in lower case. */
  headers?: Record<string, string>;
  body?: Uint8Array;
  /** Sends the request once, on a connection of its own: fetch repeats those on connections that the server closed. */
  isSentOnce?: boolean;
  /** Ends the request. */
  signal?: AbortSignal;
}

/** A response whose body is read within the deadline. */
interface S3Response {
  status: number;
  headers: Headers;
  /**
   * Passes the body on in pieces, and waits for each. The deadline begins again with each piece if `isLong` is true.
   * Throws if the body ends early.
   */
  read(onPiece: (piece: Uint8Array) => void | Promise<void>, isLong?: boolean): Promise<void>;
}

/** Sends requests to one bucket. */
interface S3Client {
  readonly name: string;
  /** Resolves to what `handle` returns for the response. */
  send<T>(request: S3Request, handle: (response: S3Response) => Promise<T>): Promise<T>;
  /** Returns the error for a response with an error status. Reads its body. */
  rejection(request: S3Request, response: S3Response): Promise<ObjectStoreError>;
  clockSkewMs(): number | undefined;
}

/** Longest request whose answer is used to compare the clocks, in ms. */
const CLOCK_REQUEST_MAX_MS = 1_000;

/** Times in `Date` headers are cut to seconds: on average the clock is half of one later. */
const HALF_SECOND_MS = 500;

/** Bytes of an error's body that are read. */
const ERROR_MAX_BYTES = 64 * 1_024;

function createS3Client(
  address: S3Address,
  credentials: StoreCredentials,
  { clock, deadlineMs = DEFAULT_DEADLINE_MS, ca }: StoreDependencies,
): S3Client {
  const name = `s3://${[address.bucket, address.path].filter(Boolean).join("/")}`;
  const signer = { ...credentials, region: address.region };
  const tls = ca === undefined ? undefined : { ca: trustedAuthorities([ca]) };
  let clockSkewMs: number | undefined;

  /** Keeps the difference of the clocks. Slow answers are ignored, since they can be older than the end of the request. */
  function readClock(date: string | null, sentAt: number, tookMs: number): void {
    const time = Date.parse(date ?? "");
    if (Number.isNaN(time) || tookMs > CLOCK_REQUEST_MAX_MS) return;
    clockSkewMs = Math.round(time + HALF_SECOND_MS - (sentAt + tookMs / 2));
  }

  function describe({ operation, key, subject = key }: S3Request): string {
    return subject === undefined || subject === "" ? operation : `${operation} ${subject}`;
  }

  return {
    name,
    clockSkewMs: () => clockSkewMs,
    async send(request, handle) {
      const aborted = new AbortController();
      const late = () => aborted.abort();
      let timer = clock.after(deadlineMs, late);
      const restart = () => {
        timer.cancel();
        timer = clock.after(deadlineMs, late);
      };
      const [sentAt, sentAtMonotonic] = [clock.now(), clock.monotonic()];
      try {
        const url = urlOf(address, request);
        const { method, headers = {}, body, isSentOnce = false } = request;
        const response = await fetch(url, {
          method,
          // A store refuses signatures that are minutes off its own time.
          headers: signedHeaders(
            { method, url, headers, body },
            signer,
            sentAt + (clockSkewMs ?? 0),
          ),
          body: body as Uint8Array<ArrayBuffer> | undefined,
          signal: request.signal
            ? AbortSignal.any([aborted.signal, request.signal])
            : aborted.signal,
          redirect: "manual",
          keepalive: !isSentOnce,
          decompress: false,
          ...(tls && { tls }),
        }).catch(throwNetworkFailure);
        readClock(response.headers.get("date"), sentAt, clock.monotonic() - sentAtMonotonic);
        return await handle({
          status: response.status,
          headers: response.headers,
          read: (onPiece, isLong = false) =>
            readPieces(response, onPiece, isLong ? restart : undefined),
        });
      } catch (error) {
        if (aborted.signal.aborted) {
          const seconds = deadlineMs / 1_000;
          const message = `The store ${name} did not answer within ${seconds} s: ${describe(request)}.`;
          throw new ObjectStoreError("timeout", message);
        }
        if (!(error instanceof NetworkFailure)) throw error;
        const message = `The store ${name} cannot be reached (${error.code}): ${describe(request)}.`;
        throw new ObjectStoreError("unreachable", message);
      } finally {
        timer.cancel();
        // Ends responses that were not read to their end.
        aborted.abort();
      }
    },
    async rejection(request, response) {
      let text = "";
      await response.read((piece) => {
        if (text.length < ERROR_MAX_BYTES) text += Buffer.from(piece).toString("latin1");
      });
      // The rest of the body can contain what was signed.
      const [, code = ""] = /<Code>([A-Za-z]{1,64})<\/Code>/.exec(text) ?? [];
      const answer = [response.status, code].filter(Boolean).join(" ");
      const reason = code === "RequestTimeTooSkewed" ? describeSkew(clockSkewMs) : "";
      const message = `The store ${name} answered ${answer}${reason}: ${describe(request)}.`;
      return new ObjectStoreError("refused", message, response.status);
    },
  };
}

function describeSkew(clockSkewMs: number | undefined): string {
  if (clockSkewMs === undefined) return "";
  const seconds = Math.round(Math.abs(clockSkewMs) / 1_000);
  return `, since this machine's clock is ${seconds} s ${clockSkewMs > 0 ? "behind" : "ahead"}`;
}

/** Failure of the connection. Other errors are those of the code that handles a body, such as of a full disk. */
class NetworkFailure extends Error {
  readonly code: string;

  constructor(code: unknown) {
    super("the connection failed");
    this.code = typeof code === "string" && /^\w{1,64}$/.test(code) ? code : "network error";
  }
}

function throwNetworkFailure(error: unknown): never {
  throw new NetworkFailure((error as { code?: unknown }).code);
}

async function readPieces(
  { body, headers }: Response,
  onPiece: (piece: Uint8Array) => void | Promise<void>,
  onProgress: (() => void) | undefined,
): Promise<void> {
  let received = 0;
  const reader = body?.getReader();
  while (reader) {
    const { done, value } = await reader.read().catch(throwNetworkFailure);
    if (done) break;
    onProgress?.();
    received += value.byteLength;
    await onPiece(value);
  }
  const announced = headers.get("content-length");
  if (announced !== null && Number(announced) !== received) throw new NetworkFailure("EarlyEnd");
}

function urlOf(address: S3Address, { key, parameters = {} }: S3Request): URL {
  const { bucket, region, endpoint } = address;
  // Certificates of Amazon cover no bucket with a dot in its name.
  const isHost = endpoint === undefined && !bucket.includes(".");
  const server = endpoint ?? `https://${isHost ? `${bucket}.` : ""}s3.${region}.amazonaws.com`;
  const full = key === undefined ? [] : [address.path, key].filter(Boolean).join("/").split("/");
  const path = [...(isHost ? [] : [bucket]), ...full].map(encodeForSigning).join("/");
  const query = Object.entries(parameters)
    .map(([name, value]) => `${encodeForSigning(name)}=${encodeForSigning(value)}`)
    .join("&");
  return new URL(`${server}/${path}${query === "" ? "" : `?${query}`}`);
}

/** Fills a buffer from a position of a file. Returns the part of it that was read. */
async function readPart(source: FileHandle, buffer: Buffer, position: number): Promise<Buffer> {
  let length = 0;
  while (length < buffer.length) {
    const free = buffer.length - length;
    const { bytesRead } = await source.read(buffer, length, free, position + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** A page of a listing. */
interface ListPage {
  objects: { key: string; size: number; modifiedAt: number }[];
  /** Continues after this page; undefined on the last one. */
  next: string | undefined;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** Parses a response of ListObjectsV2; returns undefined for anything else. */
function parseListPage(xml: string): ListPage | undefined {
  if (!/<ListBucketResult[\s>]/.test(xml) || !xml.includes("</ListBucketResult>")) return undefined;
  const isEncoded = elementText(xml, "EncodingType") === "url";
  const objects: ListPage["objects"] = [];
  for (const [, content = ""] of xml.matchAll(/<Contents>([^]*?)<\/Contents>/g)) {
    const key = decodeKey(elementText(content, "Key"), isEncoded);
    const size = Number(elementText(content, "Size"));
    const modifiedAt = Date.parse(elementText(content, "LastModified") ?? "");
    if (key === undefined || !Number.isSafeInteger(size) || Number.isNaN(modifiedAt)) {
      return undefined;
    }
    objects.push({ key, size, modifiedAt });
  }
  const isTruncated = elementText(xml, "IsTruncated") === "true";
  const next = isTruncated ? elementText(xml, "NextContinuationToken") : undefined;
  if (isTruncated && next === undefined) return undefined;
  return { objects, next };
}

function elementText(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text?.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,4}));/gi,
    (entity, decimal?: string, hex?: string, word?: string) => {
      if (word !== undefined) return ENTITIES[word] ?? entity;
      const code = decimal === undefined ? parseInt(hex ?? "", 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
    },
  );
}

/** Decodes a key of a listing in which some servers write `+` for a space. */
function decodeKey(text: string | undefined, isEncoded: boolean): string | undefined {
  if (text === undefined || !isEncoded) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

/** Request to be signed. */
interface SignedRequest {
  method: string;
  /** Address whose path and parameters are encoded as they are sent. */
  url: URL;
  /** Headers that are signed, in lower case. */
  headers: Record<string, string>;
  body: Uint8Array | undefined;
}

/** Key id, secret, and region of the signature. */
interface Signer {
  keyId: string;
  secret: string;
  region: string;
}

/**
 * Returns the headers of a request with its signature (AWS Signature Version 4). It covers the body and all given
 * headers, so that a proxy that removes a condition makes the write fail.
 */
export function signedHeaders(
  { method, url, headers, body }: SignedRequest,
  { keyId, secret, region }: Signer,
  now: number,
): Record<string, string> {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const bodyHash = sha256Hex(body ?? "");
  const sent = { ...headers, "x-amz-content-sha256": bodyHash, "x-amz-date": time };
  const signed = Object.entries({ ...sent, host: url.host }).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    method,
    url.pathname,
    url.search.slice(1).split("&").toSorted().join("&"),
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    "",
    names,
    bodyHash,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = [day, region, "s3", "aws4_request"].reduce<string | Uint8Array>(
    (parent, part) => hmac(parent, part),
    `AWS4${secret}`,
  );
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256Hex(canonical)].join("\n");
  const signature = hmac(key, text).toString("hex");
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${keyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

/** Encodes a key or a parameter as Signature Version 4 requires: all but letters, digits and `-._~`. */
function encodeForSigning(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(key: string | Uint8Array, text: string): Buffer {
  return Buffer.from(new Bun.CryptoHasher("sha256", key).update(text).digest().buffer);
}
