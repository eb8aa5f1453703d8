import { describe, expect, test } from "bun:test";
import { insertInto } from "../../../src/db/statements";
import { mailings, subscribers } from "../../../src/db/tables/mail";
import { type AuthorKind, CLI_ACTOR, SYSTEM_ACTOR } from "../../../src/base/actor";
import { holdAllMailings } from "../../../src/features/mail/hold";
import { mailOfChange } from "../../../src/features/mailings/mailings";
import { MAILINGS_PER_DAY } from "../../../src/features/mailings/rules";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { fails, openEngineSite } from "../../support/engine-site";
import { mailingRow, listMailings, subscriberRow } from "../../support/mail-rows";
import { createMailingSite, type MailingSite } from "../../support/mailing-site";
import {
  createIncident,
  createSchedule,
  importIncident,
  planMaintenance,
} from "../../support/examined";

const RELAY = { ALLCLEAR_SMTP_HOST: "relay.example", ALLCLEAR_MAIL_FROM: "status@mail.example" };
const NO_RELAY = { ALLCLEAR_SMTP_HOST: undefined, ALLCLEAR_MAIL_FROM: undefined };
const FULL =
  "A page sends at most 200 mailings of API keys in 24 hours. An admin can release this one.";
const EDIT = { state: "none", reason: "Edits are not mailed." };
const QUEUED = { state: "queued" };
const SILENT = { state: "none", reason: "The field notify is false." };
const UNPUBLISHED = { state: "none", reason: "Nothing is mailed before its publication." };

const insertMailing = insertInto(mailings);
const insertSubscriber = insertInto(subscribers);

interface Mail {
  state: string;
  reason?: string;
}

interface Written {
  mail?: Mail;
  updates?: { mail?: Mail }[];
  postmortem?: { mail?: Mail } | null;
}

/** Returns the mails that an answer names, of which there must be one. */
function mailIn({ mail, updates = [], postmortem }: Written): Mail | undefined {
  const named = [mail, postmortem?.mail, ...updates.map((update) => update.mail)];
  expect(named.filter((each) => each !== undefined)).toHaveLength(1);
  return named.find((each) => each !== undefined);
}

async function createSite(): Promise<MailingSite> {
  const site = await createMailingSite();
  await site.subscribe("anna");
  return site;
}

/** Opens an incident as a signed-in person does. */
async function openAsPerson({ app, page }: Pick<MailingSite, "app" | "page">): Promise<void> {
  const session = await app.signedIn("editor");
  const form = {
    page: page.id,
    name: "By hand",
    body: "We look.",
    notify: "yes",
    intent: "publish",
  };
  const answer = await app.call("/admin/incidents/new", { session, form });
  expect(answer.status).toBe(303);
}

const INCIDENT = { page: "acme", name: "Errors", body: "We look into it." };
const PLAN = {
  page: "acme",
  name: "Upgrade",
  body: "A minute without search.",
  components: [],
  scheduled_for: "2026-03-10T14:00:00Z",
  scheduled_until: "2026-03-10T15:00:00Z",
};

type Write = (site: MailingSite) => Promise<Written>;

const incident =
  (json: object): Write =>
  async (site) =>
    (await site.call("incidents", { ...INCIDENT, ...json })).body;

/** Writes something about a new incident. */
const about =
  (path: string, json: object, method = "POST", opened: Record<string, unknown> = {}): Write =>
  async (site) => {
    const id = await site.open(opened);
    const { updates } = (
      await site.app.call(`/api/v1/incidents/${id}`, { key: await readKey(site) })
    ).body;
    const full = `incidents/${id}${path.replace("{update}", updates[0].id)}`;
    return (await site.call(full, json, method)).body;
  };

const plan =
  (json: object): Write =>
  async (site) =>
    (await site.call("maintenance", { ...PLAN, ...json })).body;

const aboutPlan =
  (path: string, json: object, method = "POST", planned: Record<string, unknown> = {}): Write =>
  async (site) =>
    (await site.call(`maintenance/${await site.plan(planned)}${path}`, json, method)).body;

const readKey = ({ app }: MailingSite) => app.keyWith("read:status", "write:incidents");

const WRITES: [string, Write, Mail][] = [
  ["opens an incident", incident({}), QUEUED],
  ["opens one without notifications", incident({ notify: false }), SILENT],
  ["drafts one", incident({ draft: true }), UNPUBLISHED],
  [
    "records one that is over",
    incident({ status: "resolved" }),
    { state: "none", reason: "An incident that is recorded as resolved is not mailed." },
  ],
  [
    "opens one that started two hours ago",
    incident({ started_at: "2026-03-10T10:00:00Z" }),
    { state: "none", reason: "The update is dated back by more than an hour." },
  ],
  ["adds an update", about("/updates", { body: "More." }), QUEUED],
  ["resolves", about("/updates", { body: "Over.", status: "resolved" }), QUEUED],
  ["adds an update without notifications", about("/updates", { body: "x", notify: false }), SILENT],
  [
    "adds an update that is dated back",
    about("/updates", { body: "x", display_at: "2026-03-10T10:30:00Z" }, "POST", {
      started_at: "2026-03-10T09:00:00Z",
    }),
    { state: "none", reason: "The update is dated back by more than an hour." },
  ],
  [
    "adds an update of a draft",
    about("/updates", { body: "x" }, "POST", { draft: true }),
    UNPUBLISHED,
  ],
  ["edits an update", about("/updates/{update}", { body: "Mended." }, "PATCH"), EDIT],
  [
    "sends the same text again",
    about("/updates/{update}", { body: "We look into it." }, "PATCH"),
    EDIT,
  ],
  ["renames an incident", about("", { name: "Failures" }, "PATCH"), EDIT],
  ["changes nothing", about("", { name: "Errors" }, "PATCH"), EDIT],
  ["publishes a draft", about("", { draft: false }, "PATCH", { draft: true }), QUEUED],
  [
    "publishes a draft without notifications",
    about("", { draft: false }, "PATCH", { draft: true, notify: false }),
    SILENT,
  ],
  ["saves a post-mortem", about("/postmortem", { body: "Why." }, "PUT"), UNPUBLISHED],
  ["publishes it", about("/postmortem", { body: "Why.", publish: true }, "PUT"), QUEUED],
  [
    "publishes it without notifications",
    about("/postmortem", { body: "Why.", publish: true, notify: false }, "PUT"),
    SILENT,
  ],
  [
    "publishes it a second time",
    async (site) => {
      const id = await site.open();
      const put = (publish: boolean) =>
        site.call(`incidents/${id}/postmortem`, { body: "Why.", publish }, "PUT");
      await put(true);
      await put(false);
      return (await put(true)).body;
    },
    { state: "none", reason: "Only the first publication of a post-mortem is mailed." },
  ],
  [
    "edits a published post-mortem",
    async (site) => {
      const id = await site.open();
      const put = (body: string) =>
        site.call(`incidents/${id}/postmortem`, { body, publish: true }, "PUT");
      await put("Why.");
      return (await put("Because.")).body;
    },
    EDIT,
  ],
  ["plans a maintenance", plan({}), QUEUED],
  ["plans one without notifications", plan({ notify: false }), SILENT],
  [
    "records a maintenance of the past",
    plan({ scheduled_for: "2026-03-10T10:30:00Z", scheduled_until: "2026-03-10T11:30:00Z" }),
    { state: "none", reason: "The planned end of the maintenance is in the past." },
  ],
  ["renames a maintenance", aboutPlan("", { name: "Migration" }, "PATCH"), EDIT],
  ["moves a maintenance", aboutPlan("", { scheduled_for: "2026-03-10T14:30:00Z" }, "PATCH"), EDIT],
  ["adds an update of a maintenance", aboutPlan("/updates", { body: "More." }), QUEUED],
  ["starts a maintenance", aboutPlan("/updates", { body: "x", status: "in_progress" }), QUEUED],
  [
    "adds an update of a maintenance without notifications",
    aboutPlan("/updates", { body: "x", notify: false }),
    SILENT,
  ],
  ["cancels a maintenance", aboutPlan("/cancel", {}), QUEUED],
  ["cancels a silent maintenance", aboutPlan("/cancel", {}, "POST", { notify: false }), SILENT],
];

/** Circumstances, with the mail of requests whose mails are queued otherwise, and of all others if it differs. */
const CIRCUMSTANCES: {
  name: string;
  env?: Record<string, undefined>;
  prepare(site: MailingSite): Promise<unknown>;
  queued: Mail;
  others?: Mail;
}[] = [
  { name: "with a subscriber", prepare: (site) => site.subscribe("anna"), queued: QUEUED },
  {
    name: "without subscribers",
    prepare: (site) => site.subscribe("anna", { status: "unsubscribed" }),
    queued: { state: "none", reason: "The page has no subscribers." },
  },
  {
    name: "on a private page",
    async prepare(site) {
      await site.subscribe("anna");
      await site.change({ visibility: "private" });
    },
    queued: { state: "off", reason: "The page is private." },
    others: { state: "off", reason: "The page is private." },
  },
  {
    name: "while mail is not set up",
    env: NO_RELAY,
    prepare: (site) => site.subscribe("anna"),
    queued: { state: "off", reason: "Mail cannot be sent: it needs an SMTP relay and a sender." },
    others: { state: "off", reason: "Mail cannot be sent: it needs an SMTP relay and a sender." },
  },
  {
    name: "beyond the limit of API keys",
    async prepare(site) {
      await site.subscribe("anna");
      await site.count("key", 200);
    },
    queued: { state: "held", reason: FULL },
  },
  {
    name: "while all mailings are held",
    async prepare(site) {
      await site.subscribe("anna");
      await site.control(
        (ctx, tx) => void holdAllMailings(ctx, tx, { reason: "failures", since: ctx.clock.now() }),
      );
    },
    queued: { state: "held", reason: "All mailings are held until an admin releases them." },
  },
];

describe.each(CIRCUMSTANCES)("$name, the answer to a request", (circumstances) => {
  const { env = {}, prepare, queued, others } = circumstances;

  test.each(WRITES)("that %s says what becomes of its mails", async (_, write, usual) => {
    await using site = await createMailingSite(env);
    await prepare(site);
    const { call } = site;
    let before = 0;
    site.call = (...request) => {
      before = site.mailings().length;
      return call(...request);
    };
    const mail = mailIn(await write(site));
    expect(mail).toEqual(usual.state === "queued" ? queued : (others ?? usual));
    const isRecorded = mail?.state === "queued" || mail?.state === "held";
    const recorded = site.mailings().slice(before);
    expect(recorded).toHaveLength(isRecorded ? 1 : 0);
    if (isRecorded) expect(recorded[0]?.state === "held").toBe(mail.reason === FULL);
  });
});

describe("the mail of a written update", () => {
  test("is in no later answer, and not in events", async () => {
    await using site = await createSite();
    const { call, keyWith, events } = site.app;
    const key = await keyWith("read:status", "write:incidents");
    const id = await site.open();
    const [update] = (await call(`/api/v1/incidents/${id}`, { key })).body.updates;
    await site.call(`incidents/${id}/postmortem`, { body: "Why.", publish: true }, "PUT");
    const planned = await site.plan();
    const [first] = (await call(`/api/v1/maintenance/${planned}`, { key })).body.updates;
    for (const path of [
      "incidents",
      `incidents/${id}`,
      `incidents/${id}/updates/${update.id}`,
      "maintenance",
      `maintenance/${planned}`,
      `maintenance/${planned}/updates/${first.id}`,
      "status/acme",
    ]) {
      const { status, text } = await call(`/api/v1/${path}`, { key });
      expect([path, status, text.includes('"mail":')]).toEqual([path, 200, false]);
    }
    expect(JSON.stringify(events().map(({ data }) => data))).not.toContain('"mail":');
  });

  test("leaves the entity tag as that of a later read", async () => {
    await using site = await createSite();
    const key = await site.app.keyWith("read:status", "write:incidents");
    const opened = await site.call("incidents", INCIDENT);
    const etag = opened.headers.get("etag") ?? "";
    const read = await site.app.call(`/api/v1/incidents/${opened.body.id}`, {
      key,
      headers: { "if-none-match": etag },
    });
    expect(read.status).toBe(304);
  });

  test("is the same if the request is repeated, although the limit is used up meanwhile", async () => {
    await using site = await createSite();
    const key = await site.app.keyWith("write:incidents", "write:maintenance");
    await site.count("key", 198);
    for (const [index, path] of ["incidents", "maintenance", "incidents"].entries()) {
      const send = () =>
        site.app.call(`/api/v1/${path}`, {
          method: "POST",
          key,
          json: path === "incidents" ? INCIDENT : PLAN,
          headers: { "idempotency-key": `request-${index}` },
        });
      const [sent, again] = [await send(), await send()];
      expect(mailIn(sent.body)).toEqual(index === 2 ? { state: "held", reason: FULL } : QUEUED);
      expect(again.text).toBe(sent.text);
      expect(again.headers.get("idempotency-replayed")).toBe("true");
    }
    expect(site.mailings()).toHaveLength(201);
  });

  test("is that of the recorded mailing also if an earlier one ceases to count meanwhile", async () => {
    await using site = await createSite();
    const { clock } = site.app;
    await site.count("key", 200, DAY_MS - 1);
    const actor = { kind: "key", id: "key_1", label: "Deploys" } as const;
    let mail: Mail | undefined;
    await site.control((ctx, tx) => {
      const { row } = createIncident(ctx, tx, INCIDENT, "api", actor);
      clock.setWallClock(clock.now() + 1);
      mail = mailOfChange(ctx, tx, row);
    });
    expect(mail).toEqual({ state: "held", reason: FULL });
    expect(site.mailings().at(-1)?.state).toBe("held");
  });

  test("is none for an update of an imported incident", async () => {
    await using site = await createSite();
    let id = "";
    await site.control((ctx, tx) => {
      const at = "2026-03-10T11:30:00.000Z";
      const input = {
        name: "Elsewhere",
        impact_override: null,
        external_ref: "elsewhere-1",
        postmortem: null,
        started_at: at,
        updates: [{ status: "investigating" as const, body: "x", display_at: at, components: {} }],
      };
      id = importIncident(ctx, tx, site.page.id, input, CLI_ACTOR).id;
    });
    const { body } = await site.call(`incidents/${id}/updates`, { body: "More." });
    expect(mailIn(body)).toEqual({ state: "none", reason: "Imported incidents are not mailed." });
    expect(site.mailings()).toEqual([]);
  });
});

describe("the mailings of a page", () => {
  const AUTHORS: AuthorKind[] = ["monitor", "key", "person"];

  /** Lets a monitor, a key and a person open an incident each, and returns which mailings are held. */
  async function openEach(used: Partial<Record<AuthorKind, number>>) {
    await using engine = await openEngineSite({ env: RELAY });
    const { app } = engine;
    const { ctx } = app;
    const { page, components } = await app.page({}, ["API", "Web"]);
    const now = ctx.clock.now();
    await ctx.db.write((tx) => {
      insertSubscriber(
        tx,
        subscriberRow({
          id: "sub_1",
          seq: 1,
          pageId: page.id,
          address: "anna@example.net",
          addressHmac: "x",
          confirmedAt: now,
        }),
      );
      for (const author of AUTHORS) {
        for (let index = 0; index < (used[author] ?? 0); index++) {
          const id = ctx.newId("mlg");
          insertMailing(
            tx,
            mailingRow({ id, pageId: page.id, subjectId: "inc_1", createdAt: now, author }),
          );
        }
      }
    });
    const before = listMailings(ctx.db, {}).length;
    engine.let("api.test", fails());
    await engine.monitor({
      component_ids: [components["API"] ?? ""],
      failure_threshold: 1,
      open_incident: "automatic",
    });
    await engine.clock.advance(2 * MINUTE_MS);
    const key = await app.keyWith("write:incidents");
    const json = { ...INCIDENT, components: { [components["Web"] ?? ""]: "major_outage" } };
    await app.call("/api/v1/incidents", { method: "POST", key, json });
    await openAsPerson({ app, page });
    return listMailings(ctx.db, {})
      .slice(before)
      .map(({ author, state }) => `${author} ${state === "held" ? "held" : "sent"}`);
  }

  test.each([
    [{}, ["monitor sent", "key sent", "person sent"]],
    [{ monitor: 49, key: 199, person: 199 }, ["monitor sent", "key sent", "person sent"]],
    [{ monitor: 50 }, ["monitor held", "key sent", "person sent"]],
    [{ key: 200 }, ["monitor sent", "key held", "person sent"]],
    [{ person: 200 }, ["monitor sent", "key sent", "person held"]],
    [{ monitor: 50, key: 200 }, ["monitor held", "key held", "person sent"]],
  ])("are counted apart by author: after %j", async (used, expected) => {
    expect(await openEach(used)).toEqual(expected);
  });

  test("are counted by page and author within one transaction", async () => {
    await using site = await createSite();
    const { page: other } = await site.app.page({ slug: "other" }, []);
    await site.subscribe("ben", { pageId: other.id });
    await site.count("monitor", 49);
    await site.control((ctx, tx) => {
      for (const [page, actor] of [
        ["acme", SYSTEM_ACTOR],
        ["acme", SYSTEM_ACTOR],
        ["acme", CLI_ACTOR],
        ["other", SYSTEM_ACTOR],
      ] as const) {
        createIncident(ctx, tx, { ...INCIDENT, page }, "monitor", actor);
      }
    });
    const recorded = site.mailings().slice(49);
    expect(recorded.map(({ author, state }) => [author, state === "held"])).toEqual([
      ["monitor", false],
      ["monitor", true],
      ["person", false],
      ["monitor", false],
    ]);
  });

  test("of a person begin at once after 50 of monitors and 200 of a key", async () => {
    await using site = await createSite();
    await site.count("monitor", MAILINGS_PER_DAY.monitor);
    await site.count("key", MAILINGS_PER_DAY.key - 1);
    await site.open();
    await site.open();
    await openAsPerson(site);
    await site.advance(0);
    expect(site.mailings().slice(-3)).toMatchObject([
      { author: "key", state: "sending" },
      { author: "key", state: "held" },
      { author: "person", state: "sending" },
    ]);
  });

  test("of the last 24 hours count, unless they are held, never began or are in the future of a clock that was set back", async () => {
    await using site = await createSite();
    await site.count("key", 1_000, DAY_MS);
    await site.count("key", 200, -2 * DAY_MS);
    await site.count("person", 200);
    await site.count("monitor", 50);
    const { ctx } = site.app;
    await site.stopWorker();
    await site.control((_, tx) => {
      const fields = { pageId: site.page.id, subjectId: "inc_1", createdAt: ctx.clock.now() };
      for (let index = 0; index < 300; index++) {
        for (const state of ["held", "done", "stopped"] as const) {
          const id = ctx.newId("mlg");
          insertMailing(tx, mailingRow({ ...fields, id, author: "key", state, cursor: -1 }));
        }
      }
    });
    const json = INCIDENT;
    for (let index = 0; index < 200; index++) {
      expect(mailIn((await site.call("incidents", json)).body)).toEqual(QUEUED);
    }
    expect(mailIn((await site.call("incidents", json)).body)?.state).toBe("held");
    site.app.clock.setWallClock(ctx.clock.now() + DAY_MS);
    expect(mailIn((await site.call("incidents", json)).body)).toEqual(QUEUED);
  });

  test.each(["key", "person"] as const)(
    "count for the author of a maintenance if the clock starts and ends it: %s",
    async (author) => {
      await using site = await createSite();
      if (author === "key") await site.plan();
      else {
        await site.control((ctx, tx) => {
          const components = [site.ids["API"] ?? ""];
          planMaintenance(ctx, tx, { ...PLAN, components }, CLI_ACTOR);
        });
      }
      for (const other of AUTHORS) if (other !== author) await site.count(other, 200);
      await site.advance(HOUR_MS);
      await site.advance(HOUR_MS);
      await site.count(author, 200);
      await site.advance(HOUR_MS);
      const about = site.mailings().filter(({ kind }) => kind.startsWith("maintenance."));
      expect(about.map(({ kind, author: by, state }) => [kind, by, state === "held"])).toEqual([
        ["maintenance.scheduled", author, false],
        ["maintenance.reminder", author, false],
        ["maintenance.started", author, false],
        ["maintenance.completed", author, true],
      ]);
    },
  );

  test.each(["key", "person"] as const)(
    "count for the author of a schedule: %s",
    async (author) => {
      await using site = await createSite();
      const schedule = {
        page: "acme",
        name: "Nightly",
        body: "x",
        cron: "0 14 * * *",
        duration_minutes: 30,
        components: [],
      };
      if (author === "key") await site.call("maintenance-schedules", schedule);
      else {
        await site.control((ctx, tx) => void createSchedule(ctx, tx, schedule, CLI_ACTOR));
      }
      await site.advance(HOUR_MS + MINUTE_MS);
      expect(site.mailings()).toMatchObject([{ kind: "maintenance.reminder", author }]);
    },
  );

  test("about statuses count for the person, key or monitor that set them", async () => {
    await using site = await createMailingSite();
    await site.subscribe("anna", { events: ["status"] });
    const [api = "", web = ""] = [site.ids["API"], site.ids["Web"]];
    await site.call(`components/${api}`, { status: "degraded_performance" }, "PATCH");
    const session = await site.app.signedIn("editor");
    const form = { status: "partial_outage" };
    await site.app.call(`/admin/components/${web}/status`, { session, form });
    expect(site.mailings()).toMatchObject([
      { subjectId: api, author: "key" },
      { subjectId: web, author: "person" },
    ]);
  });
});
