import type { Ctx } from "../../context";
import type { OutboxEvent } from "../../events/outbox";

/** Returns the services with an outbox whose events people are not notified of, whatever records them. */
export function silent(ctx: Ctx): Ctx {
  const { outbox } = ctx;
  const unheard = (event: OutboxEvent) => ({ ...event, data: { ...event.data, notify: false } });
  return {
    ...ctx,
    outbox: {
      ...outbox,
      record: (tx, event) => outbox.record(tx, unheard(event)),
      recordAll: (tx, events) => outbox.recordAll(tx, events.map(unheard)),
    },
  };
}
