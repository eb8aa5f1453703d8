import pino from "pino";
import { redactText } from "./redact";

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
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: SERIALIZERS },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** What a log keeps of an error. Other properties may hold what its maker was given: a URL, a token. */
export interface LoggedError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: LoggedError;
}

/** How the logger writes what is given to it as `err`. */
export const SERIALIZERS = { err: describeError };

function describeError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: redactText(String(error)) };
  const { code } = error as NodeJS.ErrnoException;
  return {
    type: error.name,
    message: redactText(error.message),
    ...(typeof code === "string" ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
