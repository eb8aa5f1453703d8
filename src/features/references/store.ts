import { and, eq, isNull } from "drizzle-orm";
import { selectOne } from "../../db";
import { components } from "../../db/tables/components";
import { monitors } from "../../db/tables/monitors";
import { webhooks } from "../../db/tables/webhooks";

export const findComponentId = selectOne((orm, $: { pageId: string; ref: string }) =>
  orm
    .select({ id: components.id })
    .from(components)
    .where(
      and(eq(components.pageId, $.pageId), eq(components.ref, $.ref), isNull(components.deletedAt)),
    ),
);

export const findMonitorId = selectOne((orm, $: { ref: string }) =>
  orm
    .select({ id: monitors.id })
    .from(monitors)
    .where(and(eq(monitors.ref, $.ref), isNull(monitors.deletedAt))),
);

export const findWebhookId = selectOne((orm, $: { ref: string }) =>
  orm
    .select({ id: webhooks.id })
    .from(webhooks)
    .where(and(eq(webhooks.ref, $.ref), isNull(webhooks.deletedAt))),
);
