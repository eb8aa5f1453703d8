import { type Config, setterOf } from "../../base/config/options";
import {
  DEFAULT_PORTS,
  MAIL_OPTION_NAMES,
  parseSender,
  type TlsMode,
} from "../../base/config/mail";
import { listenUrl } from "../../base/config/parse";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { Actor } from "../../base/actor";
import { conflict, invalidFields } from "../../base/errors";
import { audit } from "../../events/audit";
import { deleteSetting, findSetting, putSetting } from "../settings/store";
import {
  canonical,
  canonicalHost,
  settingErrors,
  type StoredMailSettings,
} from "./stored-settings";

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

/** Settings of the form. A password that is null stays as it is stored. */
export type MailSettingsInput = StoredMailSettings;

/** Part that is missing before mail can be sent. */
export type MissingForMail = "relay" | "from" | "public_address";

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
  const isKept = input.user !== null && input.password === null && before?.password != null;
  // Otherwise the password could be sent to a server of the caller's choice.
  const canKeep = before?.host === canonicalHost(input.host) && before.user === input.user;
  const password = isKept && canKeep ? before.password : input.password;
  const errors = settingErrors({ ...input, password });
  if (isKept && !canKeep) {
    const others = errors.filter(({ pointer }) => pointer !== "#/password");
    const detail = "must be typed again with another host or user name";
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
