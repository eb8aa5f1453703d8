import { LOG_LEVELS, type LogLevel } from "../kernel/log";
import {
  parseBaseUrl,
  parseInteger,
  parseListen,
  parseNetworks,
  parseOneOf,
  parseTargets,
  text,
} from "./parse";

/** Parses an option's text. Throws an Error whose message ends the sentence "X …". */
export type Parse<T> = (text: string) => T;

export interface Option<T> {
  /** The flag without its dashes; the environment variable and the property follow from it. */
  flag: string;
  env: string;
  parse: Parse<T>;
  default: string | undefined;
  /** Placeholder of the value in the help text. */
  placeholder: string;
  help: string;
  /** `everywhere`: every command takes it; `serve`: only the server does. */
  scope: "everywhere" | "serve";
}

function option<T>(declared: Option<T>): Option<T> {
  return declared;
}

/**
 * Every setting: its flag, its environment variable, its default and its parser. The loader, the help
 * and the table in docs/settings.md are made from it.
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
  outboundAllow: option({
    flag: "outbound-allow",
    env: "ALLCLEAR_OUTBOUND_ALLOW",
    parse: parseNetworks,
    default: "",
    placeholder: "CIDR,…",
    help: "Private networks that webhooks may be delivered to, such as 10.0.0.0/8. Without it, only addresses of the public internet.",
    scope: "serve",
  }),
  referenceTargets: option({
    flag: "reference-targets",
    env: "ALLCLEAR_REFERENCE_TARGETS",
    parse: parseTargets,
    default: "",
    placeholder: "HOST:PORT,…",
    help: "What answers whenever this server has a network, such as 1.1.1.1:443,9.9.9.9:443. While none does, failed checks count for nothing.",
    scope: "serve",
  }),
  keepResultsHours: option({
    flag: "keep-results-hours",
    env: "ALLCLEAR_KEEP_RESULTS_HOURS",
    parse: parseInteger(2, 720),
    default: "48",
    placeholder: "N",
    help: "Hours for which every single result of a monitor is kept.",
    scope: "serve",
  }),
  keepMinutesDays: option({
    flag: "keep-minutes-days",
    env: "ALLCLEAR_KEEP_MINUTES_DAYS",
    parse: parseInteger(1, 90),
    default: "7",
    placeholder: "N",
    help: "Days for which a monitor's figures are kept by the minute.",
    scope: "serve",
  }),
  keepHoursDays: option({
    flag: "keep-hours-days",
    env: "ALLCLEAR_KEEP_HOURS_DAYS",
    parse: parseInteger(2, 3_650),
    default: "400",
    placeholder: "N",
    help: "Days for which a monitor's figures are kept by the hour. Those by the day are kept for ever.",
    scope: "serve",
  }),
  keepEventsDays: option({
    flag: "keep-events-days",
    env: "ALLCLEAR_KEEP_EVENTS_DAYS",
    parse: parseInteger(1, 3_650),
    default: "30",
    placeholder: "N",
    help: "Days for which what happened is kept for those that it is delivered to.",
    scope: "serve",
  }),
  keepKeyHoursDays: option({
    flag: "keep-key-hours-days",
    env: "ALLCLEAR_KEEP_KEY_HOURS_DAYS",
    parse: parseInteger(2, 400),
    default: "35",
    placeholder: "N",
    help: "Days for which a key's requests are kept by the hour. Those by the day are kept for 400 days.",
    scope: "serve",
  }),
  keepAuditDays: option({
    flag: "keep-audit-days",
    env: "ALLCLEAR_KEEP_AUDIT_DAYS",
    parse: parseInteger(1, 36_500),
    default: "400",
    placeholder: "N",
    help: "Days for which it is kept who changed what.",
    scope: "serve",
  }),
  keepAddressesDays: option({
    flag: "keep-addresses-days",
    env: "ALLCLEAR_KEEP_ADDRESSES_DAYS",
    parse: parseInteger(1, 3_650),
    default: "90",
    placeholder: "N",
    help: "Days after which the addresses of people and of keys' users are blanked.",
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
