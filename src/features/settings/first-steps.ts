import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import { audit } from "../../events";
import { findSetting, putSetting } from "./store";

const FIRST_STEPS_HIDDEN = "first_steps_hidden";

/** Returns true if the first steps were hidden for the whole installation. */
export function areFirstStepsHidden(reader: Reader): boolean {
  return findSetting(reader, { name: FIRST_STEPS_HIDDEN })?.value === true;
}

/**
 * Hides the first steps for the whole installation, or shows them again. Writes nothing if they are
 * in this state already.
 */
export function setFirstStepsHidden(
  ctx: Pick<AppContext, "clock">,
  tx: Tx,
  isHidden: boolean,
  actor: Actor,
): void {
  if (areFirstStepsHidden(tx) === isHidden) return;
  putSetting(tx, { name: FIRST_STEPS_HIDDEN, value: isHidden, now: ctx.clock.now() });
  const summary = isHidden ? "Hid the first steps" : "Showed the first steps again";
  audit(ctx, tx, actor, "settings.first_steps", FIRST_STEPS_HIDDEN, summary);
}
