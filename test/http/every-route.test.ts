import { describe, expect, test } from "bun:test";
import { type Scope, SCOPE_NAMES } from "../../src/features/keys";
import type { Route } from "../../src/http";
import { type CallOptions, createTestApp, expectProblem, type TestApp } from "../support/app";

interface Site extends AsyncDisposable {
  app: TestApp;
  protectedRoutes: { route: Route; scopes: readonly Scope[]; path: string }[];
}

/** An app with a page and a component, and its protected routes at paths that exist. */
async function createSite(): Promise<Site> {
  const app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000" } });
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
  return body ? { method, json: { status: "major_outage" } } : { method };
}

describe("every protected route", () => {
  test("is under /api/v1, and everything under /api/v1 is protected", async () => {
    await using site = await createSite();
    const inApi = site.app.app.routes.routes.filter(({ path }) => path.startsWith("/api/v1/"));
    expect(site.protectedRoutes.map(({ route }) => route)).toEqual(inApi);
    expect(inApi.length).toBeGreaterThanOrEqual(8);
  });

  test("refuses no key and a wrong one with 401, with nothing written and no event", async () => {
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

  test("refuses a key of every other scope with 403, with nothing written and no event", async () => {
    await using site = await createSite();
    const { app, protectedRoutes } = site;
    const audit = app.audit().length;
    let refused = 0;
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
        refused += 1;
      }
    }
    expect(app.events()).toEqual([]);
    // The keys that the test made, and nothing else.
    expect(app.audit()).toHaveLength(audit + refused);
  });

  test("lets a key in that holds its scope and no other", async () => {
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

describe("every route", () => {
  test("that is not protected answers without a key", async () => {
    await using site = await createSite();
    const open = site.app.app.routes.routes.filter(
      ({ operation }) => operation.access.kind !== "key",
    );
    expect(open.length).toBeGreaterThan(0);
    for (const route of open) {
      const path = route.path.replace(":slug", "acme");
      const answer = await site.app.call(path, { method: route.method });
      expect([401, 403]).not.toContain(answer.status);
      expect(answer.status).toBeLessThan(500);
    }
  });

  test("answers with an id and no word of what made it", async () => {
    await using site = await createSite();
    for (const route of site.app.app.routes.routes) {
      const { headers } = await site.app.call(route.path.replace(/:\w+/g, "x"), {
        method: route.method,
      });
      expect(headers.get("x-request-id")).toMatch(/^req_[0-9a-z]+$/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("same-origin");
      expect(headers.get("server")).toBeNull();
      expect(headers.get("x-powered-by")).toBeNull();
    }
  });
});
