import { listenUrl, parseBaseUrl } from "../../base/config/parse";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { type FieldError, invalidFields } from "../../base/errors";
import { audit } from "../../events/audit";
import type { Actor } from "../../base/actor";
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
