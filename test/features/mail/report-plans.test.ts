import { expect, test } from "bun:test";
import * as reports from "../../../src/features/mail/store";
import * as waiting from "../../../src/features/mail/store";
import * as lists from "../../../src/features/mail/suppression-store";
import * as undos from "../../../src/features/mail/suppression-store";
import {
  findLastConfirmation,
  listSuppressionsByMails,
} from "../../../src/features/mail/suppression-store";
import { openMonitorStore, planOf, statementsOf } from "../../support/monitor-store";

/** Plan steps that read all of a table that grows with subscribers, or that sort. */
const LARGE =
  /^SCAN (mailings|mails|m|subscribers|s|suppressions|suppression_undos|mail_reports)\b(?! USING)|TEMP B-TREE/;

test("statements about what came back and what waits use indexes and do not sort", async () => {
  using store = openMonitorStore();
  const mailId = "eml_1";
  const statements = await store.ctx.db.write((tx) =>
    statementsOf(tx, (tx) => {
      reports.findReport(tx, { id: "rpt_1" });
      reports.listReportsOfMail(tx, { mailId });
      reports.listUnmatched(tx, { before: "~", limit: 1 });
      reports.countUnmatched(tx, {});
      reports.deleteUnmatchedBeyond(tx, { kept: 1 });
      reports.deleteUnmatchedBefore(tx, { before: 0 });
      reports.deleteUnmatchedAbout(tx, { text: "ada@example.com", pattern: "%ada@example.com%" });
      reports.listOutcomes(tx, { subscriberId: "sub_1", since: 0, limit: 1 });
      reports.findLastSentTo(tx, { addressHmac: "mark" });
      reports.findReported(tx, { subscriberId: "sub_1" });
      lists.listOfReason(tx, { reason: "bounced", beforeAt: 1, beforeHmac: "", limit: 1 });
      lists.listOfAddress(tx, { addressHmac: "mark" });
      lists.findOfAddress(tx, { addressHmac: "mark", pageId: "", reason: "bounced" });
      findLastConfirmation(tx, { addressHmac: "mark" });
      undos.findUndo(tx, { addressHmac: "mark" });
      undos.deleteUndosBefore(tx, { before: 0, limit: 1 });
      listSuppressionsByMails(tx, { since: 0, until: 1, undoneSince: 0, limit: 1 });
      waiting.countPendingOfMailings(tx, { limit: 1 });
      waiting.findPendingOfMailing(tx, { mailingId: "mlg_1" });
      waiting.sumOfOpenMailings(tx, {});
    }),
  );
  expect(statements).toHaveLength(20);
  for (const sql of statements) {
    const large = planOf(store, sql).filter((step) => LARGE.test(step));
    expect(large, sql).toEqual([]);
  }
});
