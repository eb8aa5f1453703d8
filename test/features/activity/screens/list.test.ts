import { describe, expect, test } from "bun:test";
import { deleteAuditAddresses, recordAudits } from "../../../../src/events/audit";
import { revokeKey } from "../../../../src/features/keys/keys";
import { deletePage } from "../../../../src/features/pages/deletion";
import { type Actor, CLI_ACTOR, SYSTEM_ACTOR } from "../../../../src/base/actor";
import { createTestApp, type TestApp } from "../../../support/app";
import { KEYS } from "../../../support/dashboard";
import { readHtml, typedIn } from "../../../support/html";

const ACTIVITY = "/admin/settings/activity";
const DAY = 86_400_000;
const ADA: Actor = {
  kind: "user",
  id: "usr_01kah2v9w0e0rs6x0h3ye0a1bc",
  label: "Ada",
  ip: "192.0.2.9",
};
const BOT: Actor = {
  kind: "key",
  id: "key_01kah2v9w0e0rs6x0h3ye0a1bc",
  label: "CI bot",
  ip: "2001:db8::5",
};

type AuditInput = [
  actor: Actor,
  action: string,
  targetId: string,
  summary: string,
  daysAgo: number,
];

/** Entries that these tests add to the audit log, oldest first. */
const LOG: AuditInput[] = [
  [CLI_ACTOR, "key.create", "key_01kah2v9w0e0rs6x0h3ye0a1bc", "Created the key “CI bot”", 9],
  [
    ADA,
    "incident.create",
    "inc_01kah2v9w0e0rs6x0h3ye0a1b1",
    "Opened the incident “Mail is late”",
    5,
  ],
  [
    BOT,
    "incident.add_update",
    "inc_01kah2v9w0e0rs6x0h3ye0a1b1",
    "Updated the incident “Mail is late”",
    4,
  ],
  [
    SYSTEM_ACTOR,
    "maintenance.start",
    "mnt_01kah2v9w0e0rs6x0h3ye0a1b2",
    "The maintenance “Move” began",
    3,
  ],
  [ADA, "user.rename", "usr_01kah2v9w0e0rs6x0h3ye0a1bc", "Renamed the user “ADA_1%” to “Ada”", 1],
];

async function write(app: TestApp, audits: readonly AuditInput[] = LOG) {
  const now = app.ctx.clock.now();
  await app.ctx.db.write((tx) => {
    for (const [actor, action, targetId, summary, daysAgo] of audits) {
      recordAudits(tx, [{ actor, action, targetId, summary, at: now - daysAgo * DAY }]);
    }
  });
}

/** An installation with that log and nothing else in it that these tests look for. */
async function createInstallation() {
  const app = await createTestApp();
  const session = await app.signedIn("admin");
  await write(app);
  const open = (query = "") => app.call(`${ACTIVITY}${query}`, { session });
  return {
    app,
    session,
    open,
    /** The sentences that a query finds, of what was written above. */
    async found(query: string): Promise<string[]> {
      const { status, text } = await open(query);
      expect(status).toBe(200);
      const ours = new Set(LOG.map(([, , , summary]) => summary));
      return readHtml(text)
        .texts("tbody td:nth-child(3) > .cell > div:first-child")
        .filter((summary) => ours.has(summary));
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

const SENTENCES = LOG.map(([, , , summary]) => summary).toReversed();
const [RENAMED = "", BEGAN = "", UPDATED = "", OPENED = "", CREATED = ""] = SENTENCES;

describe("the Activity screen", () => {
  test("the Activity screen lists what was changed, by whom, when and from where, newest first", async () => {
    await using installation = await createInstallation();
    expect(await installation.found("")).toEqual(SENTENCES);
    const page = readHtml((await installation.open("?actor=key")).text);
    expect(page.texts("tbody td")).toEqual([
      "4 days ago2026-03-06 12:00:00",
      "CI botAPI key",
      `${UPDATED}incident.add_update · history`,
      "2001:db8::5",
    ]);
  });

  test("the Activity screen lists the oldest changes first on request, in parts without repetition", async () => {
    await using installation = await createInstallation();
    expect(await installation.found("?sort=time")).toEqual(SENTENCES.toReversed());
    expect(await installation.found("?sort=-time")).toEqual(SENTENCES);
    expect(await installation.found("?sort=time&q=mail")).toEqual([OPENED, UPDATED]);
    const { app, open } = installation;
    const many = Array.from({ length: 60 }, (_, index): AuditInput => {
      return [BOT, "incident.edit", "inc_1", `Edit ${index}`, 2];
    });
    await write(app, many);
    const first = readHtml((await open("?target=inc_1&sort=time")).text);
    const own = "tbody td:nth-child(3) > .cell > div:first-child";
    expect(first.texts(own)).toEqual(many.slice(0, 50).map(([, , , summary]) => summary));
    expect(first.attributes("th[aria-sort]", "aria-sort")).toEqual(["ascending"]);
    expect(first.texts(".pagination a")).toEqual(["Newer"]);
    const [next = ""] = first.attributes(".pagination a", "href");
    const second = readHtml((await open(next.slice(ACTIVITY.length))).text);
    expect(second.texts(own)).toEqual(many.slice(50).map(([, , , summary]) => summary));
    expect(second.attributes(".pagination a", "href")).toEqual([
      `${ACTIVITY}?target=inc_1&sort=time`,
    ]);
  });

  test("the Activity screen shows client addresses until they are deleted after 90 days", async () => {
    await using installation = await createInstallation();
    const addresses = async () => {
      const page = readHtml((await installation.open("?action=incident")).text);
      return page.texts("tbody td:nth-child(4)");
    };
    expect(await addresses()).toEqual(["2001:db8::5", "192.0.2.9"]);
    const { clock, db } = installation.app.ctx;
    await db.write((tx) => deleteAuditAddresses(tx, clock.now() - 4.5 * DAY));
    expect(await addresses()).toEqual(["2001:db8::5", "Deleted"]);
    const here = readHtml((await installation.open("?actor=system")).text);
    expect(here.texts("tbody td:nth-child(4)")).toEqual(["None"]);
  });

  test.each([
    ["?q=mail", [UPDATED, OPENED]],
    ["?q=CI%20BOT", [UPDATED, CREATED]],
    ["?q=2001:db8", [UPDATED]],
    ["?q=maintenance.st", [BEGAN]],
    ["?q=3ye0a1b2", [BEGAN]],
    // Signs that mean something to a search elsewhere mean themselves.
    ["?q=_1%25", [RENAMED]],
    ["?q=%25", [RENAMED]],
    ["?actor=user&action=incident", [OPENED]],
    [`?actor=${ADA.id}`, [RENAMED, OPENED]],
    ["?actor=cli&action=key", [CREATED]],
    ["?action=incident.create", [OPENED]],
    ["?action=incident", [UPDATED, OPENED]],
    ["?action=inc", []],
    ["?target=mnt_01kah2v9w0e0rs6x0h3ye0a1b2", [BEGAN]],
    ["?from=2026-03-06&to=2026-03-07", [BEGAN, UPDATED]],
    ["?to=2026-03-05", [OPENED, CREATED]],
    ["?q=mail&actor=key&action=incident&from=2026-03-06", [UPDATED]],
    ["?q=mainframe", []],
    // What is no day, no place and no filter is let be.
    ["?from=2026-02-30&to=soon&before=x&show=all", SENTENCES],
  ])("the Activity screen applies the filter %s", async (query, sentences) => {
    await using installation = await createInstallation();
    expect(await installation.found(query)).toEqual(sentences);
  });

  test("the Activity screen shows times and filters by days in the time zone of the user", async () => {
    await using installation = await createInstallation();
    const { app, session } = installation;
    await app.call("/admin/settings/account/time-zone", {
      session,
      form: { time_zone: "Pacific/Auckland" },
    });
    const { text } = await app.call(`${ACTIVITY}?from=2026-03-07&to=2026-03-07`, { session });
    const html = readHtml(text);
    expect(html.texts("th")[0]).toBe("Time (Pacific/Auckland)");
    // Noon in UTC is one o'clock of the next day there.
    expect(html.texts("tbody tr:first-child td:first-child .nowrap")).toEqual([
      "2026-03-07 01:00:00",
    ]);
  });

  test("the Activity screen shows the active filters and a link that clears them", async () => {
    await using installation = await createInstallation();
    const query = `?q=a&actor=${ADA.id}&action=user.rename&target=${ADA.id}&from=2026-03-01&to=2026-03-31`;
    const { text } = await installation.open(query);
    expect(typedIn(text, "q")).toEqual(["a"]);
    expect([typedIn(text, "from"), typedIn(text, "to")]).toEqual([["2026-03-01"], ["2026-03-31"]]);
    const page = readHtml(text);
    expect(page.texts("option[selected]")).toEqual([
      "Ada",
      "user.rename",
      `Object ${ADA.id}`,
      "Newest first",
    ]);
    expect(page.attributes(".list-clear", "href")).toEqual([ACTIVITY]);
    const [file = ""] = page.attributes(".screen-head .button", "href");
    expect(Object.fromEntries(new URLSearchParams(file.split("?")[1]))).toEqual(
      Object.fromEntries(new URLSearchParams(query)),
    );
  });

  test("the Activity screen links only to targets that exist and that its reader may open", async () => {
    await using installation = await createInstallation();
    const { app } = installation;
    const { page, components } = await app.page();
    const { key } = await app.createKey();
    await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
    const links = async (session = installation.session) => {
      const { text } = await app.call(`${ACTIVITY}?actor=cli`, { session });
      return new Set(readHtml(text).attributes("tbody .row-link", "href"));
    };
    const there = await links();
    expect(there).toContain(`/admin/pages/${page.id}`);
    expect(there).toContain(`/admin/components/${components["API"]}`);
    expect(there).toContain(`${KEYS}/${key.id}`);
    for (const path of there) {
      // oxlint-disable-next-line no-await-in-loop
      expect((await app.call(path, { session: installation.session })).status).toBe(200);
    }
    // Users are an owner's to see.
    const isUser = (path: string) => path.includes("/users/");
    expect([...there].filter(isUser)).toEqual([]);
    expect([...(await links(await app.signedIn("owner")))].filter(isUser)).not.toEqual([]);
    await app.ctx.db.write((tx) => deletePage(app.ctx, tx, page.id, CLI_ACTOR));
    expect(await links()).not.toContain(`/admin/pages/${page.id}`);
  });

  test("following the pages of Activity shows every entry once, also with equal times and new entries", async () => {
    await using installation = await createInstallation();
    const many = Array.from({ length: 120 }, (_, index): AuditInput => [
      ADA,
      "test.many",
      "public_address",
      `Change ${index}`,
      2,
    ]);
    await write(installation.app, many);
    const seen: string[] = [];
    let path: string | undefined = "?action=test";
    while (path !== undefined) {
      // oxlint-disable-next-line no-await-in-loop
      const page = readHtml((await installation.open(path)).text);
      seen.push(...page.texts("tbody td:nth-child(3) > .cell > div:first-child"));
      const older = page.attributes(".pagination a", "href").find((it) => it.includes("before="));
      path = older?.slice(ACTIVITY.length);
      // oxlint-disable-next-line no-await-in-loop
      await write(installation.app, [[ADA, "test.many", "public_address", "Meanwhile", 0]]);
    }
    expect(seen).toEqual(many.map(([, , , summary]) => summary).toReversed());
  });

  test.each(["viewer", "editor"] as const)(
    "the Activity screen and its CSV file are forbidden to a %s, and their menu has no link to them",
    async (role) => {
      await using installation = await createInstallation();
      const session = await installation.app.signedIn(role);
      for (const path of [ACTIVITY, `${ACTIVITY}.csv`]) {
        // oxlint-disable-next-line no-await-in-loop
        const answer = await installation.app.call(path, { session });
        expect([answer.status, answer.text.includes("Mail is late")]).toEqual([403, false]);
      }
      expect((await installation.app.call("/admin", { session })).text).not.toContain(ACTIVITY);
      expect((await installation.open()).status).toBe(200);
    },
  );
});
