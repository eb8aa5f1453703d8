import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import type { PageInput } from "../../src/features/pages/wire";
import { MINUTE_MS, toIso } from "../../src/base/time";
import { expectProblem } from "../support/app";
import { settle } from "../support/clock";
import { createPublicSite, type PublicSite } from "../support/public-site";
import { addUpdate, createIncident, updatePage } from "../support/examined";

const PATHS = ["/status/acme", "/status/acme/feed.atom", "/status/acme/feed.rss"];

/** Each of them takes a turn of the event loop when the page or a feed is rendered. */
const PLANNED = 20;

async function createSite(): Promise<PublicSite> {
  const site = await createPublicSite();
  for (let count = 0; count < PLANNED; count++) {
    await site.plan("2026-03-12T02:00:00Z", "2026-03-12T04:00:00Z", { name: `Planned ${count}` });
  }
  return site;
}

function change({ app, page }: PublicSite, input: Partial<PageInput>) {
  return app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, input, CLI_ACTOR));
}

/** Adds an incident that has ended: the snapshot of its page does not contain it. */
function addEndedIncident({ app }: PublicSite, name: string) {
  const now = app.clock.now();
  const times = { started_at: toIso(now - 2 * MINUTE_MS), resolved_at: toIso(now - MINUTE_MS) };
  const input = { page: "acme", name, body: "Hm.", ...times };
  return app.ctx.db.write((tx) => createIncident(app.ctx, tx, input, "api", CLI_ACTOR));
}

describe.each(PATHS)("%s while its page changes", (path) => {
  test("a page that becomes private while it is rendered is not_found and shows nothing written later", async () => {
    await using site = await createSite();
    const { app } = site;
    // Both are written right after the turn of the event loop in which the request arrives.
    const hidden = change(site, { visibility: "private" });
    const written = addEndedIncident(site, "Secret");
    const reading = app.call(path);
    await Promise.all([hidden, written]);
    expectProblem(await app.call(path), "not_found");
    const answer = await reading;
    expect([answer.status, answer.text.includes("Secret")]).toEqual([404, false]);
    expectProblem(answer, "not_found");
  });

  test("a page that becomes private after its records were read is not_found", async () => {
    await using site = await createSite();
    const reading = site.app.call(path);
    await settle();
    await change(site, { visibility: "private" });
    expectProblem(await reading, "not_found");
  });

  test("a page that changes in every turn of the event loop is shown in one of its later states", async () => {
    await using site = await createSite();
    let changes = 0;
    let isAnswered = false;
    const changing = (async () => {
      while (!isAnswered) await change(site, { name: `Acme ${++changes}` });
    })();
    const answer = await site.app.call(path);
    isAnswered = true;
    await changing;
    expect([answer.status, /Acme \d/.test(answer.text)]).toEqual([200, true]);
    expect(changes).toBeGreaterThan(2);
  });
});

test("an incident that is resolved while its page is rendered is shown once, as past", async () => {
  await using site = await createSite();
  const { app } = site;
  const { id } = await site.open({ name: "Outage" });
  const resolved = app.ctx.db.write((tx) =>
    addUpdate(app.ctx, tx, id, { status: "resolved", body: "Over." }, CLI_ACTOR),
  );
  const [{ text }] = await Promise.all([app.call("/status/acme"), resolved]);
  const [open = "", past = ""] = text.split('id="past"');
  expect([open.includes("Outage"), past.includes("Outage")]).toEqual([false, true]);
});

test("a page that gets another slug while it is rendered redirects to it", async () => {
  await using site = await createSite();
  const renamed = change(site, { slug: "fresh" });
  const [answer] = await Promise.all([site.app.call("/status/acme"), renamed]);
  expect([answer.status, answer.headers.get("location")]).toEqual([308, "/status/fresh"]);
});

test("a private page whose reader signs out while it is rendered is not_found", async () => {
  await using site = await createSite();
  const { app } = site;
  const session = await app.signedIn("viewer");
  await change(site, { visibility: "private" });
  await app.app.loadRoutes();
  const signingOut = app.call("/admin/sign-out", { session, form: {} });
  const answer = await app.call("/status/acme", { session });
  expect((await signingOut).status).toBe(303);
  expectProblem(answer, "not_found");
});
