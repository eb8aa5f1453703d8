import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { CLI_ACTOR } from "../../src/domain/actor";
import { mutate } from "../../src/db";
import { subscribers } from "../../src/db/tables/mail";
import { insertMails } from "../../src/features/mail/queue-store";
import {
  findMailHold,
  isReportToken,
  makeReportToken,
  releaseAllMailings,
  revokeReportToken,
  suppress,
} from "../../src/features/mail";
import { insertSubscriber } from "../../src/features/subscribers/store";
import type { TestApp } from "../support/app";
import { commandLine } from "../support/command-line";
import { damageTable } from "../support/damage-table";
import { TEST_START } from "../support/clock";
import { backedUpSite } from "../support/restored-app";

const NAMES = ["stays", "leaves", "erases", "blocked"] as const;

/** Adds a page with four subscribers and one waiting mail to each. */
async function withSubscribers(app: TestApp): Promise<void> {
  const { page } = await app.page({ slug: "acme", name: "Acme" });
  await app.ctx.db.write((tx) => {
    for (const [index, name] of NAMES.entries()) {
      insertSubscriber(tx, {
        id: `sub_${name}`,
        seq: index + 1,
        pageId: page.id,
        address: `${name}@example.com`,
        addressKey: `${name}@example.com`,
        addressHmac: `hmac of ${name}`,
        domain: "example.com",
        scope: "page",
        events: ["incidents"],
        status: "active",
        tokenVersion: 1,
        confirmedAt: TEST_START,
        unsubscribedAt: null,
        consentSource: "form",
        consentText: null,
        consentIp: null,
        softFailures: 0,
        softSince: null,
        version: 1,
        createdAt: TEST_START,
        updatedAt: TEST_START,
      });
    }
    insertMails(
      tx,
      NAMES.map((name) => ({
        id: `eml_${name}`,
        class: 1 as const,
        mailingId: null,
        subscriberId: `sub_${name}`,
        copy: 0,
        batch: 0,
        recipient: `${name}@example.com`,
        domain: "example.com",
        subjectId: "mrq_1",
        template: "confirmation",
        params: {},
        status: "pending" as const,
        tries: 0,
        nextTryAt: TEST_START,
        supersededBy: null,
        reply: null,
        createdAt: TEST_START,
        expiresAt: TEST_START + 1_000_000,
        finishedAt: null,
      })),
    );
  });
}

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
    await ctx.db.write((tx) => releaseAllMailings(ctx, tx, CLI_ACTOR));
    expect(findMailHold(ctx.db)).toBeUndefined();
  });

  rmSync(database);
  const { err } = await commandLine(site.directory.path)(["restore", site.backup]);
  expect(err).toContain(
    "It is not known who unsubscribed since the backup, so mailings are held. Go on in the dashboard, under Mailings.",
  );
  await site.withApp(async ({ ctx }) => expect(findMailHold(ctx.db)).toBeDefined());
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
