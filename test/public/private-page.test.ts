import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem } from "../support/app";

describe("a private page", () => {
  test("is shown to whoever is signed in, whatever their role, and kept by no cache", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "inside", name: "Inside", visibility: "private" });
    const session = await app.signedIn("viewer");
    const answer = await app.call("/status/inside", { session });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("Inside");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("is not there for anybody else, nor for a session that has ended", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "inside", name: "Inside", visibility: "private" });
    expectProblem(await app.call("/status/inside"), "not_found");
    const session = await app.signedIn("owner");
    await app.call("/admin/sign-out", { session, form: {} });
    expectProblem(await app.call("/status/inside", { session }), "not_found");
  });

  test("pays from the address: a session buys nothing outside the dashboard", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "inside", visibility: "private" });
    const session = await app.signedIn("viewer");
    const answer = await app.call("/status/inside", { session });
    expect(answer.headers.get("ratelimit-policy")).toStartWith('"public"');
  });
});
