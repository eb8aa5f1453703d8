import type * as Tty from "node:tty";
import { type Input, UsageError } from "./command";

/** Limit of a line. */
const LONGEST_LINE_BYTES = 64 * 1024;

/** Returns standard input of the process. */
export function processInput(): Input {
  return {
    get isTerminal() {
      // Loaded on demand, since few commands ask.
      const { isatty } = require("node:tty") as typeof Tty;
      return isatty(0);
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
  return decode(Buffer.concat(pieces)).replace(/\r$/, "");
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(["Standard input is not UTF-8."]);
  }
}
