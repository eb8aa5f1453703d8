import { expect, test } from "bun:test";
import { createMonitoring } from "../../../../src/features/monitors/engine/engine";
import { createTestApp } from "../../../support/app";

const CASES = [
  [
    { source: "header", property: "X-Build", op: "eq", value: "SECRET-7" },
    "The headers of the response are not as expected.",
  ],
  [
    { source: "header", property: "X-SECRET", op: "exists" },
    "The headers of the response are not as expected.",
  ],
  [
    { source: "body", op: "contains", value: "SECRET-7" },
    "The body of the response is not as expected.",
  ],
  [
    { source: "body", op: "matches", value: "SECRET-[0-9]" },
    "The body of the response is not as expected.",
  ],
  [
    { source: "json", property: "$.SECRET", op: "eq", value: 7 },
    "The body of the response is not as expected.",
  ],
  [{ source: "status", op: "eq", value: 277 }, "The status is 200."],
] as const;

test.each(CASES)(
  "an automatic incident describes the response without details of the assertion %j",
  async (assertion, seen) => {
    using target = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => new Response('{"SECRET":5}', { headers: { "x-build": "6" } }),
    });
    for (const openIncident of ["automatic", "draft"]) {
      let engine: ReturnType<typeof createMonitoring> | undefined;
      await using app = await createTestApp({
        monitoring: (ctx) => (engine = createMonitoring(ctx)),
      });
      const key = await app.keyWith("manage:monitors", "write:incidents", "read:status");
      const { components } = await app.page({}, ["API"]);
      const created = await app.call("/api/v1/monitors", {
        key,
        method: "POST",
        json: {
          type: "http",
          name: "Shop",
          config: { url: `http://127.0.0.1:${target.port}/`, assertions: [assertion] },
          component_ids: Object.values(components),
          failure_threshold: 1,
          open_incident: openIncident,
        },
      });
      const checked = await app.call(`/api/v1/monitors/${created.body.id}/check`, {
        key,
        method: "POST",
      });
      expect(checked.body.outcome).toBe("failed");
      expect(checked.body.message).toMatch(/SECRET|\b277\b/);
      const { body } = await app.call("/api/v1/incidents", { key });
      expect(body.data[0].updates[0].body).toBe(`Automatic checks are failing. ${seen}`);
      const page = await app.call("/status/acme");
      expect(page.text).not.toMatch(/SECRET|\b277\b/);
      await engine?.stop();
    }
  },
);
