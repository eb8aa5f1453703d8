import { describe, expect, test } from "bun:test";
import type { Route } from "../../src/http/route-table";
import { CLI_ACTOR } from "../../src/base/actor";
import { createTestApp } from "../support/app";
import { visit } from "../support/domains";
import { createRouteSite } from "../support/route-site";
import { shareSite } from "../support/shared-site";
import { updatePage } from "../support/examined";

const CLASSES = {
  document: "public, max-age=15, s-maxage=15, stale-while-revalidate=60, stale-if-error=86400",
  results: "public, max-age=15, stale-while-revalidate=60, stale-if-error=86400",
  widget: "public, max-age=300, s-maxage=15, stale-while-revalidate=3600, stale-if-error=86400",
  hashed: "public, max-age=31536000, immutable",
  day: "public, max-age=86400",
  missing: "public, max-age=5",
  never: "no-store",
} as const;

type CacheClass = keyof typeof CLASSES;

/** Classes of the routes that anyone may read, by their path. The first line that matches rules. */
const RULES: readonly [path: RegExp, cacheClass: CacheClass][] = [
  [/^\/assets\/|^\/status\/:slug\/(logo|favicon)\//, "hashed"],
  [/^\/(icon\.svg|robots\.txt|favicon\.ico|apple-touch-icon\.png)$/, "day"],
  [/\/widget\.js$/, "widget"],
  [/\/health$|^\/admin\//, "never"],
  [
    /\/api\/v1\/endpoints\/|\/api\/badge\/|\/api\/status-page\/(heartbeat\/|:slug\/badge)/,
    "results",
  ],
  [/\/api\/v1\/(suites\/statuses|config)$/, "document"],
  [/\/api\/status-page\/|\/api\/entry-page$|^\/compat\/kuma\/status\//, "document"],
  [
    /^\/$|^\/status$|^\/status\/:slug|^\/api\/v2\/|^\/docs|^\/api\/v1$|^\/openapi\.(?:json|yaml)$|^\/schema\/|^\/history\./,
    "document",
  ],
];

/** Returns the class of a route. Only GET of a route that needs no credential may be stored. */
function classOf({ method, path, operation }: Route): CacheClass {
  const { access, isSealed } = operation;
  if (method !== "GET" || !/^(public|file)$/.test(access.kind) || isSealed) return "never";
  const [, cacheClass] = RULES.find(([pattern]) => pattern.test(path)) ?? [];
  if (!cacheClass) throw new Error(`${path} has no class; add it to RULES`);
  return cacheClass;
}

describe("Cache-Control of every route", () => {
  const shared = shareSite(createRouteSite);

  test("each route that anyone may read has the lifetime of its class, and every other is no-store", async () => {
    const site = await shared();
    const { app } = site;
    const counts = new Map<CacheClass, number>();
    for (const route of app.app.routes.routes) {
      const expected = classOf(route);
      const { status, headers } = await site.read(route);
      const name = `${route.method} ${route.path}`;
      expect([name, headers.get("cache-control")]).toEqual([name, CLASSES[expected]]);
      if (expected !== "never")
        expect([name, [200, 204, 308].includes(status)]).toEqual([name, true]);
      counts.set(expected, (counts.get(expected) ?? 0) + 1);
    }
    expect(counts.get("document")).toBeGreaterThan(40);
    expect(counts.get("never")).toBeGreaterThan(200);
  });

  test("each answer to a key or to a session is no-store on the routes that need one", async () => {
    const site = await shared();
    const { app, key } = site;
    const session = await app.signedIn("owner");
    for (const route of app.app.routes.routes) {
      const { kind } = route.operation.access;
      if (route.method !== "GET" || (kind !== "key" && kind !== "session")) continue;
      const cookie = `__Host-allclear=${session}`;
      const { status, headers } = await site.read(
        route,
        kind === "key" ? { authorization: `Bearer ${key}` } : { cookie },
      );
      const name = `${route.path} ${status}`;
      expect([name, headers.get("cache-control")]).toEqual([name, "no-store"]);
      expect([401, 403]).not.toContain(status);
    }
  });
});

describe("Cache-Control of answers without content", () => {
  const shared = shareSite(createRouteSite);
  const missing = ["/status/acme/incidents/inc_none", "/status/acme/history?month=2031-01"];

  test("a missing part of a public page is cached for 5 seconds, in one form for every client", async () => {
    const { app } = await shared();
    for (const path of [...missing, "/status/acme/logo/none.png"]) {
      const [browser, program] = await Promise.all(
        ["text/html", "application/json"].map((accept) =>
          visit(app, "status.test", path, { headers: { accept } }),
        ),
      );
      for (const answer of [browser, program]) {
        expect([path, answer?.status]).toEqual([path, 404]);
        expect(answer?.headers.get("cache-control")).toBe(CLASSES.missing);
        expect(answer?.headers.get("content-type")).toStartWith("text/html");
        expect(answer?.headers.get("set-cookie")).toBeNull();
      }
    }
    for (const path of [
      "/status/acme/badge/com_none.svg",
      "/compat/gatus/api/v1/endpoints/none/statuses",
    ]) {
      const { status, headers } = await visit(app, "status.test", path, {
        headers: { accept: "text/html" },
      });
      expect([path, status, headers.get("cache-control")]).toEqual([path, 404, CLASSES.missing]);
      expect(headers.get("content-type")).not.toContain("html");
    }
  });

  test("a private page, its parts and a page that does not exist are no-store and cannot be told apart", async () => {
    const { app } = await shared();
    await app.page({ slug: "inside", name: "Inside", visibility: "private" });
    const below = [
      "",
      "/incidents/inc_none",
      "/history?month=2031-01",
      "/logo/none.png",
      "/badge.svg",
    ];
    for (const rest of below) {
      const answers = await Promise.all(
        ["inside", "nobody"].map(async (slug) => {
          const { status, headers, body } = await visit(
            app,
            "status.test",
            `/status/${slug}${rest}`,
          );
          const { instance: _, ...problem } = body;
          return [status, headers.get("cache-control"), headers.get("vary"), problem];
        }),
      );
      expect(answers[0]).toEqual(answers[1]);
      expect(answers[0]?.slice(0, 2)).toEqual([404, "no-store"]);
    }
    const session = await app.signedIn("viewer");
    for (const path of ["/status/inside", "/status/inside/incidents/inc_none"]) {
      const { headers } = await app.call(path, { session });
      expect([path, headers.get("cache-control")]).toEqual([path, "no-store"]);
    }
  });

  test("other errors below a public page are no-store", async () => {
    const { app } = await shared();
    const failures: [string, RequestInit, number][] = [
      ["/status/acme/nothing", {}, 404],
      ["/status/acme/incidents?before=%24", {}, 400],
      ["/status/acme/incidents/inc_none", { method: "DELETE" }, 405],
      ["/status/acme/subscribe", { method: "POST", body: "" }, 403],
      ["/compat/gatus/api/v1/endpoints/core_api/uptimes/2h", {}, 400],
    ];
    for (const [path, init, expected] of failures) {
      const { status, headers } = await visit(app, "status.test", path, init);
      expect([path, status, headers.get("cache-control")]).toEqual([path, expected, "no-store"]);
    }
  });

  test("a refusal by a rate limit is no-store", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1" } });
    await app.page();
    await app.call("/status/acme");
    for (const path of ["/status/acme", "/status/acme/incidents/inc_none"]) {
      const { status, headers } = await app.call(path);
      expect([status, headers.get("cache-control")]).toEqual([429, "no-store"]);
    }
  });

  test("a redirect of an earlier slug is cached like a document", async () => {
    await using site = await createRouteSite();
    const { app, pageId } = site;
    await app.ctx.db.write((tx) =>
      updatePage(app.ctx, tx, pageId, { slug: "northwind" }, CLI_ACTOR),
    );
    for (const path of ["/status/acme", "/status/acme/history", "/status/acme/feed.atom"]) {
      const { status, headers } = await app.call(path);
      expect([path, status, headers.get("cache-control")]).toEqual([path, 308, CLASSES.document]);
    }
  });
});

describe("answers that caches may store", () => {
  const shared = shareSite(createRouteSite);

  test("none depends on a cookie or sets one, and their tags are strong", async () => {
    const site = await shared();
    const { app } = site;
    const session = await app.signedIn("owner");
    for (const route of app.app.routes.routes) {
      if (classOf(route) === "never") continue;
      const plain = await site.read(route);
      const cookie = `__Host-allclear=${session}; allclear_theme=dark; other=1`;
      const withCookie = await site.read(route, { cookie, "accept-language": "de" });
      expect([route.path, withCookie.text]).toEqual([route.path, plain.text]);
      expect(withCookie.headers.get("cache-control")).toBe(plain.headers.get("cache-control"));
      expect(plain.headers.get("set-cookie")).toBeNull();
      expect(["Accept-Encoding", null]).toContain(plain.headers.get("vary"));
      if (plain.status !== 200) continue;
      const etag = plain.headers.get("etag") ?? "";
      expect([route.path, etag]).toEqual([route.path, expect.stringMatching(/^"[0-9a-f]{32}"$/)]);
      const again = await site.read(route, { "if-none-match": etag });
      expect([route.path, again.status]).toEqual([route.path, 304]);
      expect(again.headers.get("cache-control")).toBe(plain.headers.get("cache-control"));
    }
  });
});
