import { describe, expect, test } from "bun:test";
import { type Background, createIdleBackground } from "../../src/background";
import { createApp } from "../../src/app";
import { CLI_ACTOR } from "../../src/base/actor";
import { revokeKey } from "../../src/features/keys/keys";
import { createTestApp, expectProblem, type TestApp } from "../support/app";

const HTML = { Accept: "text/html" };
const HEALTH_CHECKS = ["/healthz", "/readyz", "/readyz/write"];

const pathsOf = ({ app }: Pick<TestApp, "app">) => app.routes.routes.map(({ path }) => path);
/** Returns the number of answers by route, "none" for requests without a route. */
const countsOf = ({ app }: TestApp) =>
  [...(app.routes.counts.families()[0]?.read() ?? [])].map(
    ({ labels, value }) => [labels?.["route"] ?? "", value] as const,
  );
/** Returns the path of a route with a value for each parameter. */
const filled = (path: string) => path.replace(/:[a-z_]+/g, "acme");

/** An application of its own whose background starts when the test says so. */
async function openStarting() {
  const site = await createTestApp();
  await site.page({ slug: "acme" });
  const key = await site.keyWith("read:status", "manage:monitors");
  const starting = Promise.withResolvers<Background>();
  site.app.usage.stop();
  Object.assign(site.app, createApp(site.ctx, { background: () => starting.promise }));
  return {
    site,
    key,
    start: () => starting.resolve(createIdleBackground(site.ctx)),
    fail: (error: Error) => starting.reject(error),
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

describe("routes that are loaded late", () => {
  test("a new application has only the routes of health checks, and answers them without loading others", async () => {
    await using app = await createTestApp();
    for (const path of HEALTH_CHECKS) {
      expect((await app.call(path)).status).toBe(200);
      expect((await app.call(path, { method: "HEAD" })).status).toBe(200);
    }
    expect(pathsOf(app)).toEqual(HEALTH_CHECKS);
  });

  test("a health check has the same answer, count and log before and after other routes are loaded", async () => {
    await using app = await createTestApp({ logLevel: "debug" });
    const clients = ["203.0.113.1", "203.0.113.2", "203.0.113.3"];
    const answers = [];
    for (const from of clients) {
      const { status, headers, body } = await app.call("/readyz", { from });
      headers.delete("x-request-id");
      answers.push({ status, headers: [...headers], body });
      await (answers.length === 1 ? app.app.loadPages() : app.app.loadRoutes());
    }
    expect(answers[0]?.headers).toContainEqual(["x-ratelimit-remaining", "1199"]);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    expect(countsOf(app)).toEqual([["/readyz", clients.length]]);
    const logged = app.logged.filter(({ msg }) => msg === "request");
    expect(logged.map(({ status, ip }) => [status, ip])).toEqual(clients.map((ip) => [200, ip]));
  });

  test("a status page loads the status pages and no other routes", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    expect((await app.call("/status/acme", { headers: HTML })).status).toBe(200);
    expect(pathsOf(app)).toContain("/api/v1/status/:slug");
    expect(pathsOf(app)).not.toContain("/api/v1/components");
  });

  test("requests that arrive while the status pages are loaded are answered like later ones", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme", custom_domains: ["status.acme.test"] });
    const key = await app.keyWith("read:status");
    const ask = () =>
      Promise.all([
        app.call("/status/acme", { headers: HTML }),
        app.call("/", { host: "status.acme.test", headers: HTML }),
        app.call("/api/v1/status/acme", { key }),
        app.call("/api/v1/status/acme", { key: "allclear_wrong" }),
        app.call("/status/acme", { method: "HEAD" }),
        app.call("/status/acme?access_token=x", { headers: HTML }),
        app.call("/status/none", { headers: HTML }),
        app.call("/readyz"),
      ]);
    const statuses = (await ask()).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 401, 200, 400, 404, 200]);
    expect((await ask()).map(({ status }) => status)).toEqual(statuses);
    expect(pathsOf(app).filter((path) => path === "/status/:slug")).toHaveLength(1);
    expect(countsOf(app).reduce((sum, [, count]) => sum + count, 0)).toBe(2 * statuses.length);
  });

  test("the first request for another route loads all of them once, also if several arrive together", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    const paths = ["/api/v1/components", "/status/acme/feed.atom", "/api/v1/unknown", "/metrics"];
    const answers = await Promise.all(paths.map((path) => app.call(path, { key })));
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 403]);
    expect(pathsOf(app).filter((path) => path === "/metrics")).toHaveLength(1);
    expect(pathsOf(app).filter((path) => path.startsWith("/admin"))).toEqual([]);
  });

  test("a method that no loaded route has is refused with all methods of the path", async () => {
    const requests = [
      ["POST", "/status/acme", "GET, HEAD"],
      ["DELETE", "/readyz", "GET, HEAD"],
      ["PUT", "/api/v1/components", "GET, HEAD, PATCH"],
    ] as const;
    for (const [method, path, allowed] of requests) {
      await using app = await createTestApp();
      const answer = await app.call(path, { method });
      expectProblem(answer, "method_not_allowed");
      expect(answer.headers.get("allow")).toBe(allowed);
    }
  });

  test("a preflight is answered as if all routes were loaded", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    const headers = { Origin: "https://acme.test", "Access-Control-Request-Method": "GET" };
    const path = "/status/acme/summary.json";
    const first = await app.call(path, { method: "OPTIONS", headers });
    const next = await app.call(path, { method: "OPTIONS", headers });
    expect(first.status).toBe(204);
    expect(first.headers.get("access-control-allow-methods")).toBe(
      next.headers.get("access-control-allow-methods"),
    );
  });

  test("no path of a route that is loaded later belongs to another route before", async () => {
    await using complete = await createTestApp({ dashboard: true });
    await using app = await createTestApp();
    await app.app.loadPages();
    const early = new Set(pathsOf(app));
    for (const { method, path } of complete.app.routes.routes) {
      const found = app.app.routes.match(method, filled(path)).route;
      expect(`${method} ${found?.path ?? path}`).toBe(`${method} ${path}`);
      expect(found !== undefined).toBe(early.has(path));
    }
  });

  test("a refusal before any page is loaded is shown to a person as a page", async () => {
    await using app = await createTestApp();
    const badQuery = await app.call("/status/acme?access_token=x", { headers: HTML });
    expect(badQuery.status).toBe(400);
    expect(badQuery.headers.get("content-type")).toStartWith("text/html");
    expect(pathsOf(app)).not.toContain("/api/v1/components");
  });

  test("a custom domain serves its page with the first request, and nothing else", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme", custom_domains: ["status.acme.test"] });
    const host = "status.acme.test";
    expectProblem(await app.call("/api/v1/incidents/inc_1", { host }), "not_found");
    expect((await app.call("/", { host, headers: HTML })).text).toContain("Acme");
  });
});

describe("routes that need the background", () => {
  test("they wait until it runs, while health checks and status pages are answered", async () => {
    await using starting = await openStarting();
    const { site, key } = starting;
    let isAnswered = false;
    const waiting = Promise.all(
      ["/api/v1/monitors", "/admin/sign-in"].map((path) => site.call(path, { key })),
    ).finally(() => (isAnswered = true));
    expect((await site.call("/readyz")).status).toBe(200);
    expect((await site.call("/api/v1/status/acme", { key })).status).toBe(200);
    expect(isAnswered).toBe(false);
    starting.start();
    expect((await waiting).map(({ status }) => status)).toEqual([200, 200]);
  });

  test("a key that is revoked while its request waits is refused", async () => {
    await using starting = await openStarting();
    const { site } = starting;
    const { key, value } = await site.createKey({ name: "late", scopes: ["manage:monitors"] });
    const waiting = site.call("/api/v1/monitors", { key: value });
    await site.ctx.db.write((tx) => revokeKey(site.ctx, tx, key.id, CLI_ACTOR));
    starting.start();
    expectProblem(await waiting, "revoked_key");
  });

  test("a background that does not start is internal_error", async () => {
    await using starting = await openStarting();
    const waiting = starting.site.call("/api/v1/monitors", { key: starting.key });
    starting.fail(new Error("not to be read"));
    const answer = await waiting;
    expectProblem(answer, "internal_error");
    expect(answer.text).not.toContain("not to be read");
    expect((await starting.site.call("/readyz")).status).toBe(200);
  });
});
