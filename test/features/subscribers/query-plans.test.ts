import { expect, test } from "bun:test";
import * as mails from "../../../src/features/subscribers/store";
import * as requests from "../../../src/features/subscribers/store";
import * as subscribers from "../../../src/features/subscribers/store";
import { openMonitorStore, planOf, statementsOf } from "../../support/monitor-store";

/** Plan steps that read all of a table that grows with subscribers, or that sort. */
const LARGE =
  /^SCAN (mail_requests|subscribers|subscriber_choices|mailings|mails|suppressions|mail_reports)\b(?! USING INDEX mail_requests_waiting)|TEMP B-TREE/;

test("statements about sign-ups and subscribers use indexes and do not sort", async () => {
  using store = openMonitorStore();
  const [pageId, addressKey, addressHmac, subscriberId] = ["page_1", "a@b.c", "mark", "sub_1"];
  const statements = await store.ctx.db.write((tx) =>
    statementsOf(tx, (tx) => {
      requests.findRequest(tx, { id: "mrq_1" });
      requests.listWaitingRequests(tx, { limit: 1 });
      requests.setRequestState(tx, { id: "mrq_1", state: "sent" });
      requests.listTimesOfClient(tx, { clientKey: "c", since: 0, limit: 1 });
      requests.findNthOfPage(tx, { pageId, since: 0, skipped: 9 });
      requests.findNthOfAll(tx, { since: 0, skipped: 9 });
      requests.findNthStored(tx, { since: 0, skipped: 9 });
      requests.listStatesOfPage(tx, { pageId, until: 9, limit: 1 });
      requests.listStatesOfAll(tx, { until: 9, limit: 1 });
      requests.listSentToRecipient(tx, { throttleKey: "t", since: 0, limit: 1 });
      requests.voidOpenRequests(tx, { addressKey, pageId, except: "mrq_1" });
      requests.declineRequestsOfAddress(tx, { addressKey });
      requests.voidConfirmedRequests(tx, { addressKey, pageId });
      requests.deleteRequestsOfAddress(tx, { addressKey, pageId });
      requests.deleteExpiredRequests(tx, { now: 0, limit: 1 });
      subscribers.findSubscriber(tx, { id: subscriberId });
      subscribers.findSubscriberByAddress(tx, { pageId, addressKey });
      subscribers.listSubscribersByHmac(tx, { pageId, addressHmac });
      subscribers.listSubscribersOfAddress(tx, { addressHmac });
      subscribers.listActiveAfter(tx, { pageId, after: 0, limit: 9 });
      subscribers.listSuppressionsAfter(tx, { addressHmac, pageId, reason: "blocked", limit: 9 });
      subscribers.findLastSeq(tx, {});
      subscribers.findLastAudience(tx, {});
      subscribers.listChoices(tx, { subscriberId });
      subscribers.deleteChoices(tx, { subscriberId });
      subscribers.deleteSubscriber(tx, { id: subscriberId });
      mails.listSignUpMails(tx, { subjectId: "signup_mark", since: 0, limit: 1 });
      mails.deleteSignUpMails(tx, { subjectId: "signup_mark", pageId });
      mails.deleteReportsOf(tx, { subscriberId });
      mails.deleteReportsOfSignUps(tx, { subjectId: "signup_mark", pageId });
    }),
  );
  expect(statements).toHaveLength(30);
  for (const sql of statements) {
    const large = planOf(store, sql).filter((step) => LARGE.test(step));
    expect(large, sql).toEqual([]);
  }
});

test("limits skip the sign-ups without a mail, of which there can be any number", async () => {
  using store = openMonitorStore();
  const pageId = "page_1";
  const statements = await store.ctx.db.write((tx) =>
    statementsOf(tx, (tx) => {
      requests.findNthOfPage(tx, { pageId, since: 0, skipped: 9 });
      requests.listStatesOfPage(tx, { pageId, until: 9, limit: 1 });
      requests.findNthOfAll(tx, { since: 0, skipped: 9 });
      requests.listStatesOfAll(tx, { until: 9, limit: 1 });
      requests.listSentToRecipient(tx, { throttleKey: "t", since: 0, limit: 1 });
      requests.findNthStored(tx, { since: 0, skipped: 9 });
    }),
  );
  const indexes = statements.map((sql) => /INDEX (\w+)/.exec(planOf(store, sql)[0] ?? "")?.[1]);
  expect(indexes).toEqual([
    "mail_requests_of_page",
    "mail_requests_of_page",
    "mail_requests_of_all",
    "mail_requests_of_all",
    "mail_requests_by_recipient",
    "mail_requests_but_imports",
  ]);
});

test("counting subscribers and removing old data read no rows but those concerned", async () => {
  using store = openMonitorStore();
  const statements = await store.ctx.db.write((tx) =>
    statementsOf(tx, (tx) => {
      subscribers.countSubscribers(tx);
      subscribers.removeOldAddresses(tx, { until: 0, limit: 1 });
      subscribers.removeConsentAddresses(tx, { until: 0, limit: 1 });
      subscribers.listSubscribersOfOldPages(tx, { until: 0, limit: 1 });
      subscribers.deleteChoicesOfTarget(tx, { targetId: "cmp_1", limit: 1 });
      subscribers.findDeletedTarget(tx, {});
    }),
  );
  expect(statements).toHaveLength(6);
  for (const sql of statements) {
    const steps = planOf(store, sql);
    const read = steps.filter((step) => /^SCAN subscriber(s|_choices)\b|B-TREE/.test(step));
    expect(read, sql).toEqual([]);
  }
});

test("busy pages are found among the sign-ups of the time that is asked for", async () => {
  using store = openMonitorStore();
  const [sql = ""] = await store.ctx.db.write((tx) =>
    statementsOf(tx, (tx) => void requests.listBusyPages(tx, { since: 0, count: 1 })),
  );
  expect(planOf(store, sql)[0]).toStartWith(
    "SEARCH mail_requests USING INDEX mail_requests_of_all",
  );
});
