import { eq } from "drizzle-orm";
import type { Ctx } from "../../src/context";
import { mutate } from "../../src/db/statements";
import { mailings } from "../../src/db/tables/mail";
import type { MailingState } from "../../src/base/mail-address";
import { wakeSender } from "../../src/features/mail/mail";

const setState = mutate((orm, $: { id: string; state: MailingState }) =>
  orm.update(mailings).set({ state: $.state }).where(eq(mailings.id, $.id)),
);

/** Sets the state of a mailing and wakes the sender, as holding, stopping and releasing do. */
export function setMailingState(ctx: Ctx, id: string, state: MailingState): Promise<number> {
  return ctx.db.write((tx) => {
    wakeSender(ctx, tx);
    return setState(tx, { id, state });
  });
}
