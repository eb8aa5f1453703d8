import pino from "pino";

/** Structured lines: an object of facts, then a sentence. */
export type Log = pino.Logger;

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * A logger that writes JSON lines to standard error, at once, so that a crash loses none: standard
 * output belongs to a command's data.
 */
export function createLog(level: LogLevel): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
}
