import { describe, expect, test } from "bun:test";
import { CLI_ACTOR, type Role } from "../../../../src/base/actor";
import {
  findMailHold,
  holdAllMailings,
  suppressionsOfHold,
} from "../../../../src/features/mail/hold";
import { suppress } from "../../../../src/features/mail/suppressions";
import { deleteIncident } from "../../../../src/features/incidents/incidents";
import { addToMailing, insertMails } from "../../../../src/features/mail/store";
import { DAY_MS, MINUTE_MS } from "../../../../src/base/time";
import { readHtml } from "../../../support/html";
import { mailRow } from "../../../support/mail-rows";
import { createMailingSite, type MailingSite } from "../../../support/mailing-site";

const LIST = "/admin/mailings";

async function createSite(): Promise<MailingSite> {
  const site = await createMailingSite();
  await site.subscribe("anna");
  return site;
}

async function open(site: MailingSite, path: string, role: Role = "admin") {
  const answer = await site.app.call(path, { session: await site.app.signedIn(role) });
  return { status: answer.status, page: readHtml(answer.text), text: answer.text };
}

async function press(
  site: MailingSite,
  path: string,
  form: Record<string, string | string[]> = {},
) {
  const session = await site.app.signedIn("admin");
  const answer = await site.app.call(path, { session, form });
  return { ...answer, page: readHtml(answer.text), location: answer.headers.get("location") };
}

describe("the screen of mailings", () => {
  test("lists events with their figures, newest first, and links to their subjects", async () => {
    await using site = await createSite();
    await site.subscribe("bert");
    const id = await site.open({ name: "Errors" });
    await site.send();
    const over = { bounced: 0, failed: 0, superseded: 0, cancelled: 0, expired: 0, written: 0 };
    const mailing = site.mailings()[0]?.id ?? "";
    await site.control((_, tx) => void addToMailing(tx, { ...over, id: mailing, sent: 2 }));
    await site.advance(2 * MINUTE_MS);
    await site.update(id, { status: "resolved" });
    const { page } = await open(site, LIST);
    const rows = [1, 2].map((row) => page.texts(`tbody tr:nth-child(${row}) td`).slice(1, 7));
    expect(rows).toEqual([
      ["Sending", "2", "0", "2", "", ""],
      ["Done", "2", "2", "", "", ""],
    ]);
    expect(page.texts("tbody td:first-child")[0]).toStartWith("Incident resolved");
    expect(page.attributes("tbody a", "href")).toContain(`/admin/incidents/${id}`);
    expect(page.attributes("tbody a", "href")).toContain(`${LIST}/${mailing}`);
  });

  test("lists the oldest events first on request, in parts without repetition", async () => {
    await using site = await createSite();
    const id = await site.open({ name: "Errors" });
    for (let count = 0; count < 52; count++) await site.update(id, { body: `Update ${count}.` });
    const links = (page: Awaited<ReturnType<typeof open>>["page"]) =>
      page.attributes("tbody .row-link", "href");
    const ids = site
      .mailings()
      .map((mailing) => `${LIST}/${mailing.id}`)
      .toSorted();
    const { page: first } = await open(site, `${LIST}?sort=when`);
    expect(links(first)).toEqual(ids.slice(0, 50));
    expect(first.attributes("th[aria-sort]", "aria-sort")).toEqual(["ascending"]);
    const [next = ""] = first.attributes(".pagination a", "href");
    const { page: second } = await open(site, next);
    expect(links(second)).toEqual(ids.slice(50));
    expect(second.texts(".pagination a")).toEqual(["Oldest"]);
  });

  test("is for admins and owners", async () => {
    await using site = await createSite();
    await site.open();
    const id = site.mailings()[0]?.id ?? "";
    for (const path of [LIST, `${LIST}/${id}`, `${LIST}/${id}/stop`]) {
      expect((await open(site, path, "editor")).status).toBe(403);
      expect((await open(site, path, "owner")).status).toBe(200);
    }
    expect((await open(site, `${LIST}/mlg_unknown`)).status).toBe(404);
  });

  test("shows the mailings of one page, in parts of 50", async () => {
    await using site = await createSite();
    for (let index = 0; index < 52; index++) await site.open({ name: `Incident ${index}` });
    await site.app.page({ slug: "other", name: "Other" });
    const first = await open(site, `${LIST}?page=acme`);
    expect(first.page.texts("tbody tr")).toHaveLength(50);
    const [older = ""] = first.page
      .attributes("a", "href")
      .filter((href) => href.includes("before="));
    const second = await open(site, older);
    expect(second.page.texts("tbody tr")).toHaveLength(2);
    expect((await open(site, `${LIST}?page=other`)).text).toContain("No mailings of this page");
  });

  test("says why a mailing is held, and a button releases all of the page", async () => {
    await using site = await createSite();
    await site.count("key", 199);
    for (let index = 0; index < 3; index++) await site.open();
    const { page, text } = await open(site, LIST);
    expect(text).toContain("A page sends at most 200 mailings of API keys in 24 hours.");
    expect(text).toContain("50 mailings of monitors, 200 of API keys and 200 of people");
    expect(page.texts(".notice .strong")).toEqual([`2 mailings of ${site.page.name} held`]);
    const answer = await press(site, `${LIST}/pages/${site.page.id}/release`);
    expect([answer.status, answer.location]).toEqual([303, LIST]);
    await site.advance(0);
    expect(site.mails()).toHaveLength(3);
    expect((await open(site, LIST)).page.texts(".notice .strong")).toEqual([]);
  });

  test.each([
    ["monitor", "A page sends at most 50 mailings of monitors in 24 hours."],
    ["key", "A page sends at most 200 mailings of API keys in 24 hours."],
    ["person", "A page sends at most 200 mailings of people in 24 hours."],
  ] as const)("names the limit that holds a mailing of its author: %s", async (author, reason) => {
    await using site = await createSite();
    await site.count(author, 1, 0, "held");
    const { text } = await open(site, LIST);
    expect(text).toContain(reason);
    const id = site.mailings()[0]?.id ?? "";
    expect((await open(site, `${LIST}/${id}`)).text).toContain(reason);
  });

  test("names a deleted object without a link", async () => {
    await using site = await createSite();
    const id = await site.open();
    await site.control((ctx, tx) => deleteIncident(ctx, tx, id, CLI_ACTOR));
    const { page } = await open(site, LIST);
    expect(page.texts("tbody td:first-child")).toEqual([expect.stringContaining("Deleted")]);
    expect(page.attributes("tbody a", "href")).not.toContain(`/admin/incidents/${id}`);
  });
});

describe("a mailing's screen", () => {
  test("stops the mailing after a question, and once only", async () => {
    await using site = await createSite();
    await site.open();
    const id = site.mailings()[0]?.id ?? "";
    expect((await open(site, `${LIST}/${id}`)).page.texts(".screen-head a.button")).toEqual([
      "Stop this mailing",
    ]);
    // A GET changes nothing.
    await open(site, `${LIST}/${id}/stop`);
    expect(site.mailings()[0]?.state).toBe("sending");
    const answer = await press(site, `${LIST}/${id}/stop`);
    expect([answer.status, answer.location]).toEqual([303, `${LIST}/${id}`]);
    expect(site.mailings()[0]?.state).toBe("stopped");
    expect(await site.send()).toEqual([]);
    const again = await press(site, `${LIST}/${id}/stop`);
    expect(again.status).toBe(409);
    expect(again.page.texts("[role=alert]")).toEqual(["The mailing has ended."]);
    expect((await open(site, `${LIST}/${id}`)).page.texts(".screen-head .button")).toEqual([]);
  });

  test("releases a held mailing, or says why it does not", async () => {
    await using site = await createSite();
    await site.count("key", 200);
    await site.open();
    const id = site.mailings()[200]?.id ?? "";
    expect((await press(site, `${LIST}/${id}/release`)).status).toBe(303);
    expect(site.mailings()[200]?.state).toBe("expanding");
    const again = await press(site, `${LIST}/${id}/release`);
    expect(again.status).toBe(409);
    expect(again.page.texts("[role=alert]")).toEqual(["The mailing is not held."]);
  });

  test("lists failed mails with the relay's reply, in parts", async () => {
    await using site = await createSite();
    await site.open();
    const { ctx } = site.app;
    const [mailing] = site.mailings();
    await ctx.db.write((tx) =>
      insertMails(
        tx,
        Array.from({ length: 60 }, (_, index) =>
          mailRow({
            id: `eml_${String(index).padStart(3, "0")}`,
            mailingId: mailing?.id ?? "",
            subscriberId: null,
            copy: index + 1,
            recipient: `p${index}@example.com`,
            subjectId: "inc_1",
            status: index === 0 ? "sent" : "failed",
            reply: "552 5.3.4 Message too big",
            createdAt: ctx.clock.now(),
          }),
        ),
      ),
    );
    const { page } = await open(site, `${LIST}/${mailing?.id}`);
    expect(page.texts("#mailing-failed tbody tr")).toHaveLength(50);
    expect(page.texts("#mailing-failed tbody tr")[0]).toContain("552 5.3.4 Message too big");
    const [more = ""] = page.attributes("a", "href").filter((href) => href.includes("after="));
    const rest = await open(site, more);
    expect(rest.page.texts("#mailing-failed tbody tr")).toHaveLength(9);
  });
});

describe("a hold of all mailings", () => {
  test("is shown on the overview and the list, until an admin goes on", async () => {
    await using site = await createSite();
    await site.open();
    await site.control(
      (ctx, tx) => void holdAllMailings(ctx, tx, { reason: "failures", since: 0 }),
    );
    await site.advance(1_100);
    for (const path of ["/admin", LIST]) {
      const { page } = await open(site, path);
      expect(page.texts(".notice .strong")).toEqual(["All mailings are held"]);
      expect(page.texts(".notice button")).toEqual(["Release all mailings"]);
    }
    expect((await open(site, LIST)).text).toContain("Too many mails failed");
    expect((await open(site, "/admin", "editor")).page.texts(".notice")).toEqual([]);
    const answer = await press(site, `${LIST}/go-on`);
    expect([answer.status, answer.location]).toEqual([303, LIST]);
    await site.advance(1_100);
    expect((await open(site, "/admin")).page.texts(".notice .strong")).toEqual([]);
    expect(findMailHold(site.app.ctx.db)).toBeUndefined();
  });

  test("after a restore says so", async () => {
    await using site = await createSite();
    await site.control((ctx, tx) => void holdAllMailings(ctx, tx, { reason: "restore", since: 0 }));
    const { page } = await open(site, LIST);
    expect(page.texts(".notice")[0]).toContain("a backup was restored");
  });

  test("lists the addresses that it suppressed, for undoing some or all, also after it", async () => {
    await using site = await createSite();
    for (const name of ["bert", "carl"]) await site.subscribe(name);
    await site.open();
    const { ctx } = site.app;
    const since = ctx.clock.now();
    const mails = site.mails();
    await site.control((_, tx) => {
      for (const { id } of mails) {
        suppress(ctx, tx, { addressHmac: id, reason: "bounced", mailId: id, note: "550 5.1.1 No" });
      }
      holdAllMailings(ctx, tx, { reason: "failures", since });
    });
    await press(site, `${LIST}/go-on`);
    const { page } = await open(site, LIST);
    expect(page.texts(".notice .strong")).toEqual(["3 addresses suppressed"]);
    const [path = ""] = page.attributes(".notice a", "href");
    const shown = await open(site, path);
    expect(shown.page.texts(".option label")).toEqual(
      expect.arrayContaining(["anna@example.net", "bert@example.net", "carl@example.net"]),
    );
    const hold = { reason: "failures" as const, at: since, since, endedAt: null };
    const left = () => suppressionsOfHold(ctx.db, hold, ctx.clock.now()).length;
    const none = await press(site, path);
    expect([none.status, left()]).toEqual([409, 3]);
    expect(none.page.texts("[role=alert]")).toEqual(["Select at least one address."]);
    const some = await press(site, path, { mail: [mails[0]?.id ?? "", "eml_of_another"] });
    expect([some.status, left()]).toEqual([303, 2]);
    const all = await press(site, path, { all: "yes" });
    expect([all.status, left()]).toEqual([303, 0]);
    expect((await open(site, path)).text).toContain("No suppressed addresses");
    expect((await open(site, `${LIST}/holds/1`)).status).toBe(404);
    const { clock } = site.app;
    clock.setWallClock(clock.now() + 31 * DAY_MS);
    expect((await open(site, LIST)).page.texts(".notice .strong")).toEqual([]);
  });
});
