import { CLI_ACTOR } from "../../src/base/actor";
import { toIso } from "../../src/base/time";
import type { TestApp } from "./app";
import { addUpdate, createIncident } from "./examined";

/** Returns a text of the greatest length of an update, with a unique first word. */
export function longText(word: string): string {
  return `${word} ${"and so on, at length. ".repeat(500)}`.slice(0, 10_000);
}

/**
 * Opens incidents on the page `acme`, one per second, each with the given number of long updates,
 * and returns their ids.
 */
export function writeLongTexts(
  { ctx, clock }: TestApp,
  { incidents, updates }: { incidents: number; updates: number },
): Promise<string[]> {
  const start = clock.now() - (incidents + updates) * 1_000;
  return ctx.db.write((tx) =>
    Array.from({ length: incidents }, (_, n) => {
      const text = (m: number) => ({ body: longText(`word-${n}-${m}`) });
      const input = { page: "acme", name: `Trouble ${n}`, started_at: toIso(start + n * 1_000) };
      const { row } = createIncident(ctx, tx, { ...input, ...text(0) }, "api", CLI_ACTOR);
      for (let m = 1; m < updates; m++) {
        const at = { display_at: toIso(start + (n + m) * 1_000) };
        addUpdate(ctx, tx, row.id, { ...text(m), ...at }, CLI_ACTOR);
      }
      return row.id;
    }),
  );
}
