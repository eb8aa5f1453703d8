import { MINUTE_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import type { Form } from "../../http/form-body";
import { type RequestContext, sessionOf } from "../../http/request-context";
import type { WriteOnceAs } from "./write-as";

/** New secret to show, or the id of its object if the secret was already shown. */
export type Reveal<Made> = { revealed: Made } | { shownBefore: string };

/**
 * Shows secrets once, such as a key's value or a one-time link. The same form submitted again
 * within a minute gets the same secret from memory, in case the first response was lost.
 */
export interface Reveals {
  /**
   * Runs `make`, which creates the secret in the given transaction and returns it with the id of
   * its object.
   */
  reveal<Made>(
    requestContext: RequestContext,
    form: Form,
    make: (tx: Tx) => { made: Made; subjectId: string },
  ): Promise<Reveal<Made>>;
}

export function createReveals(ctx: Ctx, writeOnceAs: WriteOnceAs): Reveals {
  const held = new Map<string, Promise<Reveal<unknown>>>();

  async function revealOnce<Made>(
    requestContext: RequestContext,
    form: Form,
    make: (tx: Tx) => { made: Made; subjectId: string },
  ): Promise<Reveal<Made>> {
    const { made, subjectId } = await writeOnceAs(requestContext, form, make);
    return made === null ? { shownBefore: subjectId } : { revealed: made };
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
      const reveal = revealOnce(requestContext, form, make);
      held.set(id, reveal);
      const drop = () => held.delete(id);
      // A failed form can be submitted again at once.
      void reveal.then(() => ctx.clock.after(MINUTE_MS, drop), drop);
      return reveal;
    },
  };
}
