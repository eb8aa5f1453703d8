import { describe, expect, test } from "bun:test";
import { type Scope, SCOPE_NAMES } from "../../src/features/keys/scopes";
import type { Route } from "../../src/http/route-table";
import { ROLES } from "../../src/base/actor";
import { type CallOptions, createTestApp, expectProblem, type TestApp } from "../support/app";

interface Site extends AsyncDisposable {
  app: TestApp;
  protectedRoutes: { route: Route; scopes: readonly Scope[]; path: string }[];
}

/** An app with a page and a component, and its protected routes at paths that exist. */
async function createSite(): Promise<Site> {
  const app = await createTestApp({
    dashboard: true,
    env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000" },
  });
  const { components } = await app.page({ slug: "acme" }, ["API"]);
  const values: Record<string, string> = { slug: "acme", id: components["API"] ?? "" };
  const protectedRoutes = app.app.routes.routes.flatMap((route) => {
    const { access } = route.operation;
    if (access.kind !== "key") return [];
    const path = route.path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? "x");
    return [{ route, scopes: access.scopes, path }];
  });
  return { app, protectedRoutes, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

/** A request that would be let in, as far as its body goes, if its caller were. */
function request({ method, body }: Route): CallOptions {
  if (!body) return { method };
  return body.form ? { method, form: {} } : { method, json: { status: "major_outage" } };
}

describe("every protected route", () => {
  test("protected routes are the metrics, the tools of AI agents and all of /api/v1 except heartbeats, the work of agents, reports about mails and paths of Gatus", async () => {
    await using site = await createSite();
    const inApi = site.app.app.routes.routes.filter(
      ({ path }) =>
        path.startsWith("/api/v1/") &&
        !/^\/api\/v1\/(heartbeats|probe|mail\/bounces|endpoints|suites|config)(\/|$)/.test(path),
    );
    const elsewhere = site.protectedRoutes.filter(({ route }) => !inApi.includes(route));
    expect(elsewhere.map(({ route }) => route.path).sort()).toEqual([
      "/compat/kuma/metrics",
      "/mcp",
      "/metrics",
    ]);
    const inside = site.protectedRoutes.filter(({ route }) => inApi.includes(route));
    expect(inside.map(({ route }) => route)).toEqual(inApi);
    expect(inApi.length).toBeGreaterThanOrEqual(8);
  });

  test("every protected route rejects a missing or wrong key with 401 and writes nothing", async () => {
    await using site = await createSite();
    const { app, protectedRoutes } = site;
    const audit = app.audit();
    for (const { route, path } of protectedRoutes) {
      expectProblem(await app.call(path, request(route)), "missing_key");
      expectProblem(await app.call(path, { ...request(route), key: "nonsense" }), "invalid_key");
    }
    expect(app.events()).toEqual([]);
    expect(app.audit()).toEqual(audit);
  });

  test("every protected route rejects keys of other scopes with 403 and writes nothing", async () => {
    await using site = await createSite();
    const { app, protectedRoutes } = site;
    const audit = app.audit().length;
    let rejected = 0;
    for (const { route, scopes, path } of protectedRoutes) {
      const others = SCOPE_NAMES.filter((scope) => !scopes.includes(scope));
      if (scopes.length === 0) continue;
      // All the other scopes together grant what none of them grants alone: nothing.
      for (const held of [others, ...others.map((scope) => [scope])]) {
        const { value } = await app.createKey({ scopes: held });
        const answer = await app.call(path, { ...request(route), key: value });
        const { detail } = expectProblem(answer, "insufficient_scope");
        expect(detail).toContain(scopes[0]);
        expect(answer.headers.get("www-authenticate")).toContain(`scope="${scopes[0]}"`);
        rejected += 1;
      }
    }
    expect(app.events()).toEqual([]);
    // The keys that the test made, and nothing else.
    expect(app.audit()).toHaveLength(audit + rejected);
  });

  test("every protected route accepts a key with its scope only", async () => {
    await using site = await createSite();
    const { app, protectedRoutes } = site;
    for (const { route, scopes, path } of protectedRoutes) {
      const { value } = await app.createKey({
        scopes: scopes.length > 0 ? [...scopes] : ["read:analytics"],
      });
      const answer = await app.call(path, { ...request(route), key: value });
      expect([401, 403]).not.toContain(answer.status);
      expect(answer.status).toBeLessThan(500);
    }
  });
});

describe("heartbeat routes", () => {
  test("heartbeat routes reject a missing token, a wrong token and an API key", async () => {
    await using site = await createSite();
    const { app } = site;
    const routes = app.app.routes.routes.filter(
      ({ operation }) => operation.access.kind === "heartbeat",
    );
    expect(routes.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      "GET /api/v1/heartbeats",
      "GET /api/v1/heartbeats/:token",
      "GET /api/v1/heartbeats/:token/:signal",
      "POST /api/v1/heartbeats",
      "POST /api/v1/heartbeats/:token",
      "POST /api/v1/heartbeats/:token/:signal",
    ]);
    const { value } = await app.createKey({ scopes: [...SCOPE_NAMES] });
    const audit = app.audit();
    for (const { method, path } of routes) {
      if (path.includes(":token")) {
        for (const token of ["x", "x".repeat(43), value]) {
          const wrong = path.replace(":token", token).replace(":signal", "start");
          expectProblem(await app.call(wrong, { method, key: value }), "not_found");
        }
      } else {
        expectProblem(await app.call(path, { method }), "missing_key");
        for (const key of ["x", "x".repeat(43), value]) {
          expectProblem(await app.call(path, { method, key }), "invalid_key");
        }
      }
    }
    expect(app.audit()).toEqual(audit);
    expect(app.events()).toEqual([]);
  });
});

/** Creates an app with a user, and lists the dashboard routes that need a session. */
async function createDashboard() {
  const app = await createTestApp({
    dashboard: true,
    env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000" },
  });
  await app.signedIn("owner");
  const { key } = await app.createKey();
  const routes = app.app.routes.routes.flatMap((route) => {
    const { access } = route.operation;
    if (access.kind !== "session") return [];
    return [{ route, role: access.role, path: route.path.replace(":id", key.id) }];
  });
  return { app, routes, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

describe("every route of the dashboard", () => {
  test("dashboard routes are below /admin, and only those for signing in need no role", async () => {
    await using site = await createDashboard();
    const inAdmin = site.app.app.routes.routes.filter(({ path }) => /^\/admin(\/|$)/.test(path));
    const open = inAdmin.filter(({ operation }) => operation.access.kind !== "session");
    expect(inAdmin.length - open.length).toBe(site.routes.length);
    expect(site.routes.length).toBeGreaterThan(20);
    expect([...new Set(open.map(({ path }) => path))].sort()).toEqual([
      "/admin/forgot",
      "/admin/forgot/sent",
      "/admin/join/:token",
      "/admin/join/:token/named",
      "/admin/join/:token/provider",
      "/admin/setup/:token",
      "/admin/sign-in",
      "/admin/sign-in/callback",
      "/admin/sign-in/code",
      "/admin/sign-in/provider",
      "/admin/sign-out",
    ]);
  });

  test("every dashboard route rejects requests without a session with 401 and writes nothing", async () => {
    await using site = await createDashboard();
    const { app, routes } = site;
    const audit = app.audit();
    for (const { route, path } of routes) {
      expectProblem(await app.call(path, request(route)), "sign_in_required");
      const session = "x".repeat(43);
      expectProblem(await app.call(path, { ...request(route), session }), "sign_in_required");
    }
    expect(app.audit()).toEqual(audit);
    expect(app.events()).toEqual([]);
  });

  for (const role of ROLES) {
    test(`every dashboard route accepts ${role} if the role suffices, and is 403 otherwise`, async () => {
      await using site = await createDashboard();
      const { app, routes } = site;
      for (const { route, role: needed, path } of routes) {
        const session = await app.signedIn(role);
        const audit = app.audit();
        const answer = await app.call(path, { ...request(route), session });
        if (ROLES.indexOf(role) <= ROLES.indexOf(needed)) {
          expect([401, 403]).not.toContain(answer.status);
          expect(answer.status).toBeLessThan(500);
        } else {
          expectProblem(answer, "insufficient_role");
          expect(app.audit()).toEqual(audit);
        }
      }
      expect(app.events()).toEqual([]);
    });
  }
});

describe("every route", () => {
  test("every unprotected route answers without a key", async () => {
    await using site = await createSite();
    const open = site.app.app.routes.routes.filter(
      ({ operation }) =>
        !["key", "session", "heartbeat", "imported-heartbeat", "location", "reporter"].includes(
          operation.access.kind,
        ),
    );
    expect(open.length).toBeGreaterThan(0);
    for (const route of open) {
      const path = route.path
        .replace(":slug", "acme")
        .replace(":number", "1")
        .replace(":duration", "1h");
      const answer = await site.app.call(path, request(route));
      expect([401, 403]).not.toContain(answer.status);
      expect(answer.status).toBeLessThan(500);
    }
  });

  test("every route answers with a request id and no server headers", async () => {
    await using site = await createSite();
    for (const route of site.app.app.routes.routes) {
      const { headers } = await site.app.call(route.path.replace(/:\w+/g, "x"), {
        method: route.method,
      });
      expect(headers.get("x-request-id")).toMatch(/^req_[0-9a-z]+$/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      const isLink = route.operation.access.kind === "link" || route.path.includes("/with/:token");
      expect(headers.get("referrer-policy")).toBe(isLink ? "no-referrer" : "same-origin");
      expect(headers.get("server")).toBeNull();
      expect(headers.get("x-powered-by")).toBeNull();
    }
  });
});
