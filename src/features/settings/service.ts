import { listenUrl, parseBaseUrl } from "../../config";
import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import { type FieldError, invalidFields } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { findSetting, putSetting } from "./store";

const PUBLIC_ADDRESS = "public_address";

type Follower = Pick<AppContext, "baseUrl" | "config" | "db" | "signals">;

/** The public address as it was set, without a slash at its end; undefined where none was. */
export function readPublicAddress(reader: Reader): string | undefined {
  const value = findSetting(reader, { name: PUBLIC_ADDRESS })?.value;
  return typeof value === "string" ? value : undefined;
}

/**
 * Sets the public address and answers it as it is kept: an http or https origin. Once that is
 * committed, links are built from it, unless `--base-url` names another. Throws `validation_failed`
 * at `#/public_address`.
 */
export function setPublicAddress(
  ctx: Follower & Pick<AppContext, "clock">,
  tx: Tx,
  text: string,
  actor: Actor,
): string {
  const fields = validatePublicAddress(text);
  if (fields.length > 0) throw invalidFields(fields);
  const address = parseBaseUrl(text);
  if (address === readPublicAddress(tx)) return address;
  putSetting(tx, { name: PUBLIC_ADDRESS, value: address, now: ctx.clock.now() });
  const summary = `Set the public address to ${address}`;
  audit(ctx, tx, actor, "settings.public_address", PUBLIC_ADDRESS, summary);
  tx.afterCommit(() => followPublicAddress(ctx));
  return address;
}

/**
 * Builds links from the address that is in force now: `--base-url`, else the setting, else the listen
 * address. Emits `settingsChanged` where that is another than before. For the start, and for whenever
 * the setting may have been changed.
 */
export function followPublicAddress(ctx: Follower): void {
  const { config } = ctx;
  const address = config.baseUrl ?? readPublicAddress(ctx.db) ?? listenUrl(config.listen);
  if (address === ctx.baseUrl) return;
  ctx.baseUrl = address;
  ctx.signals.settingsChanged.emit();
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
