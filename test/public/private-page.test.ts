import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem } from "../support/app";
import { createPublicSite } from "../support/public-site";

describe("a private page", () => {
  test("a private page is shown to every signed-in user and is not cached", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "inside", name: "Inside", visibility: "private" });
    const session = await app.signedIn("viewer");
    const answer = await app.call("/status/inside", { session });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("Inside");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("a private page is not_found without a session or after signing out", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "inside", name: "Inside", visibility: "private" });
    expectProblem(await app.call("/status/inside"), "not_found");
    const session = await app.signedIn("owner");
    await app.call("/admin/sign-out", { session, form: {} });
    expectProblem(await app.call("/status/inside", { session }), "not_found");
  });

  test("documents below a private page need a session and contain no feed links", async () => {
    await using site = await createPublicSite({ visibility: "private" });
    const { app } = site;
    const incident = await site.open({ name: "Hidden" });
    const planned = await site.plan("2026-03-12T02:00:00Z", "2026-03-12T04:00:00Z");
    const session = await app.signedIn("viewer");
    for (const path of [
      `/status/acme/incidents/${incident.id}`,
      `/status/acme/maintenance/${planned.id}`,
      "/status/acme/history",
      "/status/acme/incidents",
    ]) {
      expectProblem(await app.call(path), "not_found");
      const answer = await app.call(path, { session });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      // Its feeds are not there, so nothing leads to them.
      expect(answer.text).not.toMatch(/feed\.|calendar\.ics|summary\.json/);
      expect(answer.text).toContain('content="noindex"');
      expectProblem(await app.call(path), "not_found");
    }
  });

  test("a request for a private page is charged to the client address", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "inside", visibility: "private" });
    const session = await app.signedIn("viewer");
    const answer = await app.call("/status/inside", { session });
    expect(answer.headers.get("ratelimit-policy")).toStartWith('"public"');
  });
});
