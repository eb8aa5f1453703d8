import { describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { mutate, type Tx } from "../../../src/db/statements";
import { subscriberChoices, subscribers } from "../../../src/db/tables/mail";
import { pages } from "../../../src/db/tables/pages";
import { CLI_ACTOR } from "../../../src/base/actor";
import { parseMailAddress, type SuppressionReason } from "../../../src/base/mail-address";
import { Problem } from "../../../src/base/errors";
import { addressHmac, findMailKey } from "../../../src/features/mail/tokens";
import { listUnmatched } from "../../../src/features/mail/store";
import { suppress } from "../../../src/features/mail/suppressions";
import { takeReport } from "../../../src/features/mail/reports";
import { getPage } from "../../../src/features/pages/pages";
import { inviteSubscriber } from "../../../src/features/subscribers/sign-up";
import {
  eraseAddress,
  sweepSubscribers,
  unsubscribe,
} from "../../../src/features/subscribers/subscribers";
import {
  exportSubscribers,
  type ImportCounts,
  importSubscribers,
  readImportFile,
} from "../../../src/features/subscribers/transfer";
import { DAY_MS } from "../../../src/base/time";
import { createSubscribingSite, type SubscribingSite } from "../../support/subscribing";

const removeAddress = mutate((orm, $: { id: string }) =>
  orm.update(subscribers).set({ address: null, addressKey: null }).where(eq(subscribers.id, $.id)),
);
const deleteAllChoices = mutate((orm, _$: Record<string, never>) => orm.delete(subscriberChoices));

const markDeleted = mutate((orm, $: { id: string }) =>
  orm.update(pages).set({ deletedAt: 1 }).where(eq(pages.id, $.id)),
);

const CONSENT = "Taken over from the old status page, where each confirmed by mail.";
const NONE: ImportCounts = { added: 0, invited: 0, subscribed: 0, suppressed: 0, limited: 0 };

async function run(
  { app, page }: SubscribingSite,
  text: string,
  { consent = CONSENT as string | null, isDryRun = false, between = async () => {} } = {},
): Promise<ImportCounts> {
  const { ctx } = app;
  const row = getPage(ctx.db, page.id);
  const options = { badLinesMax: 10, allowUtf8Local: false };
  const file = await readImportFile(ctx.db, row, [Buffer.from(text)], options);
  const input = { page: row, file, consent, source: "import" as const, isDryRun };
  const steps = {
    chunkMs: 10,
    write: <T>(change: (tx: Tx) => T) => ctx.db.write(change),
    between,
  };
  return importSubscribers(ctx, input, steps, CLI_ACTOR);
}

async function stop({ app }: SubscribingSite, email: string, reason: SuppressionReason) {
  const key = findMailKey(app.ctx.db);
  if (!key) throw new Error("there is no key yet");
  await app.ctx.db.write((tx) =>
    suppress(app.ctx, tx, { addressHmac: addressHmac(key, email), reason }),
  );
}

const exported = ({ app }: SubscribingSite, isSuppressed = false) =>
  [...exportSubscribers(app.ctx.db, { page: undefined, isSuppressed })].join("");

describe("an import with a consent", () => {
  test("subscribes each address without a mail, with the words of the consent, and says so in one audit entry", async () => {
    await using site = await createSubscribingSite();
    const before = site.app.audit().length;
    const counts = await run(
      site,
      "email,components,events\nAnn@example.com,api,status\nbob@example.com\nnonsense\n",
    );
    expect(counts).toEqual({ ...NONE, added: 2 });
    expect(site.mails()).toEqual([]);
    const [ann, bob] = site.subscribers();
    expect(ann).toMatchObject({
      address: "Ann@example.com",
      status: "active",
      consentSource: "import",
      consentText: CONSENT,
      consentIp: null,
      seq: 1,
    });
    expect(ann && site.choices(ann)).toEqual({
      scope: "selection",
      targets: [site.components["API"] ?? ""],
      events: ["status"],
    });
    expect(bob).toMatchObject({ scope: "page", events: ["incidents", "maintenance"], seq: 2 });
    const entries = site.app.audit().slice(before);
    expect(entries.map(({ action, summary }) => [action, summary])).toEqual([
      ["subscriber.import", "Imported subscribers of Acme: 2 added, 1 not valid"],
    ]);
  });

  test("can be repeated, and leaves the choices of a subscriber as they are", async () => {
    await using site = await createSubscribingSite();
    const bob = await site.subscribed("bob@example.com", { events: ["status"] });
    const text = "email\nann@example.com\nBOB@example.com\n";
    expect(await run(site, text)).toEqual({ ...NONE, added: 1, subscribed: 1 });
    expect(await run(site, text)).toEqual({ ...NONE, subscribed: 2 });
    expect(site.subscribers().find(({ id }) => id === bob.id)).toEqual(bob);
    expect(site.subscribers()).toHaveLength(2);
  });

  test("never brings anyone back who left or is suppressed, also if the address has been removed since", async () => {
    await using site = await createSubscribingSite();
    const ann = await site.subscribed("ann@example.com");
    const bob = await site.subscribed("bob@example.com");
    await site.app.ctx.db.write((tx) => {
      unsubscribe(site.app.ctx, tx, ann);
      unsubscribe(site.app.ctx, tx, bob);
    });
    await site.app.ctx.db.write((tx) => removeAddress(tx, { id: bob.id }));
    const reasons = ["bounced", "soft", "complained", "declined", "blocked"] as const;
    for (const reason of reasons) await stop(site, `${reason}@example.com`, reason);
    await stop(site, "erased@example.com", "erased");
    const lines = ["ann", "bob", ...reasons, "erased"].map((name) => `${name}@example.com`);
    const counts = await run(site, ["email", ...lines].join("\n"));
    // An erased address was not refused by its owner.
    expect(counts).toEqual({ ...NONE, added: 1, suppressed: 7 });
    expect(site.subscribers().filter(({ status }) => status === "active")).toHaveLength(1);
  });

  test("writes nothing in a dry run, which counts the same", async () => {
    await using site = await createSubscribingSite();
    await site.subscribed("bob@example.com");
    const text = "email\nann@example.com\nbob@example.com\n";
    const before = [site.subscribers(), site.app.audit(), site.mails()];
    expect(await run(site, text, { isDryRun: true })).toEqual({ ...NONE, added: 1, subscribed: 1 });
    expect(await run(site, text, { isDryRun: true, consent: null })).toEqual({
      ...NONE,
      invited: 1,
      subscribed: 1,
    });
    expect([site.subscribers(), site.app.audit(), site.mails()]).toEqual(before);
  });

  test("says after each chunk how far it has come, in one entry", async () => {
    await using site = await createSubscribingSite();
    const before = site.app.audit().length;
    const lines = Array.from({ length: 250 }, (_, index) => `a${index}@example.com`);
    const said: string[][] = [];
    const between = async () => {
      const entries = site.app.audit().slice(before);
      said.push(entries.map(({ summary }) => summary));
    };
    await run(site, ["email", ...lines, "nonsense"].join("\n"), { between });
    expect(said).toEqual([
      ["Imported subscribers of Acme: 100 added, 1 not valid, 150 not reached"],
      ["Imported subscribers of Acme: 200 added, 1 not valid, 50 not reached"],
      ["Imported subscribers of Acme: 250 added, 1 not valid"],
    ]);
  });

  test("says how far it came if it is broken off", async () => {
    await using site = await createSubscribingSite();
    const lines = Array.from({ length: 150 }, (_, index) => `a${index}@example.com`);
    const between = async () => {
      throw new Error("broken off");
    };
    const broken = run(site, ["email", ...lines].join("\n"), { between });
    expect(await broken.catch((error: Error) => error.message)).toBe("broken off");
    expect(site.app.audit().at(-1)?.summary).toBe(
      "Imported subscribers of Acme: 100 added, 50 not reached",
    );
    expect(site.subscribers()).toHaveLength(100);
  });
});

test("an import into a page that is deleted meanwhile ends, and says how far it came", async () => {
  await using site = await createSubscribingSite();
  const lines = Array.from({ length: 150 }, (_, index) => `a${index}@example.com`);
  const between = async () => {
    await site.app.ctx.db.write((tx) => markDeleted(tx, { id: site.page.id }));
  };
  const ended = await run(site, ["email", ...lines].join("\n"), { between }).catch(
    (error: unknown) => error,
  );
  expect(ended instanceof Problem && ended.code).toBe("not_found");
  expect(site.app.audit().at(-1)?.summary).toBe(
    "Imported subscribers of Acme: 100 added, 50 not reached",
  );
});

describe("an import with confirmations", () => {
  test("asks each person, in the pace of the relay, and nobody who is suppressed", async () => {
    await using site = await createSubscribingSite();
    const gone = await site.subscribed("gone@example.com");
    await site.app.ctx.db.write((tx) => unsubscribe(site.app.ctx, tx, gone));
    await stop(site, "bounced@example.com", "bounced");
    const queued = site.mails().length;
    await site.app.clock.advance(3_600_000);
    const counts = await run(
      site,
      "email\nann@example.com\nbounced@example.com\ngone@example.com\ncy@example.com\ncy+again@example.com\n",
      { consent: null },
    );
    expect(counts).toEqual({ ...NONE, invited: 3, suppressed: 1, limited: 1 });
    const now = site.app.clock.now();
    // At most half of 600 mails a minute, so that other mails find room.
    const mails = site.mails().slice(queued);
    expect(mails.map(({ recipient, nextTryAt }) => [recipient, (nextTryAt ?? 0) - now])).toEqual([
      ["ann@example.com", 0],
      ["gone@example.com", 200],
      ["cy@example.com", 400],
    ]);
    expect(site.subscribers().map(({ status }) => status)).toEqual(["unsubscribed"]);
    // Only the person brings the subscription back.
    const request = site
      .requests()
      .find((row) => row.address === "gone@example.com" && row.state === "sent");
    const link = site.path("confirm", { id: request?.id ?? "" });
    expect((await site.app.call(link, { method: "POST", form: {} })).status).toBe(303);
    expect(site.subscribers()[0]).toMatchObject({ status: "active", consentSource: "import" });
  });

  test("gives each person 7 days from the mail, however late a slow relay gets it", async () => {
    await using site = await createSubscribingSite();
    const { ctx, clock } = site.app;
    const address = parseMailAddress("ann@example.com");
    if ("error" in address) throw new Error(address.error);
    const choices = { scope: "page" as const, targets: [], events: ["incidents" as const] };
    const dueAt = clock.now() + 8 * DAY_MS;
    const invitation = { pageId: site.page.id, address, choices, source: "import" as const, dueAt };
    await ctx.db.write((tx) => inviteSubscriber(ctx, tx, invitation, null));
    expect(site.mails()).toMatchObject([{ nextTryAt: dueAt, expiresAt: dueAt + 7 * DAY_MS }]);
    site.worker.cancel();
    await clock.advance(15 * DAY_MS - 1);
    const sweep = () =>
      ctx.db.write((tx) => sweepSubscribers(tx, { now: clock.now(), addressesUntil: 0 }));
    await sweep();
    const link = site.path("confirm", { id: site.requests()[0]?.id ?? "" });
    expect((await site.app.call(link)).status).toBe(200);
    await clock.advance(1);
    expect((await site.app.call(link)).status).toBe(404);
    await sweep();
    expect(site.requests()).toEqual([]);
  });

  test.each([
    ["mail is not set up", async (site: SubscribingSite) => site.setUpMail(false)],
    ["the page is private", (site: SubscribingSite) => site.change({ visibility: "private" })],
    [
      "the page takes no subscriptions",
      (site: SubscribingSite) => site.change({ mail: { subscriptions: false } }),
    ],
  ])("is refused while %s, and one with a consent is not", async (_, prepare) => {
    await using site = await createSubscribingSite();
    await prepare(site);
    const text = "email\nann@example.com\n";
    const refused = await run(site, text, { consent: null }).catch((error: unknown) => error);
    expect(refused instanceof Problem && refused.code).toBe("conflict");
    expect(await run(site, text)).toEqual({ ...NONE, added: 1 });
  });
});

describe("an export", () => {
  test("is read back as it was, with formulas guarded, and without those who left", async () => {
    await using site = await createSubscribingSite();
    await run(
      site,
      "email,components,events\n+ann@example.com,api;web,status;incidents\n''=x@example.com\nbob@example.com,web\n",
      { consent: '=HYPERLINK("https://x.example")' },
    );
    const [, , bob] = site.subscribers();
    if (!bob) throw new Error("there is no subscriber");
    await site.app.ctx.db.write((tx) => unsubscribe(site.app.ctx, tx, bob));
    const text = exported(site);
    expect(text.split("\r\n")).toEqual([
      "email,components,groups,events,page,scope,confirmed_at,consent_source,consent_text,suppressed,language",
      `'+ann@example.com,api;web,,incidents;status,acme,selection,2026-03-10T12:00:00.000Z,import,"'=HYPERLINK(""https://x.example"")",,`,
      `''=x@example.com,,,incidents;maintenance,acme,page,2026-03-10T12:00:00.000Z,import,"'=HYPERLINK(""https://x.example"")",,`,
      "",
    ]);
    await using other = await createSubscribingSite();
    expect(await run(other, text)).toEqual({ ...NONE, added: 2 });
    expect(other.subscribers().map(({ address }) => address)).toEqual([
      "+ann@example.com",
      "'=x@example.com",
    ]);
  });

  test("with an empty selection is not read back as a subscription to everything", async () => {
    await using site = await createSubscribingSite();
    await run(site, "email,components\nann@example.com,api\n");
    await site.app.ctx.db.write((tx) => deleteAllChoices(tx, {}));
    const text = exported(site);
    expect(text).toContain("ann@example.com,,,incidents;maintenance,acme,selection,");
    await using other = await createSubscribingSite();
    expect(await run(other, text)).toEqual(NONE);
  });

  test("of suppressed addresses names each that is still known, with its reason", async () => {
    await using site = await createSubscribingSite();
    await run(site, "email\nann@example.com\nbob@example.com\n");
    await stop(site, "ann@example.com", "bounced");
    await stop(site, "nobody@example.com", "blocked");
    await stop(site, "bob@example.com", "erased");
    const lines = exported(site, true).split("\r\n");
    expect(lines).toEqual([
      "email,page,reason,since",
      expect.stringMatching(/^ann@example\.com,acme,bounced,2026-/) as unknown as string,
      "",
    ]);
    expect(exported(site)).toMatch(/ann@example\.com.*,bounced,\r\n/);
  });

  test("of suppressed addresses lets other work run, although none of many is still known", async () => {
    await using site = await createSubscribingSite();
    const { ctx } = site.app;
    await ctx.db.write((tx) => {
      for (let index = 0; index < 1_000; index++) {
        suppress(ctx, tx, { addressHmac: `mark-${index}`, reason: "bounced" });
      }
    });
    const selection = { page: undefined, isSuppressed: true };
    const pieces = [...exportSubscribers(ctx.db, selection)];
    expect(pieces[0]).toBe("email,page,reason,since\r\n");
    expect(pieces.slice(1, 6)).toEqual(["", "", "", "", ""]);
  });
});

test("erasing an address leaves only a mark, on all pages, also of sign-ups alone", async () => {
  await using site = await createSubscribingSite();
  const { ctx } = site.app;
  await site.subscribed("ann@example.com");
  await site.requested("ann+2@example.com");
  await site.subscribed("bob@example.com");
  const kept = site.subscribers().filter(({ address }) => address === "bob@example.com");
  const report = { kind: "other" as const, isCertain: false, status: null, diagnostic: "" };
  const excerpt = "To: Never@example.com";
  await ctx.db.write((tx) => takeReport(ctx, tx, { ...report, mails: [], excerpt }));
  for (const email of ["Ann@example.com", "ann+2@example.com", "never@example.com"]) {
    await ctx.db.write((tx) =>
      eraseAddress(ctx, tx, { address: email, key: email.toLowerCase() }, undefined, CLI_ACTOR),
    );
  }
  expect(site.subscribers()).toEqual(kept);
  expect(listUnmatched(ctx.db, { before: "~", limit: 10 })).toEqual([]);
  expect(site.requests().map(({ address }) => address)).toEqual(["bob@example.com"]);
  expect(site.mails().map(({ recipient }) => recipient)).toEqual(["bob@example.com"]);
  expect(site.suppressions()).toEqual(
    Array.from({ length: 3 }, () => ({ reason: "erased", pageId: "" })),
  );
  const summaries = site.app.audit().map(({ action, summary }) => `${action}: ${summary}`);
  expect(summaries.slice(-3)).toEqual([
    "subscriber.erase: Erased A…@example.com from all pages: 1 subscription, 1 sign-up",
    "subscriber.erase: Erased a…@example.com from all pages: 0 subscriptions, 1 sign-up",
    "subscriber.erase: Erased n…@example.com from all pages: 0 subscriptions, 0 sign-ups",
  ]);
  expect(summaries.join()).not.toContain("nn@");
});
