import { expect, test } from "bun:test";
import * as mailings from "../../../src/features/mail/store";
import * as queue from "../../../src/features/mail/store";
import { openMonitorStore, planOf, statementsOf } from "../../support/monitor-store";

test("the next mails of a batch and a domain are found without reading others", async () => {
  using store = openMonitorStore();
  const lane = { class: 3 as const, mailingId: "mlg_1", batch: 1 };
  const statements = await store.ctx.db.write((tx) =>
    statementsOf(tx, (tx) => {
      queue.findNextMailing(tx, { after: "mlg_1" });
      queue.findFirstBatch(tx, lane);
      queue.findLastBatch(tx, lane);
      queue.findNextDomain(tx, { ...lane, after: "a.test" });
      queue.listDue(tx, { ...lane, domain: "a.test", now: 1, limit: 1 });
    }),
  );
  const keys = [
    "mailing_id>?",
    "mailing_id=?",
    "mailing_id=?",
    "mailing_id=? AND batch=? AND domain>?",
    "mailing_id=? AND batch=? AND domain=? AND next_try_at<?",
  ];
  expect(statements.map((sql) => planOf(store, sql))).toEqual(
    keys.map((key) => [
      expect.stringMatching(
        new RegExp(
          `^SEARCH mails USING (COVERING )?INDEX mails_in_turn \\(class=\\? AND ${key.replaceAll("?", "\\?")}\\)$`,
        ),
      ),
    ]),
  );
});

test("mails of an older mailing are superseded by their subscribers", async () => {
  using store = openMonitorStore();
  const [sql = ""] = await store.ctx.db.write((tx) =>
    statementsOf(tx, (tx) => {
      mailings.supersedeOfMailing(tx, { mailingId: "mlg_1", by: "mlg_2", seqs: "[]", now: 1 });
    }),
  );
  const plan = planOf(store, sql);
  expect(plan[0]).toBe(
    "SEARCH mails USING INDEX mails_of_mailing (mailing_id=? AND subscriber_id=?)",
  );
  expect(plan.filter((step) => step.startsWith("SCAN mails"))).toEqual([]);
});
