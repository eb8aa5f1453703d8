import type { Ctx } from "../../context";
import type { Timer } from "../../base/clock";
import { MINUTE_MS, SECOND_MS } from "../../base/time";

/** Age of a replica's data from which its pages show it. */
const SHOWN_FROM_MS = MINUTE_MS;

/** Makes pages show the time of their data while it is old. `asOf` returns it in unix ms. */
export function showDelay(ctx: Ctx, asOf: () => number | undefined): Timer {
  return ctx.clock.every(SECOND_MS, () => {
    const time = asOf();
    const isOld = time !== undefined && ctx.clock.now() - time >= SHOWN_FROM_MS;
    // Pages show minutes: they are not made again for each second.
    const shown = isOld ? time - (time % MINUTE_MS) : undefined;
    if (shown === ctx.shownAsOf) return;
    ctx.shownAsOf = shown;
    // All pages are made again.
    ctx.signals.settingsChanged.emit();
  });
}
