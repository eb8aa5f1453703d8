import { LOG_LEVELS, type LogLevel } from "../log";
import { BACKUP_OPTIONS, type OptionalBackupName } from "./backups";
import {
  FLEET_OPTIONS,
  NODE_OPTIONS,
  type NodeOptionName,
  VALKEY_OPTIONS,
  type ValkeyOptionName,
} from "./fleet";
import { IDENTITY_PROXY_OPTIONS, type OptionalIdentityProxyName } from "./identity-proxy";
import { MAIL_OPTIONS, type MailOptionName } from "./mail";
import { CDN_OPTIONS, type CdnOptionName, MIRROR_OPTIONS, type MirrorOptionName } from "./mirror";
import { DOCKER_OPTIONS, PROXY_OPTIONS, readBundle } from "./network";
import {
  type Option,
  option,
  parseBaseUrl,
  parseHsts,
  parseInteger,
  parseListen,
  parseNetworks,
  parseOneOf,
  parseTargets,
  text,
} from "./parse";
import { type OptionalSignInName, SIGN_IN_OPTIONS } from "./sign-in";

/**
 * All settings with flag, environment variable, default and parser. The loader, the help and the table in
 * docs/settings.md are made from this table.
 */
export const OPTIONS = {
  dataDir: option({
    flag: "data-dir",
    env: "ALLCLEAR_DATA_DIR",
    parse: text,
    default: "./data",
    placeholder: "DIR",
    help: "Directory of the database, its backups and its lock.",
    scope: "everywhere",
  }),
  logLevel: option<LogLevel>({
    flag: "log-level",
    env: "ALLCLEAR_LOG_LEVEL",
    parse: parseOneOf(LOG_LEVELS),
    default: "info",
    placeholder: "LEVEL",
    help: `Level of the log on standard error: ${LOG_LEVELS.join(", ")}. Requests are logged at debug.`,
    scope: "everywhere",
  }),
  baseUrl: option({
    flag: "base-url",
    env: "ALLCLEAR_BASE_URL",
    parse: parseBaseUrl,
    default: undefined,
    placeholder: "URL",
    help: "Public address for links, such as https://status.example.com; the listen address if omitted.",
    scope: "everywhere",
  }),
  listen: option({
    flag: "listen",
    env: "ALLCLEAR_LISTEN",
    parse: parseListen,
    default: "127.0.0.1:8080",
    placeholder: "HOST:PORT",
    help: "Address to listen on. Port 0 selects a free port.",
    scope: "everywhere",
  }),
  drainSeconds: option({
    flag: "drain-seconds",
    env: "ALLCLEAR_DRAIN_SECONDS",
    parse: parseInteger(0, 3_600),
    default: "0",
    placeholder: "N",
    help: "Seconds at a stop for which requests are still answered while /readyz says 503, so that load balancers notice.",
    scope: "serve",
  }),
  trustedProxies: option({
    flag: "trusted-proxies",
    env: "ALLCLEAR_TRUSTED_PROXIES",
    parse: parseNetworks,
    default: "",
    placeholder: "CIDR,…",
    help: "Networks of reverse proxies whose X-Forwarded-For is used, such as 10.0.0.0/8,::1/128.",
    scope: "serve",
  }),
  hsts: option({
    flag: "hsts",
    env: "ALLCLEAR_HSTS",
    parse: parseHsts,
    default: undefined,
    placeholder: "SECONDS",
    help: "Time for which browsers use only HTTPS (Strict-Transport-Security), or off. Never sent if the public address is http. Default: 31536000, but off for localhost and for an address with a port, whose host may serve more.",
    scope: "serve",
  }),
  publicRateLimit: option({
    flag: "public-rate-limit",
    env: "ALLCLEAR_PUBLIC_RATE_LIMIT",
    parse: parseInteger(1, 1_000_000),
    default: "100",
    placeholder: "N",
    help: "Requests per minute for one client address without a key.",
    scope: "serve",
  }),
  bucketCapacity: option({
    flag: "bucket-capacity",
    env: "ALLCLEAR_BUCKET_CAPACITY",
    parse: parseInteger(16, 10_000_000),
    default: "100000",
    placeholder: "N",
    help: "Clients that the rate limiter counts one by one in a minute; about 190 bytes of memory each.",
    scope: "serve",
  }),
  mcp: option({
    flag: "mcp",
    env: "ALLCLEAR_MCP",
    parse: parseOneOf(["on", "off"]),
    default: "on",
    placeholder: "MODE",
    help: "off: AI agents cannot use API keys as tools, by the Model Context Protocol at /mcp.",
    scope: "serve",
  }),
  outboundAllow: option({
    flag: "outbound-allow",
    env: "ALLCLEAR_OUTBOUND_ALLOW",
    parse: parseNetworks,
    default: undefined,
    placeholder: "CIDR,…",
    help: "Private networks that webhooks may reach, such as 10.0.0.0/8; if omitted, those of Settings → General.",
    scope: "serve",
  }),
  caFile: option({
    flag: "ca-file",
    env: "ALLCLEAR_CA_FILE",
    parse: readBundle,
    default: undefined,
    placeholder: "FILE",
    help: "Certificates (PEM) of authorities that all outgoing connections trust as well, such as that of your own network.",
    scope: "everywhere",
  }),
  ...PROXY_OPTIONS,
  referenceTargets: option({
    flag: "reference-targets",
    env: "ALLCLEAR_REFERENCE_TARGETS",
    parse: parseTargets,
    default: "",
    placeholder: "HOST:PORT,…",
    help: "Hosts that prove that this server is online, such as 1.1.1.1:443,9.9.9.9:443. While none answers, failed checks are ignored. Without them, the monitors decide if the network is lost.",
    scope: "serve",
  }),
  ...DOCKER_OPTIONS,
  keepResultsHours: option({
    flag: "keep-results-hours",
    env: "ALLCLEAR_KEEP_RESULTS_HOURS",
    parse: parseInteger(2, 720),
    default: "48",
    placeholder: "N",
    help: "Hours for which each result of a monitor is kept.",
    scope: "serve",
  }),
  keepMinutesDays: option({
    flag: "keep-minutes-days",
    env: "ALLCLEAR_KEEP_MINUTES_DAYS",
    parse: parseInteger(1, 90),
    default: "7",
    placeholder: "N",
    help: "Days for which the figures of a monitor by minute are kept.",
    scope: "serve",
  }),
  keepHoursDays: option({
    flag: "keep-hours-days",
    env: "ALLCLEAR_KEEP_HOURS_DAYS",
    parse: parseInteger(2, 3_650),
    default: "400",
    placeholder: "N",
    help: "Days for which the figures of a monitor by hour are kept. Figures by day are kept without a limit.",
    scope: "serve",
  }),
  keepEventsDays: option({
    flag: "keep-events-days",
    env: "ALLCLEAR_KEEP_EVENTS_DAYS",
    parse: parseInteger(1, 3_650),
    default: "30",
    placeholder: "N",
    help: "Days for which events and their deliveries are kept. Mails are kept for at least 30 days.",
    scope: "serve",
  }),
  keepKeyHoursDays: option({
    flag: "keep-key-hours-days",
    env: "ALLCLEAR_KEEP_KEY_HOURS_DAYS",
    parse: parseInteger(2, 400),
    default: "35",
    placeholder: "N",
    help: "Days for which the requests of a key by hour are counted. Those by day are kept for 400 days.",
    scope: "serve",
  }),
  keepAuditDays: option({
    flag: "keep-audit-days",
    env: "ALLCLEAR_KEEP_AUDIT_DAYS",
    parse: parseInteger(1, 36_500),
    default: "400",
    placeholder: "N",
    help: "Days for which the audit log is kept.",
    scope: "serve",
  }),
  keepAddressesDays: option({
    flag: "keep-addresses-days",
    env: "ALLCLEAR_KEEP_ADDRESSES_DAYS",
    parse: parseInteger(1, 3_650),
    default: "90",
    placeholder: "N",
    help: "Days after which client addresses of users and keys are deleted.",
    scope: "serve",
  }),
  ...SIGN_IN_OPTIONS,
  ...IDENTITY_PROXY_OPTIONS,
  ...MAIL_OPTIONS,
  ...BACKUP_OPTIONS,
  ...CDN_OPTIONS,
  ...MIRROR_OPTIONS,
  ...NODE_OPTIONS,
  ...FLEET_OPTIONS,
  ...VALKEY_OPTIONS,
} as const;

export type OptionName = keyof typeof OPTIONS;

/** Options without a default. If one is not given, a setting of the dashboard applies. */
type Optional =
  | "baseUrl"
  | "outboundAllow"
  | "caFile"
  | "outboundProxy"
  | "dockerTlsDir"
  | OptionalSignInName
  | OptionalIdentityProxyName
  | OptionalBackupName
  | CdnOptionName
  | MirrorOptionName
  | NodeOptionName
  | "fleetStore"
  | "fleetStoreKeyId"
  | "fleetStoreSecret"
  | ValkeyOptionName
  | Exclude<MailOptionName, "smtpTls" | "smtpConnections" | "smtpRate">;

/** Origin of an option's value. */
export type OptionSource = "flag" | "variable" | "default";

/** Current settings, typed by `OPTIONS`. */
export type Config = {
  readonly [Name in OptionName]: (typeof OPTIONS)[Name] extends Option<infer T>
    ? Name extends Optional
      ? T | undefined
      : T
    : never;
} & {
  readonly sources: Readonly<Record<OptionName, OptionSource>>;
};

/** Returns the name of the flag or variable that set an option; undefined if neither did. */
export function setterOf({ sources }: Config, name: OptionName): string | undefined {
  const { flag, env } = OPTIONS[name];
  const source = sources[name];
  return source === "default" ? undefined : source === "flag" ? `--${flag}` : env;
}

/** Options that set up parts for more than one machine. Each is off by default. */
const FLEET_PARTS: readonly string[] = ["mirror", "cdn", "fleetStore", "replica", "valkey"];

/** Returns true if any part for more than one machine is set up. */
export function usesFleet(config: Config): boolean {
  const values: Readonly<Record<string, unknown>> = config;
  return FLEET_PARTS.some((name) => values[name] !== undefined && values[name] !== false);
}

/** Returns the options of a command. */
export function optionNames(command: string): OptionName[] {
  return (Object.keys(OPTIONS) as OptionName[]).filter((name) => {
    const { scope } = OPTIONS[name];
    return scope === "everywhere" || command === "serve" || command === scope;
  });
}
