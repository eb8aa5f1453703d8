import { describe, expect, test } from "bun:test";
import type { EventType } from "../../../src/events/outbox";
import { CLI_ACTOR } from "../../../src/base/actor";
import { deleteIncident } from "../../../src/features/incidents/incidents";
import { unsubscribe } from "../../../src/features/subscribers/subscribers";
import { MINUTE_MS } from "../../../src/base/time";
import { createMailingSite, type MailingSite } from "../../support/mailing-site";
import { listSubscribers } from "../../support/mail-rows";

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

/** Conditions under which an event happens. */
interface Conditions {
  notify: boolean;
  isDraft: boolean;
}

/** An event of each type, with the recipients of mails about it. */
interface EventCase {
  /** Changes whose mails are not counted. */
  before?: (site: MailingSite, conditions: Conditions) => Promise<unknown>;
  act: (site: MailingSite, conditions: Conditions) => Promise<unknown>;
  recipients: readonly string[];
  /** True if it can happen to a draft. */
  hasDrafts?: boolean;
  /** True if the change has no `notify`. */
  isNeverSilent?: boolean;
}

let incident = "";
let maintenance = "";
let schedule = "";
const named = (site: MailingSite, name: string) => ({ [site.ids[name] ?? ""]: "major_outage" });
const opened = async (site: MailingSite) => void (incident = await site.open());
const openedApi = async (site: MailingSite, given?: Conditions) => {
  const { notify = true, isDraft: draft = false } = given ?? {};
  incident = await site.open({ components: named(site, "API"), notify, draft });
};
const planned = async (site: MailingSite, given?: Conditions) =>
  void (maintenance = await site.plan({ notify: given?.notify ?? true }));
/** Schedules a maintenance of API from 14:00 to 15:00 of each day. */
const scheduled = async (site: MailingSite) => {
  const answer = await site.call("maintenance-schedules", {
    page: site.page.slug,
    name: "Daily restart",
    body: "A minute without it.",
    components: [site.ids["API"]],
    cron: "0 14 * * *",
    duration_minutes: 60,
  });
  schedule = answer.body.id;
};
const drafted = async (site: MailingSite) => void (incident = await site.open({ draft: true }));
const resolved = (site: MailingSite) => site.update(incident, { status: "resolved" });
const recordOf = (type: EventType) => (site: MailingSite) =>
  site.control((ctx, tx) => {
    const pageId = site.page.id;
    ctx.outbox.record(tx, { type, pageId, subjectId: "mon_1", data: {}, isNews: true });
  });

const ABOUT_API = [...OF_INCIDENTS, "api", "core"];
const MAINTENANCE_OF_API = [...OF_MAINTENANCE, "api", "core"];
const NEVER = { recipients: [], isNeverSilent: true };

const EVENT_CASES: Readonly<Record<EventType, EventCase>> = {
  "incident.created": { act: openedApi, recipients: ABOUT_API, hasDrafts: true },
  "incident.updated": {
    before: openedApi,
    act: (site, { notify }) => site.update(incident, { notify }),
    recipients: ABOUT_API,
    hasDrafts: true,
  },
  "incident.resolved": {
    before: openedApi,
    act: (site, { notify }) => site.update(incident, { status: "resolved", notify }),
    recipients: ABOUT_API,
    hasDrafts: true,
  },
  "incident.reopened": {
    async before(site, conditions) {
      await openedApi(site, conditions);
      await resolved(site);
    },
    act: (site, { notify }) => site.update(incident, { status: "investigating", notify }),
    recipients: ABOUT_API,
    hasDrafts: true,
  },
  "incident.postmortem_published": {
    before: openedApi,
    act: (site, { notify }) =>
      site.call(`incidents/${incident}/postmortem`, { body: "Why", publish: true, notify }, "PUT"),
    recipients: ABOUT_API,
    hasDrafts: true,
  },
  "incident.deleted": {
    async act(site) {
      await openedApi(site);
      await site.control((ctx, tx) => deleteIncident(ctx, tx, incident, CLI_ACTOR));
    },
    ...NEVER,
  },
  "maintenance.scheduled": { act: planned, recipients: MAINTENANCE_OF_API },
  "maintenance.updated": {
    before: planned,
    act: (site, { notify }) =>
      site.call(`maintenance/${maintenance}/updates`, { body: "Soon.", notify }),
    recipients: MAINTENANCE_OF_API,
  },
  "maintenance.reminder": {
    before: planned,
    act: (site) => site.advance(61 * MINUTE_MS),
    recipients: MAINTENANCE_OF_API,
  },
  "maintenance.started": {
    async before(site, conditions) {
      await planned(site, conditions);
      await site.advance(115 * MINUTE_MS);
    },
    act: (site) => site.advance(6 * MINUTE_MS),
    recipients: MAINTENANCE_OF_API,
  },
  "maintenance.completed": {
    async before(site, conditions) {
      await planned(site, conditions);
      await site.advance(150 * MINUTE_MS);
    },
    act: (site) => site.advance(60 * MINUTE_MS),
    recipients: MAINTENANCE_OF_API,
  },
  "maintenance.cancelled": {
    before: planned,
    act: (site, { notify }) => site.call(`maintenance/${maintenance}/cancel`, { notify }),
    recipients: MAINTENANCE_OF_API,
  },
  "component.status_changed": {
    act: (site) => site.call(`components/${site.ids["API"]}`, { status: "major_outage" }, "PATCH"),
    recipients: ["core", "status"],
    isNeverSilent: true,
  },
  "monitor.down": { act: recordOf("monitor.down"), ...NEVER },
  "monitor.up": { act: recordOf("monitor.up"), ...NEVER },
  "monitor.degraded": { act: recordOf("monitor.degraded"), ...NEVER },
  "monitor.reminder": { act: recordOf("monitor.reminder"), ...NEVER },
  "monitor.certificate_expiring": { act: recordOf("monitor.certificate_expiring"), ...NEVER },
  "location.offline": { act: recordOf("location.offline"), ...NEVER },
  "fleet.alarm": { act: recordOf("fleet.alarm"), ...NEVER },
  "webhook.test": { act: recordOf("webhook.test"), ...NEVER },
};

/** Conditions of every event that can have them. All but the first leave nobody to be mailed. */
const VARIANTS = ["published", "silent", "draft", "private", "unsubscribed meanwhile"] as const;

const TABLE = (Object.entries(EVENT_CASES) as [EventType, EventCase][]).flatMap(
  ([type, { hasDrafts = false, isNeverSilent = false, recipients }]) =>
    VARIANTS.filter(
      (variant) => (variant !== "draft" || hasDrafts) && (variant !== "silent" || !isNeverSilent),
    ).map((variant) => ({
      type,
      variant,
      recipients: variant === "published" ? recipients : [],
    })),
);

/** A change that is not the usual one of an event. */
interface Case {
  name: string;
  /** Changes whose mails are not counted. */
  before?: (site: MailingSite) => Promise<unknown>;
  act: (site: MailingSite) => Promise<unknown>;
  recipients: readonly string[];
}

const CASES: Case[] = [
  { name: "an incident without components", act: opened, recipients: OF_INCIDENTS },
  {
    name: "an incident that names Search",
    act: (site) => site.open({ components: named(site, "Search") }),
    recipients: [...OF_INCIDENTS, "search"],
  },
  {
    name: "the publication of a draft",
    before: drafted,
    act: (site) => site.call(`incidents/${incident}`, { draft: false }, "PATCH"),
    recipients: OF_INCIDENTS,
  },
  {
    name: "the publication of a silent draft",
    before: (site) => openedApi(site, { notify: false, isDraft: true }),
    act: (site) => site.call(`incidents/${incident}`, { draft: false }, "PATCH"),
    recipients: [],
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
    name: "an update that names another component, after one that named API",
    before: openedApi,
    act: (site) => site.update(incident, { components: named(site, "Search") }),
    recipients: [...ABOUT_API, "search"],
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
    name: "a reminder within 15 minutes of the plan",
    async before(site) {
      await site.advance(50 * MINUTE_MS);
      await planned(site);
    },
    act: (site) => site.advance(12 * MINUTE_MS),
    recipients: [],
  },
  {
    name: "the occurrences that a schedule plans",
    act: scheduled,
    recipients: [],
  },
  {
    name: "the reminder of an occurrence",
    before: scheduled,
    act: (site) => site.advance(61 * MINUTE_MS),
    recipients: MAINTENANCE_OF_API,
  },
  {
    name: "the start and the end of an occurrence",
    async before(site) {
      await scheduled(site);
      await site.advance(110 * MINUTE_MS);
    },
    act: (site) => site.advance(80 * MINUTE_MS),
    recipients: [],
  },
  {
    name: "a reminded occurrence whose schedule is disabled",
    async before(site) {
      await scheduled(site);
      await site.advance(70 * MINUTE_MS);
    },
    act: (site) => site.call(`maintenance-schedules/${schedule}`, { enabled: false }, "PATCH"),
    recipients: MAINTENANCE_OF_API,
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
    recipients: [...MAINTENANCE_OF_API, "search"],
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
];

function unsubscribeAll(site: MailingSite): Promise<void> {
  return site.control((ctx, tx) => {
    for (const subscriber of listSubscribers(tx, {})) unsubscribe(ctx, tx, subscriber);
  });
}

/** Lets the mails of the changes before the one that is tested be sent. */
async function sendEarlier(site: MailingSite): Promise<void> {
  await site.advance(2 * MINUTE_MS);
  await site.send();
}

describe("the recipients of mails", () => {
  test.each(TABLE)("about $type, $variant", async ({ type, variant, recipients }) => {
    await using site = await createAudience();
    const { before, act } = EVENT_CASES[type];
    const conditions = { notify: variant !== "silent", isDraft: variant === "draft" };
    if (before) {
      await before(site, conditions);
      await sendEarlier(site);
    }
    if (variant === "private") await site.change({ visibility: "private" });
    await act(site, conditions);
    expect(
      site.app
        .events()
        .map((event) => event.type)
        .includes(type),
    ).toBe(variant !== "draft");
    if (variant === "unsubscribed meanwhile") await unsubscribeAll(site);
    await site.advance(2 * MINUTE_MS);
    expect(await site.recipients()).toEqual(recipients.toSorted());
  });

  test.each(CASES)("about $name", async ({ before, act, recipients }) => {
    await using site = await createAudience();
    if (before) {
      await before(site);
      await sendEarlier(site);
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
