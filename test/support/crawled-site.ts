import type { Route } from "../../src/http/route-table";
import { CLI_ACTOR } from "../../src/base/actor";
import { DAY_MS } from "../../src/base/time";
import { type Answer, type CallOptions, readAnswer, requestOf, type TestApp } from "./app";
import { updateComponent, updateGroup } from "./examined";
import { createPageAccess, enterByLink, enterByPassword, PAGE_PASSWORD } from "./page-access";
import { createRouteSite } from "./route-site";

/** Word in each text of the private page. */
export const PRIVATE_WORD = "Quokka";
/** Custom domains of the private page and of another private page. */
export const PRIVATE_HOST = "status.acme.example";
export const OTHER_HOST = "other.example";
/** Current and earlier slug of the private page. */
export const PRIVATE_SLUGS = ["inside", "acme"] as const;

/** Sends a request without checking the answer, whose host may have other routes. */
export type Send = (path: string, options?: CallOptions) => Promise<Answer>;

/** A visitor, as what all requests of that visitor have in common. */
export interface Visitor {
  name: string;
  headers?: Record<string, string>;
  session?: string;
  from?: string;
}

/** An installation with a private page that has everything, at paths of each route. */
export interface CrawledSite extends AsyncDisposable {
  app: TestApp;
  pageId: string;
  /** Routes of the page that anyone may read, apart from those with the token of a link. */
  routes: readonly Route[];
  /** Returns the path of a route, with a slug in the place of the page's. */
  pathOf(route: Route, slug?: string): string;
  /** Texts of the page and ids of its objects. */
  secrets: readonly string[];
  send: Send;
  /** Visitors whom no rule lets in. */
  strangers: readonly Visitor[];
  /** Visitors whom a rule lets in, also at the page's domain where the rule is a password or a link. */
  guests: readonly Visitor[];
  /** Tokens: of a live link, and of links that open nothing. */
  tokens: { live: string; ended: readonly string[] };
}

/** Creates the site. Without `hasPassword`, the page has links and networks alone. */
export async function createCrawledSite(
  env: Record<string, string> = {},
  { hasPassword = true } = {},
): Promise<CrawledSite> {
  const site = await createRouteSite({ ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000", ...env });
  const { app, key, pageId, incidentId } = site;
  const { ctx } = app;
  await site.change({
    slug: PRIVATE_SLUGS[0],
    name: `${PRIVATE_WORD} Ltd`,
    description: `All services of ${PRIVATE_WORD}`,
    visibility: "private",
  });
  const document = (await app.call("/api/v1/status/acme", { key })).body;
  await ctx.db.write((tx) => {
    for (const { id, name } of document.components) {
      updateComponent(ctx, tx, id, { name: `${PRIVATE_WORD} ${name}` }, CLI_ACTOR);
    }
    for (const { id, name } of document.groups) {
      updateGroup(ctx, tx, id, { name: `${PRIVATE_WORD} ${name}` }, CLI_ACTOR);
    }
  });
  await app.call(`/api/v1/incidents/${incidentId}`, {
    method: "PATCH",
    key,
    json: { name: `${PRIVATE_WORD} is slow` },
  });
  const { page: other } = await app.page({
    slug: "other",
    name: "Other",
    visibility: "private",
    custom_domains: [OTHER_HOST],
  });
  await app.page({ slug: "open", name: "Open" });

  const access = createPageAccess(app, pageId);
  // Grants that have run out, while the clock is that of the past.
  await access.password("an earlier password");
  const outdated = await enterByPassword(app.call, "inside", "an earlier password");
  const briefLink = await access.link("Brief", "2026-03-10T13:00:00Z");
  const byBriefLink = await enterByLink(app.call, "inside", briefLink);
  await access.password(PAGE_PASSWORD);
  const expired = await enterByPassword(app.call, "inside");
  app.clock.stall(31 * DAY_MS);

  await createPageAccess(app, other.id).password(PAGE_PASSWORD);
  const ofOther = await enterByPassword(app.call, "other");
  const link = await access.link("Partners");
  const revoked = await access.link("Revoked");
  const byRevoked = await enterByLink(app.call, "inside", revoked);
  await access.revoke(revoked.link.id);
  const byLink = await enterByLink(app.call, "inside", link);
  const byPassword = await enterByPassword(app.call, "inside");
  if (!hasPassword) await access.password(null);
  await access.networks("10.0.0.0/8", "2001:db8:1::/48");

  const [ownName = ""] = byPassword.split("=", 1);
  const [, otherValue = ""] = /^[^=]+=(.*)$/.exec(ofOther) ?? [];
  const viewer = await app.signedIn("viewer");
  const ended = await app.signedIn("viewer");
  await app.call("/admin/sign-out", { session: ended, form: {} });
  const withCookie = (name: string, cookie: string): Visitor => ({ name, headers: { cookie } });
  const strangers: Visitor[] = [
    { name: "a program" },
    { name: "a browser", headers: { accept: "text/html,*/*", "accept-language": "de" } },
    { name: "a browser without a session", session: ended },
    withCookie("a grant of another page", ofOther),
    withCookie("a grant of another page under this page's name", `${ownName}=${otherValue}`),
    withCookie("a grant of an earlier password", outdated),
    withCookie("a grant from 31 days ago", expired),
    withCookie("a grant of a revoked link", byRevoked),
    withCookie("a grant of a link that has ended", byBriefLink),
    ...forgeriesOf(byLink).map((cookie) => withCookie(`a forged grant ${cookie}`, cookie)),
    withCookie("the password as a cookie", `${ownName}=${PAGE_PASSWORD}`),
    withCookie("the token of a link as a cookie", `${ownName}=${link.token}`),
    { name: "a key", headers: { authorization: `Bearer ${key}` } },
    { name: "a link as a key", headers: { authorization: `Bearer ${link.token}` } },
    { name: "a header that names an inner address", headers: { "x-forwarded-for": "10.1.2.3" } },
    { name: "an untrusted proxy inside", from: "10.1.2.3", headers: { forwarded: "for=10.1.2.4" } },
    { name: "a neighbour of the network", from: "11.0.0.1" },
    { name: "a neighbour of the IPv6 network", from: "2001:db8:2::1" },
    ...(hasPassword ? [] : [withCookie("a grant of a removed password", byPassword)]),
  ];
  const guests: Visitor[] = [
    { name: "a user", session: viewer },
    ...(hasPassword ? [withCookie("a grant of the password", byPassword)] : []),
    withCookie("a grant of a link", byLink),
    withCookie("several grants", `a=b; ${ofOther}; ${byLink}; c`),
    { name: "an address of the network", from: "10.1.2.3" },
    { name: "an address of the IPv6 network", from: "2001:db8:1::99" },
    { name: "an IPv4 address in IPv6", from: "::ffff:10.1.2.3" },
  ];
  const routes = app.app.routes.routes.filter(
    ({ method, path, operation: { access, onCustomDomain } }) =>
      method === "GET" &&
      (access.kind === "public" || access.kind === "file") &&
      (path.includes("/:slug") || onCustomDomain === "page") &&
      !path.includes("/with/"),
  );
  return {
    app,
    pageId,
    routes,
    pathOf: (route, slug = PRIVATE_SLUGS[0]) =>
      site.pathOf(route).replace(/\/acme(?=\/|$)/, `/${slug}`),
    secrets: [PRIVATE_WORD, pageId, link.link.id],
    send: async (path, options = {}) => {
      const { from = "203.0.113.7" } = options;
      return readAnswer(await app.app.handle(requestOf(ctx, path, options), () => from));
    },
    strangers,
    guests,
    tokens: { live: link.token, ended: [revoked.token, briefLink.token, "x", "x".repeat(43)] },
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

/** Returns copies of a grant with one other character each: in the middle and at both ends of its value. */
function forgeriesOf(cookie: string): string[] {
  const start = cookie.indexOf("=") + 1;
  const places = [start, start + 5, Math.floor((start + cookie.length) / 2), cookie.length - 2];
  return places.map((at) => {
    const other = cookie[at] === "A" ? "B" : "A";
    return cookie.slice(0, at) + other + cookie.slice(at + 1);
  });
}
