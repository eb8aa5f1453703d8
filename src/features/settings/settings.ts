/*
 * Settings of the installation that the dashboard stores: the public address, the networks that webhooks may reach, and
 * switches. Options of the command line precede them.
 */
import type { Actor } from "../../base/actor";
import {
  canonicalNetworks,
  isNetwork,
  listenUrl,
  type Network,
  parseBaseUrl,
  parseNetworks,
} from "../../base/config/parse";
import { type FieldError, invalidFields } from "../../base/errors";
import { firstNames, plural } from "../../base/text";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { networkError } from "../../egress/policy";
import { audit } from "../../events/audit";
import { findSetting, putSetting } from "./store";

/** Applies the settings of the dashboard. Called at the start, and when another process changed them. */
export function followSettings(ctx: Ctx): void {
  followPublicAddress(ctx);
  followAllowedNetworks(ctx);
}

const PUBLIC_ADDRESS = "public_address";

/** Returns the stored public address without a final slash; undefined if none is set. */
export function readPublicAddress(reader: Reader): string | undefined {
  const value = findSetting(reader, { name: PUBLIC_ADDRESS })?.value;
  return typeof value === "string" ? value : undefined;
}

/**
 * Sets the public address and returns it as it is stored: an http or https origin. After the
 * commit, links are built from it, unless `--base-url` is given. Throws `validation_failed` at
 * `#/public_address`.
 */
export function setPublicAddress(ctx: Ctx, tx: Tx, text: string, actor: Actor): string {
  const fields = validatePublicAddress(text);
  if (fields.length > 0) throw invalidFields(fields);
  const address = parseBaseUrl(text);
  if (address === readPublicAddress(tx)) return address;
  putSetting(tx, { name: PUBLIC_ADDRESS, value: address, now: ctx.clock.now() });
  const summary = `Set the public address to ${address}`;
  audit(ctx, tx, actor, "settings.public_address", PUBLIC_ADDRESS, summary);
  tx.afterCommit(() => followPublicAddress(ctx));
  ctx.signals.settingsChanged.raise(tx);
  return address;
}

/**
 * Applies the current public address to links: `--base-url`, else the setting, else the listen
 * address.
 */
function followPublicAddress(ctx: Ctx): void {
  const { config } = ctx;
  ctx.baseUrl = config.baseUrl ?? readPublicAddress(ctx.db) ?? listenUrl(config.listen);
}

/** Returns the errors of a public address, for the field `#/public_address`. */
export function validatePublicAddress(text: string): FieldError[] {
  try {
    parseBaseUrl(text);
    return [];
  } catch (error) {
    return [{ pointer: `#/${PUBLIC_ADDRESS}`, detail: (error as Error).message }];
  }
}

const ALLOWED_NETWORKS = "allowed_networks";
/** Maximum number of networks that can be allowed in the dashboard. */
const NETWORKS_MAX = 100;
/** Maximum number of invalid lines that an error quotes, and of characters of each. */
const QUOTED_MAX = 3;
const QUOTED_LENGTH_MAX = 50;

/** Returns the networks that owners allowed in the dashboard, in canonical spelling. */
export function readAllowedNetworks(reader: Reader): string[] {
  const value = findSetting(reader, { name: ALLOWED_NETWORKS })?.value;
  return Array.isArray(value) ? value.filter((network) => typeof network === "string") : [];
}

/**
 * Replaces the allowed networks, one per line of `text`, and returns true if that changed anything. After
 * the commit, webhooks may reach them, unless `--outbound-allow` is given. Throws `validation_failed` at
 * `#/allowed_networks`.
 */
export function setAllowedNetworks(ctx: Ctx, tx: Tx, text: string, actor: Actor): boolean {
  const fields = validateAllowedNetworks(text);
  if (fields.length > 0) throw invalidFields(fields);
  const networks = canonicalNetworks(linesOf(text));
  if (Bun.deepEquals(networks, readAllowedNetworks(tx))) return false;
  putSetting(tx, { name: ALLOWED_NETWORKS, value: networks, now: ctx.clock.now() });
  audit(ctx, tx, actor, "settings.allowed_networks", ALLOWED_NETWORKS, summaryOf(networks));
  tx.afterCommit(() => followAllowedNetworks(ctx));
  ctx.signals.settingsChanged.raise(tx);
  return true;
}

function summaryOf(networks: readonly string[]): string {
  if (networks.length === 0) return "Removed all allowed networks";
  return `Set the allowed networks to ${firstNames(networks, 10)}`;
}

/** Applies the current allowed networks: `--outbound-allow`, else the setting. */
function followAllowedNetworks(ctx: Ctx): void {
  ctx.allowedNetworks = ctx.config.outboundAllow ?? parseStored(readAllowedNetworks(ctx.db));
}

/** Parses stored networks. Leaves out a network that is invalid, such as after a manual change. */
function parseStored(networks: readonly string[]): Network[] {
  return networks.filter(isNetwork).flatMap(parseNetworks);
}

/** Returns the errors of a list of networks, for the field `#/allowed_networks`. */
export function validateAllowedNetworks(text: string): FieldError[] {
  const detail = listError(linesOf(text));
  return detail === undefined ? [] : [{ pointer: `#/${ALLOWED_NETWORKS}`, detail }];
}

function listError(lines: readonly string[]): string | undefined {
  if (lines.length > NETWORKS_MAX) return `must have at most ${plural(NETWORKS_MAX, "line")}`;
  const unreadable = lines.filter((line) => !isNetwork(line));
  if (unreadable.length > 0) {
    return `must have one network or address per line, such as 10.0.0.0/8; ${quote(unreadable)} is not one`;
  }
  for (const line of lines) {
    const [network] = parseNetworks(line);
    const problem = network && networkError(network);
    if (problem !== undefined)
      return `must not contain ${line}, which ${problem}: it is never allowed`;
  }
  return undefined;
}

function quote(lines: readonly string[]): string {
  return lines
    .slice(0, QUOTED_MAX)
    .map((line) => line.slice(0, QUOTED_LENGTH_MAX))
    .join(" or ");
}

function linesOf(text: string): string[] {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

interface Switch {
  /** Name in the database. */
  name: string;
  /** Value before it was ever set; false if omitted. */
  initial?: boolean;
  /** Action and summary of a change in the audit log. */
  action: string;
  summarize(isOn: boolean): string;
}

/**
 * Declares a setting of the whole installation that is true or false. `set` returns false, and writes
 * nothing, if the value is the same already.
 */
export function declareSwitch({ name, initial = false, action, summarize }: Switch) {
  function read(reader: Reader): boolean {
    return (findSetting(reader, { name })?.value ?? initial) === true;
  }

  function set(ctx: Ctx, tx: Tx, value: boolean, actor: Actor): boolean {
    if (read(tx) === value) return false;
    putSetting(tx, { name, value, now: ctx.clock.now() });
    audit(ctx, tx, actor, action, name, summarize(value));
    return true;
  }

  return { read, set };
}

/** First steps in the overview. */
export const { read: areFirstStepsHidden, set: setFirstStepsHidden } = declareSwitch({
  name: "first_steps_hidden",
  action: "settings.first_steps",
  summarize: (isHidden) => (isHidden ? "Hid the first steps" : "Showed the first steps again"),
});

/** Built-in incident templates. */
export const { read: areBuiltInTemplatesHidden, set: setBuiltInTemplatesHidden } = declareSwitch({
  name: "built_in_templates_hidden",
  action: "settings.built_in_templates",
  summarize: (isHidden) =>
    isHidden
      ? "Hid the built-in incident templates"
      : "Offered the built-in incident templates again",
});
