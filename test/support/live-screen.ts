import { expect } from "bun:test";
import type { Page } from "playwright-core";
import type { BrowserSite } from "./browser-site";

/** Opens a screen whose timers the test owns. */
export async function openScreen(site: BrowserSite, path: string, session: string) {
  const visit = await site.visit("/docs/errors", { session, isLive: true });
  const asked = { count: 0 };
  visit.page.on("request", (request) => {
    if (request.headers()["allclear-live"] !== undefined) asked.count += 1;
  });
  await visit.page.clock.install();
  await visit.page.goto(site.origin + path);
  return { ...visit, asked };
}

/** Advances the clock of a screen until it has refreshed itself. */
export async function turn(page: Page, ms = 4_000) {
  const answer = page.waitForResponse(
    (response) => "allclear-live" in response.request().headers(),
  );
  await page.clock.runFor(ms);
  return answer;
}

/** Creates a page with two components, whose incidents are reported through the API. */
export async function openAcme(site: BrowserSite) {
  const { components } = await site.app.page({ slug: "acme", name: "Acme" }, ["API", "Web"]);
  const key = await site.app.keyWith("write:incidents");
  const session = await site.app.signedIn("owner");
  return {
    session,
    async report(name: string) {
      const api = components["API"] ?? "";
      const json = { page: "acme", name, body: "We look.", components: { [api]: "major_outage" } };
      const answer = await site.app.call("/api/v1/incidents", { method: "POST", key, json });
      expect(answer.status).toBe(201);
      return answer.body.id as string;
    },
    async update(id: string, json: object) {
      const path = `/api/v1/incidents/${id}/updates`;
      expect((await site.app.call(path, { method: "POST", key, json })).status).toBe(201);
    },
  };
}
