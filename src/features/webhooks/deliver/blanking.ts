import { ELLIPSIS, FORMATS } from "../formats";
import type { Outgoing } from "./message";

/** Shorter values of a query, such as in `wait=true`, are options and occur in any text. */
const QUERY_VALUE_MIN = 6;
/** A part of a path is a secret if it has 16 characters, or 8 with a digit; others may be words. */
const LONGER_THAN_WORDS = 16;
const LONG = 8;
/** Length from which the beginning of a secret is removed. */
const BEGINNING_MIN = 4;

/**
 * Returns the secrets in an endpoint's settings and URL in every spelling that a receiver may send
 * back: whole and in parts, plain, decoded and escaped. Longest first.
 */
export function secretsIn({ url, format, settings }: Outgoing["webhook"]): string[] {
  const { secretSettings, openPath } = FORMATS[format];
  const tokens = secretSettings.map((name) => settings[name]);
  const secrets = [
    ...(openPath ? hiddenIn(new URL(url), openPath) : []),
    ...tokens.filter((value): value is string => typeof value === "string" && value !== ""),
  ];
  return [...new Set(secrets.flatMap(spellings))].toSorted((a, b) => b.length - a.length);
}

/** Returns a text with the secrets replaced by an ellipsis. */
export function blanked(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, ELLIPSIS), text);
}

/** Returns a cut text without the beginning of a secret at its end. */
export function withoutBeginning(text: string, secrets: readonly string[]): string {
  let most = 0;
  for (const secret of secrets) {
    for (let length = secret.length - 1; length >= BEGINNING_MIN && length > most; length--) {
      if (text.endsWith(secret.slice(0, length))) most = length;
    }
  }
  return most === 0 ? text : text.slice(0, -most) + ELLIPSIS;
}

function hiddenIn({ pathname, search, searchParams }: URL, openPath: RegExp): string[] {
  const hidden = pathname.slice(openPath.exec(pathname)?.[0].length ?? 1);
  const query = search.slice(1);
  const values = [
    ...query.split("&").map((pair) => pair.slice(pair.indexOf("=") + 1)),
    ...searchParams.values(),
  ];
  return [
    ...[hidden, query].filter((whole) => whole !== ""),
    ...hidden.split("/").filter(isNoWord),
    ...values.filter(({ length }) => length >= QUERY_VALUE_MIN),
  ];
}

function isNoWord(part: string): boolean {
  return part.length >= LONGER_THAN_WORDS || (part.length >= LONG && /\d/.test(part));
}

function spellings(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    decoded(secret),
    encodeURIComponent(secret),
    json,
    // Some JSON writers escape slashes.
    json.replaceAll("/", "\\/"),
  ];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
