import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import { audit } from "../../events";
import { findSetting, putSetting } from "./store";

const BUILT_IN_TEMPLATES_HIDDEN = "built_in_templates_hidden";

/** Returns true if the built-in incident templates were hidden for the whole installation. */
export function areBuiltInTemplatesHidden(reader: Reader): boolean {
  return findSetting(reader, { name: BUILT_IN_TEMPLATES_HIDDEN })?.value === true;
}

/**
 * Hides the built-in incident templates for the whole installation, or offers them again. Writes
 * nothing if they are in this state already, and then returns false.
 */
export function setBuiltInTemplatesHidden(
  ctx: Pick<AppContext, "clock">,
  tx: Tx,
  isHidden: boolean,
  actor: Actor,
): boolean {
  if (areBuiltInTemplatesHidden(tx) === isHidden) return false;
  putSetting(tx, { name: BUILT_IN_TEMPLATES_HIDDEN, value: isHidden, now: ctx.clock.now() });
  const summary = isHidden
    ? "Hid the built-in incident templates"
    : "Offered the built-in incident templates again";
  const target = BUILT_IN_TEMPLATES_HIDDEN;
  audit(ctx, tx, actor, "settings.built_in_templates", target, summary);
  return true;
}
