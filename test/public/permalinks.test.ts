import { describe, expect, test } from "bun:test";
import { deleteIncident } from "../../src/features/incidents/incidents";
import { CLI_ACTOR } from "../../src/base/actor";
import { HOUR_MS } from "../../src/base/time";
import { expectMissingPart } from "../support/app";
import { readHtml } from "../support/html";
import { createPublicSite } from "../support/public-site";

describe("the page of an incident", () => {
  test("the page of an incident shows its state, times, components, post-mortem and all updates", async () => {
    await using site = await createPublicSite({ name: "Acme" });
    const { app, key, ids } = site;
    const { id } = await site.open({
      name: "API down",
      components: { [ids["API"] ?? ""]: "major_outage" },
    });
    await app.clock.advance(HOUR_MS);
    await site.update(id, { status: "resolved", body: "Over." });
    const json = { body: "# Why\n\nA cable.", publish: true };
    await app.call(`/api/v1/incidents/${id}/postmortem`, { method: "PUT", key, json });

    const answer = await app.call(`/status/acme/incidents/${id}`);
    const page = readHtml(answer.text);
    expect(page.texts("head title")).toEqual(["API down · Acme"]);
    expect(page.texts("h1")).toEqual(["API down"]);
    expect(page.texts(".title .state")).toEqual(["Resolved"]);
    expect(page.texts(".facts dd")).toEqual([
      "10 Mar 2026, 12:00 UTC",
      "10 Mar 2026, 13:00 UTC (after 1 h)",
    ]);
    expect(page.texts(".row")).toEqual(["APIMajor outageEnded"]);
    expect(page.texts("h3")).toEqual(["Why"]);
    expect(page.texts(".timeline strong")).toEqual(["Resolved", "Investigating"]);
    expect(page.attributes('link[rel="canonical"]', "href")).toEqual([
      `https://status.test/status/acme/incidents/${id}`,
    ]);
    expect(page.attributes('meta[name="description"]', "content")).toEqual(["Over."]);
    expect(answer.headers.get("cache-control")).toStartWith("public");
  });

  test("the page of an incident shows only a published post-mortem", async () => {
    await using site = await createPublicSite();
    const { app, key } = site;
    const { id } = await site.open();
    const put = (json: object) =>
      app.call(`/api/v1/incidents/${id}/postmortem`, { method: "PUT", key, json });
    await put({ body: "Only a thought." });
    expect((await app.call(`/status/acme/incidents/${id}`)).text).not.toContain("a thought");
    await put({ body: "Only a thought.", publish: true });
    expect((await app.call(`/status/acme/incidents/${id}`)).text).toContain("a thought");
  });

  test("the page of an incident is not_found for drafts, deleted, unknown or other pages' incidents", async () => {
    await using site = await createPublicSite();
    const { app } = site;
    await app.page({ slug: "other" }, []);
    const draft = await site.open({ draft: true });
    const elsewhere = await site.open({ page: "other" });
    const gone = await site.open();
    expect((await app.call(`/status/acme/incidents/${gone.id}`)).status).toBe(200);
    expect((await app.call(`/status/other/incidents/${elsewhere.id}`)).status).toBe(200);
    await app.ctx.db.write((tx) => deleteIncident(app.ctx, tx, gone.id, CLI_ACTOR));
    for (const id of [draft.id, elsewhere.id, gone.id, "inc_nothing"]) {
      expectMissingPart(await app.call(`/status/acme/incidents/${id}`));
    }
  });

  test("the page of a resolved incident is green, says its past in words, and keeps the tone of each update", async () => {
    await using site = await createPublicSite();
    const components = { [site.ids["API"] ?? ""]: "major_outage" };
    const { id } = await site.open({ components });
    await site.update(id, { status: "monitoring" });
    const read = async () => {
      const page = readHtml((await site.app.call(`/status/acme/incidents/${id}`)).text);
      return {
        title: page.texts(".title > p"),
        states: page.attributes(".title .shape, .card .row .shape", "class"),
        updates: page.attributes(".timeline > li > .shape", "class"),
        heading: page.texts("#affected"),
        affected: page.texts(".card .row"),
      };
    };
    expect(await read()).toEqual({
      title: ["Critical impact"],
      states: ["shape t-major", "shape t-major"],
      updates: ["shape t-degraded", "shape t-major"],
      heading: ["Affected components"],
      affected: ["APIMajor outage"],
    });
    await site.update(id, { status: "resolved" });
    expect(await read()).toEqual({
      title: ["Resolved Was critical"],
      states: ["shape t-ok", "shape t-ok"],
      updates: ["shape t-ok", "shape t-degraded", "shape t-major"],
      heading: ["Affected components (ended)"],
      affected: ["APIMajor outageEnded"],
    });
    const history = readHtml((await site.app.call("/status/acme/history")).text);
    expect(history.attributes(".past .shape", "class")).toEqual(["shape t-major"]);
    expect(history.texts(".past .what")[0]).toStartWith("Critical impact · Resolved");
  });

  test("the page of an incident shows a new update at the next request", async () => {
    await using site = await createPublicSite();
    const { id } = await site.open();
    const path = `/status/acme/incidents/${id}`;
    expect((await site.app.call(path)).text).not.toContain("We found it.");
    await site.update(id, { body: "We found it." });
    expect((await site.app.call(path)).text).toContain("We found it.");
  });
});

describe("the page of a maintenance", () => {
  test("the page of a maintenance shows its planned times, components and updates", async () => {
    await using site = await createPublicSite();
    const components = [site.ids["Web"], site.ids["API"]];
    const { id } = await site.plan("2026-03-12T02:00:00Z", "2026-03-12T04:00:00Z", { components });
    const page = readHtml((await site.app.call(`/status/acme/maintenance/${id}`)).text);
    expect(page.texts("h1")).toEqual(["Upgrade"]);
    expect(page.texts(".title .state")).toEqual(["Scheduled"]);
    expect(page.texts(".facts dd")).toEqual(["12 Mar 2026, 02:00–04:00 UTC", "API, Web"]);
    expect(page.texts(".timeline .text")).toEqual(["Planned."]);
    expect(page.attributes("time[data-until]", "data-until")).toEqual(["2026-03-12T04:00:00.000Z"]);
  });

  test("the page of a maintenance is not_found for unknown or other pages' maintenance", async () => {
    await using site = await createPublicSite();
    const { app } = site;
    await app.page({ slug: "other" }, []);
    const elsewhere = await site.plan("2026-03-12T02:00:00Z", "2026-03-12T04:00:00Z", {
      page: "other",
    });
    expect((await app.call(`/status/other/maintenance/${elsewhere.id}`)).status).toBe(200);
    for (const id of [elsewhere.id, "mnt_nothing"]) {
      expectMissingPart(await app.call(`/status/acme/maintenance/${id}`));
    }
  });
});
