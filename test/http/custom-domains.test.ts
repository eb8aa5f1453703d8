import { describe, expect, test } from "bun:test";
import { deletePage } from "../../src/features/pages/deletion";
import { createDomains } from "../../src/features/pages/addresses";
import { touchPage } from "../../src/features/pages/pages";
import type { PageInput } from "../../src/features/pages/wire";
import { setPublicAddress } from "../../src/features/settings/settings";
import { CLI_ACTOR } from "../../src/base/actor";
import { createContext } from "../../src/installation";
import { createTestApp, type TestApp } from "../support/app";
import { counted } from "../support/counted-transaction";
import { visit } from "../support/domains";
import { readHtml } from "../support/html";
import { createPage, updatePage } from "../support/examined";

const HOST = "status.acme.example";

/** The default page, and Acme, which has two domains of its own. */
async function twoPages(
  input: Partial<PageInput> = {},
  env: Record<string, string | undefined> = {},
): Promise<{ app: TestApp; id: string }> {
  const app = await createTestApp({
    dashboard: true,
    env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000", ...env },
  });
  await app.page({ slug: "main", name: "Main Page" });
  const custom_domains = [HOST, "acme.lan"];
  const { page } = await app.page({ slug: "acme", name: "Acme Page", custom_domains, ...input });
  return { app, id: page.id };
}

const change = (app: TestApp, id: string, input: Partial<PageInput>) =>
  app.ctx.db.write((tx) => updatePage(app.ctx, tx, id, input, CLI_ACTOR));

async function expectNothing(app: TestApp, path: string, init: RequestInit = {}): Promise<void> {
  const answer = await visit(app, HOST, path, init);
  expect(`${init.method ?? "GET"} ${path} ${answer.status}`).toEndWith(" 404");
  expect(answer.body?.code, path).toBe("not_found");
  expect(answer.headers.get("allow")).toBeNull();
  expect(answer.headers.get("set-cookie")).toBeNull();
}

describe("a page's custom domain", () => {
  test.each([HOST, "acme.lan", `${HOST}:8443`, `${HOST}.`, HOST.toUpperCase()])(
    "the custom domain %s shows its page at /, and other hosts the default page",
    async (host) => {
      const { app } = await twoPages();
      await using _ = app;
      const answer = await visit(app, host, "/");
      expect(answer.status).toBe(200);
      expect(answer.text).toContain("Acme Page");
      expect(answer.text).not.toContain("Main Page");
      for (const other of ["status.test", `x.${HOST}`, "acme.example", "127.0.0.1:8080"]) {
        expect((await visit(app, other, "/")).text, other).toContain("Main Page");
      }
    },
  );

  test("a custom domain serves Statuspage's documents of its page", async () => {
    const { app, id } = await twoPages();
    await using _ = app;
    for (const document of ["summary", "status", "incidents/unresolved"]) {
      const answer = await visit(app, HOST, `/api/v2/${document}.json`);
      expect(answer.status).toBe(200);
      expect(answer.body.page.id).toBe(id);
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    }
    const elsewhere = await visit(app, "status.test", "/api/v2/summary.json");
    expect(elsewhere.body.page.name).toBe("Main Page");
  });

  test("a custom domain serves its page's feeds at /history.atom and /history.rss", async () => {
    const { app } = await twoPages();
    await using _ = app;
    for (const path of ["/history.atom", "/history.rss"]) {
      expect((await visit(app, HOST, path)).text).toContain("Acme Page");
      expect((await visit(app, "status.test", path)).text).toContain("Main Page");
    }
  });

  test("a custom domain serves all paths below the page's slug and the page's files", async () => {
    const { app } = await twoPages();
    await using _ = app;
    const home = await visit(app, HOST, "/status/acme");
    expect(home.status).toBe(200);
    const [script = "no script"] = readHtml(home.text).attributes("script", "src");
    for (const path of [
      "/status/acme/history",
      "/status/acme/incidents",
      "/status/acme/subscribe",
      "/status/acme/version",
      "/status/acme/feed.atom",
      "/status/acme/feed.rss",
      "/status/acme/calendar.ics",
      "/status/acme/badge.svg",
      "/status/acme/badge.json",
      "/status/acme/summary.json",
      "/status/acme/api/v2/status.json",
      script,
    ]) {
      expect((await visit(app, HOST, path)).status, path).toBe(200);
    }
  });

  test("a custom domain answers HEAD and preflights and rejects other methods", async () => {
    const { app } = await twoPages();
    await using _ = app;
    expect((await visit(app, HOST, "/", { method: "HEAD" })).status).toBe(200);
    expect((await visit(app, HOST, "/api/v2/status.json", { method: "OPTIONS" })).status).toBe(204);
    const posted = await visit(app, HOST, "/status/acme", { method: "POST" });
    expect(posted.status).toBe(405);
    expect(posted.headers.get("allow")).toBe("GET, HEAD");
  });

  test("a custom domain serves no dashboard, API, documentation or other page", async () => {
    const { app } = await twoPages();
    await using _ = app;
    const session = await app.signedIn("owner");
    const key = await app.keyWith("read:status");
    const headers = { authorization: `Bearer ${key}`, cookie: `__Host-allclear=${session}` };
    expect((await visit(app, "status.test", "/api/v1/key", { headers })).status).toBe(200);
    expect((await visit(app, "status.test", "/admin", { headers })).status).toBe(200);
    let others = 0;
    for (const route of app.app.routes.routes) {
      const isPublic =
        /^\/($|access$|history\.|robots\.txt|favicon\.ico|icon\.svg|apple-touch-icon\.png|(api\/(v1\/(endpoints|suites|config)|v2|status-page|badge|entry-page|push)|health|compat|ping|status|assets|mail)(\/|$))/.test(
          route.path,
        );
      if (isPublic) continue;
      others += 1;
      const path = route.path.replace(/:[a-z_]+/gi, "acme");
      await expectNothing(app, path, { method: route.method, headers });
      await expectNothing(app, path, { method: "OPTIONS", headers });
    }
    expect(others).toBeGreaterThan(40);
    for (const path of [
      "/status/main",
      "/status/main/history",
      "/status/main/feed.atom",
      "/status/main/api/v2/status.json",
      "/status/main/logo/x.png",
      "/status/%6dain",
      "/status/nobody",
      "/status/acme%2f..%2fmain",
      "/api/v2/nothing.json",
      "/assets/nothing.js",
      "/%61dmin",
      "//admin",
    ]) {
      await expectNothing(app, path, { headers });
    }
  });

  test("a custom domain redirects from an old slug to the current one on the same host", async () => {
    const { app, id } = await twoPages();
    await using _ = app;
    await change(app, id, { slug: "neu" });
    const home = await visit(app, HOST, "/status/acme");
    expect(home.status).toBe(308);
    expect(home.headers.get("location")).toBe("/status/neu");
    const feed = await visit(app, HOST, "/status/acme/feed.atom");
    expect(feed.headers.get("location")).toBe("/status/neu/feed.atom");
    expect((await visit(app, HOST, "/status/neu")).status).toBe(200);
    expect((await visit(app, HOST, "/")).text).toContain("Acme Page");
  });

  test("a not_found page on a custom domain links to the page and not to the dashboard", async () => {
    const { app } = await twoPages();
    await using _ = app;
    const headers = { accept: "text/html" };
    for (const path of ["/admin/keys", "/status/main/history", "/nothing"]) {
      const answer = await visit(app, HOST, path, { headers });
      expect(answer.status).toBe(404);
      expect(answer.text).toContain('href="/"');
      expect(answer.text).not.toContain("dashboard");
      expect(answer.text).not.toContain("/status/main");
    }
  });

  test("requests to a custom domain are charged to the client address", async () => {
    const app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "3" } });
    await using _ = app;
    await app.page({ slug: "acme", custom_domains: [HOST] });
    const statuses: number[] = [];
    for (const path of ["/", "/admin", "/", "/", "/status/acme"]) {
      statuses.push((await visit(app, HOST, path)).status);
    }
    expect(statuses).toEqual([200, 404, 200, 429, 429]);
  });
});

describe("the custom domain of a private page", () => {
  test("the custom domain of a private page serves nothing, even with a session", async () => {
    const { app, id } = await twoPages({ visibility: "private" });
    await using _ = app;
    const headers = { cookie: `__Host-allclear=${await app.signedIn("owner")}` };
    expect((await visit(app, "status.test", "/status/acme", { headers })).status).toBe(200);
    for (const path of [
      "/",
      "/status/acme",
      "/status/acme/feed.atom",
      "/api/v2/summary.json",
      "/status/main",
      "/admin",
    ]) {
      await expectNothing(app, path, { headers });
    }
    await change(app, id, { visibility: "public" });
    expect((await visit(app, HOST, "/")).text).toContain("Acme Page");
  });
});

describe("the mapping of hosts to pages", () => {
  test("a changed custom domain is effective at the next request", async () => {
    const { app, id } = await twoPages();
    await using _ = app;
    const shown = async (host: string) =>
      /Acme Page|Main Page/.exec((await visit(app, host, "/")).text)?.[0];
    expect(await shown(HOST)).toBe("Acme Page");
    await change(app, id, { custom_domains: ["neu.example"] });
    expect(await shown(HOST)).toBe("Main Page");
    expect(await shown("neu.example")).toBe("Acme Page");
    await app.ctx.db.write((tx) => deletePage(app.ctx, tx, id, CLI_ACTOR));
    expect(await shown("neu.example")).toBe("Main Page");
  });

  test("a custom domain written by another process is effective once that is noticed", async () => {
    const { app } = await twoPages();
    await using _ = app;
    expect((await visit(app, HOST, "/")).text).toContain("Acme Page");
    const elsewhere = createContext(app.ctx);
    const third = { slug: "third", name: "Third Page", custom_domains: ["third.example"] };
    await app.ctx.db.write((tx) => createPage(elsewhere, tx, third, CLI_ACTOR));
    expect((await visit(app, "third.example", "/")).text).toContain("Main Page");
    app.ctx.signals.databaseChangedElsewhere.emit();
    expect((await visit(app, "third.example", "/")).text).toContain("Third Page");
  });

  test("a page's domain that becomes the public address serves the whole installation", async () => {
    const { app } = await twoPages({}, { ALLCLEAR_BASE_URL: undefined });
    await using _ = app;
    expect((await visit(app, HOST, "/admin")).status).toBe(404);
    await app.ctx.db.write((tx) => setPublicAddress(app.ctx, tx, `https://${HOST}`, CLI_ACTOR));
    expect((await visit(app, HOST, "/admin")).status).not.toBe(404);
    expect((await visit(app, HOST, "/")).text).toContain("Main Page");
    expect((await visit(app, "acme.lan", "/admin")).status).toBe(404);
  });

  test("custom domains are read by one statement after a change of addresses, and by none after other changes", async () => {
    const { app, id } = await twoPages();
    await using _ = app;
    await app.page({ slug: "third", name: "Third Page", custom_domains: ["third.example"] });
    const { ctx } = app;
    const { tx, statements } = counted({
      statements: ctx.db.statements,
      atEnd() {},
      afterCommit() {},
    });
    const domains = createDomains({ ...ctx, db: { ...ctx.db, statements: tx.statements } });
    const found = () => domains.find(`http://${HOST}/`)?.slug;
    expect([found(), statements()]).toEqual(["acme", 1]);
    await ctx.db.write((tx) => touchPage(ctx, tx, id));
    expect([found(), statements()]).toEqual(["acme", 1]);
    await change(app, id, { slug: "neu" });
    expect([found(), statements()]).toEqual(["neu", 2]);
  });

  test("custom domains stay effective while the database cannot be read", async () => {
    const { app } = await twoPages();
    await using _ = app;
    expect((await visit(app, HOST, "/admin")).status).toBe(404);
    app.ctx.db.close();
    app.ctx.signals.addressesChanged.emit();
    expect((await visit(app, HOST, "/admin")).status).toBe(404);
    expect((await visit(app, "status.test", "/healthz")).status).toBe(200);
  });
});
