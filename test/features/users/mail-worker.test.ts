import { expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { insertInto, selectMany } from "../../../src/db/statements";
import { mailWarnings } from "../../../src/db/tables/mail";
import { passwordRequests } from "../../../src/db/tables/users";
import { listMailsAbout } from "../../../src/features/mail/store";
import { startUserMails, sweepUserMails } from "../../../src/features/users/mails";
import * as requests from "../../../src/features/users/store";
import { createAccountMailSite, GRACE, OWNER } from "../../support/account-mail";
import { settle } from "../../support/clock";
import { openMonitorStore, planOf, statementsOf } from "../../support/monitor-store";

const listRequests = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(passwordRequests),
);
const listWarnings = selectMany((orm, _$: Record<string, never>) =>
  orm.select({ subject: mailWarnings.subject }).from(mailWarnings),
);
const insertWarning = insertInto(mailWarnings);

test("a request that arrives while the database takes no writes is decided afterwards", async () => {
  await using site = await createAccountMailSite();
  const { ctx, clock } = site.app;
  await site.forgot(GRACE);
  const { write } = ctx.db;
  ctx.db.write = () => Promise.reject(new Error("disk I/O error"));
  await clock.advance(MINUTE_MS);
  expect(site.mails()).toEqual([]);
  ctx.db.write = write;
  await clock.advance(MINUTE_MS);
  await settle();
  expect(site.mails().map(({ recipient }) => recipient)).toEqual([GRACE]);
  const failures = site.app.logged.filter(({ msg }) =>
    msg.startsWith("requests for new passwords"),
  );
  expect(failures).toHaveLength(1);
});

test("a request that an earlier process left is decided after the next start", async () => {
  await using site = await createAccountMailSite();
  const { ctx, clock } = site.app;
  await ctx.db.write((tx) =>
    requests.insertPasswordRequest(tx, {
      address: OWNER,
      clientKey: "203.0.113.7",
      requestedAt: clock.now(),
    }),
  );
  const worker = startUserMails(ctx);
  await site.decide();
  worker.cancel();
  expect(site.mails("password_reset")).toHaveLength(1);
});

test("requests are deleted after an hour, and warnings about keys after 60 days", async () => {
  await using site = await createAccountMailSite();
  const { ctx, clock } = site.app;
  await site.forgot(GRACE);
  await site.decide();
  await ctx.db.write((tx) => {
    const old = { step: 14, recipient: "usr_1", at: clock.now() - 60 * DAY_MS };
    insertWarning(tx, { ...old, subject: "key_1" });
    insertWarning(tx, { ...old, subject: "key_2", at: old.at + HOUR_MS });
    insertWarning(tx, { ...old, subject: "sha256 of a certificate" });
  });
  const sweep = () => ctx.db.write((tx) => sweepUserMails(tx, clock.now()));
  await sweep();
  expect(listRequests(ctx.db, {})).toHaveLength(1);
  expect(listWarnings(ctx.db, {}).map(({ subject }) => subject)).toEqual([
    "key_2",
    "sha256 of a certificate",
  ]);
  await clock.advance(HOUR_MS);
  expect(await sweep()).toBe(false);
  expect(listRequests(ctx.db, {})).toEqual([]);
});

test("statements about requests and mails of a user use indexes and do not sort", async () => {
  using store = openMonitorStore();
  const statements = await store.ctx.db.write((tx) =>
    statementsOf(tx, (tx) => {
      requests.listWaitingPasswordRequests(tx, { limit: 1 });
      requests.setRequestAddress(tx, { id: 1, address: null });
      requests.findNthRequestOf(tx, { clientKey: "c", since: 0, skipped: 9 });
      requests.findNthRequest(tx, { since: 0, skipped: 9 });
      requests.deletePasswordRequestsBefore(tx, { until: 0, limit: 1 });
      listMailsAbout(tx, { subjectId: "usr_1", template: "invitation", since: 0, limit: 1 });
    }),
  );
  expect(statements).toHaveLength(6);
  for (const sql of statements) {
    const large = planOf(store, sql).filter((step) =>
      /^SCAN (?!password_requests USING INDEX password_requests_waiting)|TEMP B-TREE/.test(step),
    );
    expect(large, sql).toEqual([]);
  }
});

test("a look for expiring keys that fails is logged, and repeated later", async () => {
  await using site = await createAccountMailSite();
  const { ctx, clock } = site.app;
  const broken: typeof ctx = Object.create(ctx, {
    config: {
      get: () => {
        throw new Error("disk I/O error");
      },
    },
  });
  const worker = startUserMails(broken);
  await clock.advance(11 * MINUTE_MS);
  worker.cancel();
  const failures = site.app.logged.filter(({ msg }) => msg.startsWith("mails about expiring keys"));
  expect(failures).toHaveLength(2);
});
