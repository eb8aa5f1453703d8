import type { AppContext } from "../context";
import type { Tx } from "../db";
import { makeOnce } from "../features/submissions";
import type { Form } from "../http";
import { MINUTE_MS } from "../kernel/time";

/** A secret that was just made, to be shown now; or the word that it was shown before. */
export type Reveal<Made> = { revealed: Made } | { shownBefore: string };

/**
 * Shows once what is kept nowhere: a key's new value, a link that opens once. A second click of the
 * same form within a minute gets the same from memory, for the first answer may never have reached
 * its reader; then it is forgotten, and only that it was shown is known.
 */
export interface Reveals {
  /** `make` makes it, in the transaction that it is given, and names what it belongs to by id. */
  reveal<Made>(
    sessionId: number,
    form: Form,
    make: (tx: Tx) => { made: Made; subjectId: string },
  ): Promise<Reveal<Made>>;
}

export function createReveals(ctx: Pick<AppContext, "clock" | "db">): Reveals {
  const held = new Map<string, Promise<Reveal<unknown>>>();

  async function make<Made>(
    id: string,
    form: { sessionId: number; digest: string },
    makeIt: (tx: Tx) => { made: Made; subjectId: string },
  ): Promise<Reveal<Made>> {
    try {
      const { made, subjectId } = await ctx.db.write((tx) =>
        makeOnce(ctx, tx, form, () => makeIt(tx)),
      );
      ctx.clock.after(MINUTE_MS, () => held.delete(id));
      return made === null ? { shownBefore: subjectId } : { revealed: made };
    } catch (error) {
      held.delete(id);
      throw error;
    }
  }

  return {
    reveal<Made>(
      sessionId: number,
      form: Form,
      makeIt: (tx: Tx) => { made: Made; subjectId: string },
    ) {
      const { digest } = form;
      const id = `${sessionId} ${digest}`;
      const before = held.get(id) as Promise<Reveal<Made>> | undefined;
      if (before) return before;
      const reveal = make(id, { sessionId, digest }, makeIt);
      held.set(id, reveal);
      return reveal;
    },
  };
}
