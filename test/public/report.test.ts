import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/base/time";
import { readHtml } from "../support/html";
import { createPageAccess } from "../support/page-access";
import { createReportSite, MONTH, MONTH_START } from "../support/report-site";

const PATH = `/status/acme/report/${MONTH}`;
const END = MONTH_START + 31 * DAY_MS;

async function afterTheMonth() {
  const site = await createReportSite();
  await site.incident({
    name: "API is <down>",
    from: MONTH_START + DAY_MS,
    to: MONTH_START + DAY_MS + HOUR_MS,
  });
  site.app.clock.setWallClock(END + DAY_MS);
  return site;
}

describe("the report at the address of a page", () => {
  test("is by default for signed-in users alone, and no cache stores either answer", async () => {
    await using site = await afterTheMonth();
    const session = await site.app.signedIn("viewer");
    for (const _ of [1, 2]) {
      const seen = await site.show({ session });
      expect([seen.status, seen.headers.get("cache-control")]).toEqual([200, "no-store"]);
      const hidden = await site.show();
      expect([hidden.status, hidden.headers.get("cache-control")]).toEqual([404, "no-store"]);
    }
  });

  test("is for everyone if it is public, in the visitor's language, and nobody's if it is off", async () => {
    await using site = await afterTheMonth();
    await site.updatePage({ report: "public", languages: ["de"] });
    const page = readHtml((await site.show()).text);
    expect(page.texts("h1")).toEqual(["Report, March 2026"]);
    expect(page.texts(".report-table tbody th a")).toEqual(["API is <down>"]);
    const german = readHtml((await site.app.call(`${PATH}?lang=de`)).text);
    expect(german.texts("h1")).toEqual(["Bericht, März 2026"]);
    expect(german.attributes("a[rel=prev]", "href")).toEqual([
      "/status/acme/report/2026-02?lang=de",
    ]);
    await site.updatePage({ report: "off" });
    const session = await site.app.signedIn("owner");
    expect([(await site.show()).status, (await site.show({ session })).status]).toEqual([404, 404]);
  });

  test("shows visitors nothing that the page hides, and signed-in users of a report for the team all", async () => {
    await using site = await afterTheMonth();
    const session = await site.app.signedIn("viewer");
    await site.updateComponent("Website", { showcase: false });
    const names = async (options = {}) =>
      readHtml((await site.show(options)).text).texts(".report-table tbody th bdi");
    expect(await names({ session })).toContain("Website");
    await site.updatePage({ report: "public" });
    expect(await names()).not.toContain("Website");
    expect(await names()).toContain("API");
  });

  test("follows the rules of a private page", async () => {
    await using site = await afterTheMonth();
    const access = createPageAccess(site.app, site.page.id);
    await access.password("correct horse");
    await access.update({ visibility: "private", report: "public" });
    expect((await site.show()).status).toBe(401);
    const session = await site.app.signedIn("viewer");
    const seen = await site.show({ session });
    expect([seen.status, seen.headers.get("cache-control")]).toEqual([200, "no-store"]);
    await access.update({ report: "team" });
    expect((await site.show({ session })).status).toBe(200);
  });

  test("is on a custom domain and, from an earlier slug, at the current one", async () => {
    await using site = await afterTheMonth();
    await site.updatePage({ report: "public", custom_domains: ["up.example"], slug: "later" });
    expect(
      (await site.app.call(`/status/later/report/${MONTH}`, { host: "up.example" })).status,
    ).toBe(200);
    const moved = await site.show();
    expect([moved.status, moved.headers.get("location")]).toEqual([
      308,
      `/status/later/report/${MONTH}`,
    ]);
  });

  test("does not exist for a month without one, or for what is no month", async () => {
    await using site = await afterTheMonth();
    await site.updatePage({ report: "public" });
    for (const month of ["2026-01", "2026-05", "2026-13", "1", "2026-3", "%00"]) {
      expect([month, (await site.show({ month })).status]).toEqual([month, 404]);
    }
    expect((await site.show({ month: "2026-04" })).status).toBe(200);
  });

  test("changes with a corrected incident at its next request", async () => {
    await using site = await afterTheMonth();
    await site.updatePage({ report: "public" });
    const [incident] = (await site.read()).incidents;
    expect((await site.show()).text).toContain("API is &lt;down>");
    await site.deleteIncident(incident?.id ?? "");
    expect((await site.show()).text).not.toContain("API is &lt;down>");
  });

  test("of the present month goes up to the same time on all nodes of a fleet", async () => {
    await using site = await createReportSite({
      env: {
        ALLCLEAR_FLEET_SECRET: "x".repeat(32),
        ALLCLEAR_FLEET_STORE: "s3://bucket/fleet",
        ALLCLEAR_FLEET_STORE_KEY_ID: "id",
        ALLCLEAR_FLEET_STORE_SECRET: "secret",
      },
    });
    await site.updatePage({ report: "public" });
    site.app.clock.setWallClock(MONTH_START + 10 * DAY_MS + 4 * MINUTE_MS);
    const page = readHtml((await site.show()).text);
    expect(page.attributes(".report-lines time", "datetime")).toEqual(["2026-03-11T00:00:00.000Z"]);
  });

  test("is linked from the history of its month while it is public", async () => {
    await using site = await afterTheMonth();
    const links = async (month: string) =>
      readHtml((await site.app.call(`/status/acme/history?month=${month}`)).text).attributes(
        "main a[href*='/report/']",
        "href",
      );
    expect(await links(MONTH)).toEqual([]);
    await site.updatePage({ report: "public" });
    expect(await links(MONTH)).toEqual([PATH]);
  });
});
