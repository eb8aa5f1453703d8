import { Type } from "@sinclair/typebox";
import type { Actor } from "../../base/actor";
import {
  CONNECTIONS_MAX,
  DEFAULT_PORTS,
  MAIL_OPTION_NAMES,
  parseAddress,
  parseBounceAddress,
  parseCredential,
  parseSender,
  RATE_MAX,
  relayErrors,
  TLS_MODES,
  type TlsMode,
} from "../../base/config/mail";
import { certificatesError } from "../../base/config/network";
import { type Config, setterOf } from "../../base/config/options";
import { listenUrl, parseHostName } from "../../base/config/parse";
import { conflict, type FieldError, invalidFields } from "../../base/errors";
import { formatMailbox } from "../../base/mail-address";
import { addsUse, keptSecrets, mergeSecrets, Secret, type Uses } from "../../base/secrets";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { deleteSetting, findSetting, putSetting } from "../settings/store";

const MAIL = "mail";

/** Address of a sender, with a name or without. */
interface Sender {
  name: string | null;
  address: string;
}

/** The relay and the addresses of all mail. */
export interface MailSettings {
  host: string;
  port: number;
  tls: TlsMode;
  /** Certificates (PEM) that are trusted in addition to the built-in ones. */
  ca?: string | undefined;
  user?: string | undefined;
  password?: string | undefined;
  /** Maximum number of simultaneous connections. */
  connections: number;
  /** 0 for no limit. */
  ratePerMinute: number;
  from: Sender;
  replyTo: string | null;
  /** Address from which the envelope sender of each mail is made; null to use `from`. */
  bounceAddress: string | null;
  /** `flags` if a flag or a variable of the relay is given; the dashboard's settings have no effect then. */
  origin: "flags" | "dashboard";
}

/** Settings of the form. A password that is left out stays as it is stored, and null removes it. */
export type MailSettingsInput = Omit<StoredMailSettings, "password"> & {
  password?: string | null;
};

/** Part that is missing before mail can be sent. */
type MissingForMail = "relay" | "from" | "public_address";

export type MailReadiness =
  { ready: true; settings: MailSettings } | { ready: false; missing: MissingForMail[] };

/** Returns the flags and variables of the relay that are given. If there is one, the dashboard's settings have no effect. */
export function mailSetters(config: Config): string[] {
  return MAIL_OPTION_NAMES.flatMap((name) => setterOf(config, name) ?? []);
}

/** Returns the settings in force; undefined without a relay. */
export function readMailSettings(ctx: Ctx): MailSettings | undefined {
  return mailSetters(ctx.config).length > 0
    ? configuredSettings(ctx.config)
    : storedSettings(readStoredMailSettings(ctx.db));
}

/**
 * Returns the settings if mail can be sent: there are a relay, a sender, and a public address other than the
 * listen address.
 */
export function mailReadiness(ctx: Ctx): MailReadiness {
  const settings = readMailSettings(ctx);
  const missing: MissingForMail[] = [];
  if (!settings) missing.push("relay", "from");
  if (ctx.baseUrl === listenUrl(ctx.config.listen)) missing.push("public_address");
  return settings && missing.length === 0 ? { ready: true, settings } : { ready: false, missing };
}

/** Returns the settings that the dashboard stores; undefined if there are none. */
export function readStoredMailSettings(reader: Reader): StoredMailSettings | undefined {
  return findSetting(reader, { name: MAIL })?.value as StoredMailSettings | undefined;
}

/**
 * Stores the dashboard's settings. Returns false if that changed nothing. Throws `validation_failed` with all
 * errors, and `conflict` if flags or variables rule them.
 */
export function setMailSettings(ctx: Ctx, tx: Tx, input: MailSettingsInput, actor: Actor): boolean {
  requireNoSetters(ctx.config);
  const before = readStoredMailSettings(tx);
  // Without a user name there is no password.
  const change = input.user === null ? { password: null, ...input } : input;
  const isExposed = before !== undefined && addsUse(usesOf(before), usesOf(input));
  const stored: MailSettingsInput = before ?? change;
  const { password = null } = mergeSecrets(SECRETS, stored, change, () => isExposed);
  const errors = settingErrors({ ...input, password });
  if (isExposed && keptSecrets(SECRETS, stored, change).length > 0) {
    const others = errors.filter(({ pointer }) => pointer !== "#/password");
    const detail = "must be typed again with another host, user name or certificates";
    throw invalidFields([...others, { pointer: "#/password", detail }]);
  }
  if (errors.length > 0) throw invalidFields(errors);
  const value = canonical({ ...input, password });
  if (Bun.deepEquals(value, before)) return false;
  putSetting(tx, { name: MAIL, value, now: ctx.clock.now() });
  const relay = `${value.host}:${value.port ?? DEFAULT_PORTS[value.tls]} (${value.tls})`;
  const secret = before && before.password !== value.password ? "; the password changed" : "";
  const summary = `Set the mail relay to ${relay}, from ${value.from}${secret}`;
  audit(ctx, tx, actor, "mail.configure", MAIL, summary);
  ctx.signals.settingsChanged.raise(tx);
  return true;
}

const SECRETS = Type.Object({ password: Type.Optional(Secret({})) });

/** Names the server that gets the password, those that authorities certify in its place, and the user. */
function usesOf({ host, user, ca }: MailSettingsInput): Uses {
  const certified = ca ? [`server certified by ${ca.trim()}`] : [];
  return [`host ${canonicalHost(host)}`, `user ${user}`, ...certified];
}

/** Removes the dashboard's settings. Returns false without any. Throws `conflict` if flags or variables rule them. */
export function removeMailSettings(ctx: Ctx, tx: Tx, actor: Actor): boolean {
  requireNoSetters(ctx.config);
  if (!findSetting(tx, { name: MAIL })) return false;
  deleteSetting(tx, { name: MAIL });
  audit(ctx, tx, actor, "mail.configure", MAIL, "Removed the mail relay");
  ctx.signals.settingsChanged.raise(tx);
  return true;
}

function requireNoSetters(config: Config): void {
  const setters = mailSetters(config);
  if (setters.length > 0) throw conflict(`The mail settings are set by ${setters.join(", ")}.`);
}

function configuredSettings(config: Config): MailSettings | undefined {
  const { smtpHost: host, smtpTls: tls, mailFrom } = config;
  // The start fails without them.
  if (host === undefined || mailFrom === undefined) return undefined;
  return {
    host,
    port: config.smtpPort ?? DEFAULT_PORTS[tls],
    tls,
    ca: config.smtpCa?.pem,
    user: config.smtpUser,
    password: config.smtpPassword,
    connections: config.smtpConnections,
    ratePerMinute: config.smtpRate,
    from: { name: mailFrom.name, address: mailFrom.address.address },
    replyTo: config.mailReplyTo ?? null,
    bounceAddress: config.mailBounceAddress ?? null,
    origin: "flags",
  };
}

function storedSettings(stored: StoredMailSettings | undefined): MailSettings | undefined {
  if (!stored) return undefined;
  const { name, address } = parseSender(stored.from);
  return {
    host: stored.host,
    port: stored.port ?? DEFAULT_PORTS[stored.tls],
    tls: stored.tls,
    ca: stored.ca ?? undefined,
    user: stored.user ?? undefined,
    password: stored.password ?? undefined,
    connections: stored.connections,
    ratePerMinute: stored.rate_per_minute,
    from: { name, address: address.address },
    replyTo: stored.reply_to,
    bounceAddress: stored.bounce_address,
    origin: "dashboard",
  };
}

/** Settings as the dashboard stores them, and as its form sends them. */
export interface StoredMailSettings {
  host: string;
  /** Null for the port of the TLS mode. */
  port: number | null;
  tls: TlsMode;
  ca: string | null;
  user: string | null;
  password: string | null;
  connections: number;
  rate_per_minute: number;
  from: string;
  reply_to: string | null;
  bounce_address: string | null;
}

/** Returns valid settings in the spelling in which they are stored. */
function canonical(valid: StoredMailSettings): StoredMailSettings {
  const { name, address } = parseSender(valid.from);
  return {
    ...valid,
    host: parseHostName(valid.host),
    from: formatMailbox({ name, address: address.address }),
    reply_to: valid.reply_to === null ? null : parseAddress(valid.reply_to),
    bounce_address: valid.bounce_address === null ? null : parseBounceAddress(valid.bounce_address),
  };
}

/** Returns a host as it is stored; an invalid one as it is. */
function canonicalHost(text: string): string {
  return errorOf(parseHostName, text) === undefined ? parseHostName(text) : text;
}

/** Returns all errors of settings. */
function settingErrors(input: StoredMailSettings): FieldError[] {
  const { host, port, tls, ca, user, password, from } = input;
  const errors: FieldError[] = [];
  const add = (field: keyof StoredMailSettings, detail: string | undefined) => {
    if (detail !== undefined) errors.push({ pointer: `#/${field}`, detail });
  };
  add("host", errorOf(parseHostName, host));
  if (port !== null) add("port", numberError(port, 1, 65_535));
  if (!TLS_MODES.includes(tls)) add("tls", `must be one of ${TLS_MODES.join(", ")}`);
  if (ca !== null) add("ca", certificatesError(ca));
  if (user !== null) add("user", errorOf(parseCredential, user));
  if (password !== null) add("password", errorOf(parseCredential, password));
  add("connections", numberError(input.connections, 1, CONNECTIONS_MAX));
  add("rate_per_minute", numberError(input.rate_per_minute, 0, RATE_MAX));
  add("from", errorOf(parseSender, from));
  if (input.reply_to !== null) add("reply_to", errorOf(parseAddress, input.reply_to));
  if (input.bounce_address !== null) {
    add("bounce_address", errorOf(parseBounceAddress, input.bounce_address));
  }
  const given = { host, tls, from, user: user ?? undefined, password: password ?? undefined };
  for (const { field, detail } of relayErrors(given)) add(field, detail);
  return errors;
}

function numberError(value: number, min: number, max: number): string | undefined {
  return Number.isInteger(value) && value >= min && value <= max
    ? undefined
    : `must be a whole number from ${min} to ${max.toLocaleString("en")}`;
}

function errorOf(parse: (text: string) => unknown, text: string): string | undefined {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Setting with the last known state of the relay, which other processes read too. */
const RELAY_STATE = "mail_relay_state";

/** State of the relay as the sender last saw it. Unknown until the first mail after a start or a change of the settings. */
export interface RelayRecord {
  isAvailable: boolean;
  /** Start of this state (unix ms). */
  since: number;
  /** Last reply while it is unavailable. */
  reply: string | null;
  /** Time of the next try while it is unavailable (unix ms). */
  nextTryAt: number | null;
}

/** Returns the last known state of the relay; undefined if it is not known. */
export function findRelayRecord(reader: Reader): RelayRecord | undefined {
  return findSetting(reader, { name: RELAY_STATE })?.value as RelayRecord | undefined;
}

/** Stores the state of the relay; undefined if it is not known any more. */
export function storeRelayRecord(tx: Tx, record: RelayRecord | undefined, now: number): void {
  if (record) putSetting(tx, { name: RELAY_STATE, value: record, now });
  else deleteSetting(tx, { name: RELAY_STATE });
}

const RELAY_OFFERS = "mail_relay_offers";

type Relay = Pick<MailSettings, "host" | "port">;

/** Extensions that a relay offered with the last connection. */
interface RelayOffers extends Relay {
  smtpUtf8: boolean;
}

/** True if the relay takes addresses with characters outside ASCII before the @, as of the last connection. */
export function relayTakesUtf8(ctx: Ctx): boolean {
  const settings = readMailSettings(ctx);
  return settings !== undefined && readOffers(ctx, settings)?.smtpUtf8 === true;
}

/** Stores what a relay offers, if that is not what is known of it. A failure only delays that. */
export async function noteRelayOffers(
  ctx: Ctx,
  { host, port }: Relay,
  extensions: ReadonlySet<string>,
): Promise<void> {
  const offers: RelayOffers = { host, port, smtpUtf8: extensions.has("SMTPUTF8") };
  try {
    if (readOffers(ctx, offers)?.smtpUtf8 === offers.smtpUtf8) return;
    const now = ctx.clock.now();
    await ctx.db.write((tx) => putSetting(tx, { name: RELAY_OFFERS, value: offers, now }));
  } catch (error) {
    ctx.log.warn({ err: error }, "what the relay offers could not be stored");
  }
}

/** Returns what is known of a relay; undefined if the last connection was to another one. */
function readOffers({ db }: Ctx, relay: Relay): RelayOffers | undefined {
  const value = findSetting(db, { name: RELAY_OFFERS })?.value as RelayOffers | undefined;
  return value?.host === relay.host && value.port === relay.port ? value : undefined;
}

const MISSING_TEXTS: Readonly<Record<MissingForMail, string>> = {
  relay: "an SMTP relay",
  from: "a sender",
  public_address: "a public address",
};

/** Returns what is missing before mail can be sent, as text: "an SMTP relay and a sender". */
export function describeMissing(missing: readonly MissingForMail[]): string {
  const texts = missing.map((part) => MISSING_TEXTS[part]);
  return [texts.slice(0, -1).join(", "), texts.at(-1)].filter(Boolean).join(" and ");
}
