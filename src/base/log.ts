import type { LogFn, Logger } from "pino";
import type { Clock, Timer } from "./clock";
import { lazy } from "./lazy";
import { MINUTE_MS } from "./time";

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
type Redact = (text: string) => string;

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
      ...lineOptions(redact),
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** Returns how lines are written. */
export function lineOptions(redact: Redact) {
  return { serializers: createSerializers(redact), hooks: { streamWrite: onOneLine } };
}

/** Returns a JSON line without the characters at which some readers of lines would divide it. */
function onOneLine(line: string): string {
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
function createSerializers(redact: Redact) {
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

/** Limit of lines that are counted at the same time. Beyond it, counting of the oldest ends. */
const COUNTED_MAX = 200;
/** Characters of each text that are compared. */
const COMPARED_MAX = 300;

type Level = "warn" | "error";
type Line = Parameters<Log["warn"]>;

interface Counted {
  level: Level;
  message: string;
  /** Name or code and message, redacted. Undefined if the line has no error. */
  error: string | undefined;
  /** Number of lines omitted since the last written one. */
  repeated: number;
  timer: Timer;
}

/**
 * Writes the first of equal warnings and errors, counts the others, and writes their number once a
 * minute. Two lines are equal if their level, message and root error (name or code, message, place) are
 * equal; without an error, if all their texts are.
 */
export function deduplicateLog(log: Log, clock: Clock, redact: Redact): Log {
  const counted = new Map<string, Counted>();

  function summarise(line: Counted): void {
    if (line.repeated === 0) return;
    const { level, message, error, repeated } = line;
    line.repeated = 0;
    const facts = { repeated, ...(error === undefined ? {} : { error }) };
    log[level](facts, `${message} (repeated ${repeated.toLocaleString("en")} times)`);
  }

  /** Writes the summary of a line, or forgets a line that was not repeated for a minute. */
  function endMinute(key: string, line: Counted): void {
    if (line.repeated === 0) {
      counted.delete(key);
      return;
    }
    summarise(line);
    line.timer = clock.after(MINUTE_MS, () => endMinute(key, line));
  }

  function forgetOldest(): void {
    const [oldest] = counted;
    if (!oldest) return;
    const [key, line] = oldest;
    line.timer.cancel();
    counted.delete(key);
    summarise(line);
  }

  function write(level: Level, entry: Line): void {
    const { key, message, error } = parseLine(level, entry, redact);
    const earlier = counted.get(key);
    if (earlier) {
      earlier.repeated += 1;
      return;
    }
    log[level](...entry);
    if (counted.size >= COUNTED_MAX) forgetOldest();
    const line: Counted = { level, message, error, repeated: 0, timer: { cancel() {} } };
    line.timer = clock.after(MINUTE_MS, () => endMinute(key, line));
    counted.set(key, line);
  }

  return {
    debug: log.debug.bind(log),
    info: log.info.bind(log),
    warn: ((...entry: Line) => write("warn", entry)) as Log["warn"],
    error: ((...entry: Line) => write("error", entry)) as Log["error"],
    isLevelEnabled: (level) => log.isLevelEnabled(level),
    flush() {
      for (const line of counted.values()) summarise(line);
      log.flush();
    },
  };
}

/** Returns the key that equal lines share, and the message and error for their summary. */
function parseLine(level: Level, [first, second]: Line, redact: Redact) {
  const [facts, text] = typeof first === "string" ? [{}, first] : [first as object, second];
  const message = String(text ?? "");
  const { err } = facts as { err?: unknown };
  const parts =
    err === undefined
      ? Object.values(facts).filter((fact) => typeof fact === "string")
      : describe(rootOf(err));
  const error =
    err === undefined ? undefined : redact(describe(rootOf(err)).slice(0, 2).join(": "));
  const key = [level, message, ...parts].map((part) => part.slice(0, COMPARED_MAX)).join("\n");
  return { key, message, error };
}

/** Returns the innermost cause. Errors around it may contain the parameters of one statement. */
function rootOf(error: unknown): unknown {
  let root = error;
  for (let depth = 0; depth < 10 && root instanceof Error && root.cause !== undefined; depth++) {
    root = root.cause;
  }
  return root;
}

/** Returns name or code, message, and the first line of the stack. */
function describe(error: unknown): string[] {
  if (!(error instanceof Error)) return [typeof error, String(error)];
  const { code } = error as NodeJS.ErrnoException;
  const location = error.stack?.split("\n").find((line) => line.startsWith("    at ")) ?? "";
  return [typeof code === "string" ? code : error.name, error.message, location];
}
