import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { getKey, listAllKeys } from "../../src/features/keys/records";
import type { TestApp } from "../support/app";
import { describeInBrowser } from "../support/browser";
import { shownKeyValue } from "../support/browser-site";

const NEW_KEY = "/admin/settings/keys/new?preset=read-only-dashboard";

describeInBrowser("repeated clicks and going back", (site) => {
  test.each([
    { name: "with scripts by sending one form", javaScriptEnabled: true, sent: 1 },
    { name: "without by showing the first one's", javaScriptEnabled: false, sent: 2 },
  ])(
    "a second click on Create before the answer creates no second key: $name",
    async ({ javaScriptEnabled, sent }) => {
      const { app, visit } = site();
      const before = listAllKeys(app.ctx.db).length;
      const session = await app.signedIn("admin");
      const { page } = await visit(NEW_KEY, { session, javaScriptEnabled });
      using posts = holdFirstPost(app);
      await clickTwice(page, "Create API Key", posts);
      const value = await shownKeyValue(page);
      expect(posts.count).toBe(sent);
      expect(listAllKeys(app.ctx.db)).toHaveLength(before + 1);
      expect((await app.call("/api/v1/key", { key: value })).status).toBe(200);
      await page.context().close();
    },
    600_000,
  );

  test("without JavaScript, a second click on Rotate shows the value of the first rotation", async () => {
    const { app, visit } = site();
    const { key, value: first } = await app.createKey();
    const session = await app.signedIn("admin");
    const path = `/admin/settings/keys/${key.id}/rotate`;
    const { page } = await visit(path, { session, javaScriptEnabled: false });
    using posts = holdFirstPost(app);
    await clickTwice(page, "Rotate key", posts);
    const second = await shownKeyValue(page);
    expect(posts.count).toBe(2);
    expect(second).not.toBe(first);
    expect((await app.call("/api/v1/key", { key: second })).status).toBe(200);
    expect(getKey(app.ctx.db, key.id).values).toHaveLength(2);
    await page.context().close();
  }, 600_000);

  test.each([
    { name: "with scripts", javaScriptEnabled: true },
    { name: "without", javaScriptEnabled: false },
  ])(
    "going back to a shown value neither shows it nor creates another, $name",
    async ({ javaScriptEnabled }) => {
      const { app, visit } = site();
      const session = await app.signedIn("admin");
      const { page } = await visit(NEW_KEY, { session, javaScriptEnabled });
      await page.getByRole("button", { name: "Create API Key" }).click();
      const value = await shownKeyValue(page);
      await page.getByRole("link", { name: "I have stored it" }).click();
      await page.getByRole("heading", { name: "API Keys", level: 1 }).waitFor();
      const made = listAllKeys(app.ctx.db).length;
      // The browser has cached no copy of the page and does not submit the form again by itself.
      await expect(page.goBack()).rejects.toThrow("net::ERR_CACHE_MISS");
      await page.waitForURL(/^chrome-error:/);
      expect(await page.content()).not.toContain(value);
      expect(listAllKeys(app.ctx.db)).toHaveLength(made);
      await page.context().close();
    },
    600_000,
  );
});

/** Clicks again when the first form has arrived. By the mouse alone, which waits for no answer. */
async function clickTwice(page: Page, name: string, posts: HeldPosts): Promise<void> {
  const button = page.getByRole("button", { name });
  await button.scrollIntoViewIfNeeded();
  const box = await button.boundingBox();
  if (!box) throw new Error(`there is no ${name} to be seen`);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.click(x, y);
  await posts.firstArrived;
  await page.mouse.click(x, y);
  posts.release();
}

interface HeldPosts extends Disposable {
  /** Number of forms that have arrived. */
  count: number;
  firstArrived: Promise<void>;
  /** Lets the first one's answer go. */
  release(): void;
}

/** Counts the forms that arrive, and holds the answer to the first one back. */
function holdFirstPost({ app }: TestApp): HeldPosts {
  const { handle } = app;
  const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const posts: HeldPosts = {
    count: 0,
    firstArrived: arrived.promise,
    release: released.resolve,
    [Symbol.dispose]: () => {
      app.handle = handle;
    },
  };
  app.handle = async (request, peer) => {
    if (request.method !== "POST") return handle(request, peer);
    const isFirst = ++posts.count === 1;
    const answer = await handle(request, peer);
    if (!isFirst) return answer;
    arrived.resolve();
    await released.promise;
    return answer;
  };
  return posts;
}
