import type { LogFn, Logger } from "pino";
import { lazy } from "./lazy";

/** Structured lines: an object of facts, then a sentence. */
export interface Log {
  debug: LogFn;
  info: LogFn;
  warn: LogFn;
  error: LogFn;
  isLevelEnabled(level: LogLevel): boolean;
  /** Writes what is still counted, before the process ends. */
  flush(): void;
}

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Removes secrets from a text. */
export type Redact = (text: string) => string;

/**
 * A logger that writes JSON lines to standard error, at once, so that a crash loses none: standard
 * output belongs to a command's data. Its library is loaded with the first line that is written.
 */
export function createLog(level: LogLevel, redact: Redact): Log {
  const logger = lazy(() => openLogger(level, redact));
  const isLevelEnabled = (asked: LogLevel) =>
    asked !== "silent" && LOG_LEVELS.indexOf(asked) >= LOG_LEVELS.indexOf(level);
  const line = (at: "debug" | "info" | "warn" | "error"): LogFn =>
    ((...given: Parameters<LogFn>) => {
      if (isLevelEnabled(at)) logger()[at](...given);
    }) as LogFn;
  return {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
    isLevelEnabled,
    // Every line is written at once.
    flush() {},
  };
}

function openLogger(level: LogLevel, redact: Redact): Logger {
  const { pino } = require("pino") as typeof import("pino");
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: createSerializers(redact),
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** Properties of an error that are logged. Others may hold secrets, such as a URL or a token. */
export interface LoggedError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: LoggedError;
}

/** Returns the serialiser of the `err` property of a log line. */
export function createSerializers(redact: Redact) {
  function describeError(error: unknown): LoggedError {
    if (!(error instanceof Error)) return { type: typeof error, message: redact(String(error)) };
    const { code } = error as NodeJS.ErrnoException;
    return {
      type: error.name,
      message: redact(error.message),
      ...(typeof code === "string" ? { code } : {}),
      ...(error.stack === undefined ? {} : { stack: redact(error.stack) }),
      ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
    };
  }
  return { err: describeError };
}
