import { realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { parsePlace, type StoreAddress } from "../store-address";
import { hasUserInfo, parseWebUrl } from "../web-url";
import { parseCredential } from "./mail";
import { option, parseInteger } from "./parse";

/** Options of the static mirror. */
export const MIRROR_OPTIONS = {
  mirror: option<StoreAddress>({
    flag: "mirror",
    env: "ALLCLEAR_MIRROR",
    parse: parsePlace,
    default: undefined,
    placeholder: "PLACE",
    help: "Folder, or bucket such as s3://bucket/path?endpoint=https://…&region=…, that gets a static copy of all public pages after each change.",
    scope: "serve",
    isHidden: true,
  }),
  mirrorKeyId: option({
    flag: undefined,
    env: "ALLCLEAR_MIRROR_KEY_ID",
    fileEnv: "ALLCLEAR_MIRROR_KEY_ID_FILE",
    parse: parseCredential,
    default: undefined,
    placeholder: "ID",
    help: "Id of the access key for the bucket of the mirror, or a file that contains it.",
    scope: "serve",
  }),
  mirrorSecret: option({
    flag: undefined,
    env: "ALLCLEAR_MIRROR_SECRET",
    fileEnv: "ALLCLEAR_MIRROR_SECRET_FILE",
    parse: parseCredential,
    default: undefined,
    placeholder: "SECRET",
    help: "Secret of that access key, or a file that contains it.",
    scope: "serve",
  }),
} as const;

export type MirrorOptionName = keyof typeof MIRROR_OPTIONS;

/** Returns the contradictions between options as sentences; none if no option of the mirror is given. */
export function mirrorProblems(
  values: Readonly<Record<string, unknown>>,
  isGiven: (name: MirrorOptionName) => boolean,
  nameOf: (name: MirrorOptionName) => string,
): string[] {
  const mirror = values["mirror"] as StoreAddress | undefined;
  if (mirror === undefined && isGiven("mirror")) return [];
  const credentials = ["mirrorKeyId", "mirrorSecret"] as const;
  if (mirror?.kind === "s3") {
    return credentials
      .filter((name) => !isGiven(name))
      .map((name) => `${nameOf(name)} is required for a mirror in a bucket.`);
  }
  const problems = credentials
    .filter(isGiven)
    .map((name) => `${nameOf(name)} is only for a mirror in a bucket.`);
  const dataDir = values["dataDir"];
  if (mirror && typeof dataDir === "string" && isWithin(mirror.path, dataDir)) {
    problems.push(`${nameOf("mirror")} must not contain the data directory, which is private.`);
  }
  return problems;
}

/** Returns true if a path is that of a folder or of something in it, also through links. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(withoutLinks(folder), withoutLinks(resolve(path)));
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}

/** Returns an absolute path without the links in its existing part. */
function withoutLinks(path: string): string {
  for (let part = path; ; part = dirname(part)) {
    try {
      return join(realpathSync(part), relative(part, path));
    } catch {
      if (part === dirname(part)) return path;
    }
  }
}

/** Minimum number of seconds. It is also the maximum without a purge address, since changes would appear late. */
const SECONDS_MIN = 15;
const SECONDS_MAX = 3_600;

/** Options of a CDN in front of this server. */
export const CDN_OPTIONS = {
  cdn: option({
    flag: "cdn",
    env: "ALLCLEAR_CDN",
    parse: parseInteger(SECONDS_MIN, SECONDS_MAX),
    default: undefined,
    placeholder: "SECONDS",
    help: `Seconds for which a CDN keeps public pages, from ${SECONDS_MIN} to ${SECONDS_MAX}. More than ${SECONDS_MIN} requires a purge address.`,
    scope: "serve",
  }),
  purgeUrl: option({
    flag: "purge-url",
    env: "ALLCLEAR_PURGE_URL",
    parse: parsePurgeUrl,
    default: undefined,
    placeholder: "URL",
    help: "Address to which the tags of changed pages are sent, so that the CDN drops them.",
    scope: "serve",
    isHidden: true,
  }),
  purgeHeader: option({
    flag: undefined,
    env: "ALLCLEAR_PURGE_HEADER",
    fileEnv: "ALLCLEAR_PURGE_HEADER_FILE",
    parse: parsePurgeHeader,
    default: undefined,
    placeholder: "NAME: VALUE",
    help: "Header with the credential for the purge address, such as Authorization: Bearer …, or a file that contains it. Has no flag, since other processes can read arguments.",
    scope: "serve",
  }),
} as const;

export type CdnOptionName = keyof typeof CDN_OPTIONS;

/** A header of purge requests. */
export interface PurgeHeader {
  name: string;
  value: string;
}

/** Parses an http or https URL without user info. Returns it as text. */
function parsePurgeUrl(value: string): string {
  const url = parseWebUrl(value);
  if (!url || !/^https?:\/\//i.test(value)) {
    throw new Error("must be a URL that begins with http:// or https://");
  }
  if (hasUserInfo(url)) {
    throw new Error("must not contain a user name or password; use ALLCLEAR_PURGE_HEADER");
  }
  return url.href;
}

// Visible ASCII with spaces in between.
const HEADER = /^([a-z0-9-]+):[ \t]*([!-~]+(?:[ \t]+[!-~]+)*)[ \t]*$/i;

/** Headers that the request itself sets. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "cache-tag",
  "connection",
  "content-length",
  "content-type",
  "host",
  "surrogate-key",
  "transfer-encoding",
]);

/** Parses a line of a header. The line is never part of an error. */
function parsePurgeHeader(line: string): PurgeHeader {
  const [, name = "", value = ""] = HEADER.exec(line) ?? [];
  if (name === "") throw new Error("must be a header, such as Authorization: Bearer …");
  if (OWN_HEADERS.has(name.toLowerCase())) throw new Error("must not be a header of the request");
  return { name, value };
}

/** Returns the contradictions between the options as sentences. */
export function cdnProblems(
  values: Readonly<Record<string, unknown>>,
  isGiven: (name: CdnOptionName) => boolean,
  nameOf: (name: CdnOptionName) => string,
): string[] {
  const seconds = values["cdn"];
  const problems: string[] = [];
  if (typeof seconds === "number" && seconds > SECONDS_MIN && !isGiven("purgeUrl")) {
    problems.push(
      `${nameOf("cdn")} must be ${SECONDS_MIN} without ${nameOf("purgeUrl")}, since changes would appear late.`,
    );
  }
  if (isGiven("purgeUrl") && !isGiven("cdn")) {
    problems.push(`${nameOf("purgeUrl")} requires ${nameOf("cdn")}.`);
  }
  if (isGiven("purgeHeader") && !isGiven("purgeUrl")) {
    problems.push(`${nameOf("purgeHeader")} requires ${nameOf("purgeUrl")}.`);
  }
  return problems;
}
