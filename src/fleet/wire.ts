import { timingSafeEqual } from "node:crypto";
import { sha256 } from "../base/hash";

/** Paths of the private listener. */
export const FORWARD_PATH = "/fleet/v1/forward";
export const USAGE_PATH = "/fleet/v1/usage";
/** Replicas report to it, and it answers with the state of all nodes. */
export const NODES_PATH = "/fleet/v1/nodes";
export const STATUS_PATH = "/fleet/v1/status";

/** Headers between nodes. They mean nothing on the public listener. */
export const TOKEN_HEADER = "allclear-fleet-token";
/** Origin of the request's URL as the client sent it, such as `https://status.example.com`. */
export const ORIGIN_HEADER = "allclear-forwarded-origin";
/** Client address that the replica found. */
export const CLIENT_HEADER = "allclear-forwarded-for";
/** Set on answers of the application, so that no other program's answer passes for one. */
export const FORWARDED_HEADER = "allclear-forwarded";

/** Returns the text by which nodes recognise each other: a hash, since a secret may have any characters. */
export function fleetToken(secret: string): string {
  return new Bun.CryptoHasher("sha256", secret).update("allclear fleet v1").digest("hex");
}

/** Returns true if a header has the token. Takes the same time for each wrong one. */
export function isFleetToken(given: string | null, token: string): boolean {
  return given !== null && timingSafeEqual(sha256(given), sha256(token));
}

/** Headers that concern one connection (RFC 9110) and are not sent on, in lower case. */
const OF_CONNECTION = [
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** Returns a copy without the headers of the connection and those in `more`. */
export function withoutConnection(headers: Headers, more: readonly string[] = []): Headers {
  const copy = new Headers(headers);
  const named = (headers.get("connection") ?? "").split(",").map((name) => name.trim());
  for (const name of [...OF_CONNECTION, ...more, ...named.filter(isToken)]) copy.delete(name);
  return copy;
}

function isToken(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name);
}
