import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { objectKeyError } from "./ids";
import { hasUserInfo, parseWebUrl } from "./web-url";

/** A place for objects: a bucket of an S3-compatible server, or a folder. */
export type StoreAddress = S3Address | FolderAddress;

export interface S3Address {
  kind: "s3";
  bucket: string;
  /** Beginning of all keys, without a slash at its end; may be empty. */
  path: string;
  region: string;
  /** Address of the server without a path; undefined for Amazon S3. */
  endpoint: string | undefined;
}

export interface FolderAddress {
  kind: "folder";
  /** Absolute path. */
  path: string;
}

/** Access to a bucket. */
export interface StoreCredentials {
  keyId: string;
  secret: string;
}

/** Region that applies if the address names none. Most servers other than Amazon's ignore it. */
const DEFAULT_REGION = "us-east-1";

const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/;
const REGION = /^[a-z0-9-]{1,63}$/i;

/**
 * Parses `s3://bucket/path?endpoint=…&region=…` or `file:///path`. Throws an Error whose message ends the sentence
 * "The address …". No message contains the address, which could contain a password.
 */
export function parseStoreAddress(text: string): StoreAddress {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new Error("must be s3://bucket/path?endpoint=…&region=… or file:///path");
  }
  if (hasUserInfo(url)) {
    throw new Error("must not contain credentials, which have options of their own");
  }
  if (url.hash !== "") throw new Error("must not contain #");
  if (url.protocol === "s3:") return parseBucket(url);
  if (url.protocol === "file:") return parseFolder(url);
  throw new Error("must begin with s3:// or file://");
}

/** Parses the address of a bucket or of a folder, which may be a path. */
export function parsePlace(text: string): StoreAddress {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return parseStoreAddress(text);
  if (text === "") throw new Error("is empty");
  if (text.includes("\0") || resolve(text) === "/") throw new Error("must be the path of a folder");
  return folderAddress(text);
}

/** Returns the address of a folder. */
export function folderAddress(path: string): FolderAddress {
  return { kind: "folder", path: resolve(path) };
}

/** Returns an address for messages, without its parameters. */
export function describeStore(address: StoreAddress): string {
  if (address.kind === "folder") return address.path;
  return `s3://${[address.bucket, address.path].filter(Boolean).join("/")}`;
}

function parseBucket(url: URL): S3Address {
  // The name of a bucket has no port.
  if (!BUCKET.test(url.host)) throw new Error("must name a bucket after s3://");
  for (const name of url.searchParams.keys()) {
    if (name !== "endpoint" && name !== "region") {
      throw new Error("can have only endpoint and region after the question mark");
    }
    if (url.searchParams.getAll(name).length > 1) throw new Error(`has more than one ${name}`);
  }
  const region = url.searchParams.get("region") ?? DEFAULT_REGION;
  if (!REGION.test(region)) throw new Error("must have a region such as eu-central-1");
  const path = decoded(url.pathname).replace(/^\//, "").replace(/\/$/, "");
  const error = path === "" ? undefined : objectKeyError(path);
  if (error !== undefined) throw new Error(`has a path that ${error}`);
  const endpoint = parseEndpoint(url.searchParams.get("endpoint"));
  return { kind: "s3", bucket: url.host, path, region, endpoint };
}

function parseEndpoint(text: string | null): string | undefined {
  if (text === null) return undefined;
  const url = parseWebUrl(text);
  const isServer =
    url !== undefined &&
    url.hostname !== "" &&
    url.pathname === "/" &&
    `${url.username}${url.password}${url.search}${url.hash}` === "";
  if (!isServer) throw new Error("must have an endpoint such as https://storage.example.com");
  return url.origin;
}

function parseFolder(url: URL): FolderAddress {
  if (url.host !== "") throw new Error("must have three slashes: file:///path");
  if (url.search !== "") throw new Error("must not contain ?");
  let path: string;
  try {
    path = fileURLToPath(url);
  } catch {
    throw new Error("must be a path such as file:///var/backups");
  }
  if (!isAbsolute(path) || path === "/" || path.includes("\0")) {
    throw new Error("must be the path of a folder, such as file:///var/backups");
  }
  return folderAddress(path);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new Error("has a % that begins no character");
  }
}
