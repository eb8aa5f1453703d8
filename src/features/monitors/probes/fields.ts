import { type Static, Type } from "@sinclair/typebox";
import { formatHost } from "../../../base/config/parse";
import { type FieldError, pointer } from "../../../base/errors";
import { OneOf, Text } from "../../../base/schema";
import { Secret } from "../../../base/secrets";
import { LineText } from "../../../base/texts";
import { DAY_MS } from "../../../base/time";
import { headerError } from "../../../egress/http-headers";
import {
  type Certificate,
  type Fault,
  TLS_VERSIONS,
  type TlsRules,
  type TlsVersion,
} from "../../../egress/model";
import { hostError, monitorPolicy } from "../../../egress/policy";
import { certificateSentence } from "../assertions/words";
import type { ProbeContext, ProbeResult, SeenCertificate } from "../monitoring";
import { certificatesProblem } from "./client-certificate";

/* Shared parts of several types' configs. */
export const HostText = LineText({
  minLength: 1,
  maxLength: 255,
  description: "Host name or IP address.",
  examples: ["db.example.com"],
});

export const PortNumber = Type.Integer({ minimum: 1, maximum: 65_535, examples: [5432] });

/** Returns the schema of an optional port. */
export function portField(defaultPort: number) {
  return Type.Optional({ ...PortNumber, description: `Default: ${defaultPort}.` });
}

/** Encryption of a connection that begins with TLS, or upgrades to it. */
const TLS_MODES = ["off", "require", "verify"] as const;

export type TlsMode = (typeof TLS_MODES)[number];

export const TlsField = Type.Optional(
  OneOf(TLS_MODES, {
    description:
      "off: no TLS; require: TLS with any certificate; verify: TLS with a certificate that is trusted for the host. Default: off.",
  }),
);

export const VerifyTls = Type.Boolean({
  description: "False accepts any certificate. Default: true.",
});

export const DEFAULT_WARNING_DAYS = 14;

export const WarningDays = Type.Integer({
  minimum: 0,
  maximum: 365,
  description: `Days before the expiry of a certificate from which a check warns, without failing. Default: ${DEFAULT_WARNING_DAYS}; 0 for never.`,
});

export const DEFAULT_TLS_MIN: TlsVersion = "1.2";

/** Schemas of the rules for TLS that every type with TLS has. */
export const TLS_FIELDS = {
  ca: Type.Optional(
    Text({
      minLength: 1,
      maxLength: 64_000,
      check: certificatesProblem,
      description: "Certificates in PEM of authorities that are trusted in addition.",
    }),
  ),
  tls_min: Type.Optional(
    OneOf(TLS_VERSIONS, {
      description: `Oldest version of TLS that may be used. Default: ${DEFAULT_TLS_MIN}.`,
    }),
  ),
};

/** Schemas of the types that check and warn about a certificate. */
export const CERTIFICATE_FIELDS = {
  ...TLS_FIELDS,
  certificate_warning_days: Type.Optional(WarningDays),
};

/** Rules for TLS in a config. */
export interface TlsFields {
  ca?: string | null;
  tls_min?: TlsVersion | null;
}

/** Returns the rules for TLS of a config as a connection gets them. */
export function tlsRulesOf({ ca, tls_min: tlsMin }: TlsFields): TlsRules {
  return { ca: ca ?? undefined, tlsMin: tlsMin ?? undefined };
}

const CREDENTIAL_MAX = 1_000;

export const UserName = LineText({ minLength: 1, maxLength: 255 });

/** Name for Basic or Digest sign-in by HTTP, which a colon ends. */
export const HttpUserName = Text({
  minLength: 1,
  maxLength: 255,
  pattern: "^[^:\\x00-\\x1f\\x7f]*$",
  mismatch: "must have no colon and no control characters",
});

export const Password = Secret({
  maxLength: CREDENTIAL_MAX,
  description: "Password. It is a secret and is never returned.",
});

/** Fields of a config that name a server. */
interface ServerFields {
  host: string;
  port?: number | null;
  tls?: string | null;
}

const AllowPlainPassword = Type.Boolean({
  description:
    "True to send the password without TLS, or to a server whose certificate is not verified. Default: false.",
});

/** Schemas of the types that sign in with a password and may use TLS. */
export const SIGN_IN_FIELDS = {
  ...CERTIFICATE_FIELDS,
  allow_plain_password: Type.Optional(AllowPlainPassword),
};

/** Fields of a config with a password that is sent as it is. */
interface PlainPasswordFields {
  tls?: TlsMode | null;
  password?: string | null;
  allow_plain_password?: boolean | null;
}

function sendsPlainPassword({ tls, password }: PlainPasswordFields): boolean {
  return password != null && tls !== "verify";
}

/** Returns an error for a password that anyone on the network could read, unless that is allowed. */
export function validatePlainPassword(config: PlainPasswordFields): FieldError[] {
  if (!sendsPlainPassword(config) || config.allow_plain_password === true) return [];
  const detail = "needs TLS with a verified certificate (tls: verify), or allow_plain_password";
  return [{ pointer: pointer("password"), detail }];
}

/**
 * Returns a stored config, in which a password that is sent without verified TLS is allowed. Earlier versions stored
 * such configs without asking, and these monitors go on.
 */
export function withPlainPassword<Config extends PlainPasswordFields>(config: Config): Config {
  if (config.allow_plain_password != null || !sendsPlainPassword(config)) return config;
  return { ...config, allow_plain_password: true };
}

/** Returns the config of a server that may get a plain password, with defaults. */
export function withPasswordDefaults<
  Config extends Parameters<typeof withServerDefaults>[0] & PlainPasswordFields,
>(config: Config, defaultPort: number) {
  const completed = withServerDefaults(config, defaultPort);
  return { ...completed, allow_plain_password: config.allow_plain_password ?? false };
}

/** Returns the config of a server that may use TLS, with defaults. */
export function withServerDefaults<
  Config extends {
    port?: number;
    tls?: TlsMode;
    tls_min?: TlsVersion;
    certificate_warning_days?: number;
  },
>(config: Config, defaultPort: number) {
  return {
    ...config,
    port: config.port ?? defaultPort,
    tls: config.tls ?? ("off" as TlsMode),
    tls_min: config.tls_min ?? DEFAULT_TLS_MIN,
    certificate_warning_days: config.certificate_warning_days ?? DEFAULT_WARNING_DAYS,
  };
}

/** Returns the target of a config that names a server, for lists. */
export function serverTarget({ host, port }: ServerFields, defaultPort: number): string {
  return `${formatHost(host)}:${port ?? defaultPort}`;
}

// Letters and digits of any language, and separators of names and addresses. A leading hyphen could
// be read as an option.
const HOST_SHAPE = /^(?!-)[\p{L}\p{M}\p{N}_.:[\]-]+$/u;

/** Returns errors of a config's host that the schema cannot express. */
export function validateHostField({ host }: { host: string }): FieldError[] {
  const detail = HOST_SHAPE.test(host)
    ? hostError(host, monitorPolicy)
    : "must be a host name or an IP address";
  return detail === undefined ? [] : [{ pointer: pointer("host"), detail }];
}

/** Returns a config with changed fields; null removes one. */
export function mergeFields<Config extends object>(
  before: Config,
  change: Readonly<Record<string, unknown>>,
): Config {
  const merged = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null);
  return Object.fromEntries(merged) as Config;
}

/** Returns the time since `startedAt` (monotonic clock), in whole ms. */
export function elapsedMs({ clock }: Pick<ProbeContext, "clock">, startedAt: number): number {
  return Math.round(clock.monotonic() - startedAt);
}

/** Returns the result of a check that failed by a fault: `unknown` for a fault of this server. */
export function failed(fault: Fault): ProbeResult {
  const { kind, message, certificate, isUndecided } = fault;
  return {
    outcome: kind === "local" ? "unknown" : "failed",
    latencyMs: null,
    message,
    ...((kind === "refused" || kind === "proxy") && { isOwnFault: true }),
    ...(isUndecided && { isUndecided }),
    ...(kind === "proxy" && { publicMessage: "The service could not be reached." }),
    ...(certificate ? { certificate: seen(certificate) } : {}),
  };
}

/** Returns the whole days until a certificate expires, negative after it; null without one. */
export function daysLeft(
  certificate: Pick<Certificate, "expiresAt"> | null | undefined,
  clock: ProbeContext["clock"],
): number | null {
  return certificate ? Math.floor((certificate.expiresAt - clock.now()) / DAY_MS) : null;
}

/** Returns the message of a successful check of whose certificates one expires soon; null for none. */
export function expiryWarning(
  certificate: Certificate | null | undefined,
  warningDays: number,
  clock: ProbeContext["clock"],
): string | null {
  const days = daysLeft(certificate, clock);
  if (!certificate || days === null || days >= warningDays) return null;
  return certificateSentence(days, certificate.intermediate);
}

/** Returns the facts of a certificate that a result keeps. */
export function seen({ host, expiresAt, fingerprint, intermediate }: Certificate): SeenCertificate {
  return { host, expiresAt, fingerprint, intermediate };
}

/** Schema of the address at which a server is reached, if that of its name is another one. */
export const ConnectToBody = Type.Object(
  {
    address: {
      ...HostText,
      description: "Host name or IP address, to which the rules for addresses of monitors apply.",
      examples: ["10.0.0.5"],
    },
    port: Type.Optional({ ...PortNumber, description: "Default: the port of the server." }),
  },
  {
    additionalProperties: false,
    description: "Address of the connection, in the place of the one that the name has.",
  },
);

export type ConnectTo = Static<typeof ConnectToBody>;

/** Returns errors that the schema cannot express; pointers start at the config of the monitor. */
export function validateConnectTo({
  connect_to: to,
}: {
  connect_to?: ConnectTo | null;
}): FieldError[] {
  const detail = to ? hostError(to.address, monitorPolicy) : undefined;
  return detail === undefined ? [] : [{ pointer: pointer("connect_to", "address"), detail }];
}

/* Parts of the configs that name a URL. */
const LONGEST_TARGET = 200;

type Scheme = "http" | "https" | "ws" | "wss";

export const HTTP_SCHEMES = ["http", "https"] as const;

/** Returns the schema of a URL with one of two schemes. */
export function Url(schemes: readonly [Scheme, Scheme], example: string) {
  return Text({
    minLength: 1,
    maxLength: 2_000,
    description: `${listed(schemes)}, without user name and password.`,
    examples: [example],
  });
}

export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Returns the error of a URL; undefined for a valid one. `advice` says where credentials belong. */
export function urlError(
  text: string,
  schemes: readonly [Scheme, Scheme],
  advice = "send them in an Authorization header",
): string | undefined {
  const url = parseUrl(text);
  // URL parsers drop or escape these characters, so that the shown URL would differ from the used one.
  // oxlint-disable-next-line no-control-regex
  const hasUnsafeCharacters = /[\s\u0000-\u001f\u007f]/.test(text);
  if (hasUnsafeCharacters) return "must not contain white space or control characters";
  if (!url) return `must be an address such as ${schemes[1]}://example.com/health`;
  if (!schemes.some((scheme) => url.protocol === `${scheme}:`)) {
    return `must begin with ${listed(schemes)}`;
  }
  if (url.username !== "" || url.password !== "") {
    return `must not contain a user name or password: ${advice}`;
  }
  const problem = hostError(url.hostname, monitorPolicy);
  return problem?.startsWith("is ") ? `names an address that ${problem}` : problem;
}

function listed(schemes: readonly Scheme[]): string {
  return schemes.map((scheme) => `${scheme}://`).join(" or ");
}

/** Returns errors of headers. `hostAdvice` is that of a header Host. */
export function validateHeaders(
  headers: Readonly<Record<string, string | null>>,
  hostAdvice?: string,
): FieldError[] {
  const seen = new Set<string>();
  return Object.entries(headers).flatMap(([name, value]) => {
    const key = name.toLowerCase();
    const ofHost = key === "host" ? hostAdvice : undefined;
    const problem = seen.has(key) ? "is named twice" : (ofHost ?? headerError(name, value ?? ""));
    seen.add(key);
    return problem ? [{ pointer: pointer("headers", name), detail: problem }] : [];
  });
}

/** Returns host and path of a URL for lists, without its query, which may hold a secret. */
export function urlTarget({ url }: { url: string }): string {
  const parsed = parseUrl(url);
  if (!parsed) return "";
  const path = parsed.pathname === "/" ? "" : parsed.pathname;
  return `${parsed.host}${path}`.slice(0, LONGEST_TARGET);
}
