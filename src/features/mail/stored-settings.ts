import { certificatesError } from "../../base/config/network";
import {
  CONNECTIONS_MAX,
  parseAddress,
  parseBounceAddress,
  parseCredential,
  parseSender,
  RATE_MAX,
  relayErrors,
  TLS_MODES,
  type TlsMode,
} from "../../base/config/mail";
import { parseHostName } from "../../base/config/parse";
import { formatMailbox } from "../../base/mail-address";
import type { FieldError } from "../../base/errors";

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
export function canonical(valid: StoredMailSettings): StoredMailSettings {
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
export function canonicalHost(text: string): string {
  return errorOf(parseHostName, text) === undefined ? parseHostName(text) : text;
}

/** Returns all errors of settings. */
export function settingErrors(input: StoredMailSettings): FieldError[] {
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
