import pino from "pino";
import { redactText } from "../../src/base/redaction";
import { lineOptions, type Log, type LogLevel } from "../../src/base/log";

/** One line of the log, parsed. */
export type LogLine = Record<string, unknown> & { msg: string };

/** Creates a log whose lines the test can read. */
export function createTestLog(level: LogLevel): { log: Log; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) };
  return {
    log: pino({ level, base: null, ...lineOptions(redactText) }, destination),
    lines,
  };
}
