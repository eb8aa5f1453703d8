import { expect, test } from "bun:test";
import { createTestApp } from "../support/app";

test("a read of the status document is answered synchronously", async () => {
  await using app = await createTestApp();
  await app.page({ slug: "acme" });
  const key = await app.keyWith("read:status");
  await app.app.loadPages();
  const request = new Request("http://status.test/api/v1/status/acme", {
    headers: { authorization: `Bearer ${key}` },
  });
  const answer = app.app.handle(request, () => "203.0.113.7");
  expect(answer).toBeInstanceOf(Response);
  expect((answer as Response).status).toBe(200);
});
