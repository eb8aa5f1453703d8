import { Type } from "@sinclair/typebox";
import type { HttpAnswer } from "../../../egress/model";
import { SecretPart } from "../../../base/secrets";
import { HttpUserName } from "./fields";

/** Credentials of Digest sign-in (RFC 7616). */
export interface Digest {
  username: string;
  /** Secret. */
  password?: string | null;
}

export const DigestBody = Type.Object(
  {
    username: HttpUserName,
    password: SecretPart(1_000),
  },
  {
    additionalProperties: false,
    description:
      "Digest sign-in (RFC 7616) at the origin of the URL, with MD5, SHA-256 or SHA-512-256. A redirect to another origin gets none.",
  },
);

/** A challenge of a server: values with one character per byte by the names of its parameters in lower case. */
type Challenge = ReadonlyMap<string, string>;

/** Hash functions by the name of an algorithm, without `-sess`. */
const HASHES: ReadonlyMap<string, "md5" | "sha256" | "sha512-256"> = new Map([
  ["MD5", "md5"],
  ["SHA-256", "sha256"],
  ["SHA-512-256", "sha512-256"],
]);

/** Requests with one nonce: a challenge that is answered, and answered again if its nonce has become stale. */
const ANSWERS_MAX = 2;

/** Signs in to one origin during one check. */
export class DigestSignIn {
  readonly #credentials: Digest;
  #challenge: Challenge | undefined;
  #count = 0;
  #answers = 0;

  constructor(credentials: Digest) {
    this.#credentials = credentials;
  }

  /** Name of the algorithm by which the last challenge is answered. */
  get algorithm(): string {
    return algorithmOf(this.#challenge ?? new Map()).name;
  }

  /** Begins the requests of another address of the origin. */
  redirected(): void {
    this.#answers = 0;
  }

  /** Returns true if the request is to be sent again with an answer to this challenge. */
  canAnswer(answer: Pick<HttpAnswer, "status" | "lines">): boolean {
    return this.#nextChallenge(answer) !== undefined;
  }

  /** Takes a challenge that can be answered. */
  take(answer: Pick<HttpAnswer, "status" | "lines">): void {
    const challenge = this.#nextChallenge(answer);
    if (!challenge) return;
    if (challenge.get("nonce") !== this.#challenge?.get("nonce")) this.#count = 0;
    this.#challenge = challenge;
    this.#answers += 1;
  }

  /** Returns the header of a request; undefined before the first challenge. */
  authorization(method: string, url: URL): string | undefined {
    if (!this.#challenge) return undefined;
    this.#count += 1;
    return answerTo(this.#challenge, this.#credentials, {
      method,
      uri: url.pathname + url.search,
      count: this.#count,
      clientNonce: crypto.randomUUID().replaceAll("-", ""),
    });
  }

  #nextChallenge({
    status,
    lines = [],
  }: Pick<HttpAnswer, "status" | "lines">): Challenge | undefined {
    if (status !== 401 || this.#answers === ANSWERS_MAX) return undefined;
    const challenge = lines
      .filter(([name]) => name === "www-authenticate")
      .flatMap(([, value]) => challengesIn(value))
      .find(isKnown);
    const used = this.#challenge;
    // A second challenge for the same credentials means that they are wrong, unless the nonce is too old.
    const isRejected =
      used !== undefined &&
      this.#answers > 0 &&
      challenge?.get("realm") === used.get("realm") &&
      challenge?.get("stale")?.toLowerCase() !== "true";
    return isRejected ? undefined : challenge;
  }
}

function isKnown(challenge: Challenge): boolean {
  const qops = qopsOf(challenge);
  return (
    challenge.has("nonce") &&
    HASHES.has(algorithmOf(challenge).hash) &&
    (qops.length === 0 || qops.includes("auth"))
  );
}

function qopsOf(challenge: Challenge): string[] {
  return (challenge.get("qop") ?? "")
    .split(/[\s,]+/)
    .filter((qop) => qop !== "")
    .map((qop) => qop.toLowerCase());
}

function algorithmOf(challenge: Challenge): { name: string; hash: string; isSession: boolean } {
  const name = challenge.get("algorithm") ?? "MD5";
  const upper = name.toUpperCase();
  const isSession = upper.endsWith("-SESS");
  return { name, hash: isSession ? upper.slice(0, -"-SESS".length) : upper, isSession };
}

/** Returns the value of an Authorization header. */
export function answerTo(
  challenge: Challenge,
  { username: name, password }: Digest,
  request: { method: string; uri: string; count: number; clientNonce: string },
): string {
  const { method, uri, count, clientNonce } = request;
  const { name: algorithm, hash, isSession } = algorithmOf(challenge);
  const digest = (bytes: string) =>
    new Bun.CryptoHasher(HASHES.get(hash) ?? "md5").update(bytes, "latin1").digest("hex");
  const nameBytes = bytesOf(name);
  const [realm, nonce] = [challenge.get("realm") ?? "", challenge.get("nonce") ?? ""];
  const secret = digest(`${nameBytes}:${realm}:${bytesOf(password ?? "")}`);
  const a1 = isSession ? digest(`${secret}:${nonce}:${clientNonce}`) : secret;
  const a2 = digest(`${method}:${uri}`);
  const hasQop = qopsOf(challenge).length > 0;
  const nc = count.toString(16).padStart(8, "0");
  const between = hasQop ? `${nonce}:${nc}:${clientNonce}:auth` : nonce;
  const isHashed = challenge.get("userhash")?.toLowerCase() === "true";
  const user = isHashed ? digest(`${nameBytes}:${realm}`) : name;
  const opaque = challenge.get("opaque");
  const isAscii = /^[\x20-\x7e]*$/.test(user);
  const parts = [
    isAscii ? `username=${quoted(user)}` : `username*=UTF-8''${encodeURIComponent(user)}`,
    `realm=${quoted(realm)}`,
    `nonce=${quoted(nonce)}`,
    `uri=${quoted(uri)}`,
    `response="${digest(`${a1}:${between}:${a2}`)}"`,
    ...(challenge.has("algorithm") ? [`algorithm=${algorithm}`] : []),
    ...(opaque === undefined ? [] : [`opaque=${quoted(opaque)}`]),
    ...(hasQop ? ["qop=auth", `nc=${nc}`] : []),
    ...(hasQop || isSession ? [`cnonce="${clientNonce}"`] : []),
    ...(isHashed ? ["userhash=true"] : []),
  ];
  return `Digest ${parts.join(", ")}`;
}

/** Returns a text as UTF-8 with one character per byte. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** A scheme, or a parameter with its value, quoted or not. */
const PART = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/gs;

/** Characters of a header with challenges that are read. */
const CHALLENGES_MAX = 16 * 1024;

/** Returns the Digest challenges of a header, which may hold those of other schemes, in their order. */
export function challengesIn(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  for (const [text, name = "", quotedValue, value] of header
    .slice(0, CHALLENGES_MAX)
    .matchAll(PART)) {
    if (!text.includes("=")) challenges.push({ scheme: name, parameters: new Map() });
    else {
      const given =
        quotedValue === undefined ? (value ?? "") : quotedValue.replace(/\\(.)/gs, "$1");
      challenges.at(-1)?.parameters.set(name.toLowerCase(), given);
    }
  }
  return challenges
    .filter(({ scheme }) => scheme.toLowerCase() === "digest")
    .map(({ parameters }) => parameters);
}
