import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { Actor } from "../../base/actor";
import { audit } from "../../events/audit";
import { findSetting, putSetting } from "./store";

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
