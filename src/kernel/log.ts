import type { LogFn, Logger } from "pino";
import { lazy } from "./lazy";

/** Log of structured lines: an object of facts, then a sentence. */
export interface Log {
  debug: LogFn;
  info: LogFn;
  warn: LogFn;
  error: LogFn;
  isLevelEnabled(level: LogLevel): boolean;
  /** Writes pending summaries of repeated lines. Called before the process ends. */
  flush(): void;
}

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Removes secrets from a text. */
export type Redact = (text: string) => string;

/**
 * Creates a log of JSON lines on standard error; standard output is for the data of commands. Lines are
 * written synchronously, so that a crash loses none. The library is loaded for the first line.
 */
export function createLog(level: LogLevel, redact: Redact): Log {
  const logger = lazy(() => openLogger(level, redact));
  const isLevelEnabled = (lineLevel: LogLevel) =>
    lineLevel !== "silent" && LOG_LEVELS.indexOf(lineLevel) >= LOG_LEVELS.indexOf(level);
  const line = (at: "debug" | "info" | "warn" | "error"): LogFn =>
    ((...args: Parameters<LogFn>) => {
      if (isLevelEnabled(at)) logger()[at](...args);
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
      hooks: { streamWrite: onOneLine },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** Returns a JSON line without the characters at which some readers of lines would divide it. */
export function onOneLine(line: string): string {
  return line.replace(
    /[\u0085\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Properties of an error that are logged. Others may hold secrets, such as a URL or a token. */
interface LoggedError {
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
