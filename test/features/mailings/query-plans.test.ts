import { expect, test } from "bun:test";
import type { Tx } from "../../../src/db/statements";
import * as endings from "../../../src/features/mail/store";
import * as lists from "../../../src/features/mailings/store";
import * as mailings from "../../../src/features/mailings/store";
import * as subscribers from "../../../src/features/mailings/store";
import { openMonitorStore, planOf, statementsOf } from "../../support/monitor-store";

/** Index that each statement must use, by its first search. */
const PLANS = [
  ["mails_expiring", (tx) => endings.listExpired(tx, { class: 1, now: 9, limit: 1 })],
  ["mails_in_turn", (tx) => endings.listExpiredOfMailing(tx, { mailingId: "m", now: 9, limit: 1 })],
  ...[true, false].flatMap((isOldestFirst) => [
    [
      "sqlite_autoindex_mailings_1",
      (tx: Tx) =>
        lists.listMailings(tx, { pageId: undefined, isOldestFirst, before: "m", limit: 1 }),
    ] as const,
    [
      "mailings_by_page",
      (tx: Tx) => lists.listMailings(tx, { pageId: "p", isOldestFirst, before: "m", limit: 1 }),
    ] as const,
  ]),
  ["mailings_open", (tx) => lists.listHeld(tx, { pageId: "p" })],
  ["mailings_open", (tx) => lists.countHeldByPage(tx, {})],
  ["mails_failed", (tx) => lists.listFailedMails(tx, { mailingId: "m", after: "", limit: 1 })],
  ["mailings_by_subject", (tx) => mailings.findNewestBegun(tx, { subjectId: "inc_1" })],
  [
    "SEARCH mailings USING INDEX mailings_counted (page_id=? AND author=? AND created_at>? AND created_at<?)",
    (tx) =>
      mailings.countMailings(tx, { pageId: "p", author: "key", since: 1, now: 9, limit: 200 }),
  ],
  ["mailings_open", (tx) => mailings.findUnfinished(tx, { now: 9 })],
  ["mailings_open", (tx) => mailings.findNextHeldEnd(tx, {})],
  ["mailings_open", (tx) => mailings.stopMailingsOfHiddenPages(tx, {})],
  ["PRIMARY KEY", (tx) => subscribers.listSubscriberCounts(tx, { pageId: "p" })],
] as const satisfies (readonly [string, Parameters<typeof statementsOf<Tx>>[1]])[];

test.each(PLANS)("a statement about mailings uses %s: %#", async (index, run) => {
  using store = openMonitorStore();
  const [sql = ""] = await store.ctx.db.write((tx) => statementsOf(tx, run));
  const steps = planOf(store, sql);
  expect(steps.join("\n")).toContain(index);
  expect(steps.join("\n")).not.toMatch(/^SCAN (?!counted$|mailings USING INDEX mailings_open)/m);
});

test("subscribers with a selection are counted by their choices", async () => {
  using store = openMonitorStore();
  const statements = await store.ctx.db.write((tx) =>
    statementsOf(tx, (tx) => {
      subscribers.countChoices(tx, { targets: "[]", limit: 1 });
      subscribers.countChosen(tx, { targets: "[]", choice: '"incidents"' });
    }),
  );
  for (const sql of statements) {
    const steps = planOf(store, sql).join("\n");
    expect(steps).toContain("SEARCH subscriber_choices USING PRIMARY KEY (target_id=?)");
    expect(steps).not.toMatch(/SCAN subscribers/);
  }
});
