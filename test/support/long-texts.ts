import { addUpdate, createIncident } from "../../src/features/incidents";
import { CLI_ACTOR } from "../../src/domain/actor";
import { toIso } from "../../src/kernel/time";
import type { TestApp } from "./app";

/** As long a text as an update can have, which begins with a word of its own. */
export function longText(word: string): string {
  return `${word} ${"and so on, at length. ".repeat(500)}`.slice(0, 10_000);
}

/** Opens incidents on the page `acme`, a second after another, each told in as many long updates: their ids. */
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
