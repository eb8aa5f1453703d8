/*
 * Histograms of latency, after DDSketch (Masson, Rim and Lee, 2019). The bounds of buckets have a fixed
 * ratio, so that quantiles are accurate to 2 %, and sketches can be added up.
 */
import { sum } from "./numbers";

/** Largest error of a quantile, relative to its value. */
const RELATIVE_ERROR = 0.02;
const GAMMA = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR);
const LOG_GAMMA = Math.log(GAMMA);
/** Upper bound of the first bucket, in ms. */
const SMALLEST = 1;

/** Number of values in each bucket, by bucket number: a few hundred at most, without holes. */
export type Sketch = readonly number[];

/** Returns the sketch of values, each zero or more. */
export function sketchOf(values: Iterable<number>): Sketch {
  const counts: number[] = [];
  for (const value of values) add(counts, bucketOf(value), 1);
  return counts;
}

/** Returns the sketch of the values of several sketches. */
export function mergeSketches(sketches: Iterable<Sketch>): Sketch {
  const counts: number[] = [];
  for (const sketch of sketches) {
    for (let bucket = 0; bucket < sketch.length; bucket++) {
      counts[bucket] = (counts[bucket] ?? 0) + (sketch[bucket] ?? 0);
    }
  }
  return counts;
}

/** Returns the value below which a part of all values lies: 0.95 for p95. Null for an empty sketch. */
export function quantileOf(sketch: Sketch, part: number): number | null {
  const rank = part * (sum(sketch) - 1);
  let seen = 0;
  for (let bucket = 0; bucket < sketch.length; bucket++) {
    seen += sketch[bucket] ?? 0;
    if (seen > rank) return middleOf(bucket);
  }
  return null;
}

/** Writes a sketch as varints: per bucket, its distance from the previous one and its count. */
export function sketchToBytes(sketch: Sketch): Buffer {
  const bytes: number[] = [];
  let before = 0;
  for (let bucket = 0; bucket < sketch.length; bucket++) {
    const count = sketch[bucket] ?? 0;
    if (count === 0) continue;
    writeVarint(bytes, bucket - before);
    writeVarint(bytes, count);
    before = bucket;
  }
  return Buffer.from(bytes);
}

/** Reads the output of `sketchToBytes`. Throws for other bytes. */
export function sketchFromBytes(bytes: Uint8Array): Sketch {
  const counts: number[] = [];
  const reader = { bytes, at: 0 };
  let bucket = 0;
  while (reader.at < bytes.length) {
    bucket += readVarint(reader);
    add(counts, bucket, readVarint(reader));
  }
  return counts;
}

function add(counts: number[], bucket: number, count: number): void {
  while (counts.length <= bucket) counts.push(0);
  counts[bucket] = (counts[bucket] ?? 0) + count;
}

function bucketOf(value: number): number {
  return value <= SMALLEST ? 0 : Math.ceil(Math.log(value) / LOG_GAMMA);
}

/** Returns the value with the same relative distance from both bounds of a bucket. */
function middleOf(bucket: number): number {
  return bucket === 0 ? SMALLEST : (2 * GAMMA ** bucket) / (GAMMA + 1);
}

/** Writes seven bits per byte, the lowest first, as LEB128 does. */
function writeVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}

function readVarint(reader: { bytes: Uint8Array; at: number }): number {
  let value = 0;
  for (let factor = 1; ; factor *= 0x80) {
    const byte = reader.bytes[reader.at++];
    if (byte === undefined) throw new Error("a sketch was cut short");
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return value;
  }
}
