import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import { audit } from "../../events";
import { changeUser, getUserRow } from "./service";

/** Returns which mails a user gets. Throws `not_found`. */
export function readPreferences(reader: Reader, id: string): { key_warnings: boolean } {
  return { key_warnings: getUserRow(reader, id).warnsOfKeys };
}

/** Lets a user get a mail before API keys expire, or not. Throws `not_found`. */
export function setKeyWarnings(
  ctx: Pick<AppContext, "clock" | "newId">,
  tx: Tx,
  id: string,
  isOn: boolean,
  actor: Actor,
): void {
  const before = getUserRow(tx, id);
  if (before.warnsOfKeys === isOn) return;
  changeUser(ctx, tx, before, { warnsOfKeys: isOn });
  const summary = `Turned mails about expiring keys ${isOn ? "on" : "off"} for “${before.name}”`;
  audit(ctx, tx, actor, "user.key_warnings", id, summary);
}
