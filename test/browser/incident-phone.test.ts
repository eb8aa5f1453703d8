import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { describeInBrowser } from "../support/browser";
import { isWiderThanWindow, PHONE } from "../support/public-documents";

/** Words for the phases of incidents and maintenance. */
const PHASES =
  /^(?:Investigating|Identified|Monitoring|Resolved|Scheduled|In progress|Verifying|Completed)$/;

/** Returns the words for phases that are broken into several lines, and their number. */
function brokenPhases(page: Page): Promise<{ count: number; broken: string[] }> {
  return page.evaluate((source) => {
    const words = new RegExp(source);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const broken: string[] = [];
    let count = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent?.trim() ?? "";
      const range = document.createRange();
      range.selectNodeContents(node);
      const lines = new Set(Array.from(range.getClientRects(), ({ top }) => top));
      if (!words.test(text) || lines.size === 0) continue;
      count += 1;
      if (lines.size > 1) broken.push(text);
    }
    return { count, broken };
  }, PHASES.source);
}

describeInBrowser("incidents on a phone", (site) => {
  /** Reports an incident and plans maintenance on a new page. */
  async function prepare() {
    const { app } = site();
    const slug = `acme-${crypto.randomUUID().slice(0, 8)}`;
    await app.page({ slug }, ["API", "Website"]);
    const key = await app.keyWith("write:incidents", "write:maintenance");
    const create = async (path: string, json: object) => {
      const answer = await app.call(`/api/v1/${path}`, { method: "POST", key, json });
      expect(answer.status).toBe(201);
      return answer.body.id as string;
    };
    const json = { page: slug, name: "The API is down", impact_override: "critical" };
    const incident = await create("incidents", { ...json, body: "We look into it." });
    for (const status of ["identified", "monitoring"]) {
      await create(`incidents/${incident}/updates`, { status, body: "More. ".repeat(200) });
    }
    // A span of two days is the longest text of a time.
    const tomorrow = new Date(app.clock.now() + 24 * 3_600_000).toISOString().slice(0, 10);
    const midnight = Date.parse(`${tomorrow}T00:00:00Z`);
    const at = (hours: number) => new Date(midnight + hours * 3_600_000).toISOString();
    const maintenance = await create("maintenance", {
      page: slug,
      name: "Upgrade",
      body: "Planned.",
      components: [],
      scheduled_for: at(23),
      scheduled_until: at(25),
    });
    return { slug, incident, maintenance, session: await app.signedIn("editor") };
  }

  test("no word for a phase is broken from 320 px on", async () => {
    const { slug, incident, maintenance, session } = await prepare();
    const paths = [
      { path: `/status/${slug}`, least: 4 },
      { path: `/status/${slug}/incidents/${incident}`, least: 3 },
      { path: `/admin/incidents/${incident}`, least: 11, session },
      { path: "/admin/incidents", least: 1, session },
      { path: `/admin/maintenance/${maintenance}`, least: 4, session },
    ];
    for (const { path, least, ...as } of paths) {
      const { page } = await site().visit(path, as);
      for (const width of [320, 340, 360, 390, 480, 800, 1_280]) {
        await page.setViewportSize({ width, height: 800 });
        const { count, broken } = await brokenPhases(page);
        expect({ path, width, broken }).toEqual({ path, width, broken: [] });
        expect(count, `${path} at ${width}`).toBeGreaterThanOrEqual(least);
        expect(await isWiderThanWindow(page), `${path} at ${width}`).toBe(false);
      }
      await page.context().close();
    }
  }, 600_000);

  test.each([
    { form: "for the next update", path: "", button: "Publish update", last: "notify" },
    { form: "for a new incident", path: "/new", button: "Publish incident", last: undefined },
  ])(
    "the button of the form $form stays above the tab bar and covers no field",
    async ({ path, button, last }) => {
      const { incident, session } = await prepare();
      const address = `/admin/incidents${path === "" ? `/${incident}` : path}`;
      const { page } = await site().visit(address, {
        session,
        viewport: PHONE,
        javaScriptEnabled: true,
      });
      const publish = page.getByRole("button", { name: button, exact: true });
      const boxOf = async (what: typeof publish) => {
        const box = await what.boundingBox();
        if (!box) throw new Error("it is not shown");
        return { top: box.y, bottom: box.y + box.height };
      };
      const bar = await boxOf(page.locator(".tabbar"));
      const isInView = async () => {
        const { top, bottom } = await boxOf(publish);
        return top > 0 && bottom <= bar.top;
      };
      expect(await isInView()).toBe(true);
      // Every field that gets the focus is above the buttons.
      const fields = page.locator("#main form").filter({ has: publish }).locator(".input:visible");
      const count = await fields.count();
      expect(count).toBeGreaterThan(0);
      for (let index = 0; index < count; index++) {
        await fields.nth(index).focus();
        expect(await isInView()).toBe(true);
        const field = await boxOf(fields.nth(index));
        const actions = await boxOf(page.locator(".actions").filter({ has: publish }));
        expect(field.bottom).toBeLessThanOrEqual(actions.top + 1);
      }
      if (last !== undefined) {
        const box = page.locator(`input[name=${last}]:visible`).first();
        await box.focus();
        const actions = await boxOf(page.locator(".actions").filter({ has: publish }));
        expect((await boxOf(box)).bottom).toBeLessThanOrEqual(actions.top);
      }
      await page.context().close();
    },
    600_000,
  );
});
