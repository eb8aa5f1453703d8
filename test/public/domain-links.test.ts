import { describe, expect, test } from "bun:test";
import type { PageInput } from "../../src/features/pages/wire";
import { putLogo } from "../../src/features/pages/logo";
import { CLI_ACTOR } from "../../src/base/actor";
import { readHtml } from "../support/html";
import { png } from "../support/pictures";
import { createPublicSite, type PublicSite } from "../support/public-site";
import { updatePage } from "../support/examined";

const OWN = "https://status.acme.example/status/acme";
const PUBLIC = "https://status.test/status/acme";

/** A page with all that has an address: an incident, a maintenance, a logo. */
async function demoData(input: Partial<PageInput>): Promise<PublicSite> {
  const site = await createPublicSite(input);
  await site.open({ name: "Errors" });
  await site.plan("2026-03-12T02:00:00Z", "2026-03-12T04:00:00Z");
  const { app, page } = site;
  await app.ctx.db.write((tx) => putLogo(app.ctx, tx, page.id, { bytes: png(9, 9) }, CLI_ACTOR));
  return site;
}

/** Every absolute URL of this installation in a text. */
const urlsIn = (text: string) =>
  text.match(/https?:\/\/(?:status\.test|status\.acme\.example)[^\s"<\\]*/g) ?? [];

describe("the absolute URLs of a page with a custom domain", () => {
  const custom_domains = ["status.acme.example", "other.example"];

  test("URLs in API answers and events start with the page's first custom domain", async () => {
    await using site = await demoData({ custom_domains });
    const { app, key } = site;
    const document = await site.document();
    const [incident] = document.incidents;
    const [maintenance] = document.maintenance;
    expect(document.page.url).toBe(OWN);
    expect(document.page.logo).toStartWith(`${OWN}/logo/`);
    expect(incident.url).toBe(`${OWN}/incidents/${incident.id}`);
    expect(maintenance.url).toBe(`${OWN}/maintenance/${maintenance.id}`);
    await site.update(incident.id, { status: "resolved" });
    await site.updateMaintenance(maintenance.id, { status: "in_progress" });
    for (const path of [
      "/status",
      "/incidents",
      `/incidents/${incident.id}`,
      "/maintenance",
      `/maintenance/${maintenance.id}`,
    ]) {
      const { text } = await app.call(`/api/v1${path}`, { key });
      expect(urlsIn(text).length, path).toBeGreaterThan(0);
      for (const url of urlsIn(text)) expect(url, path).toStartWith(OWN);
    }
    const events = app.events().filter(({ data }) => "url" in data);
    expect(new Set(events.map(({ type }) => type))).toEqual(
      new Set([
        "incident.created",
        "incident.resolved",
        "maintenance.scheduled",
        "maintenance.started",
      ]),
    );
    for (const { type, data } of events) expect(String(data["url"]), type).toStartWith(OWN);
  });

  test("URLs in feeds, calendar, Statuspage documents and canonical links start with the custom domain", async () => {
    await using site = await demoData({ custom_domains });
    for (const file of ["feed.atom", "feed.rss", "calendar.ics", "api/v2/summary.json"]) {
      // Lines of a calendar are folded.
      const text = (await site.app.call(`/status/acme/${file}`)).text.replaceAll("\r\n ", "");
      expect(urlsIn(text).length, file).toBeGreaterThan(1);
      for (const url of urlsIn(text)) expect(url, file).toStartWith(OWN);
    }
    for (const [path, canonical] of [
      ["/", OWN],
      ["/status/acme/history", undefined],
    ]) {
      const page = readHtml((await site.app.call(path ?? "")).text);
      const [link = ""] = page.attributes('link[rel="canonical"]', "href");
      expect(link).toStartWith(canonical ?? `${OWN}/history`);
    }
  });

  test("the Location of a new resource is at the API's address", async () => {
    await using site = await createPublicSite({ custom_domains });
    const json = { page: "acme", name: "Errors", body: "Hm." };
    const options = { method: "POST", key: site.key, json };
    const answer = await site.app.call("/api/v1/incidents", options);
    expect(answer.headers.get("location")).toStartWith("https://status.test/api/v1/incidents/inc_");
    expect(answer.body.url).toStartWith(OWN);
  });

  test("URLs on a custom domain have the public address's scheme and no port, and change with both", async () => {
    await using site = await createPublicSite({ custom_domains });
    const { app, page } = site;
    const urlNow = async () => (await site.document()).page.url;
    app.ctx.baseUrl = "http://home.lan:8080";
    app.ctx.signals.settingsChanged.emit();
    expect(await urlNow()).toBe("http://status.acme.example/status/acme");
    const change = { custom_domains: ["other.example"] };
    await app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, change, CLI_ACTOR));
    expect(await urlNow()).toBe("http://other.example/status/acme");
  });
});

describe("the absolute URLs of pages that are not served on a custom domain", () => {
  test.each([
    ["without a custom domain", {}],
    [
      "that are private and so not there on it",
      { visibility: "private" as const, custom_domains: ["status.acme.example"] },
    ],
  ])("the URLs of pages %s start with the public address", async (_which, input) => {
    await using site = await demoData(input);
    const urls = urlsIn(JSON.stringify(await site.document()));
    // A private page has no page to subscribe.
    expect(urls).toHaveLength("visibility" in input ? 4 : 5);
    for (const url of urls) expect(url).toStartWith(PUBLIC);
    const events = site.app.events().filter(({ data }) => "url" in data);
    expect(events).toHaveLength(2);
    for (const { data } of events) expect(String(data["url"])).toStartWith(PUBLIC);
  });
});
