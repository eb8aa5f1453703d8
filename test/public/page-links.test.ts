import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS } from "../../src/base/time";
import { findPageLink } from "../../src/features/pages/access-store";
import { chargeOf, expectProblem } from "../support/app";
import { settle, TEST_START } from "../support/clock";
import { visit } from "../support/domains";
import { createPageAccess, grantOf, PAGE_PASSWORD } from "../support/page-access";
import {
  createPrivateSite,
  pathsForPeople,
  pathsForPrograms,
  type PrivateSite,
  PUBLIC_ONLY,
  sealOf,
  SEALED_TOKEN,
  SECRETS,
  V2_PATHS,
} from "../support/private-site";

async function withLink(...rest: Parameters<typeof createPrivateSite>) {
  const site = await createPrivateSite(...rest);
  const { link: partner, token } = await site.link("Partner");
  return { ...site, partner, token, at: (below: string) => `/status/inside/with/${token}${below}` };
}

/** Returns the path below a link for a path of the page. */
const belowLink = (token: string, path: string) => path.replace("inside", `inside/with/${token}`);

describe("a link to a private page", () => {
  test("a link leads to the page with a grant, and so does each path for people below it", async () => {
    await using site = await withLink();
    for (const path of pathsForPeople(site)) {
      const answer = await site.read(belowLink(site.token, path));
      expect([path, answer.status, answer.headers.get("location")]).toEqual([path, 303, path]);
      expect(sealOf(answer)).toEqual(SEALED_TOKEN);
      expect(answer.text).toBe("");
      const [cookie = ""] = answer.headers.getSetCookie();
      expect(cookie).toStartWith(`__Host-allclear_${site.page.id}=${site.partner.id}.`);
      expect(cookie).toEndWith("; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax; Secure");
      expect(cookie).not.toContain(site.token);
    }
    const grant = grantOf(await site.read(site.at("")));
    const shown = await site.read("/status/inside", grant);
    expect(shown.status).toBe(200);
    for (const secret of SECRETS) expect(shown.text).toContain(secret);
    for (const path of pathsForPrograms(site)) {
      expect([path, (await site.read(path, grant)).status]).toEqual([path, 200]);
    }
  });

  test("documents for programs are sent below a link, and the addresses in them keep it", async () => {
    await using site = await withLink();
    let addresses = 0;
    for (const plain of pathsForPrograms(site)) {
      const answer = await site.read(belowLink(site.token, plain));
      expect([plain, answer.status]).toEqual([plain, 200]);
      expect([plain, sealOf(answer)]).toEqual([plain, SEALED_TOKEN]);
      expect(answer.headers.getSetCookie()).toEqual([]);
      // Lines of a calendar are folded.
      const text = answer.text.replaceAll("\r\n ", "");
      for (const address of text.match(/https:\/\/status\.test\/status\/inside[^\s"<\\]*/g) ?? []) {
        addresses += 1;
        const [before, below = ""] = address.split(site.token);
        expect([plain, before]).toEqual([plain, "https://status.test/status/inside/with/"]);
        expect([plain, below]).toEqual([plain, below.replace(/^[^/]+/, "")]);
        const followed = await site.read(site.at(below));
        expect([address, [200, 303].includes(followed.status)]).toEqual([address, true]);
      }
      const etag = answer.headers.get("etag") ?? "";
      const headers = { "if-none-match": etag };
      const again = await site.read(belowLink(site.token, plain), undefined, { headers });
      expect([plain, again.status]).toEqual([plain, 304]);
      expect(sealOf(again)).toEqual(SEALED_TOKEN);
    }
    // At least those of the page and of the incident in both feeds, the calendar and the JSON.
    expect(addresses).toBeGreaterThan(15);
    const grant = grantOf(await site.read(site.at("")));
    expect((await site.read("/status/inside/feed.atom", grant)).text).not.toContain("/with/");
  });

  test("two links have documents of their own", async () => {
    await using site = await withLink();
    const other = await site.link("Customer");
    for (const token of [site.token, other.token, site.token]) {
      const { text } = await site.read(`/status/inside/with/${token}/feed.rss`);
      expect(text).toContain(token);
      expect(text).not.toContain(token === site.token ? other.token : site.token);
    }
  });

  test("an unknown link, one of another page, and one of no page are not_found alike", async () => {
    await using site = await withLink();
    const { app } = site;
    const { page: other } = await app.page(
      { slug: "other", name: "Other", visibility: "private" },
      [],
    );
    const { token: foreign } = await createPageAccess(app, other.id).link("Elsewhere");
    const wrong = site.token.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    for (const below of [
      "",
      "/history",
      "/feed.atom",
      "/summary.json",
      "/nothing",
      "/logo/x.png",
    ]) {
      const problems = new Set<string>();
      for (const path of [
        `/status/inside/with/${wrong}`,
        `/status/inside/with/${foreign}`,
        `/status/nobody/with/${site.token}`,
        "/status/inside/with/short",
      ]) {
        const answer = await site.read(path + below);
        const { instance: _, ...problem } = expectProblem(answer, "not_found");
        expect(sealOf(answer)).toEqual(SEALED_TOKEN);
        expect(answer.headers.getSetCookie()).toEqual([]);
        problems.add(JSON.stringify(problem));
      }
      expect(problems.size).toBe(1);
    }
    const grant = grantOf(await site.read(site.at("")));
    expectProblem(await site.read("/status/other", grant), "not_found");
  });

  test("a revoked link opens nothing from its revocation on, nor do its grants", async () => {
    await using site = await withLink();
    const other = await site.link("Customer");
    const [grant, kept] = [
      grantOf(await site.read(site.at(""))),
      grantOf(await site.read(`/status/inside/with/${other.token}`)),
    ];
    expect((await site.read("/status/inside", grant)).status).toBe(200);
    await site.revoke(site.partner.id);
    expectProblem(await site.read("/status/inside", grant), "not_found");
    for (const path of pathsForPrograms(site)) {
      expectProblem(await site.read(path, grant), "not_found");
      expectProblem(await site.read(belowLink(site.token, path)), "not_found");
    }
    expectProblem(await site.read(site.at("")), "not_found");
    expect((await site.read("/status/inside", kept)).status).toBe(200);
  });

  test("a link ends at its end, and so do its grants", async () => {
    await using site = await createPrivateSite();
    const end = TEST_START + 2 * HOUR_MS;
    const { token } = await site.link("Partner", new Date(end).toISOString());
    const path = `/status/inside/with/${token}`;
    const answer = await site.read(path);
    expect(answer.headers.get("set-cookie")).toContain("; Max-Age=7200; ");
    const grant = grantOf(answer);
    site.app.clock.setWallClock(end - 1);
    expect((await site.read(`${path}/feed.atom`)).status).toBe(200);
    site.app.clock.setWallClock(end - 1_000);
    expect((await site.read("/status/inside", grant)).status).toBe(200);
    site.app.clock.setWallClock(end);
    expectProblem(await site.read("/status/inside", grant), "not_found");
    expectProblem(await site.read(path), "not_found");
    expectProblem(await site.read(`${path}/feed.atom`), "not_found");
  });

  test("the grant of a link ends with the link and not with the password", async () => {
    await using site = await withLink();
    await site.password(PAGE_PASSWORD);
    const grant = grantOf(await site.read(site.at("")));
    await site.password(null);
    expect((await site.read("/status/inside", grant)).status).toBe(200);
    await site.password(PAGE_PASSWORD);
    await site.revoke(site.partner.id);
    expect((await site.read("/status/inside", grant)).status).toBe(401);
    expect((await site.read("/status/inside", await site.enter())).status).toBe(200);
  });

  test("a link that has ended leads to the form of a page with a password, and its documents are gone", async () => {
    await using site = await withLink();
    await site.password(PAGE_PASSWORD);
    await site.revoke(site.partner.id);
    for (const path of pathsForPeople(site)) {
      const answer = await site.read(belowLink(site.token, path));
      expect([path, answer.status, answer.headers.get("location")]).toEqual([path, 303, path]);
      expect(answer.headers.getSetCookie()).toEqual([]);
      expect(sealOf(answer)).toEqual(SEALED_TOKEN);
      expect((await site.read(path)).status).toBe(401);
    }
    for (const path of [...pathsForPrograms(site), "/status/inside/version"]) {
      expectProblem(await site.read(belowLink(site.token, path)), "not_found");
    }
    const { visits } = await site.app.app.loadPages();
    expect(visits.lastUseOf(site.partner.id)).toBeUndefined();
  });

  test("a link leads to no document that only public pages have, and to no other link", async () => {
    await using site = await withLink();
    const grant = grantOf(await site.read(site.at("")));
    for (const path of PUBLIC_ONLY) {
      const answer = await visit(site.app, "status.test", belowLink(site.token, path));
      expect([path, [303, 404].includes(answer.status)]).toEqual([path, true]);
      expect(sealOf(answer)).toEqual(SEALED_TOKEN);
      expect([path, (await site.read(path, grant)).status]).toEqual([path, 404]);
    }
    for (const below of [`/with/${site.token}`, "/access", "/nothing", "//evil.example", "/%zz"]) {
      const answer = await site.read(site.at(below));
      expect([below, answer.status]).toEqual([below, 404]);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
  });

  test("a link keeps the query, and a slug in capitals or a slash at the end changes nothing", async () => {
    await using site = await withLink();
    const at = async (path: string, method = "GET") => {
      const { status, headers } = await site.app.call(path, { method });
      return [status, headers.get("location")];
    };
    const month = "/status/inside/history?month=2026-03";
    expect(await at(site.at("/history?month=2026-03"))).toEqual([303, month]);
    expect(await at(site.at("/history?month=2026-03"), "HEAD")).toEqual([303, month]);
    expect(await at(site.at("/"))).toEqual([303, "/status/inside"]);
    expect(await at(site.at("").replace("inside", "INSIDE"))).toEqual([303, "/status/inside"]);
    expect(await at(site.at("/feed.atom/"))).toEqual([308, site.at("/feed.atom")]);
    expect(await at(site.at(""), "POST")).toEqual([405, null]);
  });

  test("a link with an earlier slug leads on to the present one", async () => {
    await using site = await withLink();
    await site.update({ slug: "fresh" });
    const page = await site.read(site.at("/history"));
    expect([page.status, page.headers.get("location")]).toEqual([303, "/status/fresh/history"]);
    const feed = await site.read(site.at("/feed.atom?x=1"));
    const current = `/status/fresh/with/${site.token}/feed.atom?x=1`;
    expect([feed.status, feed.headers.get("location")]).toEqual([308, current]);
    expect(sealOf(feed)).toEqual(SEALED_TOKEN);
    expect((await site.read(current)).text).toContain(`/status/fresh/with/${site.token}`);
  });

  test("a link of a page that became public leads to the page, without a grant", async () => {
    await using site = await withLink();
    await site.update({ visibility: "public" });
    for (const below of ["", "/history", "/feed.atom"]) {
      const answer = await site.read(site.at(below));
      expect([answer.status, answer.headers.get("location")]).toEqual([
        303,
        `/status/inside${below}`,
      ]);
      expect(answer.headers.getSetCookie()).toEqual([]);
      const shown = await site.read(`/status/inside${below}`);
      expect(shown.headers.get("cache-control")).toStartWith("public");
    }
    const { visits } = await site.app.app.loadPages();
    expect(visits.lastUseOf(site.partner.id)).toBeUndefined();
    await site.update({ visibility: "private" });
    expect((await site.read(site.at("/feed.atom"))).status).toBe(200);
  });

  test("requests by a link are charged to the client address", async () => {
    await using site = await withLink({}, { env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "4" } });
    const charges: string[] = [];
    for (const below of ["", "/feed.atom", "/history", "/summary.json"]) {
      charges.push(chargeOf(await site.read(site.at(below))));
    }
    expect(charges).toEqual(["public 3", "public 2", "public 1", "public 0"]);
    expectProblem(await site.read(site.at("/feed.atom")), "rate_limited");
    expect((await site.read(site.at(""), undefined, { from: "198.51.100.9" })).status).toBe(303);
  });

  test("the custom domain of a page with a link serves it to visitors with the link alone", async () => {
    const host = "status.inside.example";
    await using site = await withLink({ custom_domains: [host] });
    const { app } = site;
    expect((await visit(app, host, "/")).status).toBe(404);
    const answer = await visit(app, host, site.at(""));
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/status/inside"]);
    const headers = { cookie: grantOf(answer) };
    expect((await visit(app, host, "/", { headers })).text).toContain("Inside Story");
    const feed = await visit(app, host, site.at("/feed.rss"));
    expect(feed.text).toContain(`https://${host}/status/inside/with/${site.token}/feed.rss`);
    await site.revoke(site.partner.id);
    expect((await visit(app, host, "/", { headers })).status).toBe(404);
  });

  test("documents below a link are made once and read without the database", async () => {
    await using site = await withLink();
    const paths = V2_PATHS.concat("feed.atom", "feed.rss", "calendar.ics", "summary.json").map(
      (path) => site.at(`/${path}`),
    );
    const first: string[] = [];
    for (const path of paths) first.push((await site.read(path)).text);
    const { statements } = site.app.ctx.db;
    statements.prepared = () => {
      throw new Error("the database was read");
    };
    for (const [index, path] of paths.entries()) {
      expect((await site.read(path)).text).toBe(first[index] ?? "");
    }
  });
});

describe("a document that takes time", () => {
  /** Adds maintenance, each of which takes a turn of the event loop in a feed. */
  async function fill({ app }: PrivateSite): Promise<void> {
    const key = await app.keyWith("write:maintenance");
    for (let count = 0; count < 20; count++) {
      const json = {
        page: "inside",
        name: `Planned ${count}`,
        body: "Planned.",
        components: [],
        scheduled_for: "2026-03-12T02:00:00Z",
        scheduled_until: "2026-03-12T04:00:00Z",
      };
      await app.call("/api/v1/maintenance", { method: "POST", key, json });
    }
  }

  test.each([
    ["the status page", ""],
    ["the Atom feed", "/feed.atom"],
    ["the RSS feed", "/feed.rss"],
  ])("%s is not sent to a visitor whose link is revoked while it is made", async (_name, below) => {
    await using site = await withLink();
    await fill(site);
    const grant = grantOf(await site.read(site.at("")));
    const reading = [site.read(`/status/inside${below}`, grant)];
    if (below !== "") reading.push(site.read(site.at(below)));
    await settle();
    await site.revoke(site.partner.id);
    for (const answer of await Promise.all(reading)) {
      expectProblem(answer, "not_found");
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
  });
});

describe("the last use of a link", () => {
  test("a use is written once an hour, with the time of the last one, and by no visit", async () => {
    await using site = await withLink();
    const { app } = site;
    const { visits } = await app.app.loadPages();
    const stored = () =>
      findPageLink(app.ctx.db, { pageId: site.page.id, id: site.partner.id })?.lastUsedAt;
    await site.read(site.at(""));
    const first = app.clock.now();
    expect([stored(), visits.lastUseOf(site.partner.id)]).toEqual([null, first]);
    await app.clock.advance(10 * 60_000);
    await site.read(site.at("/feed.atom"));
    const second = app.clock.now();
    // A visit by the grant is none of the link.
    const grant = grantOf(await site.read(site.at("")));
    await app.clock.advance(10 * 60_000);
    await site.read("/status/inside", grant);
    await app.clock.advance(HOUR_MS - 20 * 60_000 - 1);
    expect(stored()).toBeNull();
    await app.clock.advance(1);
    expect([stored(), visits.lastUseOf(site.partner.id)]).toEqual([second, undefined]);
    await app.clock.advance(DAY_MS);
    expect(stored()).toBe(second);
  });

  test("uses are written when the server stops", async () => {
    await using site = await withLink();
    await site.read(site.at(""));
    const { visits } = await site.app.app.loadPages();
    await visits.flush();
    const { db } = site.app.ctx;
    expect(findPageLink(db, { pageId: site.page.id, id: site.partner.id })?.lastUsedAt).toBe(
      TEST_START,
    );
  });

  test("a use that cannot be written is written an hour later", async () => {
    await using site = await withLink();
    const { app } = site;
    await site.read(site.at(""));
    const used = app.clock.now();
    const { db } = app.ctx;
    const { write } = db;
    db.write = () => Promise.reject(new Error("the disk is full"));
    await app.clock.advance(HOUR_MS);
    db.write = write;
    const { visits } = await app.app.loadPages();
    expect(visits.lastUseOf(site.partner.id)).toBe(used);
    await app.clock.advance(HOUR_MS);
    expect(visits.lastUseOf(site.partner.id)).toBeUndefined();
    expect(findPageLink(db, { pageId: site.page.id, id: site.partner.id })?.lastUsedAt).toBe(used);
  });

  test("a wrong link is no use", async () => {
    await using site = await withLink();
    await site.read("/status/inside/with/wrong");
    const { visits } = await site.app.app.loadPages();
    expect(visits.lastUseOf(site.partner.id)).toBeUndefined();
  });
});
