import { describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../src/base/time";
import { createTestApp } from "../support/app";
import { readHtml } from "../support/html";

const EVIL = '"><script>alert("x")</script><img src=x onerror=alert(1)>';
const TEXT = `${EVIL} [x](javascript:alert(1)) ![x](https://elsewhere.example/x.png) \u202ednuora`;

describe("hostile text on public pages", () => {
  test("hostile text is shown as text on all public pages", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000" } });
    const { components } = await app.page(
      { slug: "acme", name: EVIL, description: EVIL, accent: "#5b2d8e" },
      [EVIL],
    );
    const key = await app.keyWith("write:incidents", "write:maintenance");
    const post = async (path: string, json: object) =>
      (await app.call(`/api/v1${path}`, { method: "POST", key, json })).body;
    const [id = ""] = Object.values(components);
    const named = { page: "acme", name: EVIL, body: TEXT };
    const incident = await post("/incidents", { ...named, components: { [id]: "major_outage" } });
    const maintenance = await post("/maintenance", {
      ...named,
      components: [id],
      scheduled_for: "2026-03-11T00:00:00Z",
      scheduled_until: "2026-03-11T01:00:00Z",
    });
    const json = { body: TEXT, publish: true };
    await app.call(`/api/v1/incidents/${incident.id}/postmortem`, { method: "PUT", key, json });
    await app.clock.advance(HOUR_MS);

    for (const path of [
      "",
      `/incidents/${incident.id}`,
      `/maintenance/${maintenance.id}`,
      "/history",
      "/incidents",
      "/subscribe",
    ]) {
      const { text, status } = await app.call(`/status/acme${path}`);
      expect(status).toBe(200);
      expect(text).toContain("&lt;script");
      expect(text).not.toContain("<script>");
      expect(text).not.toContain("<img");
      expect(text).not.toMatch(/\u202e/);
      const page = readHtml(text);
      expect(page.attributes("script", "src").join()).toMatch(
        /^\/assets\/page\.[0-9a-f]{16}\.js(?:,\/assets\/copy\.[0-9a-f]{16}\.js)?$/,
      );
      expect(page.attributes("[onerror], [onclick], [style]", "class")).toEqual([]);
      const links = page.attributes("a", "href");
      expect(
        links.filter(
          (href) =>
            !/^(?:\/status\/acme|#|webcal:\/\/status\.test\/status\/acme\/|https:\/\/elsewhere)/.test(
              href,
            ),
        ),
      ).toEqual([]);
    }
  });
});
