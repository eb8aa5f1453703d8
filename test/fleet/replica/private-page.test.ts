import { describe, expect, test } from "bun:test";
import { chargeOf, expectProblem } from "../../support/app";
import { createReplicaPair, type ReplicaPair } from "../../support/fleet/replica-pair";
import {
  createPageAccess,
  enterByLink,
  enterByPassword,
  PAGE_PASSWORD,
} from "../../support/page-access";

const HOST = "inside.example";
const BELOW = [
  "",
  "/history",
  "/version",
  "/feed.atom",
  "/calendar.ics",
  "/summary.json",
  "/badge.svg",
  "/widget.js",
  "/embed",
  "/api/v2/summary.json",
];

/** A replica of an installation with a public page and a private one, which is the default page. */
async function createSite(env: Record<string, string> = {}) {
  const pair = await createReplicaPair({
    env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000", ...env },
  });
  const { primary } = pair;
  const { page } = await primary.page({
    slug: "inside",
    name: "Inside",
    visibility: "private",
    custom_domains: [HOST],
  });
  await primary.page({ slug: "open", name: "Open" });
  const access = createPageAccess(primary, page.id);
  return { pair, primary, access, [Symbol.asyncDispose]: () => pair[Symbol.asyncDispose]() };
}

/** Returns the number of requests that the primary got from the replica during `work`. */
async function forwardedBy({ received }: ReplicaPair, work: () => Promise<unknown>) {
  const before = received.length;
  await work();
  return received.length - before;
}

describe("a private page at a replica", () => {
  test("each read of the page and of its documents is answered by the primary, with a cookie and without", async () => {
    await using site = await createSite();
    const { pair, primary, access } = site;
    await access.password(PAGE_PASSWORD);
    const session = await primary.signedIn();
    for (const rest of BELOW) {
      const path = `/status/inside${rest}`;
      const calls = [{}, { session }, { headers: { cookie: "x=1" } }, { method: "HEAD" }];
      for (const options of calls) {
        const forwarded = await forwardedBy(pair, async () => {
          const answer = await pair.call(path, options);
          expect([path, answer.headers.get("allclear-as-of")]).toEqual([path, null]);
          expect(answer.headers.get("cache-control")).toBe("no-store");
        });
        expect([path, forwarded]).toEqual([path, 1]);
      }
    }
  });

  test("public pages and shared files are answered by the replica, also with grants and on the private page's domain", async () => {
    await using site = await createSite();
    const { pair, access } = site;
    await access.password(PAGE_PASSWORD);
    const cookie = await enterByPassword(pair.call, "inside");
    const local = await forwardedBy(pair, async () => {
      for (const path of ["/status/open", "/status/open/feed.atom", "/docs", "/robots.txt"]) {
        expect([path, (await pair.call(path, { headers: { cookie } })).status]).toEqual([
          path,
          200,
        ]);
      }
      expect((await pair.call("/robots.txt", { host: HOST })).status).toBe(200);
    });
    expect(local).toBe(0);
  });

  test("the root and the domain of a private page are the primary's while a password or a link opens the page there", async () => {
    await using site = await createSite();
    const { pair, access } = site;
    const roots = ["/", "/status", "/api/v2/summary.json", "/history.atom"];
    const visitAll = () =>
      forwardedBy(pair, async () => {
        for (const path of roots) {
          await pair.call(path);
          await pair.call(path, { host: HOST });
        }
      });
    expect(await visitAll()).toBe(0);
    await access.password(PAGE_PASSWORD);
    pair.apply(1);
    expect(await visitAll()).toBe(2 * roots.length);
    await access.password(null);
    pair.apply(2);
    expect(await visitAll()).toBe(0);
    await access.link("Partners");
    pair.apply(3);
    expect(await visitAll()).toBe(2 * roots.length);
  });

  test("a visitor enters through the replica by a password and by a link, and a revoked link counts at once", async () => {
    await using site = await createSite();
    const { pair, access } = site;
    await access.password(PAGE_PASSWORD);
    const link = await access.link("Partners");
    pair.apply(1);
    expect((await pair.call("/status/inside")).status).toBe(401);
    const byPassword = await enterByPassword(pair.call, "inside");
    const byLink = await enterByLink(pair.call, "inside", link);
    expect(byPassword).toStartWith("__Host-");
    for (const cookie of [byPassword, byLink]) {
      const answer = await pair.call("/status/inside", { headers: { cookie } });
      expect([answer.status, answer.text.includes("Inside")]).toEqual([200, true]);
    }
    const feed = `/status/inside/with/${link.token}/feed.atom`;
    expect((await pair.call(feed)).text).toContain(`/status/inside/with/${link.token}`);
    // The replica has not heard of it.
    await access.revoke(link.link.id);
    expect((await pair.call("/status/inside", { headers: { cookie: byLink } })).status).toBe(401);
    expect((await pair.call(feed)).status).toBe(404);
    expect(JSON.stringify(pair.logged)).not.toContain(link.token);
  });

  test("a page made private is the primary's as soon as the replica has the change, under earlier slugs too", async () => {
    await using site = await createSite();
    const { pair, primary } = site;
    const { page } = await primary.page({ slug: "former", name: "Former" });
    const { update } = createPageAccess(primary, page.id);
    await update({ slug: "later" });
    pair.apply(1);
    expect(await forwardedBy(pair, () => pair.call("/status/former"))).toBe(0);
    await update({ visibility: "private" });
    pair.apply(2);
    for (const path of ["/status/former", "/status/later", "/status/former/feed.atom"]) {
      expect([path, await forwardedBy(pair, () => pair.call(path))]).toEqual([path, 1]);
      expect((await pair.call(path)).status).toBe(404);
    }
    await update({ visibility: "public" });
    pair.apply(3);
    expect(await forwardedBy(pair, () => pair.call("/status/later"))).toBe(0);
  });

  test("without a primary, all of a private page is 503, which no cache stores, and public pages stay", async () => {
    await using site = await createSite({ ALLCLEAR_CDN: "15" });
    const { pair, access } = site;
    await access.password(PAGE_PASSWORD);
    const cookie = await enterByPassword(pair.call, "inside");
    const { token } = await access.link("Partners");
    pair.apply(1);
    pair.state.address = undefined;
    const paths = [...BELOW, `/with/${token}`, `/with/${token}/feed.rss`];
    for (const rest of paths) {
      for (const headers of [{}, { cookie }] as Record<string, string>[]) {
        const answer = await pair.call(`/status/inside${rest}`, { headers });
        expectProblem(answer, "unavailable");
        expect(answer.headers.get("retry-after")).toBe("5");
        expect(answer.headers.get("cache-control")).toBe("no-store");
        expect(answer.headers.get("x-robots-tag")).toBe("noindex");
        for (const name of ["cache-tag", "surrogate-key", "access-control-allow-origin"]) {
          expect([rest, name, answer.headers.get(name)]).toEqual([rest, name, null]);
        }
      }
    }
    const form = { password: "x".repeat(8) };
    expectProblem(await pair.call("/status/inside/access", { form }), "unavailable");
    expect((await pair.call("/", { host: HOST })).status).toBe(503);
    expect((await pair.call("/status/open")).status).toBe(200);
  });

  test("a network admits the address that the replica found, and none behind a proxy that it does not trust", async () => {
    await using site = await createSite({ ALLCLEAR_TRUSTED_PROXIES: "192.0.2.1" });
    const { pair, access } = site;
    await access.networks("10.0.0.0/8");
    pair.apply(1);
    const statusFrom = async (from: string, headers: Record<string, string> = {}) =>
      (await pair.call("/status/inside", { from, headers })).status;
    expect(await statusFrom("10.1.2.3")).toBe(200);
    expect(await statusFrom("203.0.113.7")).toBe(404);
    // Headers of the proxy besides the one that names the client change nothing.
    const named = { "x-forwarded-for": "10.1.2.3", "x-forwarded-proto": "https", via: "1.1 proxy" };
    expect(await statusFrom("192.0.2.1", named)).toBe(200);
    expect(await statusFrom("10.1.2.3", { "x-real-ip": "203.0.113.7" })).toBe(404);
    expect(await statusFrom("192.0.2.1", { "x-forwarded-for": "10.1.2.3" })).toBe(200);
    expect(await statusFrom("192.0.2.1", { "x-forwarded-for": "203.0.113.7" })).toBe(404);
    for (const name of ["x-forwarded-for", "forwarded"]) {
      for (const value of ["203.0.113.7", "for=203.0.113.7", "10.9.9.9"]) {
        expect([name, await statusFrom("10.1.2.3", { [name]: value })]).toEqual([name, 404]);
        expect([name, await statusFrom("203.0.113.7", { [name]: value })]).toEqual([name, 404]);
      }
    }
    // A client cannot take the doubt away, nor name an address.
    const own = { "allclear-forwarded-for": "10.1.2.3", "allclear-forwarded-certain": "1" };
    expect(await statusFrom("203.0.113.7", own)).toBe(404);
    expect(await statusFrom("10.1.2.3", { ...own, forwarded: "for=10.1.2.3" })).toBe(404);
    const removing = { connection: "forwarded, allclear-forwarded-certain", forwarded: "for=x" };
    expect(await statusFrom("10.1.2.3", removing)).toBe(404);
  });

  test("a read of a private page is charged to the client's address by the primary", async () => {
    await using site = await createSite();
    const answer = await site.pair.call("/status/inside");
    expect(chargeOf(answer)).toBe("public 999");
  });

  test("a read by a key is answered by the replica, as for every page", async () => {
    await using site = await createSite();
    const { pair, primary } = site;
    const key = await primary.keyWith("read:status");
    const local = await forwardedBy(pair, async () => {
      expect((await pair.call("/api/v1/status/inside", { key })).status).toBe(200);
    });
    expect(local).toBe(0);
  });
});
