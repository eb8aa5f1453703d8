import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { insertAllInto } from "../../../src/db/statements";
import { mailRequests, subscribers, subscriberChoices } from "../../../src/db/tables/mail";
import { suppress } from "../../../src/features/mail/suppressions";
import {
  countSubscribersOfPage,
  listSignUps,
  listSubscribers,
  STOPPING_REASONS,
} from "../../../src/features/subscribers/list";
import * as lists from "../../../src/features/subscribers/list-store";
import { NEWEST } from "../../../src/base/ids";
import { DAY_MS } from "../../../src/base/time";
import { createTestApp, type TestApp } from "../../support/app";
import { subscriberRow } from "../../support/mail-rows";
import { openMonitorStore, planOf, statementsOf } from "../../support/monitor-store";

const insertSubscribers = insertAllInto(subscribers);
const insertChoices = insertAllInto(subscriberChoices);
const insertRequests = insertAllInto(mailRequests);

type Query = Parameters<typeof listSubscribers>[1];

/** Subscribers of a page in the order of their numbers, with everything by which they are filtered. */
interface Known {
  id: string;
  seq: number;
  address: string;
  status: "active" | "unsubscribed";
  targets: string[];
  reasons: string[];
}

const GROUP = "grp_core";
const COMPONENTS = ["cmp_api", "cmp_web"];

async function fill({ ctx }: TestApp, pageId: string, count: number): Promise<Known[]> {
  const known = Array.from({ length: count }, (_, index): Known => {
    const seq = index + 1;
    const id = ctx.newId("sub");
    const targets = [
      ...(seq % 3 === 0 ? ["cmp_api"] : []),
      ...(seq % 5 === 0 ? ["cmp_web"] : []),
      ...(seq % 7 === 0 ? [GROUP] : []),
    ];
    const reason = seq % 11 === 0 ? [STOPPING_REASONS[(seq / 11) % 5] ?? "soft"] : [];
    const also = seq % 55 === 0 ? ["blocked"] : [];
    const address = `p${seq.toString(36)}@d${seq % 9}.example.com`;
    const status = seq % 4 === 0 ? "unsubscribed" : "active";
    return { id, seq, address, status, targets, reasons: [...new Set([...reason, ...also])] };
  });
  const now = ctx.clock.now();
  await ctx.db.write((tx) => {
    insertSubscribers(
      tx,
      known.map(({ id, seq, address, status, targets }) =>
        subscriberRow({
          id,
          seq,
          pageId,
          address,
          addressHmac: `mark-${seq}`,
          scope: targets.length > 0 ? "selection" : "page",
          status,
          confirmedAt: now,
        }),
      ),
    );
    insertChoices(
      tx,
      known.flatMap(({ id, targets }) =>
        targets.map((targetId) => ({ targetId, subscriberId: id })),
      ),
    );
    for (const { seq, reasons } of known) {
      for (const reason of reasons) {
        suppress(ctx, tx, { addressHmac: `mark-${seq}`, reason: reason as "soft" });
      }
    }
  });
  return known;
}

/** Lists all parts of a list. */
function all({ ctx }: TestApp, query: Omit<Query, "limit" | "before">): string[] {
  const ids: string[] = [];
  let before: string | undefined;
  do {
    const part = listSubscribers(ctx.db, { ...query, limit: 7, before });
    ids.push(...part.rows.map(({ id }) => id));
    before = part.nextBefore;
  } while (before !== undefined);
  return ids;
}

describe("the list of subscribers", () => {
  test("has exactly those who match each combination of filters, once, in all of its parts", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const other = await app.page({ slug: "other", name: "Other" });
    const known = await fill(app, page.id, 500);
    const targets = [undefined, { id: GROUP, groupId: null }].concat(
      COMPONENTS.map((id) => ({ id, groupId: GROUP as never })),
    );
    for (const view of ["active", "unsubscribed", "suppressed"] as const) {
      for (const search of ["", "p", "p1", "P1", "D3.ex", "example.com", "nobody", '"', "%"]) {
        for (const target of targets) {
          for (const reason of view === "suppressed"
            ? [undefined, "blocked" as const]
            : [undefined]) {
            const text = search.toLowerCase();
            const expected = known.filter(
              (one) =>
                one.status === (view === "unsubscribed" ? view : "active") &&
                (view !== "suppressed" || one.reasons.some((x) => !reason || x === reason)) &&
                (text.length < 3 ? one.address.startsWith(text) : one.address.includes(text)) &&
                (!target || one.targets.some((x) => x === target.id || x === target.groupId)),
            );
            const query = { pageId: page.id, view, search, target, reason };
            const ids = all(app, query);
            const what = JSON.stringify({ view, search, target, reason });
            expect([...new Set(ids)].sort(), what).toEqual(expected.map(({ id }) => id).sort());
            // Only who is suppressed for several reasons can come again in a later part.
            if (view !== "suppressed") expect(ids, what).toHaveLength(expected.length);
            expect(all(app, { ...query, pageId: other.page.id })).toEqual([]);
          }
        }
      }
    }
  });

  test("is searched for any text", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const query = { pageId: page.id, view: "active" as const };
    await fill(app, page.id, 60);
    const texts = [
      "\0abc",
      "abc\0",
      '"""',
      "a\0b",
      "🔥🔥🔥",
      "\ud800ab",
      "' OR 1",
      "a".repeat(200),
    ];
    for (const search of texts) expect(all(app, { ...query, search }), search).toEqual([]);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 8 }), async (search) => {
        all(app, { ...query, search });
      }),
    );
  });

  test("begins with the newest, and a short search goes by address", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const known = await fill(app, page.id, 60);
    const active = known.filter(({ status }) => status === "active").map(({ id }) => id);
    const query = { pageId: page.id, view: "active" as const, search: "" };
    expect(all(app, query)).toEqual(active.toReversed());
    expect(all(app, { ...query, search: "exa" })).toEqual(active.toReversed());
    const { rows } = listSubscribers(app.ctx.db, { ...query, search: "p", limit: 100 });
    const addresses = rows.map(({ address }) => address ?? "");
    expect(addresses).toEqual(addresses.toSorted());
  });

  test("the counts follow every change, and the search finds nothing that was deleted", async () => {
    await using app = await createTestApp();
    const { ctx } = app;
    const { page } = await app.page();
    await fill(app, page.id, 110);
    expect(countSubscribersOfPage(ctx.db, page.id)).toMatchObject({
      active: 83,
      unsubscribed: 27,
      unconfirmed: { count: 0, isExact: true },
      suppressed: { blocked: { count: 3, isExact: true }, bounced: { count: 2, isExact: true } },
    });
    const { rows } = listSubscribers(ctx.db, {
      pageId: page.id,
      view: "active",
      search: "p1@",
      limit: 5,
    });
    expect(rows).toHaveLength(1);
    const { deleteSubscriber, findSubscriber, updateSubscriberRow } =
      await import("../../../src/features/subscribers/store");
    await ctx.db.write((tx) => {
      deleteSubscriber(tx, { id: rows[0]?.id ?? "" });
      const [second] = listSubscribers(tx, {
        pageId: page.id,
        view: "active",
        search: "p2@",
        limit: 5,
      }).rows;
      const row = findSubscriber(tx, { id: second?.id ?? "" });
      if (!row) throw new Error("there is no subscriber");
      updateSubscriberRow(tx, { ...row, status: "unsubscribed", address: null, addressKey: null });
    });
    expect(countSubscribersOfPage(ctx.db, page.id)).toMatchObject({ active: 81, unsubscribed: 28 });
    for (const search of ["p1@", "p2@"]) {
      for (const view of ["active", "unsubscribed"] as const) {
        expect(all(app, { pageId: page.id, view, search })).toEqual([]);
      }
    }
  });

  test("the unconfirmed are those whose link still works", async () => {
    await using app = await createTestApp();
    const { ctx } = app;
    const { page } = await app.page();
    const now = ctx.clock.now();
    const states = ["waiting", "sent", "unsent", "confirmed", "void", "declined"] as const;
    await ctx.db.write((tx) =>
      insertRequests(
        tx,
        states.map((state, index) => ({
          id: ctx.newId("mrq"),
          pageId: page.id,
          address: `${state}@example.com`,
          addressKey: `${state}@example.com`,
          throttleKey: state,
          choices: {
            scope: "selection" as const,
            targets: ["cmp_api"],
            events: ["incidents" as const],
          },
          source: "form" as const,
          ip: null,
          clientKey: null,
          requestedAt: now - index,
          expiresAt: now + DAY_MS,
          state,
        })),
      ),
    );
    const query = { pageId: page.id, search: "", limit: 1 };
    const first = listSignUps(ctx.db, query, now);
    expect(first.rows.map(({ address }) => address)).toEqual(["sent@example.com"]);
    const second = listSignUps(ctx.db, { ...query, before: first.nextBefore }, now);
    expect(second.rows.map(({ address }) => address)).toEqual(["waiting@example.com"]);
    expect(second.nextBefore).toBeUndefined();
    const found = (more: Partial<typeof query> & { target?: Query["target"] }) =>
      listSignUps(ctx.db, { ...query, limit: 9, ...more }, now).rows.length;
    expect(found({ search: "ent@" })).toBe(1);
    expect(found({ target: { id: "cmp_api", groupId: null } })).toBe(2);
    expect(found({ target: { id: "cmp_web", groupId: null } })).toBe(0);
    expect(listSignUps(ctx.db, { ...query, limit: 9 }, now + DAY_MS).rows).toEqual([]);
    expect(countSubscribersOfPage(ctx.db, page.id).unconfirmed.count).toBe(2);
  });
});

test("every part of a list is read in the order of an index, up to a number of entries", async () => {
  using store = openMonitorStore();
  const part = {
    pageId: "page_1",
    text: "abc",
    target: "cmp_1",
    group: "grp_1",
    status: "active" as const,
    examined: 9,
    limit: 9,
  };
  const statements = await store.ctx.db.write((tx) =>
    statementsOf(tx, (tx) => {
      lists.listActive(tx, { ...part, before: 9 });
      lists.listEnded(tx, { ...part, before: NEWEST });
      lists.listWithParts(tx, { ...part, parts: '"abc"', before: 9 });
      lists.findEndOfParts(tx, { parts: '"abc"', before: 9, skipped: 9 });
      lists.listByAddress(tx, { ...part, after: "a", until: "b" });
      lists.findEndByAddress(tx, { ...part, after: "a", until: "b", skipped: 9 });
      lists.listByChoice(tx, { ...part, chosen: "cmp_1", before: NEWEST });
      lists.findEndByChoice(tx, { chosen: "cmp_1", before: NEWEST, skipped: 9 });
      lists.listSuppressed(tx, { ...part, reason: "soft", at: 9, mark: "" });
      lists.findEndOfSuppressed(tx, { reason: "soft", at: 9, mark: "", skipped: 9 });
      lists.countSuppressedOfPage(tx, { pageId: "page_1", reason: "soft", examined: 9 });
      lists.listUnconfirmed(tx, { ...part, before: NEWEST, now: 9 });
      lists.findEndOfUnconfirmed(tx, { pageId: "page_1", before: NEWEST, skipped: 9 });
      lists.countUnconfirmed(tx, { pageId: "page_1", limit: 9 });
    }),
  );
  expect(statements).toHaveLength(14);
  for (const sql of statements) {
    const steps = planOf(store, sql);
    const large = steps.filter((step) =>
      /^SCAN (subscribers|subscriber_choices|suppressions|mail_requests)\b|TEMP B-TREE/.test(step),
    );
    expect(large, sql).toEqual([]);
  }
});
