import { LOG_LEVELS, type LogLevel } from "../kernel/log";
import { parseBaseUrl, parseInteger, parseListen, parseNetworks, parseOneOf, text } from "./parse";

/** How an option's text becomes its value. Throws an Error whose message ends the sentence "X …". */
export type Parse<T> = (text: string) => T;

export interface Option<T> {
  /** The flag without its dashes; the environment variable and the property follow from it. */
  flag: string;
  env: string;
  parse: Parse<T>;
  default: string | undefined;
  /** What stands for the value in the help. */
  placeholder: string;
  help: string;
  /** `everywhere`: every command takes it; `serve`: only the server does. */
  scope: "everywhere" | "serve";
}

function option<T>(declared: Option<T>): Option<T> {
  return declared;
}

/**
 * Every setting: its flag, its environment variable, its default and how it is read. The loader, the
 * help and the README's list are made from this table.
 */
export const OPTIONS = {
  dataDir: option({
    flag: "data-dir",
    env: "ALLCLEAR_DATA_DIR",
    parse: text,
    default: "./data",
    placeholder: "DIR",
    help: "Where the database, its backups and its lock lie.",
    scope: "everywhere",
  }),
  logLevel: option<LogLevel>({
    flag: "log-level",
    env: "ALLCLEAR_LOG_LEVEL",
    parse: parseOneOf(LOG_LEVELS),
    default: "info",
    placeholder: "LEVEL",
    help: `How much is logged to standard error: ${LOG_LEVELS.join(", ")}. Every request is a line at debug.`,
    scope: "everywhere",
  }),
  baseUrl: option({
    flag: "base-url",
    env: "ALLCLEAR_BASE_URL",
    parse: parseBaseUrl,
    default: undefined,
    placeholder: "URL",
    help: "The public address, such as https://status.example.com, that links are built from. Without it, the listen address.",
    scope: "everywhere",
  }),
  listen: option({
    flag: "listen",
    env: "ALLCLEAR_LISTEN",
    parse: parseListen,
    default: "127.0.0.1:8080",
    placeholder: "HOST:PORT",
    help: "The address to listen on. Port 0 takes a free one.",
    scope: "everywhere",
  }),
  trustedProxies: option({
    flag: "trusted-proxies",
    env: "ALLCLEAR_TRUSTED_PROXIES",
    parse: parseNetworks,
    default: "",
    placeholder: "CIDR,…",
    help: "Networks of reverse proxies whose X-Forwarded-For is believed, such as 10.0.0.0/8,::1/128.",
    scope: "serve",
  }),
  publicRateLimit: option({
    flag: "public-rate-limit",
    env: "ALLCLEAR_PUBLIC_RATE_LIMIT",
    parse: parseInteger(1, 1_000_000),
    default: "100",
    placeholder: "N",
    help: "Requests a minute that one client address may make without a key.",
    scope: "serve",
  }),
  bucketCapacity: option({
    flag: "bucket-capacity",
    env: "ALLCLEAR_BUCKET_CAPACITY",
    parse: parseInteger(16, 10_000_000),
    default: "100000",
    placeholder: "N",
    help: "How many clients the rate limiter tells apart at once; some 400 bytes of memory each.",
    scope: "serve",
  }),
} as const;

export type OptionName = keyof typeof OPTIONS;

/** The settings in force, typed by the table above. */
export type Config = {
  readonly [Name in OptionName]: (typeof OPTIONS)[Name] extends Option<infer T>
    ? Name extends "baseUrl"
      ? T | undefined
      : T
    : never;
};

/** The options that a command takes. */
export function optionNames(command: string): OptionName[] {
  return (Object.keys(OPTIONS) as OptionName[]).filter(
    (name) => OPTIONS[name].scope === "everywhere" || command === "serve",
  );
}
