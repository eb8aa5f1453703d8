import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { DAY_MS, HOUR_MS, MINUTE_MS, toIso } from "../../../src/base/time";
import { readMailSettings, setMailSettings } from "../../../src/features/mail/settings";
import { REPORT_TEMPLATE, mailTimeOf, startReportMails } from "../../../src/features/reports/mails";
import { REPORT_TEMPLATES } from "../../../src/features/reports/letters";
import { createUser } from "../../../src/features/users/users";
import { readHtml } from "../../support/html";
import { listMails } from "../../support/mail-rows";
import { createReportSite, MONTH, MONTH_START, type ReportSite } from "../../support/report-site";
import { RELAY } from "../../support/subscribing";
import { written } from "../../support/account-mail";

const END = MONTH_START + 31 * DAY_MS;
const ADA = "ada@example.com";

/** A site with mail, the user Ada, and an endpoint that sends her all events. */
async function createSite({ hasEndpoint = true } = {}) {
  const site = await createReportSite();
  const { app } = site;
  const { ctx } = app;
  await ctx.db.write((tx) => {
    setMailSettings(ctx, tx, RELAY, CLI_ACTOR);
    createUser(ctx, tx, { email: ADA, name: "Ada", role: "owner" }, CLI_ACTOR);
  });
  const endpoint = (address: string, json: object = {}) =>
    site.api("webhooks", {
      method: "POST",
      json: { url: `mailto:${address}`, format: "email", ...json },
    });
  if (hasEndpoint) expect((await endpoint(ADA)).status).toBe(201);
  const timer = startReportMails(ctx);
  const mails = () => listMails(ctx.db, {}).filter(({ template }) => template === REPORT_TEMPLATE);
  return {
    ...site,
    endpoint,
    mails,
    /** Recipients of the mails, in alphabetical order. */
    recipients: () =>
      mails()
        .map(({ recipient }) => recipient)
        .toSorted(),
    compose(mail = mails().at(-1)) {
      const settings = readMailSettings(ctx);
      const template = REPORT_TEMPLATES[REPORT_TEMPLATE];
      if (!mail || !settings || !template) throw new Error("there is no mail");
      return Promise.resolve(template(mail, { ctx, settings }));
    },
    async [Symbol.asyncDispose]() {
      timer.cancel();
      await site[Symbol.asyncDispose]();
    },
  } satisfies ReportSite & Record<string, unknown>;
}

describe("the time at which a report is mailed", () => {
  test.each([
    ["UTC", "2026-04-01T08:00:00.000Z"],
    ["Europe/Berlin", "2026-04-01T06:00:00.000Z"],
    ["America/New_York", "2026-04-01T12:00:00.000Z"],
    ["Pacific/Pago_Pago", "2026-04-01T19:00:00.000Z"],
    // At 08:00 there, the month has not ended in UTC.
    ["Pacific/Auckland", "2026-04-01T00:05:00.000Z"],
    ["Atlantis/Lost", "2026-04-01T08:00:00.000Z"],
  ])(
    "is 08:00 of the first in the zone of the page, after the end of the month: %s",
    (zone, at) => {
      expect(toIso(mailTimeOf(MONTH, zone))).toBe(at);
    },
  );
});

describe("the mail of a monthly report", () => {
  test("goes at 08:00 in the zone of the page to a confirmed address, once, with the figures of the month", async () => {
    await using site = await createSite();
    await site.updatePage({ time_zone: "Europe/Berlin" });
    await site.updateComponent("API", { uptime_goal: 99.9 });
    const start = MONTH_START + DAY_MS;
    await site.incident({ name: "API is <down>", from: start, to: start + 2 * HOUR_MS });
    await site.passUntil(END + 6 * HOUR_MS - MINUTE_MS);
    expect(site.mails()).toEqual([]);
    await site.passUntil(END + 6 * HOUR_MS + MINUTE_MS);
    expect(site.recipients()).toEqual([ADA]);
    const mail = await written(site.compose());
    expect(mail.subject).toBe("Report of Acme, March 2026");
    const text = String(mail.text);
    for (const part of [
      "1 incident",
      "99.731 % (goal 99.9 %)",
      "API is <down>",
      "2 h in this month",
      `https://status.test/admin/analytics/report?page=acme&month=${MONTH}`,
    ]) {
      expect(text).toContain(part);
    }
    await site.passUntil(END + DAY_MS);
    expect(site.mails()).toHaveLength(1);
    await site.passUntil(END + 30 * DAY_MS + 6 * HOUR_MS + MINUTE_MS);
    expect(site.mails().map(({ params }) => params["month"])).toEqual([MONTH, "2026-04"]);
  });

  test("goes to each confirmed address once whose endpoint is about incidents of the page", async () => {
    await using site = await createSite();
    const other = await site.app.page({ slug: "other", name: "Other" }, []);
    await site.endpoint(ADA.toUpperCase(), { page: "acme" });
    // Not confirmed, of another page, about monitors alone, and disabled.
    await site.endpoint("stranger@example.com");
    const { ctx } = site.app;
    for (const name of ["bob", "cleo", "dan", "eve"]) {
      const user = { email: `${name}@example.com`, name, role: "viewer" } as const;
      await ctx.db.write((tx) => createUser(ctx, tx, user, CLI_ACTOR));
    }
    await site.endpoint("bob@example.com", { page: "acme", events: ["incident.created"] });
    await site.endpoint("cleo@example.com", { page: other.page.slug });
    await site.endpoint("dan@example.com", { events: ["monitor.down"] });
    await site.endpoint("eve@example.com", { enabled: false });
    await site.passUntil(END + 8 * HOUR_MS + MINUTE_MS);
    const ofAcme = site.mails().filter(({ subjectId }) => subjectId === site.page.id);
    expect(ofAcme.map(({ recipient }) => recipient).toSorted()).toEqual([ADA, "bob@example.com"]);
  });

  test("is not sent for a page whose reports are off, also if that changed after it was queued", async () => {
    await using site = await createSite();
    await site.passUntil(END + 8 * HOUR_MS + MINUTE_MS);
    expect(site.mails()).toHaveLength(1);
    await site.updatePage({ report: "off" });
    expect(await site.compose()).toBe("unwanted");
    await site.passUntil(END + 30 * DAY_MS + 8 * HOUR_MS + MINUTE_MS);
    expect(site.mails()).toHaveLength(1);
  });

  test("waits up to three days for an address, and is then left out", async () => {
    await using late = await createSite({ hasEndpoint: false });
    await late.passUntil(END + 2 * DAY_MS);
    expect(late.mails()).toEqual([]);
    await late.endpoint(ADA);
    await late.passUntil(END + 3 * DAY_MS);
    expect(late.recipients()).toEqual([ADA]);
    await using never = await createSite({ hasEndpoint: false });
    await never.passUntil(END + 4 * DAY_MS);
    await never.endpoint(ADA);
    await never.passUntil(END + 5 * DAY_MS);
    expect(never.mails()).toEqual([]);
  });

  test("goes for each page, also if that of another page fails, which is mailed when it can be", async () => {
    await using site = await createSite();
    const { ctx } = site.app;
    const other = await site.app.page({ slug: "other", name: "Other" }, []);
    const { newId } = ctx;
    let isBroken = true;
    // The mail of the newest page is the first that is queued.
    ctx.newId = (kind) => {
      if (!isBroken || kind !== "eml") return newId(kind);
      isBroken = false;
      throw new Error("broken");
    };
    await site.passUntil(END + 8 * HOUR_MS);
    expect(site.mails().map(({ subjectId }) => subjectId)).toEqual([site.page.id]);
    await site.passUntil(END + 8 * HOUR_MS + 5 * MINUTE_MS);
    const mailed = new Set(site.mails().map(({ subjectId }) => subjectId));
    expect(mailed).toEqual(new Set([site.page.id, other.page.id]));
  });

  test("is queued by the primary alone", async () => {
    await using site = await createSite();
    site.app.ctx.isPrimary = () => false;
    await site.passUntil(END + 9 * HOUR_MS);
    expect(site.mails()).toEqual([]);
    site.app.ctx.isPrimary = () => true;
    await site.passUntil(END + 10 * HOUR_MS);
    expect(site.recipients()).toEqual([ADA]);
  });

  test("a report that changed since it was mailed says so, and one that did not says nothing", async () => {
    await using site = await createSite();
    const start = MONTH_START + DAY_MS;
    const id = await site.incident({ name: "Wrong alarm", from: start, to: start + HOUR_MS });
    await site.passUntil(END + 8 * HOUR_MS + MINUTE_MS);
    await site.updatePage({ report: "public" });
    const linesOf = async () =>
      readHtml((await site.show()).text)
        .texts(".report-lines p")
        .filter((line) => line.startsWith("Changed"));
    expect([await linesOf(), (await site.read()).changedSince]).toEqual([[], undefined]);
    site.app.clock.setWallClock(END + 10 * DAY_MS);
    await site.deleteIncident(id);
    expect(await linesOf()).toEqual(["Changed since 1 Apr 2026 08:00 UTC, when it was mailed."]);
    const session = await site.app.signedIn("viewer");
    const { text } = await site.app.call(`/admin/analytics/report?month=${MONTH}`, { session });
    expect(text).toContain("Changed since");
    expect(text).toContain("It was mailed on 1 Apr 2026.");
  });
});
