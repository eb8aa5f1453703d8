import { setImmediate } from "node:timers/promises";
import type { CsvError, InfoRecord, Parser } from "csv-parse";
import { invalidFields, type Problem } from "../../errors";

/** A record of a CSV file: its cells, and the number of its last line. */
export interface CsvRecord {
  line: number;
  cells: string[];
}

/** Bytes that are parsed before other work gets its turn. The parser takes up to 2 µs for each. */
const SLICE_BYTES = 2 * 1024;
/** Longest record. Without a limit, a quote that is never closed would gather the rest of the file. */
const RECORD_MAX_CHARACTERS = 64 * 1024;

/**
 * Passes the records of a file to `take`: RFC 4180 in UTF-8, with any line ends, without empty lines. Throws
 * `validation_failed` for `file` at the first place that is none of it. Other work runs in between.
 */
export async function readCsv(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  take: (record: CsvRecord) => void,
): Promise<void> {
  // Loaded on demand, since few processes import anything.
  const csv = await import("csv-parse");
  const parser = new csv.Parser({
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    max_record_size: RECORD_MAX_CHARACTERS,
  });
  const failure = watch(parser, take);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.byteLength; start += SLICE_BYTES) {
      const slice = chunk.subarray(start, start + SLICE_BYTES);
      requireUtf8(() => decoder.decode(slice, { stream: true }));
      parser.write(slice);
      await setImmediate();
      throwIfFailed(failure);
    }
  }
  requireUtf8(() => decoder.decode());
  parser.end();
  await failure.ended;
  throwIfFailed(failure);
}

interface Failure {
  error: CsvError | undefined;
  /** Resolves at the end of the records, or at an error. */
  ended: Promise<void>;
}

function watch(parser: Parser, take: (record: CsvRecord) => void): Failure {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const failure: Failure = { error: undefined, ended };
  parser.on("data", (data: { info: InfoRecord; record: string[] }) => {
    take({ line: data.info.lines, cells: data.record });
  });
  parser.on("error", (error) => {
    failure.error = error as CsvError;
    resolve();
  });
  parser.on("end", resolve);
  return failure;
}

function throwIfFailed({ error }: Failure): void {
  if (error) throw invalidFile(reasonOf(error));
}

/** Returns the reason for which a file cannot be read, without repeating a part of it. */
function reasonOf(error: CsvError): string {
  const line = typeof error["lines"] === "number" ? error["lines"] : undefined;
  const at = line === undefined ? "" : `line ${line}: `;
  switch (error.code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return `${at}the last quote is not closed`;
    case "CSV_MAX_RECORD_SIZE":
      return `${at}the line is too long, perhaps since a quote is not closed`;
    default:
      return `${at}a quote is at a wrong place; write it twice, in a cell in quotes`;
  }
}

function requireUtf8(decode: () => string): void {
  try {
    decode();
  } catch {
    throw invalidFile("is not UTF-8; save it as “CSV UTF-8”");
  }
}

/** Returns the error of a file that cannot be imported. */
export function invalidFile(detail: string): Problem {
  return invalidFields([{ pointer: "#/file", detail }]);
}
