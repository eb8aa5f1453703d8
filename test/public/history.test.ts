import { describe, expect, test } from "bun:test";
import { advanceMaintenance } from "../../src/features/maintenance/clock";
import { readHistory } from "../../src/features/status/entries";
import { CLI_ACTOR } from "../../src/base/actor";
import { DAY_MS, HOUR_MS, toIso } from "../../src/base/time";
import { expectMissingPart, expectProblem } from "../support/app";
import { counted } from "../support/counted-transaction";
import { readHtml } from "../support/html";
import { createPublicSite } from "../support/public-site";
import { createIncident } from "../support/examined";

describe("the history of a page", () => {
  test("the history lists entries that started in the month, by day, newest first", async () => {
    await using site = await createPublicSite();
    const { app } = site;
    const past = (name: string, from: string, until: string) =>
      site.open({ name, started_at: from, resolved_at: until });
    await past("Last", "2026-02-28T23:59:59.999Z", "2026-03-01T01:00:00Z");
    await past("First", "2026-02-01T00:00:00Z", "2026-02-01T00:00:30Z");
    await past("Not yet", "2026-03-01T00:00:00Z", "2026-03-01T01:00:00Z");
    await past("Before", "2026-01-31T23:59:59Z", "2026-02-02T01:00:00Z");
    const page = readHtml((await app.call("/status/acme/history?month=2026-02")).text);
    expect(page.texts("h1")).toEqual(["History, February 2026"]);
    expect(page.texts(".past li")).toEqual([
      "28 FebLastNo impact · Resolved1 h",
      "1 FebFirstNo impact · Resolvedless than a minute",
    ]);
    expect(page.attributes(".months a", "href")).toEqual([
      "/status/acme/history?month=2026-01",
      "/status/acme/history?month=2026-03",
    ]);
  });

  test("the history contains completed and current maintenance, and no drafts", async () => {
    await using site = await createPublicSite();
    const { app } = site;
    await site.open({ name: "A thought", draft: true });
    const first = await site.plan("2026-03-10T13:00:00Z", "2026-03-10T14:00:00Z", { name: "One" });
    await site.plan("2026-03-20T13:00:00Z", "2026-03-20T14:00:00Z", { name: "To come" });
    const second = await site.plan("2026-03-10T15:00:00Z", "2026-03-10T16:00:00Z", { name: "Two" });
    await app.clock.advance(HOUR_MS);
    await site.updateMaintenance(first.id, { status: "in_progress" });
    await app.clock.advance(HOUR_MS);
    await site.updateMaintenance(first.id, { status: "completed" });
    await app.clock.advance(HOUR_MS);
    await site.updateMaintenance(second.id, { status: "in_progress" });
    const page = readHtml((await app.call("/status/acme/history")).text);
    expect(page.texts(".past li")).toEqual([
      "10 MarTwoMaintenance · In progress",
      "OneMaintenance · Completed1 h",
    ]);
  });

  test("the history without a month shows the current one and no link to a later one", async () => {
    await using site = await createPublicSite();
    const page = readHtml((await site.app.call("/status/acme/history")).text);
    expect(page.texts("h1")).toEqual(["History, March 2026"]);
    expect(page.texts(".empty")).toEqual(["No incidents or maintenance in March 2026."]);
    // The page was made in it, and nothing is known from before.
    expect(page.attributes(".months a", "rel")).toEqual([]);
    await site.app.clock.advance(22 * DAY_MS);
    const next = readHtml((await site.app.call("/status/acme/history")).text);
    expect(next.texts("h1")).toEqual(["History, April 2026"]);
    expect(next.attributes(".months a", "rel")).toEqual(["prev"]);
  });

  test.each(["incident", "maintenance"])(
    "the history links back to the month of the first %s and not further",
    async (kind) => {
      await using site = await createPublicSite();
      const span = ["2025-12-31T22:00:00Z", "2025-12-31T23:00:00Z"] as const;
      await site.open({ draft: true, started_at: "2024-01-01T00:00:00Z" });
      if (kind === "incident") await site.open({ started_at: span[0], resolved_at: span[1] });
      else {
        await site.plan(...span);
        await site.app.ctx.db.write((tx) =>
          advanceMaintenance(site.app.ctx, tx, site.app.clock.now()),
        );
      }
      const linksOf = async (month: string) => {
        const { text } = await site.app.call(`/status/acme/history?month=${month}`);
        return readHtml(text).attributes(".months a", "rel");
      };
      expect(await linksOf("2026-02")).toEqual(["prev", "next"]);
      expect(await linksOf("2026-01")).toEqual(["prev", "next"]);
      expect(await linksOf("2025-12")).toEqual(["next"]);
    },
  );

  test("the history of a full month has several parts that contain each entry once, newest first", async () => {
    await using site = await createPublicSite();
    const { app } = site;
    const { ctx } = app;
    const names: string[] = [];
    await ctx.db.write((tx) => {
      // Several at once, so that parts end among those that began together.
      for (let n = 0; n < 230; n++) {
        const at = toIso(Date.parse("2026-02-01T00:00:00Z") + Math.floor(n / 7) * HOUR_MS);
        const input = { page: "acme", name: `No. ${n}`, body: "Hm.", started_at: at };
        createIncident(ctx, tx, { ...input, resolved_at: at }, "api", CLI_ACTOR);
        names.unshift(`No. ${n}`);
      }
    });
    const found: string[] = [];
    let parts = 0;
    for (let next: string | undefined = "/status/acme/history?month=2026-02"; next;) {
      const page = readHtml((await app.call(next)).text);
      found.push(...page.texts(".entry > a"));
      parts += 1;
      next = page.attributes('nav[aria-label="Parts of February 2026"] a', "href").at(-1);
      if (next === "/status/acme/history?month=2026-02") break;
    }
    expect(found).toEqual(names);
    expect(parts).toBe(3);
  });

  test("the history of a month of a thousand incidents reads only the shown rows and no texts", async () => {
    await using site = await createPublicSite();
    const { ctx } = site.app;
    const from = Date.parse("2026-02-01T00:00:00Z");
    const costs = await ctx.db.write((tx) => {
      for (let n = 0; n < 1_000; n++) {
        const at = toIso(from + n * 1_000);
        const input = { page: "acme", name: `No. ${n}`, body: "Hm.", started_at: at };
        createIncident(ctx, tx, { ...input, resolved_at: at }, "api", CLI_ACTOR);
      }
      const counting = counted(tx);
      readHistory(counting.tx, { pageId: site.page.id, from, to: from + 28 * DAY_MS }, 50);
      return { statements: counting.statements(), rows: counting.rows() };
    });
    // One row of each incident, and one with the number of its updates and named components.
    expect(costs).toEqual({ statements: 4, rows: 2 * 51 });
  });

  test.each(["x", "1-upd_1", "-1-inc_1", "9999999999999999-inc_1", "1-inc_%00"])(
    "the history rejects an invalid cursor: %s",
    async (place) => {
      await using site = await createPublicSite();
      const answer = await site.app.call(`/status/acme/history?month=2026-02&before=${place}`);
      expectProblem(answer, "invalid_request");
    },
  );

  test("the history is not_found for months before 1970 or in the future", async () => {
    await using site = await createPublicSite();
    const read = (month: string) => site.app.call(`/status/acme/history?month=${month}`);
    const first = readHtml((await read("1970-01")).text);
    expect(first.attributes(".months a", "rel")).toEqual(["next"]);
    for (const month of ["1969-12", "0000-01", "2026-04", "9999-12"]) {
      expectMissingPart(await read(month));
    }
  });

  test.each(["2026-13", "2026-00", "2026-3", "2026", "last", "2026-03-01", "%00", "2026-03%0a"])(
    "the history rejects an invalid month: %s",
    async (month) => {
      await using site = await createPublicSite();
      const answer = await site.app.call(`/status/acme/history?month=${month}`);
      expectProblem(answer, "invalid_request");
    },
  );

  test("the history ignores unknown query parameters", async () => {
    await using site = await createPublicSite();
    const plain = await site.app.call("/status/acme/history?month=2026-02");
    const tracked = await site.app.call("/status/acme/history?month=2026-02&utm_source=x");
    expect(tracked.status).toBe(200);
    expect(tracked.text).toBe(plain.text);
  });
});
