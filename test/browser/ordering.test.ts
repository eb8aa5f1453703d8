import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { deleteComponent } from "../../src/features/components/components";
import { CLI_ACTOR } from "../../src/base/actor";
import { arrange, COMPONENTS, outlineOf } from "../support/grouped-site";
import { describeWithBrowser } from "../support/browser";
import { type BrowserSite, openSite, type Visit, type VisitOptions } from "../support/browser-site";

const AS_IT_IS = "Docs | Core: API, Web | Edge: CDN";

interface Open extends Visit, AsyncDisposable {
  site: BrowserSite;
  ids: Record<string, string>;
  /** Returns the groups and components of the page as the API lists them. */
  outline(): Promise<string>;
  /** Returns the number of orders that were submitted. */
  sent(): number;
}

describeWithBrowser("the order of components", (browser) => {
  /** The list of a page of its own, as an admin sees it. */
  async function open(options: VisitOptions = {}): Promise<Open> {
    const site = await openSite(browser());
    const { app } = site;
    const { ids } = await arrange(app);
    const session = await app.signedIn("admin");
    const visit = await site.visit(COMPONENTS, { session, ...options });
    const key = await app.keyWith("read:status");
    return {
      ...visit,
      site,
      ids,
      outline: async () => outlineOf((await app.call("/api/v1/status/acme", { key })).body),
      sent: () => visit.requests.filter((url) => url.endsWith("/order")).length,
      async [Symbol.asyncDispose]() {
        await visit.page.context().close();
        await site[Symbol.asyncDispose]();
      },
    };
  }

  describe("dragging a handle", () => {
    const DRAGS: { what: string; name: string; to: string; at: number; outline: string }[] = [
      {
        what: "a component below another of its group",
        name: "API",
        to: "Web",
        at: 0.8,
        outline: "Docs | Core: Web, API | Edge: CDN",
      },
      {
        what: "a component into another group, above one that is there",
        name: "Docs",
        to: "CDN",
        at: 0.2,
        outline: " | Core: API, Web | Edge: Docs, CDN",
      },
      {
        what: "a component onto a group's heading, where it becomes the first",
        name: "CDN",
        to: "Core",
        at: 0.1,
        outline: "Docs | Core: CDN, API, Web | Edge:",
      },
      {
        what: "a component out of its group",
        name: "Web",
        to: "Docs",
        at: 0.9,
        outline: "Docs, Web | Core: API | Edge: CDN",
      },
      {
        what: "a group with all that is in it",
        name: "Edge",
        to: "Core",
        at: 0.1,
        outline: "Docs | Edge: CDN | Core: API, Web",
      },
    ];

    for (const { what, name, to, at, outline } of DRAGS) {
      test(`dragging moves ${what}`, async () => {
        await using list = await open();
        const { page } = list;
        await dragTo(page, name, itemOf(page, to), at);
        await expectAnnouncement(page, /Saved\.$/);
        expect(await list.outline()).toBe(outline);
        expect(list.sent()).toBe(1);
        const shown = await namesOn(page);
        await page.reload();
        expect(await namesOn(page)).toEqual(shown);
        expect(list.errors).toEqual([]);
      }, 600_000);
    }

    test("dragging can move a component into an empty group", async () => {
      await using list = await open();
      const { page } = list;
      await dragTo(page, "Docs", itemOf(page, "CDN"), 0.8);
      await expectAnnouncement(page, /Saved\.$/);
      await dragTo(page, "Web", page.getByText("All components are in groups."), 0.5);
      await expectAnnouncement(page, /^Web: 1 of 1. Saved\.$/);
      expect(await list.outline()).toBe("Web | Core: API | Edge: CDN, Docs");
    }, 600_000);

    test("Escape and dropping at the same place leave the order unchanged", async () => {
      await using list = await open();
      const { page } = list;
      await grab(page, "API");
      await hover(page, itemOf(page, "CDN"), 0.8);
      expect(await page.locator(".order-mark").count()).toBe(1);
      await page.keyboard.press("Escape");
      expect(await page.locator(".order-mark").count()).toBe(0);
      await page.mouse.up();
      await dragTo(page, "API", itemOf(page, "API"), 0.8);
      expect(await namesOn(page)).toEqual(["Docs", "Core", "API", "Web", "Edge", "CDN"]);
      // What would have been sent comes before this.
      await press(page, "Web", "Alt+ArrowUp");
      await expectAnnouncement(page, /Saved\.$/);
      expect(list.sent()).toBe(1);
      expect(await list.outline()).toBe("Docs | Core: Web, API | Edge: CDN");
    }, 600_000);

    test("dragging to the edge of the window scrolls the page", async () => {
      await using list = await open({ viewport: { width: 1_280, height: 480 } });
      const { page } = list;
      await grab(page, "Docs");
      await page.mouse.move(640, 470, { steps: 4 });
      // At the end of the page, scrolling stops.
      await page.waitForFunction(
        () => scrollY > 100 && scrollY + innerHeight >= document.documentElement.scrollHeight - 1,
      );
      await dragOn(page, itemOf(page, "CDN"), 0.8);
      await expectAnnouncement(page, /Saved\.$/);
      expect(await list.outline()).toBe(" | Core: API, Web | Edge: CDN, Docs");
    }, 600_000);

    test("dragging with a finger works on a phone and does not scroll the page", async () => {
      await using list = await open({ hasTouch: true, viewport: { width: 390, height: 1_200 } });
      const { page } = list;
      const from = await centreOf(handleOf(page, "API"));
      const to = await pointIn(itemOf(page, "Web"), 0.9);
      const session = await page.context().newCDPSession(page);
      const touch = (type: "touchStart" | "touchMove" | "touchEnd", points: (typeof from)[]) =>
        session.send("Input.dispatchTouchEvent", { type, touchPoints: points });
      await touch("touchStart", [from]);
      for (const share of [0.2, 0.5, 0.8, 1]) {
        await touch("touchMove", [{ x: from.x, y: from.y + share * (to.y - from.y) }]);
      }
      await page.locator(".order-mark").waitFor();
      expect(await page.evaluate(() => scrollY)).toBe(0);
      await touch("touchEnd", []);
      await expectAnnouncement(page, /Saved\.$/);
      expect(await list.outline()).toBe("Docs | Core: Web, API | Edge: CDN");
    }, 600_000);
  });

  describe("ordering by keyboard", () => {
    test("Alt and an arrow key on a handle move the component, announce its place and keep the focus", async () => {
      await using list = await open();
      const { page } = list;
      await press(page, "API", "Alt+ArrowDown");
      await expectAnnouncement(page, "API: 2 of 2 in Core. Saved.");
      expect(await list.outline()).toBe("Docs | Core: Web, API | Edge: CDN");
      await isFocused(handleOf(page, "API"));
      await page.keyboard.press("Alt+ArrowDown");
      await expectAnnouncement(page, "API: 1 of 2 in Edge. Saved.");
      expect(await list.outline()).toBe("Docs | Core: Web | Edge: API, CDN");
      await press(page, "Core", "Alt+ArrowDown");
      await expectAnnouncement(page, "Core: 2 of 2. Saved.");
      expect(await list.outline()).toBe("Docs | Edge: API, CDN | Core: Web");
      await isFocused(handleOf(page, "Core"));
      expect(list.errors).toEqual([]);
    }, 600_000);

    test("several key presses in a row are sent together, and the shown order is stored", async () => {
      await using list = await open();
      const { page } = list;
      await stopTime(page);
      await handleOf(page, "CDN").focus();
      for (let count = 0; count < 5; count++) await page.keyboard.press("Alt+ArrowUp");
      await page.clock.resume();
      await expectAnnouncement(page, "CDN: 1 of 2. Saved.");
      expect(list.sent()).toBe(2);
      expect(await list.outline()).toBe("CDN, Docs | Core: API, Web | Edge:");
      await page.keyboard.press("Alt+ArrowUp");
      await expectAnnouncement(page, "CDN is first already.");
    }, 600_000);

    test("an order that is being sent is not cancelled by leaving the page", async () => {
      await using list = await open();
      const { page } = list;
      await page.evaluate(() => {
        const { fetch } = window;
        const send = (url: RequestInfo | URL, init?: RequestInit) => {
          document.body.dataset["kept"] = String(init?.keepalive);
          return fetch(url, init);
        };
        Object.assign(window, { fetch: send });
      });
      await press(page, "API", "Alt+ArrowDown");
      await expectAnnouncement(page, "API: 2 of 2 in Core. Saved.");
      expect(await page.locator("body").getAttribute("data-kept")).toBe("true");
    }, 600_000);

    test("an order that was not sent yet is sent when the page is left", async () => {
      await using list = await open();
      const { page, site } = list;
      await stopTime(page);
      const expected = "API, Docs | Core: Web | Edge: CDN";
      const stored = Promise.withResolvers<void>();
      // The browser may have sent the first change before it leaves the page, or all of them then.
      site.app.ctx.signals.pageChanged.on(async () => {
        if ((await list.outline()) === expected) stored.resolve();
      });
      await handleOf(page, "API").focus();
      for (let count = 0; count < 3; count++) await page.keyboard.press("Alt+ArrowUp");
      await page.goto(`${site.origin}/admin`);
      await stored.promise;
      expect(await list.outline()).toBe(expected);
    }, 600_000);

    test("an arrow key alone moves nothing, and Enter on a handle opens its menu, which Escape closes", async () => {
      await using list = await open();
      const { page } = list;
      await press(page, "API", "ArrowDown");
      await press(page, "Docs", "Alt+ArrowUp");
      await expectAnnouncement(page, "Docs is first already.");
      await press(page, "API", "Enter");
      await page.getByRole("link", { name: "Set status of API" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: "Set status of API" }).waitFor({ state: "hidden" });
      await isFocused(handleOf(page, "API"));
      expect(await namesOn(page)).toEqual(["Docs", "Core", "API", "Web", "Edge", "CDN"]);
      expect(list.sent()).toBe(0);
    }, 600_000);
  });

  test("the menu of a row opens by a click but not by a drag, and its move buttons keep page and focus", async () => {
    await using list = await open();
    const { page } = list;
    await dragTo(page, "API", itemOf(page, "API"), 0.8);
    expect(await page.locator(".order details[open]").count()).toBe(0);
    await handleOf(page, "Web").click();
    const button = page.getByRole("button", { name: "Move Web up", exact: true });
    await page.evaluate(() => (document.title = "still this page"));
    await button.click();
    await expectAnnouncement(page, "Web: 1 of 2 in Core. Saved.");
    await isFocused(button);
    expect(await page.title()).toBe("still this page");
    expect(await list.outline()).toBe("Docs | Core: Web, API | Edge: CDN");
  }, 600_000);

  test("without JavaScript, the menu of a row has all that can be done to it", async () => {
    await using list = await open({ javaScriptEnabled: false });
    const { page } = list;
    await handleOf(page, "API").click();
    await page.getByRole("link", { name: "Set status of API" }).waitFor();
    await page.getByRole("button", { name: "Move API down", exact: true }).click();
    await page.getByText("“API” was moved down.").waitFor();
    expect(await list.outline()).toBe("Docs | Core: Web, API | Edge: CDN");
    expect(new URL(page.url()).hash).toBe(`#${list.ids["API"]}`);
  }, 600_000);

  test("an order that can no longer be saved is reported, and the stored order is kept", async () => {
    await using list = await open();
    const { page, site } = list;
    const { ctx } = site.app;
    await ctx.db.write((tx) => deleteComponent(ctx, tx, list.ids["CDN"] ?? "", CLI_ACTOR));
    await press(page, "API", "Alt+ArrowDown");
    await expectAnnouncement(
      page,
      "The order was not saved. Reload the page to see what is stored.",
    );
    expect(await list.outline()).toBe("Docs | Core: API, Web | Edge:");
    await page.reload();
    await press(page, "API", "Alt+ArrowDown");
    await expectAnnouncement(page, "API: 2 of 2 in Core. Saved.");
    expect(await list.outline()).toBe("Docs | Core: Web, API | Edge:");
  }, 600_000);

  let shared: Open;
  beforeAll(async () => {
    shared = await open();
  }, 600_000);
  afterAll(() => shared?.[Symbol.asyncDispose]());

  test("the ordered list has no axe violations, and its controls are large enough on a phone", async () => {
    const { page, site } = shared;
    expect(await shared.outline()).toBe(AS_IT_IS);
    expect(await site.axe(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await site.axe(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    await handleOf(page, "API").click();
    const controls = ".order summary, .order [open] :is(button, .button)";
    for (const control of await page.locator(controls).all()) {
      const box = await control.boundingBox();
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
    }
  }, 600_000);
});

const handleOf = (page: Page, name: string) =>
  page.locator("summary").filter({ hasText: new RegExp(`^Actions for ${name}$`) });

const itemOf = (page: Page, name: string) => page.locator(`[data-order-name="${name}"]`);

function namesOn(page: Page): Promise<string[]> {
  return page
    .locator("[data-order-name]")
    .evaluateAll((items) => items.map((item) => item.getAttribute("data-order-name") ?? ""));
}

/** Waits until the list says so. */
async function expectAnnouncement(page: Page, text: string | RegExp): Promise<void> {
  await page.locator("[data-order-status]").filter({ hasText: text }).waitFor();
}

async function isFocused(locator: Locator): Promise<void> {
  await locator.and(locator.page().locator(":focus")).waitFor();
}

async function press(page: Page, name: string, keys: string): Promise<void> {
  await handleOf(page, name).focus();
  await page.keyboard.press(keys);
}

/** From now on the page's timers wait until they are let go. */
async function stopTime(page: Page): Promise<void> {
  await page.clock.install();
  await page.reload();
  await page.clock.pauseAt(Date.now() + 60_000);
}

/** A point of an element: `at` is 0 at its top and 1 at its bottom. */
async function pointIn(locator: Locator, at: number) {
  const box = await locator.boundingBox();
  if (!box) throw new Error(`${locator} is not to be seen`);
  return { x: box.x + box.width / 2, y: box.y + box.height * at };
}

const centreOf = (locator: Locator) => pointIn(locator, 0.5);

async function grab(page: Page, name: string): Promise<void> {
  const { x, y } = await centreOf(handleOf(page, name));
  await page.mouse.move(x, y);
  await page.mouse.down();
}

/** Moves the pointer there, and waits until it has been followed. */
async function hover(page: Page, target: Locator, at: number): Promise<void> {
  const { x, y } = await pointIn(target, at);
  await page.mouse.move(x, y, { steps: 4 });
  await page.locator(".order-mark").waitFor({ state: "attached" });
}

async function dragTo(page: Page, name: string, target: Locator, at: number): Promise<void> {
  await grab(page, name);
  await dragOn(page, target, at);
}

/** Moves the dragged item to this place and drops it. */
async function dragOn(page: Page, target: Locator, at: number): Promise<void> {
  await hover(page, target, at);
  await page.mouse.up();
}
