import { open, rm } from "node:fs/promises";
import { objectKeyError } from "../base/ids";
import type { S3Address, StoreCredentials } from "../base/store-address";
import { compareKeys, removeEach, requireKey } from "./keys";
import {
  GET_MAX_BYTES,
  type ObjectStore,
  ObjectStoreError,
  type PutOptions,
  type StoreDependencies,
  type StoredObject,
} from "./model";
import { parseListPage } from "./s3-list";
import { createS3Client, type S3Request, type S3Response } from "./s3-request";

/** Maximum size of one page of a listing, in bytes: a thousand keys with all their characters encoded. */
const LIST_MAX_BYTES = 8 * 1_024 * 1_024;

/** Objects that are removed at the same time. */
const REMOVALS_AT_ONCE = 8;

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
