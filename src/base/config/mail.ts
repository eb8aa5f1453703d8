import { type Mailbox, parseMailAddress, parseMailbox } from "../mail-address";
import { hasUnsafeCharacters } from "../text";
import { readCertificates } from "./network";
import { option, parseHostName, parseInteger, parseOneOf } from "./parse";

/**
 * Encryption to the relay: from the start; required by STARTTLS; by STARTTLS where it is offered, without
 * verification; none.
 */
export const TLS_MODES = ["implicit", "starttls", "opportunistic", "none"] as const;
export type TlsMode = (typeof TLS_MODES)[number];

/** Ports that apply if none is set. */
export const DEFAULT_PORTS: Readonly<Record<TlsMode, number>> = {
  implicit: 465,
  starttls: 587,
  opportunistic: 25,
  none: 25,
};

export const CONNECTIONS_MAX = 32;
export const RATE_MAX = 1_000_000;

/** Maximum length of a user name and of a password for the relay, in characters. */
const CREDENTIAL_MAX = 1_000;

/** Maximum length of a bounce address before the @, in octets. The id of a mail is appended to it. */
const BOUNCE_LOCAL_MAX = 24;

/** Options of the relay. If one of them is given, they rule all of them. */
export const MAIL_OPTIONS = {
  smtpHost: option({
    flag: "smtp-host",
    env: "ALLCLEAR_SMTP_HOST",
    parse: parseHostName,
    default: undefined,
    placeholder: "HOST",
    help: "Name or address of the SMTP relay that takes all mail; if omitted, that of the dashboard.",
    scope: "mail",
  }),
  smtpPort: option({
    flag: "smtp-port",
    env: "ALLCLEAR_SMTP_PORT",
    parse: parseInteger(1, 65_535),
    default: undefined,
    placeholder: "N",
    help: "Port of the relay; if omitted, 465 for implicit TLS, 587 for starttls, 25 for the others.",
    scope: "mail",
  }),
  smtpTls: option<TlsMode>({
    flag: "smtp-tls",
    env: "ALLCLEAR_SMTP_TLS",
    parse: parseOneOf(TLS_MODES),
    default: "starttls",
    placeholder: "MODE",
    help: "TLS to the relay: implicit, starttls (required), opportunistic (used if offered, not verified), none.",
    scope: "mail",
  }),
  smtpCa: option({
    flag: "smtp-ca",
    env: "ALLCLEAR_SMTP_CA",
    parse: (path: string) => readCertificates(path),
    default: undefined,
    placeholder: "FILE",
    help: "Certificates (PEM) of authorities that are trusted as well, for a relay with a private one.",
    scope: "mail",
  }),
  smtpUser: option({
    flag: "smtp-user",
    env: "ALLCLEAR_SMTP_USER",
    parse: parseCredential,
    default: undefined,
    placeholder: "NAME",
    help: "User name for the relay. Requires a password and TLS.",
    scope: "mail",
  }),
  smtpPassword: option({
    flag: undefined,
    env: "ALLCLEAR_SMTP_PASSWORD",
    fileEnv: "ALLCLEAR_SMTP_PASSWORD_FILE",
    parse: parseCredential,
    default: undefined,
    placeholder: "PASSWORD",
    help: "Password for the relay, or a file that contains it. Has no flag, since other processes can read arguments.",
    scope: "mail",
  }),
  smtpConnections: option({
    flag: "smtp-connections",
    env: "ALLCLEAR_SMTP_CONNECTIONS",
    parse: parseInteger(1, CONNECTIONS_MAX),
    default: "4",
    placeholder: "N",
    help: `Connections to the relay at the same time, from 1 to ${CONNECTIONS_MAX}.`,
    scope: "mail",
  }),
  smtpRate: option({
    flag: "smtp-rate",
    env: "ALLCLEAR_SMTP_RATE",
    parse: parseInteger(0, RATE_MAX),
    default: "600",
    placeholder: "N",
    help: "Mails per minute, 0 for no limit.",
    scope: "mail",
  }),
  mailFrom: option({
    flag: "mail-from",
    env: "ALLCLEAR_MAIL_FROM",
    parse: parseSender,
    default: undefined,
    placeholder: "ADDRESS",
    help: "Sender of all mail, such as status@example.com or Northwind <status@example.com>. Required with a relay.",
    scope: "mail",
  }),
  mailReplyTo: option({
    flag: "mail-reply-to",
    env: "ALLCLEAR_MAIL_REPLY_TO",
    parse: parseAddress,
    default: undefined,
    placeholder: "ADDRESS",
    help: "Address to which replies go.",
    scope: "mail",
  }),
  mailBounceAddress: option({
    flag: "mail-bounce-address",
    env: "ALLCLEAR_MAIL_BOUNCE_ADDRESS",
    parse: parseBounceAddress,
    default: undefined,
    placeholder: "ADDRESS",
    help: `Address to which reports about undelivered mail go, at most ${BOUNCE_LOCAL_MAX} bytes before the @. Each mail gets an envelope sender of its own from it.`,
    scope: "mail",
  }),
} as const;

export type MailOptionName = keyof typeof MAIL_OPTIONS;

export const MAIL_OPTION_NAMES = Object.keys(MAIL_OPTIONS) as MailOptionName[];

/** Parses the name of a user or a password. The text is never part of an error. */
export function parseCredential(value: string): string {
  if (value === "") throw new Error("is empty");
  if (value.length > CREDENTIAL_MAX) {
    throw new Error(`must have at most ${CREDENTIAL_MAX} characters`);
  }
  if (hasUnsafeCharacters(value)) throw new Error("must not have control characters");
  return value;
}

/** Parses an address with or without a name. */
export function parseSender(value: string): Mailbox {
  const mailbox = parseMailbox(value);
  if ("error" in mailbox) throw new Error(mailbox.error);
  return mailbox;
}

/** Parses an address. Returns it as mail is sent to it. */
export function parseAddress(value: string): string {
  const parsed = parseMailAddress(value);
  if ("error" in parsed) throw new Error(parsed.error);
  return parsed.address;
}

export function parseBounceAddress(value: string): string {
  const address = parseAddress(value);
  if (address.lastIndexOf("@") > BOUNCE_LOCAL_MAX) {
    throw new Error(`must have at most ${BOUNCE_LOCAL_MAX} bytes before the @`);
  }
  return address;
}

/** Values that depend on each other. */
interface RelayFacts {
  host: unknown;
  tls: TlsMode | undefined;
  user: unknown;
  password: unknown;
  from: unknown;
}

/** Field of a relay that contradicts the others. `detail` ends the sentence "X …". */
interface RelayError {
  field: keyof RelayFacts;
  detail: string;
}

/** Returns the contradictions between the settings of a relay. */
export function relayErrors({ host, tls, user, password, from }: RelayFacts): RelayError[] {
  const errors: RelayError[] = [];
  if (host === undefined) {
    errors.push({
      field: "host",
      detail: "is required, since another setting of the relay is set",
    });
  }
  if (from === undefined) errors.push({ field: "from", detail: "is required with a relay" });
  if (user !== undefined && password === undefined) {
    errors.push({ field: "password", detail: "is required with a user name" });
  }
  if (user === undefined && password !== undefined) {
    errors.push({ field: "user", detail: "is required with a password" });
  }
  if (
    (user !== undefined || password !== undefined) &&
    (tls === "opportunistic" || tls === "none")
  ) {
    errors.push({
      field: "tls",
      detail: "must be implicit or starttls with a user name: a password is never sent unencrypted",
    });
  }
  return errors;
}

const OPTION_OF: Readonly<Record<keyof RelayFacts, MailOptionName>> = {
  host: "smtpHost",
  tls: "smtpTls",
  user: "smtpUser",
  password: "smtpPassword",
  from: "mailFrom",
};

/** Returns the contradictions between options as sentences; none if no option of the relay is given. */
export function mailProblems(
  values: Readonly<Record<string, unknown>>,
  isGiven: (name: MailOptionName) => boolean,
  nameOf: (name: MailOptionName) => string,
): string[] {
  if (!MAIL_OPTION_NAMES.some(isGiven)) return [];
  // An option with a value that was rejected has a problem of its own.
  const valueOf = (name: MailOptionName) => values[name] ?? (isGiven(name) ? "given" : undefined);
  const errors = relayErrors({
    host: valueOf("smtpHost"),
    tls: values["smtpTls"] as TlsMode | undefined,
    user: valueOf("smtpUser"),
    password: valueOf("smtpPassword"),
    from: valueOf("mailFrom"),
  });
  return errors.map(({ field, detail }) => `${nameOf(OPTION_OF[field])} ${detail}.`);
}
