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

/** Hides the first steps for the whole installation. Writes nothing if they are hidden already. */
export function hideFirstSteps(ctx: Pick<AppContext, "clock">, tx: Tx, actor: Actor): void {
  if (areFirstStepsHidden(tx)) return;
  putSetting(tx, { name: FIRST_STEPS_HIDDEN, value: true, now: ctx.clock.now() });
  audit(ctx, tx, actor, "settings.first_steps", FIRST_STEPS_HIDDEN, "Hid the first steps");
}
