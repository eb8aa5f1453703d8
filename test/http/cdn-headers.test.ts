import { describe, expect, test } from "bun:test";
import { createApp } from "../../src/app";
import { CLI_ACTOR } from "../../src/base/actor";
import { visit } from "../support/domains";
import { createRouteSite } from "../support/route-site";
import { shareSite } from "../support/shared-site";
import { updatePage } from "../support/examined";

const CDN = { ALLCLEAR_CDN: "600", ALLCLEAR_PURGE_URL: "https://purge.example/" };

const OF_ONE_VISITOR = [
  "ratelimit",
  "ratelimit-policy",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-request-id",
];

/** Public routes whose answers show no page. */
const WITHOUT_PAGE =
  /^\/(assets|docs|api\/v1$|openapi\.(?:json|yaml)|schema|icon\.svg|robots\.txt|favicon\.ico|apple-touch-icon\.png)|\/api\/entry-page$/;

describe("answers with --cdn", () => {
  const shared = shareSite(() => createRouteSite(CDN));

  test("each public answer has its tags and nothing of one visitor, and every other the headers of every answer", async () => {
    const site = await shared();
    const { app, pageId } = site;
    const counts = { public: 0, other: 0 };
    for (const route of app.app.routes.routes) {
      const { headers } = await site.read(route);
      const rule = headers.get("cache-control") ?? "";
      const name = `${route.method} ${route.path}`;
      const ofOne = OF_ONE_VISITOR.filter((header) => headers.has(header));
      const tags = [headers.get("surrogate-key"), headers.get("cache-tag")];
      if (rule.startsWith("public")) {
        expect([name, ofOne]).toEqual([name, []]);
        const own = WITHOUT_PAGE.test(route.path) ? [] : [`page-${pageId}`];
        const all = [...own, "all"];
        expect([name, tags]).toEqual([name, [all.join(" "), all.join(",")]]);
        counts.public += 1;
      } else {
        expect([name, rule, tags]).toEqual([name, "no-store", [null, null]]);
        expect([name, ofOne]).toEqual([name, OF_ONE_VISITOR]);
        counts.other += 1;
      }
    }
    expect(counts.public).toBeGreaterThan(90);
    expect(counts.other).toBeGreaterThan(200);
  });

  test("documents are kept for the given time, results of checks for 15 seconds, missing parts for 5", async () => {
    const site = await shared();
    const rules = new Map<string, string>();
    for (const path of [
      "/status/acme",
      "/status/acme/feed.atom",
      "/status/acme/widget.js",
      "/compat/gatus/api/v1/endpoints/statuses",
      "/robots.txt",
      "/status/acme/incidents/inc_none",
    ]) {
      const { headers } = await visit(site.app, "status.test", path);
      rules.set(path, headers.get("cache-control") ?? "");
    }
    const document = "public, max-age=15, s-maxage=600, stale-while-revalidate=60";
    expect([...rules.values()]).toEqual([
      `${document}, stale-if-error=86400`,
      `${document}, stale-if-error=86400`,
      "public, max-age=300, s-maxage=600, stale-while-revalidate=3600, stale-if-error=86400",
      "public, max-age=15, stale-while-revalidate=60, stale-if-error=86400",
      "public, max-age=86400",
      "public, max-age=5",
    ]);
  });

  test("a 304 has the same headers as the answer that it confirms", async () => {
    const { app } = await shared();
    const first = await visit(app, "status.test", "/status/acme");
    const etag = first.headers.get("etag") ?? "";
    const again = await visit(app, "status.test", "/status/acme", {
      headers: { "if-none-match": etag },
    });
    expect(again.status).toBe(304);
    for (const name of ["cache-control", "surrogate-key", "cache-tag", "etag"]) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(OF_ONE_VISITOR.filter((name) => again.headers.has(name))).toEqual([]);
  });

  test("a missing part is the same for all visitors and names no request", async () => {
    const { app, pageId } = await shared();
    for (const path of ["/status/acme/incidents/inc_none", "/status/acme/badge/com_none.svg"]) {
      const [one, other] = await Promise.all([
        visit(app, "status.test", path),
        visit(app, "status.test", path),
      ]);
      expect([path, one.status, one.text]).toEqual([path, 404, other.text]);
      expect(one.text).not.toContain("req_");
      expect(one.headers.get("surrogate-key")).toBe(`page-${pageId} all`);
    }
  });

  test("errors that caches must not store keep the headers of every answer", async () => {
    const { app } = await shared();
    for (const path of ["/status/nobody", "/status/acme/nothing", "/api/v1/key"]) {
      const { headers } = await visit(app, "status.test", path);
      expect([path, headers.get("cache-control")]).toEqual([path, "no-store"]);
      expect(OF_ONE_VISITOR.filter((name) => !headers.has(name))).toEqual([]);
    }
  });

  test("a private page has no tags, and none are left from the time when it was public", async () => {
    await using site = await createRouteSite(CDN);
    const { app, pageId } = site;
    expect((await visit(app, "status.test", "/status/acme")).headers.has("cache-tag")).toBe(true);
    await app.ctx.db.write((tx) =>
      updatePage(app.ctx, tx, pageId, { visibility: "private" }, CLI_ACTOR),
    );
    const session = await app.signedIn("viewer");
    for (const path of ["", "/history", "/version", "/incidents/inc_none"]) {
      const { headers } = await app.call(`/status/acme${path}`, { session });
      expect([path, headers.get("cache-control")]).toEqual([path, "no-store"]);
      expect([headers.get("surrogate-key"), headers.get("cache-tag")]).toEqual([null, null]);
    }
  });

  test("two applications on one database send the same bytes with the same tags", async () => {
    await using site = await createRouteSite(CDN);
    const { app } = site;
    const other = createApp(app.ctx);
    await other.loadRoutes();
    const expectSame = async (path: string, waitMs: number) => {
      const here = await visit(app, "status.test", path);
      await app.clock.advance(waitMs);
      const request = new Request(`http://status.test${path}`);
      const there = await other.handle(request, () => "203.0.113.9");
      expect([path, await there.text()]).toEqual([path, here.text]);
      expect(there.headers.get("etag")).toBe(here.headers.get("etag"));
    };
    // The page and its version contain the time of their figures.
    for (const path of ["/status/acme", "/status/acme/version", "/status/acme/history"]) {
      await expectSame(path, 0);
    }
    for (const path of [
      `/status/acme/incidents/${site.incidentId}`,
      "/status/acme/feed.atom",
      "/status/acme/feed.rss",
      "/status/acme/calendar.ics",
      "/status/acme/badge.svg",
      "/status/acme/widget.js",
      "/api/v2/summary.json",
      "/api/v2/incidents.json",
      "/openapi.json",
    ]) {
      await expectSame(path, 2_000);
    }
  });
});
