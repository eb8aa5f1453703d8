import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ImportReport } from "../../src/base/import-report";
import type { Found } from "../../src/imports/found";
import { readStatuspage } from "../../src/imports/statuspage/read";
import { RAILS_TIME_ZONES } from "../../src/imports/rails-time-zones";
import { isTimeZone } from "../../src/base/zones";
import { sha256Hex } from "../../src/base/hash";
import {
  API_KEY,
  componentOf,
  documentsOf,
  incidentOf,
  maintenanceOf,
  PAGE_ID,
  pageOf,
  type Parts,
  publicAnswers,
  restAnswers,
  restPageOf,
  statuspageServer,
  updateOf,
} from "../support/statuspage";
import { temporaryFolder } from "../support/temporary-folder";

const ADDRESS = "https://status.acme.test";
const NO_OPTIONS = { apiKey: undefined, pageId: undefined, subscribersFile: undefined };

/** Reads the public documents of a page. */
async function readPublicly(parts: Parts = {}): Promise<Found> {
  const { deps } = statuspageServer(publicAnswers(documentsOf(parts)));
  return readStatuspage(ADDRESS, NO_OPTIONS, deps);
}

/** Reads a page by the REST API. */
function readByKey(
  server: ReturnType<typeof statuspageServer>,
  options: { pageId?: string; subscribersFile?: string } = { pageId: PAGE_ID },
): Promise<Found> {
  return readStatuspage(ADDRESS, { ...NO_OPTIONS, apiKey: API_KEY, ...options }, server.deps);
}

/** Reads a page with one incident, and returns what it became. */
async function readIncident(fields: Record<string, unknown>) {
  const found = await readPublicly({ incidents: [incidentOf("inc1", fields)] });
  const [incident] = found.incidents;
  if (!incident) throw new Error(JSON.stringify(found.leftOut));
  return { ...incident, found };
}

/** Reads a page with one maintenance, and returns what it became. */
async function readMaintenance(fields: Record<string, unknown>) {
  const [maintenance] = (await readPublicly({ maintenance: [maintenanceOf("m1", fields)] }))
    .maintenance;
  if (!maintenance) throw new Error("it was left out");
  return maintenance;
}

/** Reads a file with the given text. */
async function readFileWith(text: string): Promise<Found> {
  using folder = temporaryFolder();
  const file = join(folder.path, "saved.json");
  await Bun.write(file, text);
  return await readStatuspage(file, NO_OPTIONS, statuspageServer(() => ({})).deps);
}

const namesOf = (rows: readonly { foreign: { name: string } }[]) =>
  rows.map(({ foreign }) => foreign.name);

describe("a page of Statuspage", () => {
  test("is known by its id, and keeps name, time zone and custom domain", async () => {
    const { fingerprint, pages } = await readPublicly();
    expect(fingerprint).toBe(sha256Hex(`allclear-import:${PAGE_ID}`));
    expect(pages).toMatchObject([
      {
        foreign: { type: "page", id: PAGE_ID, name: "Acme" },
        body: { slug: "status-acme-test", name: "Acme", time_zone: "America/Los_Angeles" },
        changes: [],
        domains: ["status.acme.test"],
      },
    ]);
    expect(pages[0]).not.toHaveProperty("isDefault");
  });

  test("has its subdomain as slug, and a translated time zone, by the REST API", async () => {
    const { pages } = await readByKey(statuspageServer(restAnswers({})));
    expect(pages[0]).toMatchObject({
      body: {
        slug: "acme",
        description: "Status of all that Acme runs",
        time_zone: "America/Los_Angeles",
        visibility: "public",
      },
      domains: ["status.acme.test"],
      changes: [],
    });
  });

  test.each([
    ["https://acme.statuspage.io", "acme", []],
    ["https://allclear.test/status/acme", "acme", []],
    ["https://192.0.2.1", "192-0-2-1", []],
    ["https://status.acme.test:8443", "status-acme-test", []],
    ["no address", "acme", []],
  ])("at %s has the slug %s", async (url, slug, domains) => {
    const { pages } = await readPublicly({ page: pageOf({ url }) });
    expect(pages[0]).toMatchObject({ body: { slug }, domains });
  });

  test.each([[{ viewers_must_be_team_members: true }], [{ ip_restrictions: "10.0.0.0/8" }]])(
    "that not everybody sees is private: %p",
    async (fields) => {
      const { pages } = await readByKey(statuspageServer(restAnswers({}, restPageOf(fields))));
      expect(pages[0]?.body.visibility).toBe("private");
      expect(pages[0]?.changes).toMatchObject([{ field: "visibility" }]);
    },
  );

  test("names each kind of setting that is not moved, once", async () => {
    const { leftOut } = await readByKey(statuspageServer(restAnswers({})));
    expect(namesOf(leftOut)).toEqual([
      "Incident templates",
      "Metrics",
      "Team members",
      "Third-party components",
      "Colours, CSS and HTML",
      "Logos and pictures",
      "Links of the page",
      "Ways to subscribe",
      "Subscribers",
    ]);
  });

  test("knows every documented field, and names others as not read", async () => {
    const lists = {
      components: [componentOf("api", { automation_email: "x@acme.test" })],
      incidents: [incidentOf("inc1"), maintenanceOf("m1")],
    };
    const known = await readByKey(statuspageServer(restAnswers(lists)));
    expect(known.notRead).toEqual([]);
    const unknown = await readPublicly({
      page: pageOf({ mood: "good" }),
      components: [componentOf("api", { weather: "fine" })],
      incidents: [incidentOf("inc1", { blame: "none" })],
    });
    expect(unknown.notRead).toEqual(["component.weather", "incident.blame", "page.mood"]);
  });

  test("has every time zone of Ruby on Rails as one that this build knows", () => {
    const unknown = Object.values(RAILS_TIME_ZONES).filter((zone) => !isTimeZone(zone));
    expect(unknown).toEqual([]);
    expect(Object.keys(RAILS_TIME_ZONES).length).toBeGreaterThan(150);
  });
});

describe("components of Statuspage", () => {
  test("are in the order of their positions, with their groups", async () => {
    const { groups, components } = await readPublicly({
      components: [
        componentOf("g2", { name: "Web", group: true, position: 3, components: ["w"] }),
        componentOf("g1", { name: "Data", group: true, position: 2, description: "Stores" }),
        componentOf("b", { position: 2, group_id: "g1" }),
        componentOf("a", { position: 1, group_id: "g1" }),
        componentOf("w", { position: 1, group_id: "g2" }),
        componentOf("alone", { position: 4 }),
      ],
    });
    expect(groups.map(({ body }) => body)).toEqual([
      { name: "Data", description: "Stores" },
      { name: "Web", description: null },
    ]);
    expect(components.map(({ foreign, group }) => [foreign.id, group])).toEqual([
      ["a", "group:g1"],
      ["w", "group:g2"],
      ["b", "group:g1"],
      ["alone", null],
    ]);
  });

  test("take groups from the list of groups of the REST API", async () => {
    const lists = {
      "component-groups": [{ id: "g1", name: "Data", components: ["a"], position: 1 }],
      components: [componentOf("a", { group_id: "g1" })],
    };
    const { groups, components } = await readByKey(statuspageServer(restAnswers(lists)));
    expect(namesOf(groups)).toEqual(["Data"]);
    expect(components[0]?.group).toBe("group:g1");
  });

  test("keep their flags and the day from which uptime is known", async () => {
    const fields = { showcase: false, only_show_if_degraded: true, description: "All calls" };
    const { components } = await readPublicly({
      components: [
        componentOf("a", fields),
        componentOf("b", { start_date: null, created_at: "2024-05-06T23:30:00.000-08:00" }),
        componentOf("c", { start_date: "soon", created_at: null }),
      ],
    });
    expect(components.map(({ body }) => body)).toMatchObject([
      { ...fields, start_date: "2024-05-01" },
      { showcase: true, start_date: "2024-05-07" },
      { start_date: null },
    ]);
  });

  test("with an unknown group or status are moved without, and the difference is named", async () => {
    const { components } = await readPublicly({
      components: [componentOf("a", { group_id: "gone", status: "melting" })],
    });
    expect(components[0]).toMatchObject({ group: null, baseline: null });
    expect(components[0]?.changes.map(({ field }) => field)).toEqual(["status", "group_id"]);
  });

  test.each([
    ["operational", null],
    ["degraded_performance", "degraded_performance"],
    ["major_outage", "major_outage"],
    ["under_maintenance", null],
  ])("that are %s have the baseline %p", async (status, baseline) => {
    const { components } = await readPublicly({ components: [componentOf("api", { status })] });
    expect(components[0]).toMatchObject({ baseline, changes: [] });
  });

  test("have a baseline only if it is worse than what open incidents give", async () => {
    const incidents = [
      incidentOf("inc1", {
        status: "identified",
        incident_updates: [
          updateOf("identified", "2026-03-01T11:00:00.000Z", { api: "partial_outage" }),
          updateOf("investigating", "2026-03-01T10:00:00.000Z", { api: "major_outage" }),
        ],
      }),
    ];
    const baselineOf = async (status: string) => {
      const components = [componentOf("api", { status })];
      return (await readPublicly({ components, incidents })).components[0]?.baseline;
    };
    expect(await baselineOf("partial_outage")).toBeNull();
    expect(await baselineOf("degraded_performance")).toBeNull();
    expect(await baselineOf("major_outage")).toBe("major_outage");
  });

  test("that are not valid are left out with the reason, and the others are moved", async () => {
    const { components, leftOut } = await readPublicly({
      components: [componentOf("api"), componentOf("bad", { name: 7 }), "nonsense", null],
    });
    expect(components).toHaveLength(1);
    expect(leftOut.slice(0, 3)).toMatchObject([
      { foreign: { type: "component", id: "bad" }, reason: expect.stringContaining("name") },
      { foreign: { type: "component", id: "components[2]" } },
      { foreign: { type: "component", id: "components[3]" } },
    ]);
  });
});

describe("an incident of Statuspage", () => {
  test("has its updates in the order of their effect, with the statuses of components", async () => {
    const { foreign, page, body, changes, externalId } = await readIncident({});
    expect(foreign).toEqual({ type: "incident", id: "inc1", name: "Incident inc1" });
    expect([page, externalId, changes]).toEqual([`page:${PAGE_ID}`, "inc1", []]);
    expect(body).toEqual({
      name: "Incident inc1",
      impact_override: null,
      started_at: "2026-03-01T10:00:00.000Z",
      postmortem: null,
      updates: [
        {
          status: "investigating",
          body: "It is investigating.",
          display_at: "2026-03-01T10:00:00.000Z",
          components: { "component:api": "degraded_performance" },
        },
        {
          status: "identified",
          body: "It is identified.",
          display_at: "2026-03-01T11:00:00.000Z",
          components: { "component:api": "partial_outage" },
        },
        {
          status: "resolved",
          body: "It is resolved.",
          display_at: "2026-03-01T12:00:00.000Z",
          components: { "component:api": "operational" },
        },
      ],
    });
  });

  test.each([
    ["major", null],
    ["critical", "critical"],
    ["none", "none"],
  ] as const)("with the impact %s has the override %p", async (impact, override) => {
    expect((await readIncident({ impact })).body.impact_override).toBe(override);
  });

  test("with an impact set by hand keeps that", async () => {
    const { body } = await readIncident({ impact: "minor", impact_override: "minor" });
    expect(body.impact_override).toBe("minor");
  });

  test("has its post-mortem from the update of the public documents", async () => {
    const { body, changes } = await readIncident({
      status: "postmortem",
      incident_updates: [
        updateOf("postmortem", "2026-03-03T09:00:00.000Z", null, { body: "## Why" }),
        ...(incidentOf("inc1")["incident_updates"] as unknown[]),
      ],
    });
    expect(changes).toEqual([]);
    expect(body.postmortem).toEqual({ body: "## Why", published_at: "2026-03-03T09:00:00.000Z" });
    expect(body.updates.map(({ status }) => status)).toEqual([
      "investigating",
      "identified",
      "resolved",
    ]);
  });

  test("has its post-mortem from the fields of the REST API", async () => {
    const { body } = await readIncident({
      postmortem_body: "## Why",
      postmortem_published_at: "2026-03-04T09:00:00.000Z",
    });
    expect(body.postmortem).toEqual({ body: "## Why", published_at: "2026-03-04T09:00:00.000Z" });
  });

  test.each([
    ["that is a draft", { postmortem_body: "Secret", postmortem_published_at: null }, "set"],
    ["whose text is not in the source", { status: "postmortem" }, null],
  ])("with a post-mortem %s is moved without, and says so", async (_name, fields, from) => {
    const { body, changes } = await readIncident(fields);
    expect(body.postmortem).toBeNull();
    expect(changes).toMatchObject([{ field: "postmortem_body", from, to: null }]);
    expect(JSON.stringify(changes)).not.toContain("Secret");
  });

  test("without an update that ends it gets one at its end", async () => {
    const { body, changes } = await readIncident({
      incident_updates: [updateOf("investigating", "2026-03-01T10:00:00.000Z")],
    });
    expect(body.updates.at(-1)).toEqual({
      status: "resolved",
      body: "Resolved.",
      display_at: "2026-03-01T12:00:00.000Z",
      components: {},
    });
    expect(changes).toMatchObject([{ field: "incident_updates", to: "added" }]);
  });

  test("without updates gets one at its start, and one at its end", async () => {
    const { body } = await readIncident({ incident_updates: [] });
    expect(body.updates.map(({ status, display_at }) => [status, display_at])).toEqual([
      ["investigating", "2026-03-01T10:00:00.000Z"],
      ["resolved", "2026-03-01T12:00:00.000Z"],
    ]);
  });

  test("without a start begins with its first update", async () => {
    const { body } = await readIncident({ started_at: null });
    expect(body.started_at).toBe("2026-03-01T10:00:00.000Z");
  });

  test("names components that are gone once, and gives them no status", async () => {
    const { body, changes } = await readIncident({
      incident_updates: [
        updateOf("resolved", "2026-03-01T12:00:00.000Z", { gone: "operational" }),
        updateOf("investigating", "2026-03-01T10:00:00.000Z", { gone: "major_outage" }),
      ],
    });
    expect(body.updates.map(({ components }) => components)).toEqual([{}, {}]);
    expect(changes).toMatchObject([{ field: "components", from: "Component gone", to: null }]);
  });

  test("names some of many components that are gone, and counts the others", async () => {
    const gone = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`gone${index}`, "major_outage"]),
    );
    const { changes } = await readIncident({
      incident_updates: Array.from({ length: 50 }, () =>
        updateOf("resolved", "2026-03-01T12:00:00.000Z", gone),
      ),
    });
    expect(changes).toHaveLength(11);
    expect(changes.at(-1)?.from).toBe("490 other components");
  });

  test("without affected components is named in the instructions", async () => {
    const { found } = await readIncident({
      incident_updates: [updateOf("resolved", "2026-03-01T12:00:00.000Z")],
    });
    expect(found.toDo).toEqual([
      "1 incident without affected components: bars and uptime do not show it. To change this, name components in an update: “Incident inc1”.",
    ]);
  });

  test("with an update that is not valid is moved without that, and says so", async () => {
    const { body, changes } = await readIncident({
      incident_updates: [
        updateOf("resolved", "2026-03-01T12:00:00.000Z"),
        updateOf("dancing", "2026-03-01T11:30:00.000Z"),
        updateOf("singing", "2026-03-01T11:20:00.000Z"),
        updateOf("identified", "yesterday", null, { created_at: "99999-01-01T00:00:00Z" }),
        updateOf("investigating", "2026-03-01T10:00:00.000Z", null, { body: " " }),
      ],
    });
    expect(body.updates.map((update) => update.body)).toEqual([
      "Investigating.",
      "It is resolved.",
    ]);
    expect(changes.map(({ field, from, reason }) => [field, from, reason])).toEqual([
      ["incident_updates", "1 update", "Updates with no valid time are not moved."],
      ["incident_updates", "2 updates", "Updates with an unknown status are not moved."],
    ]);
  });

  test("without any valid time is left out with the reason", async () => {
    const fields = { incident_updates: [], created_at: "x", started_at: "y" };
    const { incidents, leftOut } = await readPublicly({ incidents: [incidentOf("bad", fields)] });
    expect(incidents).toEqual([]);
    expect(leftOut[0]).toMatchObject({ foreign: { id: "bad" }, reason: "It has no valid time." });
  });
});

describe("a maintenance of Statuspage", () => {
  test("to come keeps its times, components and updates", async () => {
    expect(await readMaintenance({})).toEqual({
      foreign: { type: "maintenance", id: "m1", name: "Maintenance m1" },
      page: `page:${PAGE_ID}`,
      components: ["component:api"],
      body: {
        name: "Maintenance m1",
        scheduled_for: "2026-03-20T02:00:00.000Z",
        scheduled_until: "2026-03-20T04:00:00.000Z",
        updates: [
          {
            status: "scheduled",
            body: "It is scheduled.",
            display_at: "2026-03-02T10:00:00.000Z",
          },
        ],
      },
      changes: [],
    });
  });

  test("keeps its flags", async () => {
    const { body, changes } = await readMaintenance({
      scheduled_auto_in_progress: false,
      scheduled_auto_completed: true,
      scheduled_remind_prior: true,
      auto_transition_to_maintenance_state: false,
      auto_transition_to_operational_state: true,
    });
    expect(body).toMatchObject({
      auto_start: false,
      auto_complete: true,
      remind_minutes_before: 60,
    });
    expect(changes).toMatchObject([{ field: "auto_transition_to_maintenance_state", to: true }]);
    const silent = await readMaintenance({ scheduled_remind_prior: false });
    expect(silent.body.remind_minutes_before).toBeNull();
  });

  test("of the past keeps all its updates", async () => {
    const { body, changes } = await readMaintenance({
      status: "completed",
      incident_updates: ["completed", "verifying", "in_progress", "scheduled"].map((status, hour) =>
        updateOf(status, `2026-03-05T0${8 - hour}:00:00.000Z`, { api: "under_maintenance" }),
      ),
    });
    expect(changes).toEqual([]);
    expect(body.updates.map(({ status }) => status)).toEqual([
      "scheduled",
      "in_progress",
      "verifying",
      "completed",
    ]);
  });

  test("without an end after its start gets an hour, and says so", async () => {
    const { body, changes } = await readMaintenance({ scheduled_until: null });
    expect(body.scheduled_until).toBe("2026-03-20T03:00:00.000Z");
    expect(changes).toMatchObject([{ field: "scheduled_until", from: null }]);
  });

  test("without a valid start is left out with the reason", async () => {
    const maintenance = [maintenanceOf("bad", { scheduled_for: "soon" })];
    const found = await readPublicly({ maintenance });
    expect(found.maintenance).toEqual([]);
    expect(found.leftOut[0]?.reason).toContain("planned start");
  });
});

describe("reading the public documents", () => {
  test.each([
    ["https://status.acme.test", "/"],
    ["https://status.acme.test/", "/"],
    ["HTTPS://status.acme.test/api/v2/summary.json?x=1#top", "/"],
    ["https://allclear.test/status/acme", "/status/acme/"],
  ])("asks for the four documents below %s", async (address, base) => {
    const server = statuspageServer(publicAnswers(documentsOf(), base));
    await readStatuspage(address, NO_OPTIONS, server.deps);
    expect(server.requests.map(({ url }) => url.pathname)).toEqual(
      ["summary", "components", "incidents", "scheduled-maintenances"].map(
        (name) => `${base}api/v2/${name}.json`,
      ),
    );
    expect(server.requests.flatMap(({ headers }) => headers["Authorization"] ?? [])).toEqual([]);
  });

  test("says how far the 50 newest go back, and how to get all", async () => {
    const dayOf = (index: number) => new Date(Date.UTC(2026, 0, 1 + index)).toISOString();
    const incidents = Array.from({ length: 50 }, (_, index) =>
      incidentOf(`i${index}`, { started_at: dayOf(index) }),
    );
    const maintenance = incidents.map((_, index) =>
      maintenanceOf(`m${index}`, { scheduled_for: dayOf(index + 31), scheduled_until: null }),
    );
    expect((await readPublicly({ incidents, maintenance })).toDo).toEqual([
      "These are the 50 newest incidents, back to 2026-01-01. To import all of them, give an API key by --api-key-file.",
      "These are the 50 newest maintenances, back to 2026-02-01. To import all of them, give an API key by --api-key-file.",
    ]);
    const fewer = await readPublicly({ incidents: incidents.slice(1) });
    expect(fewer.toDo).toEqual([]);
  });

  test("does without the documents that other products do not have", async () => {
    const documents = documentsOf();
    delete documents["scheduled_maintenances"];
    delete documents["components"];
    const { deps } = statuspageServer(publicAnswers(documents));
    const found = await readStatuspage(ADDRESS, NO_OPTIONS, deps);
    expect(found.components).toHaveLength(1);
  });

  test("refuses an address without a summary, and one with something else", async () => {
    for (const reply of [{ status: 404 }, { document: { page: [] } }, { document: [] }]) {
      const { deps } = statuspageServer(() => reply);
      const outcome = readStatuspage("https://acme.test/x?token=abc", NO_OPTIONS, deps);
      await expect(outcome).rejects.toThrow(/^https:\/\/acme\.test\/x\/ is no page with/);
    }
  });

  test.each([
    [{ status: 500 }, "answered with status 500"],
    [{ text: "<html>" }, "is no JSON"],
    [{ status: 302, headers: { location: "/again" } }, "redirects without an end"],
    [{ status: 429, headers: { "retry-after": "1" } }, "answered with status 429"],
  ])("refuses the answer %p", async (reply, problem) => {
    const { deps } = statuspageServer(() => reply);
    await expect(readStatuspage(ADDRESS, NO_OPTIONS, deps)).rejects.toThrow(problem);
  });

  test("follows a redirect to the custom domain", async () => {
    const answers = publicAnswers(documentsOf());
    const { deps, requests } = statuspageServer((url) =>
      url.host === "acme.statuspage.io"
        ? { status: 301, headers: { location: `https://status.acme.test${url.pathname}` } }
        : answers(url),
    );
    const found = await readStatuspage("https://acme.statuspage.io", NO_OPTIONS, deps);
    expect(found.components).toHaveLength(1);
    expect(requests).toHaveLength(8);
  });

  test("needs a key for what only the REST API has", async () => {
    const { deps } = statuspageServer(() => ({}));
    const withId = readStatuspage(ADDRESS, { ...NO_OPTIONS, pageId: "x" }, deps);
    await expect(withId).rejects.toThrow("--page-id needs --api-key-file.");
    const withFile = readStatuspage(ADDRESS, { ...NO_OPTIONS, subscribersFile: "x" }, deps);
    await expect(withFile).rejects.toThrow("--subscribers needs --api-key-file.");
  });
});

describe("reading by the REST API", () => {
  const manyIncidents = Array.from({ length: 250 }, (_, index) => incidentOf(`i${index}`));

  test("reads all pages of each list, one request a second, with the key", async () => {
    const lists = { components: [componentOf("api")], incidents: manyIncidents };
    const server = statuspageServer(restAnswers(lists));
    const found = await readByKey(server);
    expect(found.incidents).toHaveLength(250);
    expect(found.toDo).toEqual([]);
    expect(server.requests.map(({ url }) => url.href)).toEqual([
      `https://api.statuspage.io/v1/pages/${PAGE_ID}`,
      ...[
        "component-groups?page=1",
        "components?page=1",
        "incidents?page=1",
        "incidents?page=2",
        "incidents?page=3",
      ].map((path) => `https://api.statuspage.io/v1/pages/${PAGE_ID}/${path}&per_page=100`),
    ]);
    expect(server.requests.map(({ at }) => at)).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000]);
    expect(new Set(server.requests.map(({ headers }) => headers["Authorization"]))).toEqual(
      new Set([`OAuth ${API_KEY}`]),
    );
  });

  test("takes the id of the page from its public documents, without sending the key there", async () => {
    const answers = publicAnswers(documentsOf());
    const rest = restAnswers({});
    const server = statuspageServer((url) =>
      url.host === "api.statuspage.io" ? rest(url) : answers(url),
    );
    await readByKey(server, {});
    expect(server.requests[0]?.url.href).toBe(`${ADDRESS}/api/v2/summary.json`);
    expect(server.requests[0]?.headers["Authorization"]).toBeUndefined();
    expect(server.requests[1]?.url.pathname).toBe(`/v1/pages/${PAGE_ID}`);
  });

  test.each([
    [420, { "retry-after": "7" }, 7_000],
    [429, { "retry-after": "Tue, 10 Mar 2026 12:00:30 GMT" }, 30_000],
    [420, {}, 60_000],
    [429, { "retry-after": "999999999" }, 600_000],
  ])("waits after %d with %p for %d ms", async (status, headers, ms) => {
    const rest = restAnswers({});
    const server = statuspageServer((url, nth) => (nth === 1 ? { status, headers } : rest(url)));
    await readByKey(server);
    expect(server.waits[0]).toBe(ms);
    expect(server.requests).toHaveLength(5);
    expect(server.lines[0]).toContain("api.statuspage.io asks to wait");
  });

  test("gives up after waiting five times", async () => {
    const server = statuspageServer(() => ({ status: 420 }));
    await expect(readByKey(server)).rejects.toThrow("answered with status 420");
    expect(server.waits).toEqual([60_000, 60_000, 60_000, 60_000, 60_000]);
    expect(server.requests).toHaveLength(6);
  });

  test("refuses an answer that is no page", async () => {
    const server = statuspageServer(restAnswers({}, { id: 7 }));
    await expect(readByKey(server)).rejects.toThrow("This is no page of Statuspage: its id");
  });

  test.each([
    [{ status: 401 }, "does not accept the API key (status 401)"],
    [{ status: 404 }, "no page with this id, or the API key has no access to it"],
    [{ status: 302, headers: { location: "https://evil.test/" } }, "answered with status 302"],
    [{ document: API_KEY }, "answered no list"],
    [{ text: API_KEY }, "is no JSON"],
  ])("refuses the answer %p, and does not repeat the key", async (reply, problem) => {
    const server = statuspageServer(() => reply);
    const error = await readByKey(server).then(
      () => new Error("no error"),
      (thrown: Error) => thrown,
    );
    expect(error.message).toContain(problem);
    expect(error.message).not.toContain(API_KEY);
    expect(server.requests.every(({ url }) => url.host === "api.statuspage.io")).toBe(true);
    expect(server.requests.some(({ url }) => url.href.includes(API_KEY))).toBe(false);
  });

  test("refuses a saved document with a key, and an id that is no part of an address", async () => {
    const server = statuspageServer(publicAnswers(documentsOf({ page: pageOf({ id: "../me" }) })));
    const options = { ...NO_OPTIONS, apiKey: API_KEY };
    const saved = readStatuspage("saved.json", options, server.deps);
    await expect(saved).rejects.toThrow("the source is the address");
    await expect(readByKey(server, {})).rejects.toThrow("no id of Statuspage");
  });

  test("writes subscribers by mail, and counts the others", async () => {
    const subscribers = [
      { id: "s1", mode: "email", email: "anna@acme.test", components: [] },
      { id: "s2", mode: "email", email: "=cmd@acme.test", components: ["api", "gone"] },
      { id: "s3", mode: "email", email: "lost@acme.test", components: ["gone"] },
      { id: "s4", mode: "sms", phone_number: "+15550100" },
      { id: "s5", mode: "webhook", endpoint: "https://hook.test", email: "ops@acme.test" },
      { id: "s6", mode: "sms", phone_number: "+15550101" },
      ...Array.from({ length: 100 }, (_, index) => ({
        id: `m${index}`,
        mode: "email",
        email: `m${index}@acme.test`,
      })),
    ];
    const server = statuspageServer(restAnswers({ components: [componentOf("api")], subscribers }));
    const found = await readByKey(server, { pageId: PAGE_ID, subscribersFile: "/tmp/out.csv" });
    const target = { kind: "component" as const, id: "cmp_1", ref: "the-api", name: "API" };
    const foreign = { type: "component", id: "api", name: "API" };
    const items = [{ verdict: "created" as const, foreign, target, changes: [], reason: null }];
    const [file] = found.files?.({ items } as unknown as ImportReport) ?? [];
    expect(file?.path).toBe("/tmp/out.csv");
    expect(file?.text).toStartWith(
      "email,components\r\nanna@acme.test,\r\n'=cmd@acme.test,the-api\r\nm0@acme.test,\r\n",
    );
    expect(file?.text.trim().split("\r\n")).toHaveLength(103);
    expect(file?.summary).toStartWith(
      "Wrote 102 subscribers to /tmp/out.csv, without 1 whose components are gone.",
    );
    const others = found.leftOut.filter((one) => one.foreign.type === "subscribers");
    expect(namesOf(others)).toEqual(["2 subscribers by sms", "1 subscriber by webhook"]);
    const asked = server.requests.filter(({ url }) => url.pathname.endsWith("subscribers"));
    expect(asked.map(({ url }) => url.search)).toEqual(["?page=0&limit=100", "?page=1&limit=100"]);
  });
});

describe("saved documents of Statuspage", () => {
  test("are read from the object of all four, from a folder, and from one document", async () => {
    const documents = documentsOf({
      incidents: [incidentOf("inc1")],
      maintenance: [maintenanceOf("m1")],
    });
    const object = await readFileWith(JSON.stringify(documents));
    expect([object.incidents.length, object.maintenance.length]).toEqual([1, 1]);
    const one = await readFileWith(JSON.stringify(documents["incidents"]));
    expect([one.pages.length, one.components.length, one.incidents.length]).toEqual([1, 0, 1]);
    using folder = temporaryFolder();
    const { deps } = statuspageServer(() => ({}));
    for (const [name, document] of Object.entries(documents)) {
      await Bun.write(
        join(folder.path, `${name.replaceAll("_", "-")}.json`),
        JSON.stringify(document),
      );
    }
    const inFolder = await readStatuspage(folder.path, NO_OPTIONS, deps);
    expect(inFolder).toEqual(object);
  });

  test("of the REST API are read from a folder by their names", async () => {
    using folder = temporaryFolder();
    const files = {
      page: restPageOf(),
      components: [componentOf("api", { group_id: "g1" })],
      "component-groups": [{ id: "g1", name: "Data", components: ["api"], position: 1 }],
      incidents: [incidentOf("inc1"), maintenanceOf("m1")],
    };
    for (const [name, document] of Object.entries(files)) {
      await Bun.write(join(folder.path, `${name}.json`), JSON.stringify(document));
    }
    const { deps } = statuspageServer(() => ({}));
    const found = await readStatuspage(folder.path, NO_OPTIONS, deps);
    expect(found.pages[0]?.body.slug).toBe("acme");
    expect(found.components[0]?.group).toBe("group:g1");
    expect([found.incidents.length, found.maintenance.length]).toEqual([1, 1]);
  });

  test("of the REST API are complete, however many they are", async () => {
    using folder = temporaryFolder();
    const incidents = Array.from({ length: 60 }, (_, index) => incidentOf(`i${index}`));
    await Bun.write(join(folder.path, "page.json"), JSON.stringify(restPageOf()));
    await Bun.write(join(folder.path, "incidents.json"), JSON.stringify(incidents));
    const { deps } = statuspageServer(() => ({}));
    const { toDo } = await readStatuspage(folder.path, NO_OPTIONS, deps);
    expect(toDo.filter((line) => line.includes("newest"))).toEqual([]);
  });

  test.each([
    ["{", "is no JSON"],
    ["[]", "is no document of Statuspage"],
    ["7", "is no document of Statuspage"],
    ['{"checks": []}', "is no document of Statuspage"],
    ['{"summary": {"checks": []}}', "is no document of Statuspage"],
    ['{"page": {"id": "x"}}', "its name"],
    ['{"page": {"id": "", "name": "x"}}', "its id"],
  ])("are refused if they are %p", async (text, problem) => {
    await expect(readFileWith(text)).rejects.toThrow(problem);
  });

  test("are refused if there is none", async () => {
    using folder = temporaryFolder();
    const { deps } = statuspageServer(() => ({}));
    const missing = readStatuspage(join(folder.path, "none.json"), NO_OPTIONS, deps);
    await expect(missing).rejects.toThrow("There is no file");
    await expect(readStatuspage(folder.path, NO_OPTIONS, deps)).rejects.toThrow("has none of");
    mkdirSync(join(folder.path, "components.json"));
    const folderForFile = readStatuspage(folder.path, NO_OPTIONS, deps);
    await expect(folderForFile).rejects.toThrow("is a directory");
  });

  test("without a page are refused", async () => {
    using folder = temporaryFolder();
    await Bun.write(join(folder.path, "components.json"), "[]");
    const outcome = readStatuspage(folder.path, NO_OPTIONS, statuspageServer(() => ({})).deps);
    await expect(outcome).rejects.toThrow("has no page. Save summary.json too.");
  });
});
