import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem } from "../support/app";

describe("GET /api/v1/status/{slug}", () => {
  test("a key with read:status reads the page's data", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme", name: "Acme" }, ["API", "Website"]);
    const key = await app.keyWith("read:status");
    const answer = await app.call("/api/v1/status/acme", { key });
    expect(answer.status).toBe(200);
    expect(answer.body.page.slug).toBe("acme");
    expect(answer.body.components.map((c: { name: string }) => c.name)).toEqual(["API", "Website"]);
    expect(answer.body.status).toEqual({
      indicator: "none",
      description: "All Systems Operational",
    });
  });

  test("an unknown slug is not found", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    expectProblem(await app.call("/api/v1/status/nobody", { key }), "not_found");
  });
});
