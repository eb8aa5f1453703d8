import { trustedAuthorities } from "../base/config/network";
import type { S3Address, StoreCredentials } from "../base/store-address";
import {
  DEFAULT_DEADLINE_MS,
  ObjectStoreError,
  type Operation,
  type StoreDependencies,
} from "./model";
import { encodeForSigning, signedHeaders } from "./sign";

/** A request for an object, or for the bucket if `key` is undefined. */
export interface S3Request {
  operation: Operation;
  method: "GET" | "PUT" | "DELETE";
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
}

/** A response whose body is read within the deadline. */
export interface S3Response {
  status: number;
  headers: Headers;
  /**
   * Passes the body on in pieces, and waits for each. The deadline begins again with each piece if `isLong` is true.
   * Throws if the body ends early.
   */
  read(onPiece: (piece: Uint8Array) => void | Promise<void>, isLong?: boolean): Promise<void>;
}

/** Sends requests to one bucket. */
export interface S3Client {
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

export function createS3Client(
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
          signal: aborted.signal,
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
