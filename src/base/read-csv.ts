/* Reads tables of text/csv as spreadsheets write them. `readCsv` is the entrance. */
import { setImmediate } from "node:timers/promises";
import type { CsvError, InfoRecord, Parser } from "csv-parse";
import { invalidFields, type Problem } from "./errors";

/** A record of a CSV file: its cells, and the number of its last line. */
export interface CsvRecord {
  line: number;
  cells: string[];
}

/** Bytes that are parsed before other work gets its turn. The parser takes up to 2 µs for each. */
const SLICE_BYTES = 2 * 1024;
/** Longest record. Without a limit, a quote that is never closed would gather the rest of the file. */
const RECORD_MAX_CHARACTERS = 64 * 1024;

/** Separators of cells, in the order of their choice. Excel writes that of the list of its language. */
const DELIMITERS = [",", ";", "\t"];

/**
 * Passes the records of a file to `take`: RFC 4180 in UTF-8, or in UTF-16 with a byte order mark, with any line ends
 * and without empty lines. Cells are separated by what the first line has most of: commas, semicolons or tabs. Throws
 * `validation_failed` for `file` at the first place that is none of it. Other work runs in between.
 */
export async function readCsv(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  take: (record: CsvRecord) => void,
): Promise<void> {
  // Loaded on demand, since few processes import anything.
  const csv = await import("csv-parse");
  let decoder: TextDecoder | undefined;
  let beginning = Buffer.alloc(0);
  let head = "";
  let started: { parser: Parser; failure: Failure } | undefined;

  function start(): { parser: Parser; failure: Failure } {
    // Excel reads and writes a first line such as `sep=;`.
    const [declaration = "", declared] = /^sep=(.)(?:\r\n|\n|\r|$)/i.exec(head) ?? [];
    const text = head.slice(declaration.length);
    const parser = new csv.Parser({
      delimiter: declared ?? delimiterIn(text),
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      record_delimiter: ["\r\n", "\n", "\r"],
      max_record_size: RECORD_MAX_CHARACTERS,
    });
    const linesBefore = declaration === "" ? 0 : 1;
    const failure = watch(parser, ({ line, cells }) => take({ line: line + linesBefore, cells }));
    parser.write(text);
    return { parser, failure };
  }

  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; at += SLICE_BYTES) {
      let slice = chunk.subarray(at, at + SLICE_BYTES);
      if (!decoder) {
        beginning = Buffer.concat([beginning, slice]);
        if (beginning.length < BYTE_ORDER_MARK_BYTES) continue;
        decoder = decoderOf(beginning);
        slice = beginning;
      }
      const text = decoded(decoder, slice);
      if (started) started.parser.write(text);
      else head += text;
      // The first two lines that are not empty, of which one may declare the separator.
      const isEnough =
        /[^\r\n][\r\n]+[^\r\n]+[\r\n]/.test(head) || head.length > RECORD_MAX_CHARACTERS;
      if (!started && isEnough) started = start();
      await setImmediate();
      if (started) throwIfFailed(started.failure);
    }
  }
  const rest = decoder ? decoded(decoder) : decoded(decoderOf(beginning), beginning);
  if (started) started.parser.write(rest);
  else head += rest;
  const { parser, failure } = started ?? start();
  parser.end();
  await failure.ended;
  throwIfFailed(failure);
}

const BYTE_ORDER_MARK_BYTES = 2;

/** Returns the decoder of a text by its byte order mark, which it leaves out. */
function decoderOf([first, second]: Uint8Array): TextDecoder {
  const isLittle = first === 0xff && second === 0xfe;
  const isBig = first === 0xfe && second === 0xff;
  const encoding = isLittle ? "utf-16le" : isBig ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding, { fatal: true });
}

/** Returns the separator that stands most often in the first line, outside quotes. */
function delimiterIn(text: string): string {
  const [line = ""] = text.replace(/"[^"]*"/g, "").match(/[^\r\n]+/) ?? [];
  const count = (delimiter: string) => line.split(delimiter).length;
  return DELIMITERS.toSorted((a, b) => count(b) - count(a))[0] ?? ",";
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

/** Decodes a part of a text, or its end. Throws `validation_failed` for bytes that are none. */
function decoded(decoder: TextDecoder, part?: Uint8Array): string {
  try {
    return part ? decoder.decode(part, { stream: true }) : decoder.decode();
  } catch {
    throw invalidFile("is neither UTF-8 nor UTF-16; save it as “CSV UTF-8”");
  }
}

/** Returns the error of a file that cannot be imported. */
export function invalidFile(detail: string): Problem {
  return invalidFields([{ pointer: "#/file", detail }]);
}
