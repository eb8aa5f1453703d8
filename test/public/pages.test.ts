import { describe, expect, test } from "bun:test";
import { updatePage } from "../../src/features/pages";
import { CLI_ACTOR } from "../../src/kernel/actor";
import { createTestApp, expectProblem } from "../support/app";

describe("the public page", () => {
  test("shows what the document says, to anybody, with a policy that allows nothing from elsewhere", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme", name: "Acme" }, ["Checkout"]);
    const answer = await app.call("/status/acme");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/html;charset=utf-8");
    expect(answer.text).toContain("<title>All Systems Operational · Acme</title>");
    expect(answer.text).toContain("Checkout");
    expect(answer.headers.get("content-security-policy")).toStartWith("default-src 'none'");
    expect(answer.headers.get("content-security-policy")).not.toContain("unsafe");
    expect(answer.headers.get("cache-control")).toStartWith("public, max-age=15");
    expect((await app.call("/")).text).toBe(answer.text);
  });

  test("escapes every name", async () => {
    await using app = await createTestApp();
    await app.page({ name: '<script>alert("x")</script>' }, ["<img src=x onerror=alert(1)>"]);
    const { text } = await app.call("/");
    expect(text).not.toContain("<script>");
    expect(text).not.toContain("<img");
    expect(text).toContain("&lt;script");
  });

  test("an old slug leads to the new one for good", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ slug: "old" });
    await app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, { slug: "fresh" }, CLI_ACTOR));
    const answer = await app.call("/status/old");
    expect(answer.status).toBe(308);
    expect(answer.headers.get("location")).toBe("/status/fresh");
    // Not for ever: the page may take its old slug back.
    expect(answer.headers.get("cache-control")).toStartWith("public, max-age=15");
  });

  test("an unknown page is not found, and an empty installation says what to do", async () => {
    await using app = await createTestApp();
    expectProblem(await app.call("/status/nobody"), "not_found");
    expect((await app.call("/")).text).toContain("allclear apply");
  });
});
