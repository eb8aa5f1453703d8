import { expect, test } from "bun:test";
import fc from "fast-check";
import { and, eq, sql } from "drizzle-orm";
import { insertAllInto, mutate, type Reader, selectOne } from "../../../src/db/statements";
import { subscriberChoices, subscribers } from "../../../src/db/tables/mail";
import { SUBSCRIBER_EVENTS, type SubscriberEvent } from "../../../src/base/mail-address";
import { countAudience } from "../../../src/features/mailings/lists";
import { subscriberRow } from "../../support/mail-rows";
import { createMailingSite } from "../../support/mailing-site";

const update = mutate(
  (
    orm,
    $: {
      id: string;
      status: "active" | "unsubscribed";
      scope: "page" | "selection";
      events: string;
    },
  ) =>
    orm
      .update(subscribers)
      .set({ status: $.status, scope: $.scope, events: sql`${$.events}` })
      .where(eq(subscribers.id, $.id)),
);
const remove = mutate((orm, $: { id: string }) =>
  orm.delete(subscribers).where(eq(subscribers.id, $.id)),
);
const countRows = selectOne((orm, $: { pageId: string; choice: string }) =>
  orm
    .select({
      total: sql<number>`count(*)`,
      ofPage: sql<number>`coalesce(sum(scope = 'page' AND instr(events, ${$.choice}) > 0), 0)`,
      selections: sql<number>`coalesce(sum(scope = 'selection' AND instr(events, ${$.choice}) > 0), 0)`,
    })
    .from(subscribers)
    .where(and(eq(subscribers.pageId, $.pageId), eq(subscribers.status, "active"))),
);
const insertSubscribers = insertAllInto(subscribers);
const insertChoices = insertAllInto(subscriberChoices);

function expectCounts(reader: Reader, pageId: string): void {
  for (const choice of SUBSCRIBER_EVENTS) {
    const rows = countRows(reader, { pageId, choice: JSON.stringify(choice) });
    expect(countAudience(reader, { pageId, choice, componentIds: [] })).toEqual({
      total: rows?.total ?? -1,
      reached: rows?.ofPage ?? -1,
      selections: rows?.selections ?? -1,
      most: (rows?.ofPage ?? -1) + (rows?.selections ?? -1),
      isExact: true,
    });
  }
}

test("numbers of subscribers follow every insert, change and deletion", async () => {
  await using site = await createMailingSite();
  const ids: string[] = [];
  for (const name of ["anna", "bert", "carl"]) ids.push(await site.subscribe(name));
  const { db } = site.app.ctx;
  expectCounts(db, site.page.id);
  const change = fc.record({
    index: fc.nat(2),
    status: fc.constantFrom("active" as const, "unsubscribed" as const),
    scope: fc.constantFrom("page" as const, "selection" as const),
    events: fc.subarray<SubscriberEvent>([...SUBSCRIBER_EVENTS], { minLength: 1 }),
  });
  await fc.assert(
    fc.asyncProperty(change, async ({ index, events, ...changes }) => {
      const id = ids[index] ?? "";
      await db.write((tx) => update(tx, { id, events: JSON.stringify(events), ...changes }));
      expectCounts(db, site.page.id);
    }),
    { numRuns: 40 },
  );
  for (const id of ids) {
    await db.write((tx) => remove(tx, { id }));
    expectCounts(db, site.page.id);
  }
});

test("subscribers with many selections are counted up to a limit, and the count says that it is the most", async () => {
  await using site = await createMailingSite();
  const id = await site.subscribe("anna");
  const { db } = site.app.ctx;
  const api = site.ids["API"] ?? "";
  const web = site.ids["Web"] ?? "";
  await db.write((tx) => {
    const rows = Array.from({ length: 600 }, (_, index) =>
      subscriberRow({
        id: `sub_${index}`,
        seq: 100 + index,
        pageId: site.page.id,
        address: `${index}@example.net`,
        addressHmac: String(index),
        scope: "selection",
        events: ["incidents"],
        confirmedAt: 1,
      }),
    );
    insertSubscribers(tx, rows);
    insertChoices(
      tx,
      rows.flatMap(({ id: subscriberId }) =>
        [api, web].map((targetId) => ({ targetId, subscriberId })),
      ),
    );
  });
  const count = (...componentIds: string[]) =>
    countAudience(db, { pageId: site.page.id, choice: "incidents", componentIds });
  const page = { total: 601, reached: 601, selections: 600, most: 601 };
  expect(count(api)).toEqual({ ...page, isExact: true });
  // 1,200 choices of 600 subscribers, none of whom is counted twice.
  expect(count(api, web)).toEqual({ ...page, isExact: false });
  await db.write((tx) => remove(tx, { id }));
  expect(count(site.ids["Search"] ?? "")).toMatchObject({ reached: 0, isExact: true });
});
