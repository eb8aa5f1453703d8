import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { rmSync } from "node:fs";
import { CLI_ACTOR } from "../../src/base/actor";
import { attachReplaced } from "../../src/db/restore";
import { CARRIED_TABLES } from "../../src/db/restore-rules";
import { insertInto, mutate, selectOne } from "../../src/db/statements";
import { mailReports, subscriberChoices, subscribers } from "../../src/db/tables/mail";
import { ALERTS_AS_PAGE } from "../../src/features/mail/alert-stop-store";
import { findMailHold, holdAllMailings, releaseAllMailings } from "../../src/features/mail/hold";
import { enqueueMails } from "../../src/features/mail/mail";
import { isReportToken, makeReportToken, revokeReportToken } from "../../src/features/mail/reports";
import { insertMails } from "../../src/features/mail/store";
import {
  markOfAddress,
  suppress,
  suppressionsOfAddress,
  undoSuppression,
} from "../../src/features/mail/suppressions";
import { addressHmac, ensureMailKey } from "../../src/features/mail/tokens";
import { findMailedReport, insertMailedReport } from "../../src/features/reports/store";
import { insertRequest, insertSubscriber } from "../../src/features/subscribers/store";
import { signUpMail } from "../../src/features/subscribers/sign-up";
import { isOpenToEvents } from "../../src/features/webhooks/recipient";
import {
  insertWebhook,
  updateWebhookRow,
  type WebhookRow,
} from "../../src/features/webhooks/store";
import type { TestApp } from "../support/app";
import { TEST_START } from "../support/clock";
import { commandLine } from "../support/command-line";
import { damageTable } from "../support/damage-table";
import { mailRow, subscriberRow } from "../support/mail-rows";
import { backedUpSite } from "../support/restored-app";

const insertReport = insertInto(mailReports);
const insertChoice = insertInto(subscriberChoices);
const findSubscriber = selectOne((orm, $: { id: string }) =>
  orm.select().from(subscribers).where(eq(subscribers.id, $.id)),
);

const NAMES = ["stays", "leaves", "erases", "blocked"] as const;

/** Adds a page with four subscribers and one waiting mail to each. */
async function withSubscribers(app: TestApp): Promise<void> {
  const { page } = await app.page({ slug: "acme", name: "Acme" });
  await app.ctx.db.write((tx) => {
    for (const [index, name] of NAMES.entries()) {
      const row = subscriberRow({
        id: `sub_${name}`,
        seq: index + 1,
        pageId: page.id,
        address: `${name}@example.com`,
        addressHmac: `hmac of ${name}`,
        confirmedAt: TEST_START,
      });
      insertSubscriber(tx, row);
    }
    insertMails(
      tx,
      NAMES.map((name) =>
        mailRow({
          id: `eml_${name}`,
          class: 1,
          mailingId: null,
          subscriberId: `sub_${name}`,
          recipient: `${name}@example.com`,
          subjectId: "mrq_1",
          template: "confirmation",
          status: "pending",
          tries: 0,
          createdAt: TEST_START,
        }),
      ),
    );
  });
}

/** Returns a webhook for e-mail. */
const alertWebhook = (index: number): WebhookRow => ({
  id: `whk_${index}`,
  ref: `alerts-${index}`,
  url: "",
  description: null,
  events: ["*"],
  pageId: null,
  format: "email",
  groupSeconds: 30,
  settings: {},
  enabled: true,
  disabledReason: null,
  disabledAt: null,
  secret: "whsec_x",
  previousSecret: null,
  previousSecretEndsAt: null,
  failingSince: null,
  confirmedAt: null,
  monitors: ["*"],
  managedBy: null,
  version: 1,
  createdAt: TEST_START,
  updatedAt: TEST_START,
  deletedAt: null,
});

const eraseSubscriberRow = mutate((orm, $: { id: string }) =>
  orm.delete(subscribers).where(eq(subscribers.id, $.id)),
);

const endSubscription = mutate((orm, $: { id: string; now: number }) =>
  orm
    .update(subscribers)
    .set({
      status: "unsubscribed",
      unsubscribedAt: sql`${$.now}`,
      tokenVersion: sql`token_version + 1`,
      version: sql`version + 1`,
    })
    .where(eq(subscribers.id, $.id)),
);

const rowsOf = (file: string, sql: string): unknown[][] => {
  using sqlite = new Database(file, { readonly: true });
  return sqlite.prepare(sql).values();
};

test("nobody who unsubscribed, was erased or was suppressed since the backup is back after a restore", async () => {
  using site = await backedUpSite(withSubscribers, async ({ ctx, clock }) => {
    await ctx.db.write((tx) => {
      suppress(ctx, tx, { addressHmac: "hmac of blocked", reason: "blocked" });
      suppress(ctx, tx, { addressHmac: "hmac of erases", reason: "erased" });
    });
    await ctx.db.write((tx) => {
      eraseSubscriberRow(tx, { id: "sub_erases" });
      endSubscription(tx, { id: "sub_leaves", now: clock.now() });
    });
  });
  const report = site.restore();
  expect(report.carried).toEqual([
    { what: "erased subscriber", count: 1 },
    { what: "ended subscription", count: 1 },
    { what: "suppression", count: 2 },
  ]);
  const { database } = site.directory;
  const statuses = "SELECT id, status, token_version FROM subscribers ORDER BY seq";
  expect(rowsOf(database, statuses)).toEqual([
    ["sub_stays", "active", 1],
    ["sub_leaves", "unsubscribed", 2],
    ["sub_blocked", "active", 1],
  ]);
  expect(rowsOf(database, "SELECT address_hmac, reason FROM suppressions ORDER BY reason")).toEqual(
    [
      ["hmac of blocked", "blocked"],
      ["hmac of erases", "erased"],
    ],
  );
  expect(rowsOf(site.backup, "SELECT count(*) FROM subscribers")).toEqual([[4]]);
});

test("a suppression that has ended since the backup is in force again after a restore", async () => {
  const address = "ada@example.com";
  using site = await backedUpSite(
    ({ ctx }) =>
      ctx.db.write((tx) => {
        const addressHmac = markOfAddress(ctx, tx, address);
        for (const reason of ["bounced", "blocked"] as const)
          suppress(ctx, tx, { addressHmac, reason });
      }),
    ({ ctx }) =>
      ctx.db.write((tx) => {
        const addressHmac = markOfAddress(ctx, tx, address);
        for (const reason of ["bounced", "blocked"]) {
          undoSuppression(ctx, tx, { addressHmac, reason, request: "" }, CLI_ACTOR);
        }
      }),
  );
  site.restore();
  await site.withApp(async ({ ctx, clock }) => {
    const found = suppressionsOfAddress(ctx.db, address, clock.now());
    expect(found.map(({ reason, undo }) => [reason, undo]).toSorted()).toEqual([
      ["blocked", "possible"],
      ["bounced", "possible"],
    ]);
  });
});

test("nothing about an address that was erased since the backup is left after a restore", async () => {
  const written = async (app: TestApp) => {
    await withSubscribers(app);
    await app.ctx.db.write((tx) => {
      insertReport(tx, {
        id: "rpt_1",
        at: TEST_START,
        mailId: "eml_erases",
        kind: "hard",
        status: null,
        excerpt: "erases@example.com is unknown",
      });
      insertReport(tx, {
        id: "rpt_2",
        at: TEST_START,
        mailId: null,
        kind: "other",
        status: null,
        excerpt: "From: erases@example.com",
      });
      for (const subscriberId of ["sub_stays", "sub_erases"]) {
        insertChoice(tx, { targetId: "cmp_1", subscriberId });
      }
      insertRequest(tx, {
        id: "mrq_1",
        pageId: findSubscriber(tx, { id: "sub_erases" })?.pageId ?? "",
        address: "erases@example.com",
        addressKey: "erases@example.com",
        throttleKey: "erases@example.com",
        choices: { scope: "page", targets: [], events: ["incidents"] },
        source: "form",
        ip: null,
        clientKey: null,
        requestedAt: TEST_START,
        expiresAt: TEST_START + 1_000_000,
        state: "confirmed",
      });
    });
  };
  using site = await backedUpSite(written, async ({ ctx }) => {
    await ctx.db.write((tx) => {
      suppress(ctx, tx, { addressHmac: "hmac of erases", reason: "erased" });
      eraseSubscriberRow(tx, { id: "sub_erases" });
    });
  });
  site.restore();
  const { database } = site.directory;
  expect(rowsOf(database, "SELECT subscriber_id FROM subscriber_choices")).toEqual([["sub_stays"]]);
  expect(rowsOf(database, "SELECT id FROM mails ORDER BY id")).toEqual([
    ["eml_blocked"],
    ["eml_leaves"],
    ["eml_stays"],
  ]);
  expect(rowsOf(database, "SELECT id FROM mail_reports")).toEqual([]);
  expect(rowsOf(database, "SELECT id FROM mail_requests")).toEqual([]);
});

test("unmatched reports are kept by a restore if nobody was erased since", async () => {
  const report = { at: TEST_START, mailId: null, kind: "other" as const, status: null };
  using site = await backedUpSite(
    ({ ctx }) =>
      ctx.db.write((tx) => {
        suppress(ctx, tx, { addressHmac: "hmac of blocked", reason: "blocked" });
        insertReport(tx, { ...report, id: "rpt_1", excerpt: "From: ada@example.com" });
      }),
    async () => {},
  );
  site.restore();
  expect(rowsOf(site.directory.database, "SELECT id FROM mail_reports")).toEqual([["rpt_1"]]);
});

test("suppressions since a backup from before the first mail stop mails after a restore", async () => {
  using site = await backedUpSite(
    async (app) => void (await app.page()),
    ({ ctx }) =>
      ctx.db.write((tx) => {
        const addressHmac = markOfAddress(ctx, tx, "ada@example.com");
        suppress(ctx, tx, { addressHmac, reason: "blocked" });
      }),
  );
  site.restore();
  await site.withApp(async ({ ctx }) => {
    const found = suppressionsOfAddress(ctx.db, "ada@example.com", ctx.clock.now());
    expect(found).toMatchObject([{ reason: "blocked" }]);
  });
});

test("an address that declined alerts since the backup, or is another one, does not get them after a restore", async () => {
  const urls = [
    "mailto:declines@example.com",
    "mailto:former@example.com",
    "mailto:stays@example.com",
  ];
  const columns = "SELECT url, confirmed_at IS NOT NULL FROM webhooks ORDER BY id";
  using site = await backedUpSite(
    (app) =>
      app.ctx.db.write((tx) => {
        for (const [index, url] of urls.entries()) {
          insertWebhook(tx, { ...alertWebhook(index), url, confirmedAt: TEST_START });
        }
      }),
    ({ ctx }) =>
      ctx.db.write((tx) => {
        const changed = { ...alertWebhook(0), confirmedAt: null, version: 2 };
        updateWebhookRow(tx, { ...changed, url: urls[0] ?? "" });
        const other = { ...alertWebhook(1), confirmedAt: null, version: 2 };
        updateWebhookRow(tx, { ...other, url: "mailto:other@example.com" });
      }),
  );
  expect(rowsOf(site.backup, columns)).toEqual(urls.map((url) => [url, 1]));
  site.restore();
  expect(rowsOf(site.directory.database, columns)).toEqual([
    ["mailto:declines@example.com", 0],
    ["mailto:other@example.com", 0],
    ["mailto:stays@example.com", 1],
  ]);
});

test("webhooks are carried over from a database without confirmed addresses", async () => {
  using site = await backedUpSite(
    (app) =>
      app.ctx.db.write((tx) => {
        insertWebhook(tx, { ...alertWebhook(0), format: "standard", url: "https://a.example" });
      }),
    ({ ctx }) =>
      ctx.db.write((tx) => {
        const changed = { ...alertWebhook(0), format: "standard" as const, version: 2 };
        updateWebhookRow(tx, { ...changed, url: "https://b.example" });
      }),
  );
  const { database } = site.directory;
  const sqlite = new Database(database);
  sqlite.run("ALTER TABLE webhooks DROP COLUMN confirmed_at");
  sqlite.close();
  site.restore();
  expect(rowsOf(database, "SELECT url FROM webhooks")).toEqual([["https://b.example"]]);
});

test("no sign-up of an address that was erased since the backup is back after a restore", async () => {
  const signUps = async (app: TestApp) => {
    const { page } = await app.page({ slug: "acme", name: "Acme" });
    await app.ctx.db.write((tx) => {
      for (const name of ["erases", "stays"]) {
        const address = `${name}@example.com`;
        const request = {
          id: `mrq_${name}`,
          pageId: page.id,
          address,
          addressKey: address,
          throttleKey: address,
          choices: { scope: "page" as const, targets: [], events: ["incidents" as const] },
          source: "form" as const,
          ip: null,
          clientKey: null,
          requestedAt: TEST_START,
          expiresAt: TEST_START + 1_000_000,
          state: "sent" as const,
        };
        insertRequest(tx, request);
        const recipient = { address, domain: "example.com" };
        const about = { hmac: `hmac of ${name}`, subscriber: undefined };
        enqueueMails(app.ctx, tx, [signUpMail(request, recipient, "confirmation", about)]);
      }
    });
  };
  using site = await backedUpSite(signUps, ({ ctx }) =>
    ctx.db.write((tx) => suppress(ctx, tx, { addressHmac: "hmac of erases", reason: "erased" })),
  );
  site.restore();
  const { database } = site.directory;
  expect(rowsOf(database, "SELECT id FROM mail_requests")).toEqual([["mrq_stays"]]);
  expect(rowsOf(database, "SELECT recipient FROM mails")).toEqual([["stays@example.com"]]);
});

test("a restore looks up each of 100,000 subscribers in the replaced database by an index", async () => {
  using site = await backedUpSite(withSubscribers);
  using sqlite = new Database(site.backup, { readwrite: true, strict: true });
  attachReplaced(sqlite, site.directory.database);
  const rules = CARRIED_TABLES["subscribers"]?.rules ?? [];
  const deletions = rules.filter(({ sql }) => sql.startsWith("DELETE"));
  expect(deletions.length).toBeGreaterThan(0);
  for (const { sql } of deletions) {
    const plan = sqlite.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
    expect(plan.map(({ detail }) => detail).filter((detail) => /^SCAN o\b/.test(detail))).toEqual(
      [],
    );
  }
});

test("a restore sends no mail that waited when the backup was made", async () => {
  using site = await backedUpSite(withSubscribers);
  expect(rowsOf(site.backup, "SELECT DISTINCT status FROM mails")).toEqual([["pending"]]);
  site.restore();
  const mails = "SELECT DISTINCT status, next_try_at FROM mails";
  expect(rowsOf(site.directory.database, mails)).toEqual([["cancelled", null]]);
});

test("after a restore that cannot read who left since the backup, mailings are held, and the output says so", async () => {
  using site = await backedUpSite(withSubscribers);
  const { database } = site.directory;
  expect(site.restore().holdsMailings).toBe(false);
  await site.withApp(async ({ ctx }) => {
    expect(findMailHold(ctx.db)).toBeUndefined();
  });

  damageTable(database, "subscribers");
  expect(site.restore().holdsMailings).toBe(true);
  await site.withApp(async ({ ctx }) => {
    expect(findMailHold(ctx.db)).toMatchObject({ reason: "restore", endedAt: null });
  });
  // The database that is replaced now does not know either.
  expect(site.restore().holdsMailings).toBe(true);
  await site.withApp(async ({ ctx }) => {
    await ctx.db.write((tx) => releaseAllMailings(ctx, tx, CLI_ACTOR));
    expect(findMailHold(ctx.db)).toBeUndefined();
  });
  expect(site.restore().holdsMailings).toBe(false);

  rmSync(database);
  const { err } = await commandLine(site.directory.path)(["restore", site.backup]);
  expect(err).toContain(
    "It is not known who unsubscribed since the backup, so mailings are held. Release them in the dashboard, under Mailings.",
  );
  await site.withApp(async ({ ctx }) => expect(findMailHold(ctx.db)).toBeDefined());
});

test("mailings that were held after failures are held because of the restore, if that cannot read who left", async () => {
  using site = await backedUpSite(async (app) => {
    await withSubscribers(app);
    await app.ctx.db.write((tx) =>
      holdAllMailings(app.ctx, tx, { reason: "failures", since: TEST_START }),
    );
  });
  rmSync(site.directory.database);
  expect(site.restore().holdsMailings).toBe(true);
  await site.withApp(async ({ ctx }) => {
    expect(findMailHold(ctx.db)).toMatchObject({ reason: "restore", endedAt: null });
  });
});

test("an address that was suppressed since a backup from before the first mail stays suppressed", async () => {
  const address = "ada@example.com";
  using site = await backedUpSite(
    async () => {},
    ({ ctx }) =>
      ctx.db.write((tx) => {
        const hmac = addressHmac(ensureMailKey(ctx, tx), address);
        suppress(ctx, tx, { addressHmac: hmac, reason: "declined" });
      }),
  );
  site.restore();
  await site.withApp(async ({ ctx, clock }) => {
    const found = suppressionsOfAddress(ctx.db, address, clock.now());
    expect(found.map(({ reason }) => reason)).toEqual(["declined"]);
  });
});

test("an address whose owner stopped alerts since the backup gets none after a restore", async () => {
  const webhook = { format: "email", url: "mailto:oncall@example.com", confirmedAt: 1 } as const;
  using site = await backedUpSite(
    ({ ctx }) => ctx.db.write((tx) => ensureMailKey(ctx, tx)),
    async (app) => {
      expect(isOpenToEvents(app.ctx.db, webhook)).toBe(true);
      await app.ctx.db.write((tx) => {
        const mark = addressHmac(ensureMailKey(app.ctx, tx), "oncall@example.com");
        const stop = { addressHmac: mark, reason: "unsubscribed", pageId: ALERTS_AS_PAGE } as const;
        suppress(app.ctx, tx, stop);
      });
    },
  );
  expect(site.restore().carried).toEqual([{ what: "suppression", count: 1 }]);
  await site.withApp(async ({ ctx: { db } }) => {
    expect(isOpenToEvents(db, webhook)).toBe(false);
  });
});

test("a restore without subscribers holds nothing", async () => {
  using site = await backedUpSite(async (app) => void (await app.page()));
  rmSync(site.directory.database);
  expect(site.restore().holdsMailings).toBe(false);
});

test("a token for reports that was replaced or revoked since the backup does not work again", async () => {
  let after = "";
  const make = ({ ctx }: TestApp) => ctx.db.write((tx) => makeReportToken(ctx, tx, CLI_ACTOR));
  using replaced = await backedUpSite(make, async (app) => {
    after = await make(app);
  });
  expect(replaced.restore().carried).toEqual([{ what: "revoked report token", count: 1 }]);
  await replaced.withApp(async ({ ctx: { db } }) => {
    expect(isReportToken(db, replaced.made)).toBe(false);
    expect(isReportToken(db, after)).toBe(true);
  });
  using revoked = await backedUpSite(make, ({ ctx }) =>
    ctx.db.write((tx) => revokeReportToken(ctx, tx, CLI_ACTOR)),
  );
  revoked.restore();
  await revoked.withApp(async ({ ctx: { db } }) => {
    expect(isReportToken(db, revoked.made)).toBe(false);
  });
  using kept = await backedUpSite(make);
  expect(kept.restore().carried).toEqual([]);
  await kept.withApp(async ({ ctx: { db } }) => {
    expect(isReportToken(db, kept.made)).toBe(true);
  });
});

test("reports that were mailed since the backup are not mailed again", async () => {
  const mailed = { month: "2026-02", digest: "of February", mailedAt: TEST_START };
  using site = await backedUpSite(
    async (app) => (await app.page({ slug: "acme", name: "Acme" })).page,
    async (app, { id: pageId }) => {
      const { page } = await app.page({ slug: "newer", name: "Newer" });
      await app.ctx.db.write((tx) => {
        insertMailedReport(tx, { pageId, ...mailed });
        // The restored database does not have this page.
        insertMailedReport(tx, { pageId: page.id, ...mailed });
      });
    },
  );
  const pageId = site.made.id;
  expect(site.restore().carried).toEqual([]);
  await site.withApp((app) =>
    Promise.resolve(
      expect(findMailedReport(app.ctx.db, { pageId, month: "2026-02" })).toEqual({
        pageId,
        ...mailed,
      }),
    ),
  );
});
