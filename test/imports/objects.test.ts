import { describe, expect, test } from "bun:test";
import { findKeptKey } from "../../src/features/compat/store";
import { numbersOf } from "../../src/features/compat/entries";
import { listAllPages } from "../../src/features/pages/store";
import { type ImportedToken, ofPostOnly, tokensOf } from "../../src/features/monitors/tokens";
import { CLI_ACTOR } from "../../src/base/actor";
import type { ImportReport } from "../../src/base/import-report";
import type { Found } from "../../src/imports/found";
import {
  foundComponent,
  foundGroup,
  foundIncident,
  foundMaintenance,
  foundMonitor,
  foundPage,
  foundSchedule,
  foundWebhook,
  heldMonitor,
} from "../support/found-objects";
import { createImportSite } from "../support/import-site";
import { listCausesOfPage } from "../support/causes";
import { picture } from "../support/pictures";
import { usePingProgram } from "../support/ping-program";
import { updatePage } from "../support/examined";

/** Site whose API can be read with a key of the scopes of all reads. */
async function createReadSite() {
  const site = await createImportSite();
  const key = await site.app.keyWith("read:status", "manage:monitors", "manage:webhooks");
  const read = async (path: string) => (await site.app.call(`/api/v1/${path}`, { key })).body;
  const numberOf = (id: string) => numbersOf(site.app.ctx.db, [id])(id);
  const pages = () => listAllPages(site.app.ctx.db, {});
  return Object.assign(site, { read, numberOf, pages });
}

const verdictsIn = ({ items }: ImportReport) => items.map(({ verdict }) => verdict);
const changesIn = ({ items }: ImportReport) => items.flatMap(({ changes }) => changes);
const reasonsIn = ({ items }: ImportReport) => items.map(({ reason }) => reason);

describe("an import of all kinds", () => {
  test("reports the differences that the importer found, at the first time and after a change", async () => {
    await using site = await createReadSite();
    const changes = [{ field: "colour", from: "red", to: null, reason: "It has none." }];
    const objectsNamed = (name: string) => ({
      pages: [foundPage("1", { changes, body: { name } })],
      groups: [foundGroup("1", { changes, body: { name } })],
      components: [foundComponent("1", { changes, body: { name } })],
      monitors: [foundMonitor("1", { changes, body: { name } })],
      webhooks: [foundWebhook("1", { changes, body: { description: name } })],
      maintenance: [foundMaintenance("1", { changes, body: { name } })],
      schedules: [foundSchedule("1", { changes, body: { name } })],
      incidents: [foundIncident("1", { changes, body: { name } })],
    });
    const imported = (report: ImportReport) =>
      report.items
        .filter((item) => item.foreign.type !== "internal page")
        .map((item) => [item.verdict, item.changes]);
    const options = { internalPage: null };
    const first = await site.importFound(objectsNamed("One"), options);
    expect(imported(first)).toEqual(Array.from({ length: 8 }, () => ["changed", changes]));
    const second = await site.importFound(objectsNamed("Two"), options);
    expect(imported(second)).toEqual(Array.from({ length: 8 }, () => ["updated", changes]));
  });
});

describe("an import of pages", () => {
  test("creates them with groups and components in their order, with one audit entry", async () => {
    await using site = await createReadSite();
    const report = await site.importFound({
      pages: [foundPage("1", { number: 3, body: { description: "All of it", theme: "dark" } })],
      groups: [foundGroup("1", { number: 4 }), foundGroup("2")],
      components: [
        foundComponent("1", { group: "group:2", body: { tags: ["eu"] } }),
        foundComponent("2", { group: "group:1", number: 12 }),
        foundComponent("3", { baseline: "partial_outage" }),
      ],
    });
    expect(report.counts).toEqual({ created: 6 });
    const [page] = site.pages();
    expect(page).toMatchObject({
      slug: "page-1",
      description: "All of it",
      theme: "dark",
      compat: ["uptime-kuma"],
      isDefault: true,
      managedBy: "import",
    });
    expect(site.numberOf(page?.id ?? "")).toBe(3);
    const { data: components } = await site.read("components?page=page-1");
    const byName = Object.fromEntries(components.map((one: { name: string }) => [one.name, one]));
    expect(byName["Component 3"]).toMatchObject({
      group_id: null,
      status: "partial_outage",
      baseline_status: "partial_outage",
      show_latency: true,
    });
    expect(site.numberOf(byName["Component 2"].id)).toBe(12);
    expect(byName["Component 1"].group_id).not.toBe(byName["Component 2"].group_id);
    expect(site.numberOf(byName["Component 2"].group_id)).toBe(4);
    const audited = site.app.audit().map(({ action }) => action);
    expect(audited.filter((action) => action !== "key.create")).toEqual(["import.run"]);
    expect(report.items.map(({ target }) => target?.kind)).toEqual([
      "page",
      "group",
      "group",
      "component",
      "component",
      "component",
    ]);
  });

  test("numbers slugs that are taken or reserved, and makes valid ones of others", async () => {
    await using site = await createReadSite();
    await site.app.page({ slug: "shop" });
    const slugs = ["shop", "status", "Über uns!", "-"];
    const report = await site.importFound({
      pages: slugs.map((slug, index) => foundPage(`${index}`, { body: { slug } })),
    });
    expect(verdictsIn(report)).toEqual(["changed", "changed", "changed", "changed"]);
    expect(changesIn(report).map(({ from, to }) => [from, to])).toEqual([
      ["shop", "shop-2"],
      ["status", "status-2"],
      ["Über uns!", "uber-uns"],
      ["-", "page"],
    ]);
  });

  test("cuts long names and descriptions, and takes UTC instead of an unknown time zone", async () => {
    await using site = await createReadSite();
    const body = { name: "n".repeat(300), description: "d".repeat(1_001), time_zone: "Mars/Base" };
    const report = await site.importFound({
      pages: [foundPage("1", { body })],
      groups: [foundGroup("1", { body: { name: "" } })],
      components: [foundComponent("1", { body: { name: "a\u0000b" } })],
    });
    expect(verdictsIn(report)).toEqual(["changed", "changed", "changed"]);
    expect(changesIn(report).map(({ field }) => field)).toEqual([
      "name",
      "description",
      "time_zone",
      "name",
      "name",
    ]);
    expect(report.items[1]?.target?.name).toBe("Unnamed group");
  });

  test("makes the default page of the source the default only where none is", async () => {
    await using site = await createReadSite();
    const pages = [foundPage("1"), foundPage("2", { isDefault: true })];
    expect((await site.importFound({ pages })).counts).toEqual({ created: 2 });
    const defaults = () => site.pages().flatMap(({ isDefault, slug }) => (isDefault ? slug : []));
    expect(defaults()).toEqual(["page-2"]);
    const [other] = [foundPage("3", { isDefault: true })];
    const report = await site.importFound({ pages: [other] }, { source: "other" });
    expect(changesIn(report).map(({ field }) => field)).toEqual(["default"]);
    expect(defaults()).toEqual(["page-2"]);
  });

  test("lists custom domains, and sets them on request", async () => {
    await using site = await createReadSite();
    await site.app.page({ slug: "taken", custom_domains: ["taken.example.com"] });
    const domains = ["status.example.com", "taken.example.com", "no host", "status.test"];
    const parts = { pages: [foundPage("1", { domains })] };
    const listed = await site.importFound(parts);
    expect(changesIn(listed).map(({ field, from, to }) => [field, from, to])).toEqual(
      domains.map((domain) => ["custom_domains", domain, null]),
    );
    const domainsNow = () => site.pages().flatMap(({ customDomains }) => customDomains);
    expect(domainsNow()).toEqual(["taken.example.com"]);
    const taken = await site.importFound(parts, { takesDomains: true });
    expect([verdictsIn(taken), reasonsIn(taken)]).toEqual([
      ["updated"],
      ["It got its custom domains."],
    ]);
    expect(domainsNow().toSorted()).toEqual(["status.example.com", "taken.example.com"]);
    expect(verdictsIn(await site.importFound(parts, { takesDomains: true }))).toEqual([
      "unchanged",
    ]);
    expect(verdictsIn(await site.importFound(parts))).toEqual(["unchanged"]);
  });

  test("says that a page which was edited here does not get its custom domains", async () => {
    await using site = await createReadSite();
    const { ctx } = site.app;
    const parts = { pages: [foundPage("1", { domains: ["a.example.com"] })] };
    await site.importFound(parts);
    const [{ id } = { id: "" }] = site.pages();
    await ctx.db.write((tx) => updatePage(ctx, tx, id, { theme: "dark" }, CLI_ACTOR));
    const report = await site.importFound(parts, { takesDomains: true });
    const reason = "It was edited here, so its custom domains are not taken over.";
    expect(report.items).toMatchObject([{ verdict: "kept", reason }]);
    expect(site.pages()).toMatchObject([{ customDomains: [] }]);
  });

  test("sets custom domains of a page that has changed as well", async () => {
    await using site = await createReadSite();
    const page = (name: string) => foundPage("1", { domains: ["a.example.com"], body: { name } });
    await site.importFound({ pages: [page("Shop")] });
    const report = await site.importFound({ pages: [page("Store")] }, { takesDomains: true });
    expect(report.items).toMatchObject([{ verdict: "updated", changes: [], reason: null }]);
    expect(site.pages()).toMatchObject([{ name: "Store", customDomains: ["a.example.com"] }]);
    const later = await site.importFound({ pages: [page("Shop")] });
    expect(later.items).toMatchObject([{ verdict: "updated", changes: [] }]);
    expect(site.pages()).toMatchObject([{ customDomains: ["a.example.com"] }]);
  });

  test("takes over logos, and names those that cannot be used", async () => {
    await using site = await createReadSite();
    const report = await site.importFound({
      pages: [
        foundPage("1", { logo: picture("png") }),
        foundPage("2", { logo: Buffer.from("<svg/>") }),
      ],
    });
    expect(verdictsIn(report)).toEqual(["created", "changed"]);
    expect(changesIn(report)).toEqual([
      {
        field: "logo",
        from: "set",
        to: "none",
        reason: "Its logo is not an image in PNG, JPEG or WebP.",
      },
    ]);
    const logos = site.pages().map(({ slug, logo }) => [slug, logo !== null]);
    expect(logos.toSorted()).toEqual([
      ["page-1", true],
      ["page-2", false],
    ]);
  });

  test("keeps Gatus' keys, of equal ones on a page the first", async () => {
    await using site = await createReadSite();
    const pages = [foundPage("1", { body: { compat: ["gatus"] } })];
    const components = ["1", "2"].map((id) => foundComponent(id, { key: "core_api" }));
    const report = await site.importFound({ kind: "gatus", pages, components });
    expect(verdictsIn(report)).toEqual(["created", "created", "changed"]);
    expect(changesIn(report)).toMatchObject([{ field: "key", from: "core_api", to: null }]);
    const first = report.items[1]?.target?.id ?? "";
    expect(findKeptKey(site.app.ctx.db, { key: "core_api" })?.componentId).toBe(first);
  });
});

describe("an import from Uptime Kuma", () => {
  test("keeps numbers that are free, of the first source alone", async () => {
    await using site = await createReadSite();
    const monitors = ["1", "2"].map((id) => foundMonitor(id, { number: 7 }));
    const invalid = foundMonitor("3", { number: -1 });
    const report = await site.importFound({ monitors: [...monitors, invalid] });
    expect(verdictsIn(report)).toEqual(["created", "changed", "changed"]);
    const [first, second] = report.items.map(({ target }) => target?.id ?? "");
    expect(site.numberOf(first ?? "")).toBe(7);
    expect(changesIn(report)).toMatchObject([
      { field: "number", from: 7, to: site.numberOf(second ?? "") },
      { field: "number", from: -1 },
    ]);
    const other = await site.importFound(
      { monitors: [foundMonitor("1", { number: 8 })] },
      { source: "other" },
    );
    expect(changesIn(other)).toMatchObject([
      { field: "number", from: 8, reason: "Only the first source keeps its numbers." },
    ]);
  });
});

describe("an import of monitors", () => {
  test("lets them watch their components, the internal page's, or none", async () => {
    await using site = await createReadSite();
    const report = await site.importFound({
      pages: [foundPage("1"), foundPage("2")],
      components: [foundComponent("1"), foundComponent("2", { page: "page:2" })],
      monitors: [
        foundMonitor("1", { components: ["component:1", "component:2"], body: { group: "EU" } }),
        foundMonitor("2", { components: "internal" }),
        foundMonitor("3"),
        foundMonitor("4", { components: ["component:404", "component:1"] }),
      ],
    });
    expect(report.counts).toEqual({ created: 9 });
    const { data } = await site.read("monitors");
    const watched = Object.fromEntries(
      data.map((one: { name: string; component_ids: string[] }) => [
        one.name,
        one.component_ids.length,
      ]),
    );
    expect(watched).toEqual({ "Monitor 1": 2, "Monitor 2": 1, "Monitor 3": 0, "Monitor 4": 1 });
    expect(data.find(({ name }: { name: string }) => name === "Monitor 1")).toMatchObject({
      group: "EU",
      on_down: "major_outage",
      open_incident: "never",
    });
  });

  test("holds those of unknown types, with their settings", async () => {
    await using site = await createReadSite();
    const report = await site.importFound(
      { monitors: [heldMonitor("1", { number: 5 })] },
      { isPaused: true },
    );
    expect(report.items).toMatchObject([
      { verdict: "held", reason: "MongoDB cannot be checked yet.", target: { kind: "monitor" } },
    ]);
    const [monitor] = site.monitors();
    expect(monitor).toMatchObject({
      type: "unsupported",
      paused: true,
      managedBy: "import",
      config: { type: "mongodb", settings: {} },
    });
    expect(site.numberOf(monitor?.id ?? "")).toBe(5);
  });

  test("switches off those whose program is not installed here, first and after a change", async () => {
    using _none = usePingProgram(undefined);
    await using site = await createReadSite();
    const ping = (host: string) => foundMonitor("1", { body: { type: "ping", config: { host } } });
    const [monitor] = (await site.importFound({ monitors: [ping("a.example.com")] })).items;
    const reason =
      "The program ping is not installed on this server. Install it, and resume the monitor.";
    expect(monitor).toMatchObject({ verdict: "disabled", reason });
    const body = await site.read(`monitors/${monitor?.target?.id}`);
    expect(body).toMatchObject({
      type: "ping",
      state: "paused",
      config: { host: "a.example.com" },
    });
    const again = await site.importFound({ monitors: [ping("b.example.com")] });
    expect(again.items).toMatchObject([{ verdict: "disabled", reason }]);
  });

  test("creates parents first, and leaves out dependencies that are not possible", async () => {
    await using site = await createReadSite();
    const report = await site.importFound({
      monitors: [
        foundMonitor("1", { dependsOn: ["monitor:2"] }),
        foundMonitor("2", { dependsOn: ["monitor:3"] }),
        foundMonitor("3", { dependsOn: ["monitor:1"] }),
      ],
    });
    // The three depend on each other in a circle.
    expect(report.counts).toEqual({ created: 2, changed: 1 });
    expect(changesIn(report)).toMatchObject([{ field: "depends_on", from: 1, to: 0 }]);
    const { data } = await site.read("monitors");
    const counts = data.map((one: { depends_on: string[] }) => one.depends_on.length);
    expect(counts.toSorted()).toEqual([0, 1, 1]);
  });

  const SHOP = "https://shop.test/";

  test.each<[config: object, verdict: string, reason: string, left: object]>([
    // A required field that is not valid: the whole monitor is kept.
    [{ url: "ftp://shop.test" }, "held", "Its config/url must begin with", { type: "http" }],
    // Other fields are left out, parts of objects and entries of lists alone.
    [{ url: SHOP, method: "BREW" }, "disabled", "Its config/method must be one of", { url: SHOP }],
    [
      { url: SHOP, headers: { TE: "x", "X-A": "1" } },
      "disabled",
      "Its config/headers/TE is set by Allclear itself.",
      { url: SHOP, headers: { "X-A": "1" } },
    ],
    [{ url: SHOP, host: "a b" }, "disabled", "Its config/host must be a host name", { url: SHOP }],
    [
      { url: SHOP, assertions: [1, { source: "status", op: "eq", value: 200 }, {}] },
      "disabled",
      "Its config/assertions/0",
      { url: SHOP, assertions: [{ source: "status", op: "eq", value: 200 }] },
    ],
    // A part that its object needs: the object is left out.
    [
      { url: SHOP, proxy: { url: "socks5://10.0.0.9:1080", username: "a" } },
      "disabled",
      "Its config/proxy/url must begin with",
      { url: SHOP },
    ],
    [{ url: SHOP, connect_to: { port: 1 } }, "disabled", "Its config/connect_to", { url: SHOP }],
    [{ url: SHOP, of_the_future: 1 }, "disabled", "Its config/of_the_future", { url: SHOP }],
  ])(
    "switches one off that is not valid here, with its reason: %o",
    async (config, verdict, reason, left) => {
      await using site = await createReadSite();
      const source = {
        monitors: [foundMonitor("1", { components: "internal", body: { config } as object })],
      };
      const report = await site.importFound(source);
      const [item] = report.items.filter(({ foreign }) => foreign.type === "monitor");
      expect(item).toMatchObject({ verdict, reason: expect.stringContaining(reason) });
      const [monitor] = site.monitors();
      expect(monitor).toMatchObject({
        paused: true,
        type: verdict === "held" ? "unsupported" : "http",
      });
      if (verdict === "held") expect(monitor?.config).toMatchObject({ ...left, settings: config });
      else expect(monitor?.config as object).toEqual(left);
      expect((await site.importFound(source)).counts).toEqual({ unchanged: 1 });
    },
  );

  test.each<[token: ImportedToken, isShort: boolean]>([
    [{ kind: "kuma", value: "a".repeat(15) }, true],
    [{ kind: "kuma", value: "a".repeat(16) }, false],
    [{ kind: "gatus", value: `${"key".repeat(9)}\0abc` }, true],
    [{ kind: "gatus", value: `key\0${"a".repeat(16)}` }, false],
    [{ kind: "healthchecks", value: "31365bce-8da9-4729-8ff3-aaa71d56b712" }, false],
    [ofPostOnly({ kind: "healthchecks", value: `short/${"slug".repeat(9)}` }), true],
    [{ kind: "healthchecks", value: "fqOOd6-F4MMNuCEnzTU01w/db" }, false],
  ])(
    "says of a token that can be guessed that it must be rotated: %o %p",
    async (token, isShort) => {
      await using site = await createReadSite();
      const body = { type: "push", config: {} } as object;
      const report = await site.importFound({
        monitors: [foundMonitor("1", { body, tokens: [token] })],
      });
      expect(verdictsIn(report)).toEqual([isShort ? "changed" : "created"]);
      expect(changesIn(report).map(({ reason }) => reason.includes("Rotate the token"))).toEqual(
        isShort ? [true] : [],
      );
      const [monitor] = site.monitors();
      expect(tokensOf(site.app.ctx.db, monitor?.id ?? "")).toMatchObject([{ isShort }]);
    },
  );

  test("keeps one whose id another one has, switched off", async () => {
    await using site = await createReadSite();
    const source = { monitors: [foundMonitor("1"), foundMonitor("1", { body: { name: "Twin" } })] };
    const report = await site.importFound(source);
    expect(verdictsIn(report)).toEqual(["created", "disabled"]);
    expect(site.monitors().map(({ name, paused }) => [name, paused])).toEqual([
      ["Monitor 1", false],
      ["Twin", true],
    ]);
    expect((await site.importFound(source)).counts).toEqual({ unchanged: 2 });
  });
});

/** A page with a component, and incidents and maintenance on it. */
const TIMELINE: Partial<Found> = {
  pages: [foundPage("1")],
  components: [foundComponent("1"), foundComponent("2")],
  incidents: [
    foundIncident("1", {
      number: 9,
      body: {
        started_at: "2026-01-10T02:00:00Z",
        updates: [
          {
            status: "investigating",
            body: "We look into it.",
            display_at: "2026-01-10T02:05:00Z",
            components: { "component:1": "major_outage", "component:404": "major_outage" },
          },
          {
            status: "identified",
            body: "A disk.",
            display_at: "2026-01-10T02:30:00Z",
            components: { "component:1": "partial_outage", "component:2": "degraded_performance" },
          },
          {
            status: "resolved",
            body: "Done.",
            display_at: "2026-01-10T03:00:00Z",
            components: { "component:1": "operational", "component:2": "operational" },
          },
        ],
        postmortem: { body: "# A disk", published_at: "2026-01-12T00:00:00Z" },
      },
    }),
    foundIncident("2", { body: { started_at: "2026-01-01T00:00:00Z", impact_override: "major" } }),
  ],
};

describe("an import of incidents", () => {
  test("writes them with all updates, times, causes and the post-mortem, oldest first", async () => {
    await using site = await createReadSite();
    const report = await site.importFound(TIMELINE);
    expect(report.counts).toEqual({ created: 5 });
    const { data } = await site.read("incidents");
    expect(data).toMatchObject([
      {
        name: "Incident 1",
        status: "resolved",
        impact: "critical",
        impact_override: null,
        external_ref: "uptime-kuma:default:incident:1",
        started_at: "2026-01-10T02:00:00.000Z",
        identified_at: "2026-01-10T02:30:00.000Z",
        resolved_at: "2026-01-10T03:00:00.000Z",
        created_at: "2026-01-10T02:00:00.000Z",
        postmortem: { body: "# A disk", published_at: "2026-01-12T00:00:00.000Z" },
        updates: [
          { status: "resolved", display_at: "2026-01-10T03:00:00.000Z" },
          {
            status: "identified",
            components: [
              { old_status: "major_outage", new_status: "partial_outage" },
              { old_status: "operational", new_status: "degraded_performance" },
            ],
          },
          { status: "investigating", components: [{ new_status: "major_outage" }] },
        ],
      },
      { name: "Incident 2", status: "investigating", impact: "major", resolved_at: null },
    ]);
    expect(site.numberOf(data[0].id)).toBe(9);
    const at = (minute: number) => Date.parse("2026-01-10T02:00:00Z") + minute * 60_000;
    const causes = listCausesOfPage(site.app.ctx.db, { pageId: data[0].page_id, since: 0 });
    expect(causes.map(({ cause }) => [cause.status, cause.startedAt, cause.endedAt])).toEqual([
      ["major_outage", at(0), at(30)],
      ["partial_outage", at(30), at(60)],
      ["degraded_performance", at(30), at(60)],
    ]);
  });

  test("cuts texts and long lists of updates, and names texts that are empty", async () => {
    await using site = await createReadSite();
    const updates = Array.from({ length: 300 }, (_, index) => ({
      status: index === 299 ? ("resolved" as const) : ("investigating" as const),
      body: index === 0 ? "x".repeat(10_001) : "",
      display_at: "2026-01-10T02:00:00Z",
      components: {},
    }));
    const report = await site.importFound({
      pages: [foundPage("1")],
      incidents: [foundIncident("1", { body: { updates } })],
    });
    expect(report.items[1]?.verdict).toBe("changed");
    expect(changesIn(report).map(({ field }) => field)).toEqual(["body", "updates"]);
    const [incident] = (await site.read("incidents")).data;
    expect([incident.status, incident.updates[0].body]).toEqual(["resolved", "Incident 1"]);
  });

  test("rejects times in the future", async () => {
    await using site = await createReadSite();
    const report = await site.importFound({
      pages: [foundPage("1")],
      incidents: [foundIncident("1", { body: { started_at: "9999-01-01T00:00:00Z" } })],
      maintenance: [
        foundMaintenance("1", {
          body: {
            updates: [{ status: "scheduled", body: "Soon", display_at: "9999-01-01T00:00:00Z" }],
          },
        }),
      ],
    });
    expect(reasonsIn(report).slice(1)).toEqual([
      "Its updates/0/display_at is in the future.",
      "Its started_at is in the future.",
    ]);
  });
});

describe("an import of maintenance", () => {
  const plan = (from: string, until: string) => ({
    scheduled_for: from,
    scheduled_until: until,
    updates: [{ status: "scheduled" as const, body: "Soon", display_at: "2026-01-01T00:00:00Z" }],
  });

  test("writes it past, in progress, to come and cancelled", async () => {
    await using site = await createReadSite();
    const report = await site.importFound({
      pages: [foundPage("1")],
      components: [foundComponent("1")],
      maintenance: [
        foundMaintenance("1", {
          number: 6,
          components: ["component:1"],
          body: plan("2026-01-10T02:00:00Z", "2026-01-10T04:00:00Z"),
        }),
        foundMaintenance("2", {
          components: ["component:1"],
          body: plan("2026-03-10T11:00:00Z", "2026-03-10T13:00:00Z"),
        }),
        foundMaintenance("3", { body: plan("2026-03-20T11:00:00Z", "2026-03-20T13:00:00Z") }),
        foundMaintenance("4", {
          body: {
            updates: [
              { status: "scheduled", body: "Soon", display_at: "2026-01-01T00:00:00Z" },
              { status: "in_progress", body: "Now", display_at: "2026-01-10T02:10:00Z" },
              { status: "completed", body: "Done", display_at: "2026-01-10T02:40:00Z" },
            ],
          },
        }),
        foundMaintenance("5", {
          body: {
            updates: [{ status: "cancelled", body: "No", display_at: "2026-01-09T00:00:00Z" }],
          },
        }),
        foundMaintenance("6", { body: plan("2026-03-20T13:00:00Z", "2026-03-20T11:00:00Z") }),
      ],
    });
    expect(report.counts).toEqual({ created: 7, not_moved: 1 });
    const { data } = await site.read("maintenance");
    const byName = Object.fromEntries(data.map((one: { name: string }) => [one.name, one]));
    expect(byName["Maintenance 1"]).toMatchObject({
      status: "completed",
      started_at: "2026-01-10T02:00:00.000Z",
      completed_at: "2026-01-10T04:00:00.000Z",
    });
    expect(site.numberOf(byName["Maintenance 1"].id)).toBe(6);
    expect(byName["Maintenance 2"]).toMatchObject({
      status: "in_progress",
      started_at: "2026-03-10T11:00:00.000Z",
    });
    expect(byName["Maintenance 3"]).toMatchObject({ status: "scheduled", started_at: null });
    expect(byName["Maintenance 4"]).toMatchObject({
      status: "completed",
      started_at: "2026-01-10T02:10:00.000Z",
      completed_at: "2026-01-10T02:40:00.000Z",
    });
    expect(byName["Maintenance 5"]).toMatchObject({ status: "cancelled", started_at: null });
    const [component] = (await site.read("components")).data;
    expect(component.status).toBe("under_maintenance");
  });

  test("writes schedules, whose occurrences are made", async () => {
    await using site = await createReadSite();
    const report = await site.importFound({
      pages: [foundPage("1")],
      components: [foundComponent("1")],
      schedules: [
        foundSchedule("1", { components: ["component:1"] }),
        foundSchedule("2", { body: { cron: "61 * * * *" } }),
        foundSchedule("3", { page: "page:404" }),
      ],
    });
    expect(verdictsIn(report).slice(2)).toEqual(["created", "not_moved", "not_moved"]);
    expect(reasonsIn(report).at(-1)).toBe("Its page is not imported.");
    const { data } = await site.read("maintenance-schedules");
    expect(data).toMatchObject([{ name: "Schedule 1", components: [{ name: "Component 1" }] }]);
    expect((await site.read("maintenance")).data.length).toBeGreaterThan(2);
  });
});

test("an import tells nobody", async () => {
  await using site = await createReadSite();
  await site.importFound({
    ...TIMELINE,
    components: [...(TIMELINE.components ?? []), foundComponent("3", { baseline: "major_outage" })],
    monitors: [foundMonitor("1"), heldMonitor("2")],
    webhooks: [foundWebhook("1")],
    maintenance: [foundMaintenance("1")],
    schedules: [foundSchedule("1")],
  });
  const events = site.app.events();
  expect(events.length).toBeGreaterThan(3);
  expect(events.filter(({ data }) => data["notify"] !== false)).toEqual([]);
  expect(events.filter(({ type }) => type.startsWith("monitor."))).toEqual([]);
});

/** A source with something of each part. */
const WHOLE: Partial<Found> = {
  ...TIMELINE,
  monitors: [foundMonitor("1", { components: ["component:1"] }), foundMonitor("2")],
  webhooks: [foundWebhook("1", { monitors: ["monitor:1"] })],
  maintenance: [foundMaintenance("1")],
  schedules: [foundSchedule("1")],
};

describe("an import that is limited to", () => {
  const kindsIn = ({ items }: ImportReport) => [
    ...new Set(items.flatMap(({ verdict, target }) => (verdict === "created" ? target?.kind : []))),
  ];

  test.each([
    ["pages", ["page", "component", "schedule", "maintenance", "incident"]],
    ["monitors", ["monitor"]],
    ["webhooks", ["webhook"]],
    ["history", []],
  ] as const)("%s creates those alone, and the whole import the others", async (only, kinds) => {
    await using site = await createReadSite();
    const report = await site.importFound(WHOLE, { only });
    expect(kindsIn(report)).toEqual([...kinds]);
    const others = report.items.filter(({ verdict }) => verdict !== "created");
    const [reason] = [...new Set(others.map((item) => item.reason))];
    expect(reason).toMatch(/^Only (the history is|\w+ are) imported\.$/);
    expect(others.map(({ verdict }) => verdict)).toEqual(others.map(() => "not_moved"));
    const whole = await site.importFound(WHOLE);
    expect(whole.items.filter(({ verdict }) => verdict === "not_moved")).toEqual([]);
    const { data: monitors } = await site.read("monitors");
    const monitor = monitors.find(({ name }: { name: string }) => name === "Monitor 1");
    expect(monitor.component_ids).toHaveLength(1);
    const [webhook] = (await site.read("webhooks")).data;
    expect(webhook.monitors).toEqual([monitor.id]);
    expect((await site.importFound(WHOLE)).id).toBeNull();
    // What is here and out of the limits stays.
    const limited = await site.importFound(WHOLE, { only: "history" });
    expect(limited.counts).toEqual({ kept: 10 });
  });
});

test("a plan has no ids of what it would create, and leaves nothing", async () => {
  await using site = await createReadSite();
  const plan = await site.plan(WHOLE);
  expect(plan.counts).toEqual({ created: 10 });
  expect(plan.items.map(({ target }) => target?.id ?? null)).toEqual(plan.items.map(() => null));
  expect([site.pages(), site.monitors(), site.app.events()]).toEqual([[], [], []]);
  const report = await site.importFound(WHOLE);
  const named = (items: ImportReport["items"]) =>
    items.map(({ target, ...item }) => ({ ...item, target: { ...target, id: null } }));
  expect(named(report.items)).toEqual(named(plan.items));
});

test("the report has the differences that an importer found in objects of every kind, once", async () => {
  await using site = await createReadSite();
  const changes = [{ field: "footer", from: "set", to: "none", reason: "Pages have no footer." }];
  const parts = (body: { description?: string }) => ({
    pages: [foundPage("1", { changes, body })],
    groups: [foundGroup("1", { changes, body })],
    components: [foundComponent("1", { changes, body })],
    monitors: [foundMonitor("1", { changes, body: { notes: body.description ?? null } })],
    webhooks: [foundWebhook("1", { changes, body })],
    schedules: [foundSchedule("1", { changes, body: { body: body.description ?? "Patches" } })],
    maintenance: [foundMaintenance("1", { changes })],
    incidents: [foundIncident("1", { changes })],
  });
  const report = await site.importFound(parts({}), { internalPage: null });
  expect(report.counts).toEqual({ changed: 8 });
  for (const item of report.items) expect(item.changes).toEqual(changes);
  const again = await site.importFound(parts({ description: "Newer" }), { internalPage: null });
  expect(again.counts).toEqual({ updated: 6, unchanged: 2 });
  const updated = again.items.filter(({ verdict }) => verdict === "updated");
  for (const item of updated) expect(item.changes).toEqual(changes);
});
