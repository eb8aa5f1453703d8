import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS } from "../../src/kernel/time";
import { expectProblem } from "../support/app";
import { readHtml } from "../support/html";
import { createPublicSite } from "../support/public-site";

describe("the history of a page", () => {
  test("has what began in its month, by day, newest first", async () => {
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
    expect(page.texts(".chapter h2")).toEqual(["28 Feb 2026", "1 Feb 2026"]);
    expect(page.texts(".row")).toEqual(["Last1 hResolved", "Firstless than a minuteResolved"]);
    expect(page.attributes(".months a", "href")).toEqual([
      "/status/acme/history?month=2026-01",
      "/status/acme/history?month=2026-03",
    ]);
  });

  test("has maintenance that is over and that is under way, and no draft", async () => {
    await using site = await createPublicSite();
    const { app } = site;
    await site.open({ name: "A thought", draft: true });
    const first = await site.plan("2026-03-10T13:00:00Z", "2026-03-10T14:00:00Z", { name: "One" });
    await site.plan("2026-03-20T13:00:00Z", "2026-03-20T14:00:00Z", { name: "To come" });
    const second = await site.plan("2026-03-10T15:00:00Z", "2026-03-10T16:00:00Z", { name: "Two" });
    await app.clock.advance(HOUR_MS);
    await site.tell(first.id, { status: "in_progress" });
    await app.clock.advance(HOUR_MS);
    await site.tell(first.id, { status: "completed" });
    await app.clock.advance(HOUR_MS);
    await site.tell(second.id, { status: "in_progress" });
    const page = readHtml((await app.call("/status/acme/history")).text);
    expect(page.texts(".row")).toEqual([
      "TwoMaintenanceIn progress",
      "OneMaintenance · 1 hCompleted",
    ]);
  });

  test("without a month is this one, behind which there is none", async () => {
    await using site = await createPublicSite();
    const page = readHtml((await site.app.call("/status/acme/history")).text);
    expect(page.texts("h1")).toEqual(["History, March 2026"]);
    expect(page.texts(".empty")).toEqual(["Nothing was reported in March 2026."]);
    expect(page.attributes(".months a", "rel")).toEqual(["prev"]);
    await site.app.clock.advance(22 * DAY_MS);
    const next = readHtml((await site.app.call("/status/acme/history")).text);
    expect(next.texts("h1")).toEqual(["History, April 2026"]);
  });

  test("begins in 1970 and ends with this month", async () => {
    await using site = await createPublicSite();
    const read = (month: string) => site.app.call(`/status/acme/history?month=${month}`);
    const first = readHtml((await read("1970-01")).text);
    expect(first.attributes(".months a", "rel")).toEqual(["next"]);
    for (const month of ["1969-12", "0000-01", "2026-04", "9999-12"]) {
      expectProblem(await read(month), "not_found");
    }
  });

  test.each(["2026-13", "2026-00", "2026-3", "2026", "last", "2026-03-01", "%00", "2026-03%0a"])(
    "refuses what is no month: %s",
    async (month) => {
      await using site = await createPublicSite();
      const answer = await site.app.call(`/status/acme/history?month=${month}`);
      expectProblem(answer, "invalid_request");
    },
  );

  test("does not mind what others append to links, and keeps one page for all of it", async () => {
    await using site = await createPublicSite();
    const plain = await site.app.call("/status/acme/history?month=2026-02");
    const tracked = await site.app.call("/status/acme/history?month=2026-02&utm_source=x");
    expect(tracked.status).toBe(200);
    expect(tracked.text).toBe(plain.text);
  });
});
