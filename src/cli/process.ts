/** Standard streams and signals of the process. */
import { writeSync } from "node:fs";
import type * as Tty from "node:tty";
import { type Input, type Output, UsageError } from "./command";

/** Limit of a line that a command reads. */
const LONGEST_LINE_BYTES = 64 * 1024;

/** Returns standard input of the process. */
export function processInput(): Input {
  return {
    get isTerminal() {
      return isTerminal(0);
    },
    line: () => firstLine(Bun.stdin.stream()),
    bytes: (max) => firstBytes(Bun.stdin.stream(), max),
  };
}

/** Reads a stream to its end, since its sender may fail otherwise. Returns at most the first `max` bytes. */
async function firstBytes(stream: AsyncIterable<Uint8Array>, max: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    if (length >= max) continue;
    pieces.push(chunk);
    length += chunk.byteLength;
  }
  return Buffer.concat(pieces).subarray(0, max);
}

/**
 * Reads the first line of a stream of UTF-8, without its end; empty without input. Throws a UsageError
 * for other bytes, and for a line of more than 64 KiB.
 */
export async function firstLine(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const end = chunk.indexOf(0x0a);
    pieces.push(end === -1 ? chunk : chunk.subarray(0, end));
    length += pieces.at(-1)?.byteLength ?? 0;
    if (length > LONGEST_LINE_BYTES) throw new UsageError(["Standard input is too long."]);
    if (end !== -1) break;
  }
  return decodeText(Buffer.concat(pieces)).replace(/\r$/, "");
}

/** Returns what standard input says. Throws a UsageError for bytes that are not UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(["Standard input is not UTF-8."]);
  }
}

/** Erases a line of a terminal from the cursor on. */
const ERASE_LINE = "\u001B[K";

/**
 * Returns standard output and error of the process. Lines are written completely before the call returns, so
 * that an exit loses nothing, even with a slow pipe. `out` throws if data cannot be written, such as on a
 * full disk, since a new key would be lost. A closed pipe, such as by `head`, is ignored.
 */
export function processOutput(): Output {
  let shown = "";
  let isClosed = false;
  function writeError(text: string): void {
    try {
      writeText(2, text);
    } catch {
      // The error cannot be reported anywhere.
    }
  }
  function show(state: string): void {
    if (state === shown) return;
    shown = state;
    writeError(`\r${ERASE_LINE}${state}`);
  }
  return {
    out(line) {
      show("");
      isClosed = !writeText(1, `${line}\n`);
    },
    err(line) {
      show("");
      writeError(`${line}\n`);
    },
    get isTerminal() {
      return isTerminal(1);
    },
    get isClosed() {
      return isClosed;
    },
    get show() {
      return isTerminal(2) ? show : undefined;
    },
  };
}

/** True if a person reads or types there. The module takes a part of each start, and few commands ask. */
export function isTerminal(descriptor: number): boolean {
  const { isatty } = require("node:tty") as typeof Tty;
  return isatty(descriptor);
}

/** Writes a text. Returns false if the reader has closed the pipe. */
function writeText(descriptor: number, text: string): boolean {
  let rest = Buffer.from(text);
  while (rest.byteLength > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") return false;
      if (code !== "EAGAIN") throw error;
      // Another process made the pipe non-blocking, and it is full.
      Bun.sleepSync(1);
    }
  }
  return true;
}

/** Time after the first signal in which others count as the same: a terminal and a parent process may both send it. */
const SAME_MS = 250;

/** Returns promises that resolve at the first of these signals, and at a later one. The process does not end by them. */
export function untilSignal(signals: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT"]): {
  first: Promise<void>;
  again: Promise<void>;
} {
  const first = Promise.withResolvers<void>();
  const again = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const received = () => {
    const now = performance.now();
    if (firstAt !== undefined && now - firstAt >= SAME_MS) again.resolve();
    firstAt ??= now;
    first.resolve();
  };
  for (const signal of signals) process.on(signal, received);
  return { first: first.promise, again: again.promise };
}
