import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { createTestApp } from "../support/app";
import { updatePage } from "../support/examined";

describe("a path below a slug that a page had before", () => {
  test.each([
    ["incidents/inc_1", "/status/neu/incidents/inc_1"],
    ["incidents/%E2%82%AC", "/status/neu/incidents/%E2%82%AC"],
    ["incidents/a%20b", "/status/neu/incidents/a%20b"],
    ["incidents/%0d%0aX-A:1", "/status/neu/incidents/%0D%0AX-A%3A1"],
    ["maintenance/..%2f..%2f..%2fadmin", "/status/neu/maintenance/..%2F..%2F..%2Fadmin"],
  ])(
    "the path %s below an old slug redirects to the same path below the new one",
    async (path, location) => {
      await using app = await createTestApp();
      const { page } = await app.page({ slug: "acme" });
      await app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, { slug: "neu" }, CLI_ACTOR));
      const answer = await app.call(`/status/acme/${path}`);
      expect(answer.status).toBe(308);
      expect(answer.headers.get("location")).toBe(location);
      expect(answer.headers.get("x-a")).toBeNull();
    },
  );
});
