import type { Clock } from "../kernel/clock";
import type { RandomBytes } from "../kernel/random";

/** The kinds of thing that have an id, by the prefix that their ids carry. */
export type IdPrefix =
  "key" | "page" | "grp" | "cmp" | "inc" | "upd" | "mnt" | "mon" | "whk" | "evt" | "dlv" | "usr";

/** Makes a new id: `<prefix>_` and 26 characters that sort by the time of their making. */
export type NewId = (prefix: IdPrefix) => string;

/** Sorts behind every id: where a list begins that runs from the newest. */
export const NEWEST = "~";

const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";
const COUNTER_MAX = 0xfff;
const ID_SHAPE = /^[a-z]{3,4}_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/**
 * An id factory in TypeID's form: a UUIDv7 (RFC 9562) in lower-case Crockford base32.
 * Within one millisecond the 12 bits behind the time count up (the RFC's "fixed bit-length
 * dedicated counter"), so that ids made by one process sort in the order of their making, whatever the
 * wall clock does. So do they behind `newest`, which an earlier process may have made while the clock
 * was ahead; it is asked for at the first making.
 */
export function createIdFactory(
  clock: Clock,
  random: RandomBytes,
  newest: () => string | undefined = () => undefined,
): NewId {
  let lastMs: number | undefined;
  // Full: the first id stands in a millisecond of its own.
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
  bytes.set(random.subarray(0, 8), 8);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, Math.floor(ms / 2 ** 16));
  view.setUint16(4, ms % 2 ** 16);
  view.setUint16(6, 0x7000 | counter);
  view.setUint8(8, 0x80 | (view.getUint8(8) & 0x3f));
  return bytes;
}

/** Writes 16 bytes as 26 digits, with two zero bits before them. */
function encode(bytes: Uint8Array): string {
  let text = "";
  let buffer = 0;
  let bits = 2;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
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

/** Returns true if a text has the shape of an id with this prefix. The object may not exist. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ID_SHAPE.test(text);
}
