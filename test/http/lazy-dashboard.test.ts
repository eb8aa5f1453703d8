import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem, type TestApp } from "../support/app";
import { createCreatingApi } from "../support/creating-api";

const pathsOf = ({ app }: TestApp) => app.routes.routes.map(({ path }) => path);
const isOfDashboard = (path: string) => /^\/admin(\/|$)/.test(path);
const HTML = { Accept: "text/html" };

describe("loading of the dashboard", () => {
  test("the dashboard is not loaded before its first request", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    const withoutDashboard = [
      "/",
      "/status/acme",
      "/api/v1/status",
      "/administrator",
      "/assets/x",
      "/readyz",
    ];
    for (const path of withoutDashboard) await app.call(path, { headers: HTML });
    expect(pathsOf(app).filter(isOfDashboard)).toEqual([]);
  });

  test("the dashboard answers its first request like all others", async () => {
    await using app = await createTestApp();
    await app.signedIn();
    const first = await app.call("/admin/settings/keys", { headers: HTML });
    expect(pathsOf(app).filter(isOfDashboard).length).toBeGreaterThan(50);
    const next = await app.call("/admin/settings/keys", { headers: HTML });
    for (const { status, headers } of [first, next]) {
      expect(status).toBe(303);
      expect(headers.get("location")).toBe("/admin/sign-in?next=%2Fadmin%2Fsettings%2Fkeys");
    }
  });

  test("the dashboard accepts a form as its first request", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const form = { name: "", scopes: "read:status" };
    const answer = await app.call("/admin/settings/keys/new", { method: "POST", session, form });
    expect(answer.status).toBe(422);
  });

  test("the dashboard is loaded once for concurrent requests", async () => {
    await using app = await createTestApp();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => app.call("/admin/sign-in", { headers: HTML })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const paths = pathsOf(app).filter((path) => path === "/admin/sign-in");
    expect(paths).toHaveLength(2);
  });

  test("requests to the dashboard are counted like those of other routes", async () => {
    await using app = await createTestApp();
    await app.call("/readyz");
    await app.call("/admin/sign-in", { headers: HTML });
    await app.call("/admin/nowhere", { headers: HTML });
    const [family] = app.app.routes.counts.families();
    const counted = [...(family?.read() ?? [])].map(({ labels, value }) => [labels?.route, value]);
    expect(counted).toEqual([
      ["none", 1],
      ["/readyz", 1],
      ["/admin/sign-in", 1],
    ]);
  });
});

test("a failure to load routes is internal_error, and the next request loads them again", async () => {
  let isBroken = true;
  await using api = await createCreatingApi({
    loadRoutes: () => (isBroken ? Promise.reject(new Error("not to be read")) : undefined),
  });
  const unknown = "/api/v1/unknown";
  const rejected = await api.app.call(unknown);
  expectProblem(rejected, "internal_error");
  expect(rejected.headers.get("x-request-id")).toStartWith("req_");
  expect(rejected.text).not.toContain("not to be read");
  expect(api.app.logged.some(({ msg }) => msg === "a request failed")).toBe(true);
  expect((await api.post({ name: "First" })).status).toBe(201);
  isBroken = false;
  expectProblem(await api.app.call(unknown), "not_found");
});
