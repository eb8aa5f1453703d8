import { asc } from "drizzle-orm";
import { selectMany } from "../../src/db/statements";
import { deliveries, deliveryTries, webhookPauses } from "../../src/db/tables/webhooks";
import type { Egress } from "../../src/egress/egress";
import type { EventType, OutboxEvent } from "../../src/events/outbox";
import type { CreateWebhookBody } from "../../src/features/webhooks/wire";
import { startDelivering } from "../../src/features/webhooks/deliver/deliverer";
import type { WebhookRow } from "../../src/features/webhooks/store";
import { CLI_ACTOR } from "../../src/base/actor";
import { createTestApp, type TestApp } from "./app";
import { createTestClock, type TestClock } from "./clock";
import { createTestEgress } from "./egress";
import { createWebhook } from "./examined";

/** Time after which a delivery is looked at again that is due and waits for its destination. */
const PACE_STEP_MS = 100;

const LOOPBACK = "127.0.0.0/8";

const listRows = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(deliveries).orderBy(asc(deliveries.id)),
);
const listTryRows = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select()
    .from(deliveryTries)
    .orderBy(asc(deliveryTries.deliveryId), asc(deliveryTries.number)),
);

const listPauses = selectMany((orm, _$: Record<string, never>) => orm.select().from(webhookPauses));

type DeliveryRow = typeof deliveries.$inferSelect;
type TryRow = typeof deliveryTries.$inferSelect;

/** An application that delivers events over the network, on the test's clock. */
export interface DeliverySite extends AsyncDisposable {
  app: TestApp;
  deliverer: ReturnType<typeof startDelivering>;
  /** Creates an endpoint for every event. */
  endpoint(url: string, input?: Partial<CreateWebhookBody>): Promise<WebhookRow>;
  /** Records one event per subject in one transaction, by default of a component. */
  recordEvents(...subjects: (string | Partial<OutboxEvent>)[]): Promise<void>;
  /** Resolves when no delivery is due, running or unrecorded. */
  idle(): Promise<void>;
  /** Advances the clock, with each retry at its own time, then waits like `idle`. */
  pass(ms: number): Promise<void>;
  deliveries(): DeliveryRow[];
  tries(): TryRow[];
  /** Restarts the deliverer on the same database. */
  restart(): Promise<void>;
}

export async function createDeliverySite(
  options: {
    egress?: Egress;
    names?: Record<string, string[][]>;
    databasePath?: string;
    outboundAllow?: string;
    clock?: TestClock;
  } = {},
): Promise<DeliverySite> {
  const clock = options.clock ?? createTestClock();
  const outboundAllow = options.outboundAllow ?? LOOPBACK;
  const app = await createTestApp({
    clock,
    env: { ALLCLEAR_OUTBOUND_ALLOW: outboundAllow },
    ...(options.databasePath !== undefined && { databasePath: options.databasePath }),
  });
  const { ctx } = app;
  const egress =
    options.egress ?? (await createTestEgress(options.names, { clock, outboundAllow })).egress;
  // Tests need no throttle.
  const throttle = { take: () => true, waitMs: () => 0 };
  const start = () => startDelivering(ctx, egress, undefined, throttle);
  let deliverer = start();

  const nextDue = () =>
    Math.min(
      ...listRows(ctx.db, {})
        .filter(({ status }) => status === "pending")
        .map(({ nextTryAt }) => nextTryAt ?? Number.POSITIVE_INFINITY),
    );

  /** Returns the wait for the next of the pauses to end, in ms; a short one for the pace without any. */
  const untilPausesEnd = () =>
    listPauses(ctx.db, {})
      .map(({ pausedUntil }) => pausedUntil - clock.now())
      .filter((ms) => ms > 0)
      .toSorted((a, b) => a - b)
      .at(0) ?? PACE_STEP_MS;

  return {
    app,
    get deliverer() {
      return deliverer;
    },
    endpoint: (url, input = {}) =>
      ctx.db.write((tx) => createWebhook(ctx, tx, { url, ...input }, CLI_ACTOR).row),
    recordEvents: (...subjects) =>
      ctx.db.write((tx) => {
        for (const [index, subject] of subjects.entries()) {
          const given = typeof subject === "string" ? { subjectId: subject } : subject;
          const { subjectId = "cmp_1" } = given;
          ctx.outbox.record(tx, {
            type: "component.status_changed" satisfies EventType,
            pageId: null,
            data: { id: subjectId, index },
            ...given,
            subjectId,
          });
        }
      }),
    idle: () => deliverer.whenIdle(),
    async pass(ms) {
      const until = clock.now() + ms;
      await deliverer.whenIdle();
      for (let due = nextDue(); due <= until && clock.now() < until; due = nextDue()) {
        const waitMs = due > clock.now() ? due - clock.now() : untilPausesEnd();
        await clock.advance(Math.min(waitMs, until - clock.now()));
        await deliverer.whenIdle();
      }
      await clock.advance(Math.max(0, until - clock.now()));
      await deliverer.whenIdle();
    },
    deliveries: () => listRows(ctx.db, {}),
    tries: () => listTryRows(ctx.db, {}),
    async restart() {
      await deliverer.stop(0);
      deliverer = start();
    },
    async [Symbol.asyncDispose]() {
      const stopped = deliverer.stop(0);
      // Aborts deliveries that a test left running.
      await clock.advance(0);
      await stopped;
      await app[Symbol.asyncDispose]();
    },
  };
}
