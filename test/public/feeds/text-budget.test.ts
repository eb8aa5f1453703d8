import { describe, expect, test } from "bun:test";
import { mutate } from "../../../src/db/statements";
import { incidentUpdates } from "../../../src/db/tables/incidents";
import { createMarkdownCache, renderText } from "../../../src/public/text";
import { FEEDS, listEntries, renderEntries } from "../../../src/public/feeds";
import { createPublicSite } from "../../support/public-site";
import { createFollowedPage } from "../../support/feed-site";
import { writeLongTexts } from "../../support/long-texts";

const setLangs = mutate((orm, $: { lang: string }) =>
  orm.update(incidentUpdates).set({ lang: $.lang }),
);

const LINKS = "https://a.example/b ".repeat(490);

describe("a feed of 50 incidents with texts full of links", () => {
  test("a feed with long texts contains all incidents, the newest in full and others as excerpts", async () => {
    await using site = await createFollowedPage();
    for (let n = 0; n < 50; n++) await site.open({ name: `Trouble ${n}`, body: `${n}: ${LINKS}` });
    const { text } = await site.read("feed.atom");
    expect(Buffer.byteLength(text)).toBeLessThan(500_000);
    const entries = (await site.atom()).entries ?? [];
    expect(entries).toHaveLength(50);
    const contents = entries.map(({ content }) => content?.value ?? "");
    expect(contents[0]?.match(/<a href="https:\/\/a.example\/b"/g)).toHaveLength(490);
    expect(contents.at(-1)).toContain("https://a.example/b");
    expect(contents.at(-1)).toContain(`<a href="${entries.at(-1)?.links?.[0]?.href}">Read on</a>`);
    const items = (await site.rss()).items ?? [];
    expect(items.map(({ description }) => description)).toEqual(contents);
  });
});

test("the first words of a text that Allclear wrote in another language carry it", async () => {
  await using site = await createFollowedPage();
  for (let n = 0; n < 49; n++) await site.open({ name: `Trouble ${n}`, body: `${n}: ${LINKS}` });
  await site.app.ctx.db.write((tx) => setLangs(tx, { lang: "de" }));
  await site.open({ name: "Trouble 49", body: `49: ${LINKS}` });
  const contents = ((await site.atom()).entries ?? []).map(({ content }) => content?.value ?? "");
  expect(contents.at(-1)).toMatch(/<p dir="auto"><span lang="de">0: /);
  expect(contents[0]).not.toContain("lang=");
});

describe("a feed of 50 incidents with long texts", () => {
  test("a feed renders at most three texts after a change, and none without one", async () => {
    await using site = await createPublicSite();
    const [id = ""] = await writeLongTexts(site.app, { incidents: 50, updates: 2 });
    const { ctx } = site.app;
    const rendered: string[] = [];
    const render = createMarkdownCache((source, topHeading) => {
      rendered.push(source);
      return renderText(source, topHeading);
    });
    const write = () => {
      const snapshot = site.snapshot();
      const entries = listEntries(ctx.db, snapshot, ctx.baseUrl);
      for (const { write: writeFeed } of FEEDS) {
        writeFeed(snapshot, runAtOnce(renderEntries(entries, render)));
      }
      return rendered.splice(0).length;
    };
    const before = write();
    expect(before).toBeGreaterThan(20);
    expect(before).toBeLessThan(60);
    const key = await site.app.keyWith("write:incidents");
    const json = { body: "It is over." };
    const path = `/api/v1/incidents/${id}/updates`;
    expect((await site.app.call(path, { method: "POST", key, json })).status).toBe(201);
    // The changed text, and texts at the limit of what the feed has room for.
    expect(write()).toBeLessThanOrEqual(3);
    expect(write()).toBe(0);
  });
});

/** Runs a generator to its end. */
function runAtOnce<Result>(steps: Generator<number, Result>): Result {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}
