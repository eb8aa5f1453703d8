/*
 * Entry point of the thread that evaluates assertions. It keeps nothing of a response between
 * slices, so its memory is bounded by one body and the regular expressions in use.
 */
import { heapSize } from "bun:jsc";
import { evaluate, type Progress, type Subject } from "./evaluate";
import type { Assertion } from "./assertions";
import { createPatternCache } from "./pattern";

/** A slice of work: assertions to evaluate in order until the slice is over. */
export interface Slice {
  assertions: readonly Assertion[];
  subject: Subject;
}

/** "ready" once the thread has loaded, then one result for each slice. */
export type ThreadMessage = "ready" | (Progress & { tookMs: number });

/** Time after which the remaining assertions wait for the next slice. */
const SLICE_MS = 20;

/** Regular expressions grow with use, up to about 15 MB each. */
const HEAP_MAX_BYTES = 32 * 1024 * 1024;

declare const self: Worker;

const patterns = createPatternCache();

self.onmessage = ({ data: { assertions, subject } }: MessageEvent<Slice>) => {
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  // The first assertion decodes and parses the body, which each slice does again.
  let firstMs: number | undefined;
  const canContinue = () => {
    firstMs ??= elapsedMs();
    return elapsedMs() - firstMs < SLICE_MS;
  };
  const progress = evaluate(assertions, subject, { readPattern: patterns.read, canContinue });
  if (heapSize() > HEAP_MAX_BYTES) {
    patterns.clear();
    Bun.gc(true);
  }
  self.postMessage({ ...progress, tookMs: elapsedMs() } satisfies ThreadMessage);
};

self.postMessage("ready" satisfies ThreadMessage);
