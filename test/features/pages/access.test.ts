import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { sha256Hex } from "../../../src/base/hash";
import { DAY_MS } from "../../../src/base/time";
import { validate } from "../../../src/base/validation";
import {
  PageNetworksInput,
  PagePasswordInput,
  pageLinkUrl,
  revokePageLink,
} from "../../../src/features/pages/access";
import { deletePage } from "../../../src/features/pages/deletion";
import { getPage } from "../../../src/features/pages/pages";
import { accessKindsOf, isPageLinkLive } from "../../../src/features/pages/rules";
import { findPagePassword, listLinksOfPage } from "../../../src/features/pages/access-store";
import { erasePage, findPageOrDeleted } from "../../../src/features/pages/store";
import { findGrantKey } from "../../../src/features/pages/visits";
import { createPasswords } from "../../../src/features/auth/passwords";
import { createTestApp, type TestApp } from "../../support/app";
import { createPageAccess } from "../../support/page-access";
import { rejectionOf } from "../../support/rejection";

async function createSite() {
  const app = await createTestApp();
  const { page } = await app.page({ visibility: "private" });
  const access = createPageAccess(app, page.id);
  const row = () => getPage(app.ctx.db, page.id);
  return {
    app,
    page,
    ...access,
    row,
    kinds: () => accessKindsOf(row()),
    links: () => listLinksOfPage(app.ctx.db, { pageId: page.id }),
    storedHash: () => findPagePassword(app.ctx.db, { pageId: page.id })?.hash,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/** Counts the emissions of the signals by which other parts read rules again. */
function countSignals({ ctx }: TestApp) {
  const counts = { pages: 0, addresses: 0 };
  ctx.signals.pageChanged.on(() => (counts.pages += 1));
  ctx.signals.addressesChanged.on(() => (counts.addresses += 1));
  return counts;
}

describe("the kinds of rules of a page", () => {
  test("a page has the kinds of its rules, in order, and none at first", async () => {
    await using site = await createSite();
    expect(site.kinds()).toEqual([]);
    const { link } = await site.link("Partner");
    expect(site.kinds()).toEqual(["link"]);
    await site.networks("198.51.100.0/24");
    await site.password("correct horse");
    expect(site.kinds()).toEqual(["password", "network", "link"]);
    await site.revoke(link.id);
    await site.networks();
    await site.password(null);
    expect(site.kinds()).toEqual([]);
  });

  test("the API shows the kinds and nothing else of the rules", async () => {
    await using site = await createSite();
    const key = await site.app.keyWith("read:status");
    const shown = async () => (await site.app.call("/api/v1/status/acme", { key })).body.page;
    const before = await shown();
    expect(before.access_kinds).toEqual([]);
    await site.password("correct horse");
    await site.networks("198.51.100.0/24");
    const { token, link } = await site.link("Partner");
    const after = await shown();
    expect(after.access_kinds).toEqual(["password", "network", "link"]);
    expect(Object.keys(after)).toEqual(Object.keys(before));
    for (const secret of ["correct horse", "198.51.100", token, link.id, "Partner"]) {
      expect(JSON.stringify(after)).not.toContain(secret);
    }
    const [listed] = (await site.app.call("/api/v1/status", { key })).body.data;
    expect(listed.page.access_kinds).toEqual(after.access_kinds);
  });

  test("rules stay while the page is public", async () => {
    await using site = await createSite();
    await site.password("correct horse");
    await site.update({ visibility: "public" });
    expect(site.kinds()).toEqual(["password"]);
    await site.update({ visibility: "private", name: "Renamed" });
    expect([site.kinds(), site.storedHash()]).toEqual([["password"], expect.any(String)]);
  });
});

describe("the password of a page", () => {
  test("a password is stored as an argon2id hash, and each new one has another id", async () => {
    await using site = await createSite();
    await site.password("correct horse");
    const [first, hash = ""] = [site.row().passwordId, site.storedHash()];
    expect(hash).toStartWith("$argon2id$");
    expect(await createPasswords().verify("correct horse", hash)).toBe(true);
    expect(await createPasswords().verify("correct horse ", hash)).toBe(false);
    await site.password("correct horse");
    expect(first).toMatch(/^pwd_/);
    expect(site.row().passwordId).toMatch(/^pwd_/);
    expect(site.row().passwordId).not.toBe(first);
    await site.password(null);
    expect([site.row().passwordId, site.storedHash()]).toEqual([null, undefined]);
  });

  test.each<[what: string, isValid: boolean, password: string]>([
    ["7 characters", false, "1234567"],
    ["8 characters", true, "12345678"],
    ["200 characters", true, "x".repeat(200)],
    ["201 characters", false, "x".repeat(201)],
    ["8 characters beyond the basic plane", true, "🐎".repeat(8)],
    ["200 characters beyond the basic plane", true, "🐎".repeat(200)],
    ["8 characters that become 7 in NFKC", false, "e\u0301234567"],
    ["12 characters that become 216 in NFKC", false, "\ufdfa".repeat(12)],
    ["two lines", false, "correct\nhorse"],
    ["a hundred thousand characters", false, "x".repeat(100_000)],
  ])("a password of %s is valid: %p", async (_, isValid, password) => {
    const examine = () => validate(PagePasswordInput, { password });
    if (isValid) {
      expect(examine().password).toBe(password);
      return;
    }
    const error = await rejectionOf(Promise.try(examine));
    expect(error.fields.map(({ pointer }) => pointer)).toEqual(["#/password"]);
    expect(JSON.stringify([error, error.message])).not.toContain(password);
  });

  test("removing a password that is not set changes nothing", async () => {
    await using site = await createSite();
    const before = [site.row(), site.app.audit()];
    await site.password(null);
    expect([site.row(), site.app.audit()]).toEqual(before);
  });
});

describe("the networks of a page", () => {
  test("networks are stored in canonical spelling, each once", async () => {
    await using site = await createSite();
    await site.networks("198.51.100.7/24", "198.51.100.0/24", "2001:DB8::1/32", "::ffff:10.0.0.1");
    expect(site.row().networks).toEqual(["198.51.100.0/24", "2001:db8::/32", "10.0.0.1"]);
    const before = [site.row(), site.app.audit()];
    await site.networks("198.51.100.0/24", "2001:db8::/32", "10.0.0.1");
    expect([site.row(), site.app.audit()]).toEqual(before);
  });

  test.each([
    ["0.0.0.0/0", "is every address"],
    ["::/0", "is every address"],
    ["::ffff:0.0.0.0/96", "is every address"],
    ["10.0.0.0/33", "must be a network"],
    ["10/8", "must be a network"],
    ["010.0.0.1", "must be a network"],
    ["fe80::1%eth0", "must be a network"],
    ["example.com", "must be a network"],
    ["10.0.0.1, 10.0.0.2", "must be a network"],
    ["", "is empty"],
  ])("the network %p is rejected with its position", async (text, detail) => {
    await using site = await createSite();
    const { code, fields } = await rejectionOf(site.networks("10.0.0.0/8", text));
    expect([code, fields.map(({ pointer }) => pointer)]).toEqual([
      "validation_failed",
      ["#/networks/1"],
    ]);
    expect(fields[0]?.detail).toStartWith(detail);
    expect(site.row().networks).toEqual([]);
  });

  test("a page has up to 100 networks", async () => {
    await using site = await createSite();
    const many = Array.from({ length: 101 }, (_, n) => `198.51.100.${n}`);
    await site.networks(...many.slice(1));
    expect(site.row().networks).toHaveLength(100);
    const rejected = rejectionOf(site.networks(...many));
    expect((await rejected).fields.map(({ pointer }) => pointer)).toEqual(["#/networks"]);
    expect(() => validate(PageNetworksInput, { networks: many })).toThrow();
  });
});

describe("the links of a page", () => {
  test("a link is found by the SHA-256 of its token alone, which is returned once", async () => {
    await using site = await createSite();
    const { link, token } = await site.link("Partner");
    expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
    const [stored] = site.links();
    expect(stored).toEqual(link);
    expect(stored?.hash.toString("hex")).toBe(sha256Hex(token));
    expect(stored).toMatchObject({
      pageId: site.page.id,
      name: "Partner",
      createdAt: site.app.clock.now(),
      expiresAt: null,
      lastUsedAt: null,
    });
    expect(JSON.stringify([site.row(), site.app.audit(), site.app.events()])).not.toContain(token);
    const url = pageLinkUrl("https://status.test", site.page, token);
    expect(url).toBe(`https://status.test/status/acme/with/${token}`);
  });

  test("a link is live until its end", async () => {
    await using site = await createSite();
    const { link } = await site.link("Partner", "2027-01-31");
    const end = Date.parse("2027-02-01T00:00:00Z");
    expect(link.expiresAt).toBe(end);
    expect([isPageLinkLive(link, end - 1), isPageLinkLive(link, end)]).toEqual([true, false]);
    expect(isPageLinkLive({ expiresAt: null }, Number.MAX_SAFE_INTEGER)).toBe(true);
  });

  test("an end in the past and a name without text are rejected", async () => {
    await using site = await createSite();
    const past = new Date(site.app.clock.now() - DAY_MS).toISOString();
    expect((await rejectionOf(site.link("Partner", past))).fields).toEqual([
      { pointer: "#/expires", detail: "is in the past" },
    ]);
    expect((await rejectionOf(site.link(" "))).fields[0]?.pointer).toBe("#/name");
    expect([site.links(), site.kinds()]).toEqual([[], []]);
  });

  test("a page has up to 100 links, and one more is a conflict", async () => {
    await using site = await createSite();
    for (let n = 0; n < 100; n++) await site.link(`Link ${n}`);
    expect((await rejectionOf(site.link("One more"))).code).toBe("conflict");
    expect(site.links()).toHaveLength(100);
  });

  test("revoking one of two links leaves the other", async () => {
    await using site = await createSite();
    const first = await site.link("First");
    const second = await site.link("Second");
    await site.revoke(first.link.id);
    expect([site.kinds(), site.links().map(({ id }) => id)]).toEqual([["link"], [second.link.id]]);
    expect((await rejectionOf(site.revoke(first.link.id))).code).toBe("not_found");
  });

  test("a link of one page cannot be revoked by way of another", async () => {
    await using site = await createSite();
    const { link } = await site.link("Partner");
    const other = await site.app.page({ slug: "other", name: "Other" });
    const { ctx } = site.app;
    const revoked = ctx.db.write((tx) =>
      revokePageLink(ctx, tx, other.page.id, link.id, CLI_ACTOR),
    );
    expect((await rejectionOf(revoked)).code).toBe("not_found");
    expect(site.links()).toHaveLength(1);
  });
});

describe("every change of a rule", () => {
  test("a change of a rule raises the version of the page and tells the parts that hold rules in memory", async () => {
    await using site = await createSite();
    const counts = countSignals(site.app);
    const { link } = await site.link("Partner");
    const changes = [
      () => site.password("correct horse"),
      () => site.networks("10.0.0.0/8"),
      () => site.revoke(link.id),
      () => site.password(null),
    ];
    for (const [index, change] of changes.entries()) {
      // oxlint-disable-next-line no-await-in-loop
      await site.app.clock.advance(1_000);
      const before = site.row();
      // oxlint-disable-next-line no-await-in-loop
      await change();
      const after = site.row();
      expect([after.version, after.updatedAt]).toEqual([before.version + 1, site.app.clock.now()]);
      expect(after.contentVersion).toBe(before.contentVersion + 1);
      expect(counts).toEqual({ pages: index + 2, addresses: index + 2 });
    }
  });

  test("a change of a rule is audited without a secret", async () => {
    await using site = await createSite();
    await site.password("correct horse");
    await site.password("correct horse battery");
    await site.password(null);
    await site.networks(...Array.from({ length: 12 }, (_, n) => `10.0.0.${n}`));
    await site.networks();
    const { link, token } = await site.link("Partner");
    await site.revoke(link.id);
    const audited = site.app.audit().slice(-7);
    expect(audited.map(({ action, summary }) => `${action}: ${summary}`)).toEqual([
      "page.set_password: Set the password for visitors of the page “Acme”",
      "page.set_password: Changed the password for visitors of the page “Acme”",
      "page.set_password: Removed the password for visitors of the page “Acme”",
      "page.set_networks: Set the networks of the page “Acme” to 10.0.0.0, 10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4, 10.0.0.5, 10.0.0.6, 10.0.0.7, 10.0.0.8, 10.0.0.9 and 2 more",
      "page.set_networks: Removed the networks of the page “Acme”",
      "page.create_link: Created the link “Partner” to the page “Acme”",
      "page.revoke_link: Revoked the link “Partner” to the page “Acme”",
    ]);
    expect(audited.every(({ targetId }) => targetId === site.page.id)).toBe(true);
    expect(JSON.stringify(audited)).not.toMatch(new RegExp(`horse|${token}`));
  });
});

describe("the key that signs visits", () => {
  test("the key is made with the first password or link, and stays", async () => {
    await using site = await createSite();
    const key = () => findGrantKey(site.app.ctx.db);
    await site.networks("10.0.0.0/8");
    expect(key()).toBeUndefined();
    await site.link("Partner");
    const made = key();
    expect(made).toHaveLength(32);
    await site.password("correct horse");
    expect(key()).toEqual(made);
    await using other = await createSite();
    await other.password("correct horse");
    expect(findGrantKey(other.app.ctx.db)).not.toEqual(made);
  });
});

describe("a page that is removed", () => {
  test("the rules of a deleted page are deleted with it", async () => {
    await using site = await createSite();
    await site.app.page({ slug: "other", name: "Other" });
    await site.password("correct horse");
    await site.networks("10.0.0.0/8");
    await site.link("Partner");
    const { ctx } = site.app;
    await ctx.db.write((tx) => deletePage(ctx, tx, site.page.id, CLI_ACTOR));
    const deleted = findPageOrDeleted(ctx.db, { id: site.page.id });
    expect(deleted && accessKindsOf(deleted)).toEqual([]);
    expect([site.links(), site.storedHash()]).toEqual([[], undefined]);
  });

  test("the rules of an erased page are erased with it", async () => {
    await using site = await createSite();
    await site.password("correct horse");
    await site.link("Partner");
    await site.app.ctx.db.write((tx) => erasePage(tx, { id: site.page.id }));
    expect([site.links(), site.storedHash()]).toEqual([[], undefined]);
  });
});
