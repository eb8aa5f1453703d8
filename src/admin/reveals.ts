import type { AppContext } from "../context";
import type { Tx } from "../db";
import { makeOnce } from "../features/submissions";
import { type Admission, type Form, sessionOf } from "../http";
import { MINUTE_MS } from "../kernel/time";
import type { WriteAs } from "./write-as";

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
    admission: Admission,
    form: Form,
    make: (tx: Tx) => { made: Made; subjectId: string },
  ): Promise<Reveal<Made>>;
}

export function createReveals(ctx: Pick<AppContext, "clock">, writeAs: WriteAs): Reveals {
  const held = new Map<string, Promise<Reveal<unknown>>>();

  async function makeAndHold<Made>(
    id: string,
    admission: Admission,
    form: { sessionId: number; digest: string },
    make: (tx: Tx) => { made: Made; subjectId: string },
  ): Promise<Reveal<Made>> {
    try {
      const { made, subjectId } = await writeAs(admission, (tx) =>
        makeOnce(ctx, tx, form, () => make(tx)),
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
      admission: Admission,
      { digest }: Form,
      make: (tx: Tx) => { made: Made; subjectId: string },
    ) {
      const sessionId = sessionOf(admission).id;
      const id = `${sessionId} ${digest}`;
      const before = held.get(id) as Promise<Reveal<Made>> | undefined;
      if (before) return before;
      const reveal = makeAndHold(id, admission, { sessionId, digest }, make);
      held.set(id, reveal);
      return reveal;
    },
  };
}
