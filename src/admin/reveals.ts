import type { AppContext } from "../context";
import type { Tx } from "../db";
import { type RequestContext, type Form, sessionOf } from "../http";
import { MINUTE_MS } from "../kernel/time";
import type { WriteOnceAs } from "./write-as";

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
    requestContext: RequestContext,
    form: Form,
    make: (tx: Tx) => { made: Made; subjectId: string },
  ): Promise<Reveal<Made>>;
}

export function createReveals(ctx: Pick<AppContext, "clock">, writeOnceAs: WriteOnceAs): Reveals {
  const held = new Map<string, Promise<Reveal<unknown>>>();

  async function makeAndHold<Made>(
    id: string,
    requestContext: RequestContext,
    form: Form,
    make: (tx: Tx) => { made: Made; subjectId: string },
  ): Promise<Reveal<Made>> {
    try {
      const { made, subjectId } = await writeOnceAs(requestContext, form, make);
      ctx.clock.after(MINUTE_MS, () => held.delete(id));
      return made === null ? { shownBefore: subjectId } : { revealed: made };
    } catch (error) {
      held.delete(id);
      throw error;
    }
  }

  return {
    reveal<Made>(
      requestContext: RequestContext,
      form: Form,
      make: (tx: Tx) => { made: Made; subjectId: string },
    ) {
      const id = `${sessionOf(requestContext).id} ${form.digest}`;
      const before = held.get(id) as Promise<Reveal<Made>> | undefined;
      if (before) return before;
      const reveal = makeAndHold(id, requestContext, form, make);
      held.set(id, reveal);
      return reveal;
    },
  };
}
