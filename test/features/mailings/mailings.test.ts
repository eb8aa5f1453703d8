import { describe, expect, test } from "bun:test";
import { mutate } from "../../../src/db/statements";
import { events } from "../../../src/db/tables/events";
import { mailings } from "../../../src/db/tables/mail";
import { CLI_ACTOR } from "../../../src/base/actor";
import { listenUrl } from "../../../src/base/config/parse";
import { deleteIncident } from "../../../src/features/incidents/incidents";
import { setMailSettings } from "../../../src/features/mail/settings";
import { toMessage } from "../../../src/features/mail/compose";
import { countAudience } from "../../../src/features/mailings/lists";
import {
  advanceMailings,
  releaseHeldMailings,
  releaseMailing,
  startMailings,
  stopMailing,
} from "../../../src/features/mailings/mailings";
import { writeDueUpdates } from "../../../src/features/incidents/automatic-updates";
import { applyTransition } from "../../../src/features/monitors/engine/transitions";
import { newEvaluation } from "../../../src/features/monitors/rules";
import { getSubscriber, resendMail } from "../../../src/features/subscribers/subscribers";
import { insertMailing, listMailingsOfSubject } from "../../../src/features/mailings/store";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { createMailingSite, type MailingSite } from "../../support/mailing-site";
import { parseMails } from "../../support/parsed-mail";
import { createMonitor } from "../../support/examined";

const deleteEvents = mutate((orm, _$: Record<string, never>) => orm.delete(events));
const deleteMailings = mutate((orm, _$: Record<string, never>) => orm.delete(mailings));

async function createSite(): Promise<MailingSite> {
  const site = await createMailingSite();
  await site.subscribe("anna");
  return site;
}

const DASHBOARD_RELAY = {
  host: "relay.example",
  port: null,
  tls: "none" as const,
  ca: null,
  user: null,
  password: null,
  connections: 4,
  rate_per_minute: 600,
  reply_to: null,
  bounce_address: null,
};

/** Returns the text parts of mails. */
function textsOf(mails: Awaited<ReturnType<MailingSite["send"]>>): string[] {
  return mails.map(({ text }) => {
    if (typeof text === "string") return text;
    const bytes = text.quotedPrintable
      .replaceAll("=\r\n", "")
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    return Buffer.from(bytes, "latin1").toString().replaceAll("\r\n", "\n");
  });
}

describe("a mailing", () => {
  test("is one row in the transaction of the change, whatever the number of subscribers", async () => {
    await using site = await createSite();
    await site.subscribe("bert");
    await site.open();
    expect(site.mailings()).toMatchObject([
      { kind: "incident.created", state: "sending", maxSeq: 2, cursor: 2 },
    ]);
    expect(site.mails()).toHaveLength(2);
  });

  test("shows the status of the incident's components until it is resolved, and then their present one", async () => {
    await using site = await createMailingSite();
    await site.subscribe("anna");
    const id = await site.open({ components: { [site.ids["API"] ?? ""]: "major_outage" } });
    expect(textsOf(await site.send())[0]).toContain("- API: Major outage");
    await site.update(id, { status: "resolved", body: "It works again." });
    await site.advance(HOUR_MS);
    expect(textsOf(await site.send())[0]).toContain("- API: Operational");
  });

  test("is not recorded without subscribers, and not later for what happened while mail was not ready", async () => {
    await using site = await createMailingSite();
    await site.open();
    await site.subscribe("anna");
    const { ctx } = site.app;
    const { baseUrl } = ctx;
    ctx.baseUrl = listenUrl(ctx.config.listen);
    await site.open();
    ctx.baseUrl = baseUrl;
    await site.advance(HOUR_MS);
    expect(site.mailings()).toEqual([]);
  });

  test("is recorded with the relay of the dashboard as well", async () => {
    const none = { ALLCLEAR_SMTP_HOST: undefined, ALLCLEAR_MAIL_FROM: undefined };
    await using site = await createMailingSite(none);
    await site.subscribe("anna");
    await site.open();
    expect(site.mailings()).toEqual([]);
    await site.control((ctx, tx) =>
      setMailSettings(
        ctx,
        tx,
        { ...DASHBOARD_RELAY, from: "Northwind <status@mail.example>" },
        CLI_ACTOR,
      ),
    );
    await site.open();
    expect(await site.recipients()).toEqual(["anna"]);
    await site.advance(6 * SECOND_MS);
    expect(site.mailings().map(({ state }) => state)).toEqual(["done"]);
  });

  test("excludes whoever confirmed after its event, and whoever left before the mail began", async () => {
    await using site = await createSite();
    const bert = await site.subscribe("bert");
    const id = await site.open();
    await site.subscribe("late");
    await site.unsubscribe(bert);
    expect(await site.recipients()).toEqual(["anna"]);
    await site.advance(2 * MINUTE_MS);
    await site.update(id);
    expect(await site.recipients()).toEqual(["anna", "late"]);
  });

  test("writes the mails of 1,200 subscribers in three transactions, each once", async () => {
    await using site = await createMailingSite();
    for (let index = 0; index < 1_200; index++) await site.subscribe(`s${index}`);
    let commits = 0;
    const { write } = site.app.ctx.db;
    site.app.ctx.db.write = (change) => {
      commits += 1;
      return write(change);
    };
    await site.open();
    const mails = site.mails();
    expect(mails).toHaveLength(1_200);
    expect(new Set(mails.map(({ subscriberId }) => subscriberId)).size).toBe(1_200);
    expect(site.mailings()).toMatchObject([{ state: "sending", cursor: 1_200 }]);
    expect(commits).toBeGreaterThanOrEqual(5);
  });

  test("of an update waits until two minutes after the last one began, and takes the texts before it along", async () => {
    await using site = await createSite();
    const id = await site.open();
    await site.send();
    await site.advance(10 * SECOND_MS);
    await site.update(id, { body: "First news." });
    await site.advance(10 * SECOND_MS);
    await site.update(id, { body: "Second news." });
    await site.advance(99 * SECOND_MS);
    expect(site.mails()).toHaveLength(1);
    await site.advance(2 * SECOND_MS);
    expect(site.mails()).toHaveLength(2);
    const [text = ""] = textsOf(await site.send());
    expect(text.indexOf("Second news.")).toBeLessThan(text.indexOf("First news."));
    expect(text).toContain("Earlier updates");
    expect(text).not.toContain("We look into it.");
  });

  test("of an end begins at once, supersedes waiting mails and says what they would have said", async () => {
    await using site = await createSite();
    const id = await site.open();
    await site.update(id, { body: "Waiting news.", status: "identified" });
    await site.update(id, { body: "It works again.", status: "resolved" });
    expect(site.mails().map(({ status }) => status)).toEqual(["superseded", "pending"]);
    const [text = ""] = textsOf(await site.send());
    expect(text).toStartWith("Acme\n\nResolved · No impact\n\nErrors\n");
    const places = ["It works again.", "Earlier updates", "We look into it.", "Waiting news."].map(
      (each) => text.indexOf(each),
    );
    expect(places[0]).toBeGreaterThan(0);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  test("that is sent again to a subscriber says the same, under another id and in the same thread", async () => {
    await using site = await createSite();
    const id = await site.open();
    await site.update(id, { body: "It works again.", status: "resolved" });
    const [first] = await site.send();
    const { subscriberId = "" } = site.mails().at(-1) ?? {};
    await site.control((ctx, tx) => {
      const row = getSubscriber(tx, subscriberId ?? "");
      resendMail(ctx, tx, row, site.mails().at(-1)?.id ?? "", CLI_ACTOR);
    });
    const [again] = await site.send();
    if (!first || !again) throw new Error("nothing was sent");
    expect(textsOf([again])).toEqual(textsOf([first]));
    expect(textsOf([again])[0]).toContain("We look into it.");
    expect(again.messageId).not.toBe(first.messageId);
    expect([again.references, again.inReplyTo]).toEqual([first.references, first.inReplyTo]);
    expect(site.mailings().at(-1)).toMatchObject({ written: 2 });
  });

  test("is not sent again once its event is deleted", async () => {
    await using site = await createSite();
    await site.open();
    await site.send();
    const [mail] = site.mails();
    await site.control((_, tx) => deleteEvents(tx, {}));
    const again = site.control((ctx, tx) => {
      const row = getSubscriber(tx, mail?.subscriberId ?? "");
      resendMail(ctx, tx, row, mail?.id ?? "", CLI_ACTOR);
    });
    expect(await again.catch((error: Error) => error.message)).toBe(
      "The event of the message is no longer stored.",
    );
    expect(site.mails()).toHaveLength(1);
  });

  test.each([true, false])(
    "that supersedes a post-mortem contains it unless it was withdrawn: %p",
    async (isPublished) => {
      await using site = await createSite();
      const id = await site.open();
      await site.send();
      const put = (publish: boolean) =>
        site.call(`incidents/${id}/postmortem`, { body: "A disk was full.", publish }, "PUT");
      await put(true);
      await site.advance(3 * MINUTE_MS);
      await site.update(id, { body: "It is back." });
      expect(site.mails().map(({ status }) => status)).toEqual(["sent", "superseded", "pending"]);
      await put(isPublished);
      const [text = ""] = textsOf(await site.send());
      expect(text).toContain("It is back.");
      const earlier = /Earlier updates\n\nPost-mortem · [^\n]*\n\nA disk was full\./;
      if (isPublished) expect(text).toMatch(earlier);
      else expect(text).not.toContain("A disk was full.");
    },
  );

  test("of a post-mortem that was withdrawn says only what it replaced", async () => {
    await using site = await createSite();
    const id = await site.open();
    await site.send();
    await site.update(id, { body: "A fix is on its way.", status: "identified" });
    await site.update(id, { body: "It is back.", status: "monitoring" });
    const put = (publish: boolean) =>
      site.call(`incidents/${id}/postmortem`, { body: "A disk was full.", publish }, "PUT");
    await put(true);
    await put(false);
    const [text = ""] = textsOf(await site.send());
    expect(text).toStartWith("Acme\n\nMonitoring · No impact\n\nErrors\n");
    expect(text).toMatch(/It is back\.[^]*Earlier updates[^]*A fix is on its way\./);
    expect(text).not.toContain("A disk was full.");
    await site.advance(3 * MINUTE_MS);
    expect(await site.send()).toEqual([]);
  });

  test("says what a merged one would have said, also if one in between was stopped", async () => {
    await using site = await createSite();
    const id = await site.open();
    await site.send();
    await site.update(id, { body: "First news." });
    await site.update(id, { body: "Wrong news." });
    await site.setState(site.mailings()[2]?.id ?? "", "stopped");
    await site.update(id, { body: "It works again.", status: "resolved" });
    const [text = ""] = textsOf(await site.send());
    expect(text).toContain("It works again.");
    expect(text).toContain("First news.");
    expect(text).not.toContain("Wrong news.");
  });

  test("of a plan is not repeated if the plan is changed at once", async () => {
    await using site = await createSite();
    const id = await site.plan();
    await site.call(`maintenance/${id}`, { name: "Upgrade" }, "PATCH");
    expect(site.mailings().map(({ kind }) => kind)).toEqual(["maintenance.scheduled"]);
    await site.call(`maintenance/${id}/updates`, { body: "It takes longer." });
    const kinds = ["maintenance.scheduled", "maintenance.updated"];
    expect(site.mailings().map(({ kind }) => kind)).toEqual(kinds);
  });

  test("contains an edit that was made before it is sent", async () => {
    await using site = await createSite();
    const id = await site.open();
    const key = await site.app.keyWith("read:status");
    const [update] = (await site.app.call(`/api/v1/incidents/${id}`, { key })).body.updates;
    await site.call(`incidents/${id}/updates/${update.id}`, { body: "Mended text." }, "PATCH");
    const [text] = textsOf(await site.send());
    expect(text).toContain("Mended text.");
    expect(text).not.toContain("We look into it.");
  });

  test("of a deleted incident is stopped, and sends nothing more", async () => {
    await using site = await createSite();
    const id = await site.open();
    const { ctx } = site.app;
    await ctx.db.write((tx) => deleteIncident(ctx, tx, id, CLI_ACTOR));
    expect(site.mailings().map(({ state }) => state)).toEqual(["stopped"]);
    expect(await site.send()).toEqual([]);
  });

  test("of a page that becomes private is stopped at once, also if the page is public again in a moment", async () => {
    await using site = await createSite();
    const id = await site.open();
    await site.send();
    await site.update(id, { body: "Waiting news." });
    await site.open();
    await site.change({ visibility: "private" });
    await site.change({ visibility: "public" });
    expect(site.mailings().map(({ state }) => state)).toEqual(["done", "stopped", "stopped"]);
    await site.advance(3 * MINUTE_MS);
    expect(await site.send()).toEqual([]);
  });

  test("beyond the limit of its author in 24 hours is held until it is released", async () => {
    await using site = await createSite();
    await site.count("key", 198);
    for (let index = 0; index < 3; index++) await site.open();
    expect(
      site
        .mailings()
        .map(({ state }) => state)
        .slice(198),
    ).toEqual(["sending", "sending", "held"]);
    expect(site.mails()).toHaveLength(2);
    const held = site.mailings()[200]?.id ?? "";
    await site.control((ctx, tx) => releaseMailing(ctx, tx, held, CLI_ACTOR));
    expect(site.mails()).toHaveLength(3);
    const { clock } = site.app;
    clock.setWallClock(clock.now() + DAY_MS);
    await site.open();
    expect(site.mailings().at(-1)?.state).toBe("sending");
  });

  test("that is held ends when its time is over", async () => {
    await using site = await createSite();
    await site.count("key", 200);
    await site.open();
    await site.advance(DAY_MS - 1);
    expect(site.mailings()[200]?.state).toBe("held");
    await site.advance(1);
    expect(site.mailings()[200]).toMatchObject({ state: "done", written: 0 });
  });

  test("that is held ends when all of its mails are over", async () => {
    await using site = await createSite();
    await site.open();
    const [mailing] = site.mailings();
    await site.setState(mailing?.id ?? "", "held");
    await site.advance(MINUTE_MS);
    expect(site.mailings()[0]?.state).toBe("held");
    await site.send();
    await site.advance(MINUTE_MS);
    expect(site.mailings()[0]?.state).toBe("done");
  });

  test("that is held is released with the others of its page, of which the newest contains all texts", async () => {
    await using site = await createSite();
    await site.count("key", 200);
    const id = await site.open({ body: "First text." });
    await site.update(id, { body: "Second text." });
    const other = await site.open();
    expect(
      site
        .mailings()
        .slice(200)
        .map(({ state }) => state),
    ).toEqual(["held", "held", "held"]);
    const { page } = site;
    const { ctx } = site.app;
    const release = () => releaseHeldMailings(ctx, page, ctx.db.write, CLI_ACTOR);
    expect(await release()).toBe(3);
    const sent = await site.send();
    expect(sent).toHaveLength(2);
    expect(textsOf(sent)[0]).toContain("First text.");
    expect(textsOf(sent)[0]).toContain("Second text.");
    expect(sent[1]?.references).toContain(other);
    expect(await release()).toBe(0);
    const releases = site.app.audit().filter(({ action }) => action === "mailing.release");
    expect(releases.map(({ summary }) => summary)).toEqual([
      `Released 3 held mailings of the page “${page.name}”`,
    ]);
  });

  test("that is held with hundreds of others is released in several transactions, with one audit entry", async () => {
    await using site = await createSite();
    await site.open();
    await site.stopWorker();
    const [mailing] = site.mailings();
    if (!mailing) throw new Error("there is no mailing");
    await site.control((ctx, tx) => {
      const held = { ...mailing, state: "held" as const, cursor: -1 };
      for (let index = 0; index < 600; index++) {
        insertMailing(tx, { ...held, id: ctx.newId("mlg"), subjectId: `inc_${index % 7}` });
      }
    });
    const { ctx } = site.app;
    let transactions = 0;
    const write: typeof ctx.db.write = (change) => {
      transactions += 1;
      return ctx.db.write(change);
    };
    expect(await releaseHeldMailings(ctx, site.page, write, CLI_ACTOR)).toBe(600);
    expect(transactions).toBe(3);
    expect(site.mailings().filter(({ state }) => state === "held")).toEqual([]);
    const releases = site.app.audit().filter(({ action }) => action === "mailing.release");
    expect(releases.map(({ summary }) => summary)).toEqual([
      `Released 600 held mailings of the page “${site.page.name}”`,
    ]);
  });

  test("that is held is contained in a newer one that is released", async () => {
    await using site = await createSite();
    await site.count("key", 200);
    const id = await site.open({ body: "First text." });
    await site.update(id, { body: "Second text." });
    const newest = site.mailings().at(-1)?.id ?? "";
    await site.control((ctx, tx) => releaseMailing(ctx, tx, newest, CLI_ACTOR));
    const sent = await site.send();
    expect(sent).toHaveLength(1);
    expect(textsOf(sent)[0]).toContain("First text.");
    expect(textsOf(sent)[0]).toContain("Second text.");
    expect(site.mailings()[200]).toMatchObject({ state: "done", written: 0 });
  });

  test("is written without reading thousands of earlier ones about the same object", async () => {
    await using site = await createSite();
    const id = await site.open();
    const [first] = site.mailings();
    if (!first) throw new Error("there is no mailing");
    await site.control((ctx, tx) => {
      for (let index = 0; index < 300; index++) {
        insertMailing(tx, { ...first, id: ctx.newId("mlg"), state: "done" });
      }
    });
    const listed = listMailingsOfSubject(site.app.ctx.db, { subjectId: id });
    expect(listed.map(({ id: listedId }) => listedId)).toEqual(
      site
        .mailings()
        .slice(-200)
        .map(({ id: ownId }) => ownId),
    );
  });

  test("of a page that becomes private is not sent later, when the page is public again", async () => {
    await using site = await createSite();
    await site.open();
    await site.change({ visibility: "private" });
    await site.advance(6 * SECOND_MS);
    expect(site.mailings()[0]?.state).toBe("stopped");
    await site.change({ visibility: "public" });
    expect(await site.send()).toEqual([]);
    await site.open();
    expect(await site.recipients()).toEqual(["anna"]);
  });

  test("that is stopped says nothing in a newer one either", async () => {
    await using site = await createSite();
    const id = await site.open({ body: "Wrong text." });
    const first = site.mailings()[0]?.id ?? "";
    await site.control((ctx, tx) => stopMailing(ctx, tx, first, CLI_ACTOR));
    await site.update(id, { status: "resolved", body: "Right text." });
    const [, mail] = site.mails();
    expect(site.mails()[0]?.supersededBy).toBeNull();
    const sent = (await site.send()).filter(({ messageId }) => messageId.includes(mail?.id ?? "?"));
    expect(textsOf(sent)).toHaveLength(1);
    expect(textsOf(sent)[0]).toContain("Right text.");
    expect(textsOf(sent)[0]).not.toContain("Wrong text.");
  });

  test("of a post-mortem is made when that is first published, also if no mailing of then is left", async () => {
    await using site = await createSite();
    const write = (id: string, json: Record<string, unknown>) =>
      site.call(`incidents/${id}/postmortem`, { body: "What happened.", ...json }, "PUT");
    const kinds = () => site.mailings().map(({ kind }) => kind.replace("incident.", ""));
    const loud = await site.open({ status: "resolved", notify: false });
    await write(loud, { publish: true });
    await write(loud, { publish: false });
    await site.control((_, tx) => void deleteMailings(tx, {}));
    await write(loud, { publish: true });
    expect(kinds()).toEqual([]);
    const quiet = await site.open({ status: "resolved", notify: false });
    await write(quiet, { publish: true, notify: false });
    await write(quiet, { publish: false });
    await write(quiet, { publish: true });
    expect(kinds()).toEqual([]);
    const draft = await site.open({ draft: true });
    await write(draft, { publish: true });
    await site.call(`incidents/${draft}`, { draft: false }, "PATCH");
    await write(draft, { publish: false });
    await write(draft, { publish: true });
    expect(kinds()).toEqual(["created", "postmortem_published"]);
  });

  test("that is stopped sends nothing more, and neither stops nor goes on again", async () => {
    await using site = await createSite();
    await site.open();
    const id = site.mailings()[0]?.id ?? "";
    await site.control((ctx, tx) => stopMailing(ctx, tx, id, CLI_ACTOR));
    expect(await site.send()).toEqual([]);
    for (const act of [stopMailing, releaseMailing]) {
      const refused = site.control((ctx, tx) => act(ctx, tx, id, CLI_ACTOR));
      await expect(refused).rejects.toMatchObject({ code: "conflict" });
      const unknown = site.control((ctx, tx) => act(ctx, tx, "mlg_x", CLI_ACTOR));
      await expect(unknown).rejects.toMatchObject({ code: "not_found" });
    }
    expect(site.app.audit().map(({ action }) => action)).toContain("mailing.stop");
  });

  test("that is held is not released after a newer one about the same incident", async () => {
    await using site = await createSite();
    const id = await site.open();
    const [first] = site.mailings();
    await site.setState(first?.id ?? "", "held");
    await site.update(id, { status: "resolved" });
    const released = site.control((ctx, tx) => releaseMailing(ctx, tx, first?.id ?? "", CLI_ACTOR));
    await expect(released).rejects.toMatchObject({ code: "conflict" });
  });

  test("reaches as many subscribers as the form says", async () => {
    await using site = await createSite();
    await site.subscribe("api", { targets: [site.ids["API"] ?? ""] });
    await site.subscribe("core", { targets: [site.group], events: ["maintenance"] });
    await site.subscribe("gone", { status: "unsubscribed" });
    const count = (componentIds: string[]) =>
      countAudience(site.app.ctx.db, { pageId: site.page.id, choice: "incidents", componentIds });
    const page = { total: 3, selections: 1, most: 2, isExact: true };
    expect(count([])).toEqual({ ...page, reached: 1 });
    expect(count([site.ids["API"] ?? ""])).toEqual({ ...page, reached: 2 });
    expect(count([site.ids["API"] ?? "", site.ids["Web"] ?? ""])).toEqual({ ...page, reached: 2 });
    await site.open({ components: { [site.ids["API"] ?? ""]: "major_outage" } });
    expect(await site.recipients()).toEqual(["anna", "api"]);
  });

  test("waits while the database cannot be read, and goes on afterwards", async () => {
    await using site = await createSite();
    await site.stopWorker();
    await site.open();
    const { ctx, clock, logged } = site.app;
    let isBroken = true;
    const db = new Proxy(ctx.db, {
      get(target, name) {
        if (isBroken) throw new Error("disk I/O error");
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const worker = startMailings({ ...ctx, db });
    try {
      await worker.whenIdle();
      expect(logged.map(({ msg }) => msg)).toContain("mailings wait for the database");
      isBroken = false;
      await clock.advance(5 * SECOND_MS);
      await worker.whenIdle();
      expect(site.mails()).toHaveLength(1);
    } finally {
      await worker.stop();
    }
  });

  test("goes on at its cursor after a restart, and writes no mail twice", async () => {
    await using site = await createMailingSite();
    for (let index = 0; index < 700; index++) await site.subscribe(`s${index}`);
    const { ctx } = site.app;
    await site.stopWorker();
    await site.open();
    await ctx.db.write((tx) => advanceMailings(ctx, tx, "mail.example"));
    expect(site.mails()).toHaveLength(500);
    expect(site.mailings()).toMatchObject([{ state: "expanding", cursor: 500 }]);
    await site.startWorker();
    const recipients = site.mails().map(({ subscriberId }) => subscriberId);
    expect(new Set(recipients).size).toBe(700);
    expect(recipients).toHaveLength(700);
  });

  test("is not begun 24 hours after its event, nor after the end of its maintenance", async () => {
    await using site = await createSite();
    await site.open();
    await site.plan({ auto_start: false, auto_complete: false, remind_minutes_before: null });
    const [incident, maintenance] = site.mailings();
    const start = site.app.clock.now();
    expect(incident?.deadlineAt).toBe(start + DAY_MS);
    expect(maintenance?.deadlineAt).toBe(start + 3 * HOUR_MS);
    expect(site.mails().map(({ expiresAt }) => expiresAt)).toEqual([
      start + DAY_MS,
      start + 3 * HOUR_MS,
    ]);
  });
});

describe("mails about a status", () => {
  const status = (site: MailingSite, name: string, value: string) =>
    site.call(`components/${site.ids[name]}`, { status: value }, "PATCH");

  /** A monitor of a component goes down. */
  async function goDown(site: MailingSite, name: string, open_incident: "never" | "automatic") {
    const { clock, ctx } = site.app;
    return ctx.db.write((tx) => {
      const component_ids = [site.ids[name] ?? ""];
      const config = { url: "https://shop.test/" };
      const on_down = "partial_outage" as const;
      const input = { type: "http" as const, name, config, component_ids, open_incident, on_down };
      const { row } = createMonitor(ctx, tx, input, CLI_ACTOR).record;
      const evaluation = { ...newEvaluation("down", clock.now()), failures: 1 };
      const change = { from: "up" as const, evaluation, message: null };
      ctx.outbox.group(tx, () => applyTransition(ctx, tx, row, change));
      return row;
    });
  }

  async function createStatusSite(): Promise<MailingSite> {
    const site = await createMailingSite();
    await site.subscribe("anna", { events: ["incidents", "maintenance", "status"] });
    return site;
  }

  test("are sent two minutes after the change, with the net change", async () => {
    await using site = await createStatusSite();
    await status(site, "API", "degraded_performance");
    await site.advance(60 * SECOND_MS);
    await status(site, "API", "major_outage");
    await site.advance(61 * SECOND_MS);
    expect(site.mails()).toEqual([]);
    await site.advance(60 * SECOND_MS);
    const [text] = textsOf(await site.send());
    expect(text).toContain("Major outage\n\nAPI\n");
    expect(text).toContain("Before: Operational");
  });

  test("are left out if the component shows its former status again", async () => {
    await using site = await createStatusSite();
    await status(site, "API", "major_outage");
    await status(site, "API", "operational");
    await site.advance(HOUR_MS);
    expect(site.mails()).toEqual([]);
  });

  test("are left out if an incident named the component meanwhile", async () => {
    await using site = await createStatusSite();
    await status(site, "API", "major_outage");
    await site.advance(MINUTE_MS);
    await site.open({ components: { [site.ids["API"] ?? ""]: "major_outage" } });
    await site.advance(HOUR_MS);
    expect(site.mailings().map(({ kind }) => kind)).toEqual([
      "component.status_changed",
      "incident.created",
    ]);
    expect(site.mails()).toHaveLength(1);
  });

  test.each([
    ["never", ["component.status_changed", "component.status_changed"]],
    ["automatic", ["incident.created"]],
  ] as const)(
    "of outages that join an incident count as named: %s",
    async (open_incident, kinds) => {
      await using site = await createStatusSite();
      await goDown(site, "API", open_incident);
      await site.advance(20 * SECOND_MS);
      await goDown(site, "Web", open_incident);
      expect(site.mailings().map(({ kind }) => kind)).toEqual([...kinds]);
    },
  );

  test("are sent of what people set on a component whose outage has joined, and of what no update will name", async () => {
    await using site = await createStatusSite();
    await goDown(site, "API", "automatic");
    const web = await goDown(site, "Web", "automatic");
    await site.advance(MINUTE_MS);
    await status(site, "API", "major_outage");
    await site.advance(3 * MINUTE_MS);
    const ofStatuses = () =>
      site
        .mailings()
        .filter(({ kind }) => kind === "component.status_changed")
        .map(({ subjectId }) => subjectId);
    expect(ofStatuses()).toEqual([site.ids["API"] ?? ""]);
    expect(site.mails()).toHaveLength(2);
    const recover = { ...newEvaluation("up", site.app.clock.now()), successes: 1 };
    await site.control((ctx, tx) => {
      const change = { from: "down" as const, evaluation: recover, message: null };
      ctx.outbox.group(tx, () => applyTransition(ctx, tx, web, change));
    });
    await site.advance(6 * MINUTE_MS);
    await site.control((ctx, tx) => writeDueUpdates(ctx, tx));
    expect(ofStatuses()).toHaveLength(1);
    await goDown(site, "Web", "never");
    expect(ofStatuses()).toEqual([site.ids["API"] ?? "", site.ids["Web"] ?? ""]);
  });

  test("are left out if an outage of the component joined an incident meanwhile", async () => {
    await using site = await createStatusSite();
    await goDown(site, "API", "automatic");
    await site.send();
    await status(site, "Web", "degraded_performance");
    await site.advance(MINUTE_MS);
    await goDown(site, "Web", "automatic");
    await site.advance(HOUR_MS);
    expect(site.mailings().map(({ kind }) => kind)).toEqual([
      "incident.created",
      "component.status_changed",
    ]);
    expect(site.mails()).toHaveLength(1);
  });

  test("are merged for 15 minutes after the last one", async () => {
    await using site = await createStatusSite();
    await status(site, "API", "major_outage");
    await site.advance(2 * MINUTE_MS);
    expect(await site.recipients()).toEqual(["anna"]);
    await status(site, "API", "operational");
    await site.advance(5 * MINUTE_MS);
    await status(site, "API", "degraded_performance");
    await site.advance(5 * MINUTE_MS);
    expect(site.mails()).toHaveLength(1);
    await site.advance(6 * MINUTE_MS);
    const [text] = textsOf(await site.send());
    expect(text).toContain("Degraded performance\n\nAPI\n");
    expect(text).toContain("Before: Major outage");
  });
});

describe("the messages of an incident", () => {
  test("form one thread with the name and the domain of the first", async () => {
    await using site = await createSite();
    const id = await site.open();
    const [first] = await site.send();
    await site.advance(3 * MINUTE_MS);
    await site.call(`incidents/${id}`, { name: "Renamed" }, "PATCH");
    await site.update(id, { status: "resolved" });
    const [second] = await site.send();
    expect([first?.subject, second?.subject]).toEqual(["[Acme] Errors", "Re: [Acme] Errors"]);
    expect([first?.references, second?.references]).toEqual([
      `<${id}@mail.example>`,
      `<${id}@mail.example>`,
    ]);
    expect([first?.inReplyTo, second?.inReplyTo]).toEqual([undefined, `<${id}@mail.example>`]);
    expect(first?.messageId).toMatch(/^<eml_[0-9a-z]{26}@mail\.example>$/);
    expect(second?.messageId).not.toBe(first?.messageId);
  });

  test("have the headers of mailings, one value each, and links of their recipient", async () => {
    await using site = await createSite();
    await site.subscribe("bert");
    await site.open({ components: { [site.ids["API"] ?? ""]: "major_outage" } });
    const mails = await site.send();
    const parsed = await parseMails(mails.map(toMessage));
    const tokens = parsed.map(({ headers, parts, defects, from }, index) => {
      expect(defects).toEqual([]);
      expect(from).toEqual({ name: "Acme", address: "status@mail.example" });
      const unsubscribe = headers["List-Unsubscribe"]?.[0] ?? "";
      expect(unsubscribe).toMatch(
        /^<https:\/\/status\.test\/mail\/unsubscribe\/sub_[0-9a-z]{26}\.[\w-]{43}>$/,
      );
      expect(headers).toMatchObject({
        To: [mails[index]?.to],
        "List-Id": [`Acme <${site.page.id}.mail.example>`],
        "List-Unsubscribe-Post": ["List-Unsubscribe=One-Click"],
        "Feedback-ID": [`incident.created:${site.page.id}:allclear`],
        Precedence: ["list"],
        "Auto-Submitted": ["auto-generated"],
        "X-Auto-Response-Suppress": ["All"],
      });
      expect(Object.values(headers).every((values) => values.length === 1)).toBe(true);
      const [text, html] = parts.map((part) => part.text);
      const manage = /https:\/\/status\.test\/mail\/manage\/\S+/.exec(text ?? "")?.[0] ?? "none";
      expect(html).toContain(`href="${manage}"`);
      expect(text).toContain("Investigating · Critical impact");
      expect(text).toContain("- API: Major outage");
      return manage;
    });
    expect(new Set(tokens).size).toBe(2);
  });

  test("name the status in the subject if the page says so, and have its footer and sender", async () => {
    await using site = await createSite();
    await site.change({
      mail: {
        subject: "status",
        from_name: "Acme Ops",
        reply_to: "help@acme.example",
        footer: "Harbour Road 1",
      },
    });
    await site.open();
    const [mail] = await site.send();
    expect(mail).toMatchObject({
      subject: "[Acme] Investigating: Errors",
      from: { name: "Acme Ops", address: "status@mail.example" },
      replyTo: "help@acme.example",
    });
    expect(textsOf(mail ? [mail] : [])[0]).toEndWith("Harbour Road 1\n");
  });

  test("of a maintenance have its time in the subject", async () => {
    await using site = await createSite();
    await site.change({ time_zone: "Europe/Berlin" });
    await site.plan();
    const [mail] = await site.send();
    expect(mail?.subject).toBe("[Acme] Maintenance 10 Mar 2026, 15:00 CET: Database upgrade");
    const [text] = textsOf(mail ? [mail] : []);
    expect(text).toContain("10 Mar 2026, 15:00–16:00 CET (UTC+1)");
  });
});
