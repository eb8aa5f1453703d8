import pino from "pino";
import { redactText } from "../../src/domain/redact";
import { createSerializers, type Log, type LogLevel } from "../../src/kernel/log";

/** One line of the log, as an operator's tools read it. */
export type LogLine = Record<string, unknown> & { msg: string };

/** A log whose lines the test reads. */
export function createTestLog(level: LogLevel): { log: Log; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) };
  return {
    log: pino({ level, base: null, serializers: createSerializers(redactText) }, destination),
    lines,
  };
}
