import { describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../../src/kernel/time";
import { createMailingSite, type MailingSite } from "../../support/mailing-site";

/** Subscribers of every kind. Those who are named after a component or a group selected it. */
async function createAudience(): Promise<MailingSite> {
  const site = await createMailingSite();
  const { ids, group } = site;
  await site.subscribe("all");
  await site.subscribe("status", { events: ["incidents", "maintenance", "status"] });
  await site.subscribe("incidents", { events: ["incidents"] });
  await site.subscribe("maintenance", { events: ["maintenance"] });
  await site.subscribe("api", { targets: [ids["API"] ?? ""] });
  await site.subscribe("core", {
    targets: [group],
    events: ["incidents", "maintenance", "status"],
  });
  await site.subscribe("search", { targets: [ids["Search"] ?? ""] });
  await site.subscribe("empty", { targets: [] });
  await site.subscribe("gone", { status: "unsubscribed" });
  const other = await site.app.page({ slug: "other" });
  await site.subscribe("elsewhere", { pageId: other.page.id });
  return site;
}

const OF_INCIDENTS = ["all", "incidents", "status"];
const OF_MAINTENANCE = ["all", "maintenance", "status"];

interface Case {
  name: string;
  /** Changes whose mails are not counted. */
  before?: (site: MailingSite) => Promise<unknown>;
  act: (site: MailingSite) => Promise<unknown>;
  recipients: string[];
}

let incident = "";
let maintenance = "";
const named = (site: MailingSite, name: string) => ({ [site.ids[name] ?? ""]: "major_outage" });
const opened = async (site: MailingSite) => void (incident = await site.open());
const openedApi = async (site: MailingSite) =>
  void (incident = await site.open({ components: named(site, "API") }));
const planned = async (site: MailingSite) => void (maintenance = await site.plan());
const drafted = async (site: MailingSite) => void (incident = await site.open({ draft: true }));
const plannedSilently = async (site: MailingSite) =>
  void (maintenance = await site.plan({ notify: false, remind_minutes_before: 60 }));

const CASES: Case[] = [
  { name: "an incident without components", act: opened, recipients: OF_INCIDENTS },
  {
    name: "an incident that names API",
    act: openedApi,
    recipients: [...OF_INCIDENTS, "api", "core"],
  },
  {
    name: "an incident that names Search",
    act: (site) => site.open({ components: named(site, "Search") }),
    recipients: [...OF_INCIDENTS, "search"],
  },
  { name: "a silent incident", act: (site) => site.open({ notify: false }), recipients: [] },
  { name: "a draft", act: drafted, recipients: [] },
  {
    name: "the publication of a draft",
    before: drafted,
    act: (site) => site.call(`incidents/${incident}`, { draft: false }, "PATCH"),
    recipients: OF_INCIDENTS,
  },
  {
    name: "an incident that is over when it is recorded",
    act: (site) => site.open({ status: "resolved" }),
    recipients: [],
  },
  {
    name: "an incident that started two hours ago",
    act: (site) => site.open({ started_at: "2026-03-10T10:00:00Z" }),
    recipients: [],
  },
  {
    name: "an update",
    before: opened,
    act: (site) => site.update(incident),
    recipients: OF_INCIDENTS,
  },
  {
    name: "a silent update",
    before: opened,
    act: (site) => site.update(incident, { notify: false }),
    recipients: [],
  },
  {
    name: "an update that names another component, after one that named API",
    before: openedApi,
    act: (site) => site.update(incident, { components: named(site, "Search") }),
    recipients: [...OF_INCIDENTS, "api", "core", "search"],
  },
  {
    name: "an update with a time of two hours ago",
    before: (site) =>
      site.open({ started_at: "2026-03-10T09:00:00Z" }).then((id) => (incident = id)),
    act: (site) => site.update(incident, { display_at: "2026-03-10T10:00:00Z" }),
    recipients: [],
  },
  {
    name: "an edit of the name",
    before: opened,
    act: (site) => site.call(`incidents/${incident}`, { name: "Other" }, "PATCH"),
    recipients: [],
  },
  {
    name: "an edit of an update",
    before: opened,
    async act(site) {
      const key = await site.app.keyWith("read:status", "write:incidents");
      const [update] = (await site.app.call(`/api/v1/incidents/${incident}`, { key })).body.updates;
      await site.call(`incidents/${incident}/updates/${update.id}`, { body: "Mended." }, "PATCH");
    },
    recipients: [],
  },
  {
    name: "the end of an incident",
    before: openedApi,
    act: (site) => site.update(incident, { status: "resolved" }),
    recipients: [...OF_INCIDENTS, "api", "core"],
  },
  {
    name: "the reopening of an incident",
    async before(site) {
      await opened(site);
      await site.update(incident, { status: "resolved" });
    },
    act: (site) => site.update(incident, { status: "investigating" }),
    recipients: OF_INCIDENTS,
  },
  {
    name: "a post-mortem",
    before: opened,
    act: (site) =>
      site.call(`incidents/${incident}/postmortem`, { body: "Why", publish: true }, "PUT"),
    recipients: OF_INCIDENTS,
  },
  {
    name: "a post-mortem that is published again",
    async before(site) {
      await opened(site);
      const put = (publish: boolean) =>
        site.call(`incidents/${incident}/postmortem`, { body: "Why", publish }, "PUT");
      await put(true);
      await put(false);
    },
    act: (site) =>
      site.call(`incidents/${incident}/postmortem`, { body: "Why", publish: true }, "PUT"),
    recipients: [],
  },
  {
    name: "a silent post-mortem",
    before: opened,
    act: (site) =>
      site.call(
        `incidents/${incident}/postmortem`,
        { body: "Why", publish: true, notify: false },
        "PUT",
      ),
    recipients: [],
  },
  {
    name: "a planned maintenance",
    act: planned,
    recipients: [...OF_MAINTENANCE, "api", "core"],
  },
  { name: "a silent maintenance", act: plannedSilently, recipients: [] },
  {
    name: "the reminder of a maintenance",
    before: planned,
    act: (site) => site.advance(61 * MINUTE_MS),
    recipients: [...OF_MAINTENANCE, "api", "core"],
  },
  {
    name: "a reminder within 15 minutes of the plan",
    async before(site) {
      await site.advance(50 * MINUTE_MS);
      await planned(site);
    },
    act: (site) => site.advance(12 * MINUTE_MS),
    recipients: [],
  },
  {
    name: "the start of a silent maintenance",
    before: plannedSilently,
    act: (site) => site.advance(125 * MINUTE_MS),
    recipients: [],
  },
  {
    name: "the start of a maintenance",
    async before(site) {
      await planned(site);
      await site.advance(115 * MINUTE_MS);
    },
    act: (site) => site.advance(6 * MINUTE_MS),
    recipients: [...OF_MAINTENANCE, "api", "core"],
  },
  {
    name: "the end of a maintenance whose components were changed",
    async before(site) {
      await planned(site);
      await site.advance(MINUTE_MS);
      const components = [site.ids["Search"]];
      await site.call(`maintenance/${maintenance}`, { components }, "PATCH");
      await site.advance(150 * MINUTE_MS);
    },
    act: (site) => site.advance(60 * MINUTE_MS),
    recipients: [...OF_MAINTENANCE, "api", "core", "search"],
  },
  {
    name: "an edit of a maintenance",
    async before(site) {
      await planned(site);
      await site.advance(MINUTE_MS);
    },
    act: (site) => site.call(`maintenance/${maintenance}`, { name: "Other" }, "PATCH"),
    recipients: [],
  },
  {
    name: "an update of a maintenance",
    before: planned,
    act: (site) => site.call(`maintenance/${maintenance}/updates`, { body: "Soon." }),
    recipients: [...OF_MAINTENANCE, "api", "core"],
  },
  {
    name: "a cancelled maintenance",
    before: planned,
    act: (site) => site.call(`maintenance/${maintenance}/cancel`, {}),
    recipients: [...OF_MAINTENANCE, "api", "core"],
  },
  {
    name: "a changed status of API",
    act: (site) => site.call(`components/${site.ids["API"]}`, { status: "major_outage" }, "PATCH"),
    recipients: ["core", "status"],
  },
];

describe("the recipients of mails", () => {
  test.each(CASES)("about $name", async ({ before, act, recipients }) => {
    await using site = await createAudience();
    if (before) {
      await before(site);
      await site.advance(2 * MINUTE_MS);
      await site.send();
    }
    await act(site);
    await site.advance(2 * MINUTE_MS);
    expect(await site.recipients()).toEqual(recipients.toSorted());
  });

  test("about a maintenance are those who chose what it named before the page had any subscriber", async () => {
    await using site = await createMailingSite();
    const { API = "", Search = "" } = site.ids;
    await planned(site);
    await site.call(`maintenance/${maintenance}`, { components: [Search] }, "PATCH");
    await site.subscribe("api", { targets: [API] });
    expect(await site.recipients()).toEqual([]);
    await site.call(`maintenance/${maintenance}/updates`, { body: "Soon." });
    expect(await site.recipients()).toEqual(["api"]);
  });

  test("about an incident are those who chose what it named before the page had any subscriber", async () => {
    await using site = await createMailingSite();
    const { API = "" } = site.ids;
    await openedApi(site);
    await site.update(incident, { components: { [API]: "operational" } });
    await site.update(incident, { components: named(site, "Search") });
    await site.subscribe("api", { targets: [API] });
    expect(await site.recipients()).toEqual([]);
    await site.update(incident);
    expect(await site.recipients()).toEqual(["api"]);
  });

  test("about a private page are none, also after it was made private", async () => {
    await using site = await createAudience();
    await openedApi(site);
    await site.change({ visibility: "private" });
    expect(await site.recipients()).toEqual([]);
    await site.update(incident);
    await site.open();
    await site.advance(5 * MINUTE_MS);
    expect(await site.recipients()).toEqual([]);
  });
});
