import type { Actor } from "../../base/actor";
import { listenUrl, parseBaseUrl } from "../../base/config/parse";
import { type FieldError, invalidFields } from "../../base/errors";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { followAllowedNetworks } from "./allowed-networks";
import { findSetting, putSetting } from "./store";

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

/** Applies the settings of the dashboard. Called at the start, and when another process changed them. */
export function followSettings(ctx: Ctx): void {
  followPublicAddress(ctx);
  followAllowedNetworks(ctx);
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
