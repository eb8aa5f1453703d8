import type { Clock } from "./clock";
import type { RandomBytes } from "./hash";

/** Prefixes of ids, one for each kind of object. */
type IdPrefix =
  | "key"
  | "page"
  | "pwd"
  | "lnk"
  | "grp"
  | "cmp"
  | "inc"
  | "upd"
  | "tpl"
  | "mnt"
  | "msc"
  | "mon"
  | "loc"
  | "whk"
  | "evt"
  | "dlv"
  | "dgr"
  | "usr"
  | "sub"
  | "mlg"
  | "eml"
  | "mrq"
  | "imp"
  | "src"
  | "rpt";

/** Creates an id: `<prefix>_` and 26 characters that sort by creation time. */
export type NewId = (prefix: IdPrefix) => string;

/** Text that sorts after every id, to begin a list with the newest object. */
export const NEWEST = "~";

const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";
const COUNTER_MAX = 0xfff;

/**
 * Returns a function that creates ids in the form of TypeID: a UUIDv7 (RFC 9562) in lower-case
 * Crockford base32. Within one millisecond a counter of 12 bits is increased (the RFC's "fixed
 * bit-length dedicated counter"), so that the ids of one process sort by creation, even if the wall
 * clock is set back. They also sort after `newest`, the newest stored id, which an earlier process may
 * have created while the clock was ahead. `newest` is called for the first id only.
 */
export function createIdFactory(
  clock: Clock,
  random: RandomBytes,
  newest: () => string | undefined = () => undefined,
): NewId {
  let lastMs: number | undefined;
  // The full counter makes the first id start a new millisecond.
  let counter = COUNTER_MAX;
  return (prefix) => {
    const nowMs = clock.now();
    lastMs ??= millisecondOf(newest());
    const tail = random(10);
    if (nowMs > lastMs) {
      lastMs = nowMs;
      counter = ((tail[8] ?? 0) << 3) | ((tail[9] ?? 0) & 7);
    } else if (++counter > COUNTER_MAX) {
      lastMs += 1;
      counter = 0;
    }
    return `${prefix}_${encode(uuid(lastMs, counter, tail))}`;
  };
}

/** Returns the bytes of a UUIDv7 with a time in unix ms, a counter of 12 bits and 62 bits of `random`. */
function uuid(ms: number, counter: number, random: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(16);
  const high = Math.floor(ms / 2 ** 16);
  bytes[0] = high >>> 24;
  bytes[1] = high >>> 16;
  bytes[2] = high >>> 8;
  bytes[3] = high;
  bytes[4] = ms >>> 8;
  bytes[5] = ms;
  bytes[6] = 0x70 | (counter >>> 8);
  bytes[7] = counter;
  bytes[8] = 0x80 | ((random[0] ?? 0) & 0x3f);
  for (let i = 1; i < 8; i++) bytes[8 + i] = random[i] ?? 0;
  return bytes;
}

/** Encodes 16 bytes as 26 digits, with two leading zero bits. */
function encode(bytes: Uint8Array): string {
  let text = "";
  let buffer = 0;
  let bits = 2;
  for (let i = 0; i < bytes.length; i++) {
    buffer = (buffer << 8) | (bytes[i] ?? 0);
    bits += 8;
    for (; bits >= 5; bits -= 5) text += CROCKFORD.charAt((buffer >> (bits - 5)) & 31);
    buffer &= 31;
  }
  return text;
}

/**
 * Returns the creation time of an id in unix ms, from the first 48 of its 128 bits; 0 without an
 * id.
 */
function millisecondOf(id: string | undefined): number {
  let value = 0n;
  for (const digit of id?.slice(id.indexOf("_") + 1) ?? "") {
    value = (value << 5n) | BigInt(CROCKFORD.indexOf(digit));
  }
  return Number(value >> 80n);
}

/** Creator of an object, which keeps it up to date: a configuration file, an import, or labels of containers. */
export type Manager = "apply" | "import" | "docker";

/** Identity and manager of an object that `apply` creates. */
export interface ApplyMetadata {
  ref?: string;
  managedBy?: "apply";
}

/** Identity and manager of an object that `apply` or an import creates. */
export interface ManagedMetadata {
  ref?: string;
  managedBy?: Manager;
}

/** Maximum length of a ref. */
export const REF_LENGTH_MAX = 63;

/**
 * Returns `desired` as a ref, or with the lowest number from 2 that makes it free. `findHolder` returns
 * the object that has a ref.
 */
export function freeRef(desired: string, findHolder: (ref: string) => object | undefined): string {
  for (let count = 1; ; count++) {
    const ref = numberedRef(desired, count);
    if (!findHolder(ref)) return ref;
  }
}

/** Returns a ref with a number, shortened to have room for it; without a number for 1. */
export function numberedRef(desired: string, count: number): string {
  const suffix = count === 1 ? "" : `-${count}`;
  return `${desired.slice(0, REF_LENGTH_MAX - suffix.length)}${suffix}`;
}

/** Limit of S3 for a key with its path, in bytes. */
const KEY_MAX_BYTES = 1_024;

/**
 * Returns an error of a key, as the end of a sentence. Valid keys are relative paths that no server, proxy or file
 * system changes: `..` would leave the path, and an empty segment or a dot is lost on the way.
 */
export function objectKeyError(key: string): string | undefined {
  if (key === "") return "is empty";
  if (Buffer.byteLength(key) > KEY_MAX_BYTES) return `has more than ${KEY_MAX_BYTES} bytes`;
  if (!key.isWellFormed()) return "is not valid Unicode";
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\]/.test(key)) return "has a control character or a backslash";
  const isInvalid = key.split("/").some((segment) => /^\.{0,2}$/.test(segment));
  return isInvalid ? "has an empty segment or one of dots" : undefined;
}

const SHAPE_ANYWHERE = /allclear_[0-9A-Za-z]{49}/;

/** Returns true if a text contains something shaped like an API key's value. */
export function containsKeyShape(text: string): boolean {
  return SHAPE_ANYWHERE.test(text);
}

/** Returns the first part of a text that is shaped like an API key's value; undefined if none is. */
export function findKeyShape(text: string): string | undefined {
  return SHAPE_ANYWHERE.exec(text)?.[0];
}
