import { type FieldError } from "../../../errors";
import { type HttpConfig, parseUrl } from "./http-config";

/**
 * The config after a change. Secrets that the change does not give stay with the server that they were
 * given for: where the URL now names another origin they are dropped, else whoever may change a
 * monitor could have them sent to a server of their own.
 */
export function mergeHttp(before: HttpConfig, change: Partial<HttpConfig>): HttpConfig {
  const kept: HttpConfig = movesAway(before, change)
    ? { ...before, headers: null, body: null }
    : before;
  const merged: HttpConfig = { ...kept, ...change };
  if (change.headers) merged.headers = mergeHeaders(kept.headers ?? {}, change.headers);
  return withoutNulls(merged);
}

/** Says so where a change would drop secrets; the caller gives them again, or null to take them away. */
export function validateHttpChange(before: HttpConfig, change: Partial<HttpConfig>): FieldError[] {
  if (!movesAway(before, change)) return [];
  const given = new Set(Object.keys(change.headers ?? {}).map((name) => name.toLowerCase()));
  const areHeadersSettled =
    change.headers === null ||
    Object.keys(before.headers ?? {}).every((name) => given.has(name.toLowerCase()));
  const isBodySettled = change.body !== undefined || before.body == null;
  const detail = "is a secret that was given for another server: give it again, or take it away";
  return [
    ...(areHeadersSettled ? [] : [{ pointer: "#/headers", detail }]),
    ...(isBodySettled ? [] : [{ pointer: "#/body", detail }]),
  ];
}

function movesAway(before: HttpConfig, change: Partial<HttpConfig>): boolean {
  return change.url !== undefined && parseUrl(before.url)?.origin !== parseUrl(change.url)?.origin;
}

/** By name in any case; null removes. */
function mergeHeaders(
  before: Record<string, string | null>,
  change: Record<string, string | null>,
): Record<string, string | null> {
  const changed = new Set(Object.keys(change).map((name) => name.toLowerCase()));
  const kept = Object.entries(before).filter(([name]) => !changed.has(name.toLowerCase()));
  const given = Object.entries(change).filter(([, value]) => value !== null);
  return Object.fromEntries([...kept, ...given]);
}

function withoutNulls(config: HttpConfig): HttpConfig {
  const { url, ...rest } = config;
  const given = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined);
  return { url, ...Object.fromEntries(given) };
}
