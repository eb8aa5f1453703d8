import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { listMonitors } from "../../src/features/monitors/records";
import { listUsers } from "../../src/features/users/users";
import { listAllWebhooks } from "../../src/features/webhooks/store";
import { type Answer, createTestApp, type TestApp } from "../support/app";
import {
  actionsOf,
  type Fields,
  KEY_FIELDS,
  keysOf,
  makeKey,
  NEW_KEY,
  openForm,
  revealedLink,
  revealedValue,
  USERS,
} from "../support/dashboard";
import { readHtml } from "../support/html";
import { formOf, MONITORS, NEW_MONITOR, revealedToken } from "../support/monitor-dashboard";
import { temporaryFolder } from "../support/temporary-folder";
import { NEW_WEBHOOK, PROGRAM, revealedSecret, WEBHOOK_LIST } from "../support/webhook-dashboard";

const MINUTE = 60_000;

interface Ready {
  /** Path that the form is submitted to, and its fields. */
  path: string;
  form: Fields;
  /** Path of the screen with a new form. */
  from: string;
}

/** Forms whose answer reveals a secret that is not stored as plain text. */
const FORMS: {
  what: string;
  action: string;
  open(app: TestApp, session: string): Promise<Ready>;
  shown(answer: Answer): string;
  /** Counts the objects of the kind that the form creates. */
  count(app: TestApp): number;
  /** A field with another value, which makes it another request. */
  changed: Fields;
}[] = [
  {
    what: "for a new key",
    action: "key.create",
    async open(app, session) {
      const form = await openForm(app, NEW_KEY, session);
      return { path: NEW_KEY, from: NEW_KEY, form: { form, ...KEY_FIELDS } };
    },
    shown: revealedValue,
    count: (app) => keysOf(app).length,
    changed: { name: "Deploy bot 2" },
  },
  {
    what: "that rotates a key",
    action: "key.rotate",
    async open(app, session) {
      const { id } = await makeKey(app, session);
      const path = `/admin/settings/keys/${id}/rotate`;
      return {
        path,
        from: path,
        form: { form: await openForm(app, path, session), overlap: "1h" },
      };
    },
    shown: revealedValue,
    count: (app) => keysOf(app)[0]?.values.length ?? 0,
    changed: { overlap: "24h" },
  },
  {
    what: "that invites a user",
    action: "user.invite",
    async open(app, session) {
      const path = `${USERS}/new`;
      const form = await openForm(app, path, session);
      const fields = { email: "grace@example.com", name: "Grace", role: "viewer" };
      return { path, from: path, form: { form, ...fields } };
    },
    shown: revealedLink,
    count: (app) => listUsers(app.ctx.db).length,
    changed: { email: "joan@example.com" },
  },
  {
    what: "for another link of an invited user",
    action: "user.password_link",
    async open(app, session) {
      const id = listUsers(app.ctx.db)[0]?.id ?? "";
      const from = `${USERS}/${id}`;
      const form = await openForm(app, from, session);
      return { path: `${from}/link`, from, form: { form } };
    },
    shown: revealedLink,
    count: (app) => actionsOf(app).filter((action) => action === "user.password_link").length,
    changed: { form: "another form token" },
  },
  {
    what: "for a new webhook",
    action: "webhook.create",
    async open(app, session) {
      const form = await openForm(app, NEW_WEBHOOK, session);
      const fields = { format: "standard", url: PROGRAM, which: "all" };
      return { path: NEW_WEBHOOK, from: NEW_WEBHOOK, form: { form, ...fields } };
    },
    shown: revealedSecret,
    count: (app) => listAllWebhooks(app.ctx.db, {}).length,
    changed: { description: "Another" },
  },
  {
    what: "that rotates a webhook's secret",
    action: "webhook.rotate_secret",
    async open(app, session) {
      const fields = { format: "standard", url: PROGRAM, which: "all" };
      const first = await openForm(app, NEW_WEBHOOK, session);
      await app.call(NEW_WEBHOOK, { session, form: { form: first, ...fields } });
      const path = `${WEBHOOK_LIST}/${listAllWebhooks(app.ctx.db, {})[0]?.id}/rotate`;
      return { path, from: path, form: { form: await openForm(app, path, session) } };
    },
    shown: revealedSecret,
    count: (app) => actionsOf(app).filter((action) => action === "webhook.rotate_secret").length,
    changed: { form: "another form token" },
  },
  {
    what: "for a new push monitor",
    action: "monitor.create",
    open: openPushForm,
    shown: revealedToken,
    count: (app) => listMonitors(app.ctx.db, { limit: 100 }).length,
    changed: { name: "Hourly" },
  },
  {
    what: "that rotates a heartbeat token",
    action: "monitor.rotate_token",
    async open(app, session) {
      const { path: created, form } = await openPushForm(app, session);
      await app.call(created, { session, form });
      const path = `${MONITORS}/${listMonitors(app.ctx.db, { limit: 1 })[0]?.row.id}/rotate`;
      return { path, from: path, form: { form: await openForm(app, path, session) } };
    },
    shown: revealedToken,
    count: (app) => actionsOf(app).filter((action) => action === "monitor.rotate_token").length,
    changed: { form: "another form token" },
  },
];

/** Opens the form for a new push monitor, filled in. */
async function openPushForm(app: TestApp, session: string): Promise<Ready> {
  const from = `${NEW_MONITOR}?type=push`;
  const { text } = await app.call(from, { session });
  return { path: NEW_MONITOR, from, form: { ...formOf(text), name: "Nightly" } };
}

/** Expects a page that says it was shown before, and shows nothing. */
function expectShownBefore(answer: Answer): void {
  expect(answer.status).toBe(200);
  expect(readHtml(answer.text).texts("h1")[0]).toMatch(
    /^This (value|link|secret|address) was already shown$/,
  );
  expect(answer.text).not.toMatch(/allclear_\w{20}|whsec_|\/join\/|\/heartbeats\/\w{43}/);
}

for (const { what, action, open, shown, count, changed } of FORMS) {
  const timesDone = (app: TestApp) => actionsOf(app).filter((done) => done === action).length;

  describe(`the form ${what}`, () => {
    test("submitting the form three times at once acts once, and all answers reveal the same secret", async () => {
      await using app = await createTestApp();
      const session = await app.signedIn();
      const { path, form } = await open(app, session);
      const before = count(app);
      const send = () => app.call(path, { session, form });
      const answers = await Promise.all([send(), send(), send()]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(new Set(answers.map(shown)).size).toBe(1);
      expect(count(app)).toBe(before + 1);
      expect(timesDone(app)).toBe(1);
    });

    test("submitting the form again reveals the secret within a minute, and later says that it was shown", async () => {
      await using app = await createTestApp();
      const session = await app.signedIn();
      const { path, form } = await open(app, session);
      const first = await app.call(path, { session, form });
      const after = count(app);
      await app.clock.advance(MINUTE - 1);
      expect(shown(await app.call(path, { session, form }))).toBe(shown(first));
      await app.clock.advance(1);
      expectShownBefore(await app.call(path, { session, form }));
      await app.clock.advance(23 * 60 * MINUTE);
      expectShownBefore(await app.call(path, { session, form }));
      expect(count(app)).toBe(after);
      expect(timesDone(app)).toBe(1);
    });

    test("submitting the form again after a restart says that the secret was shown, and does nothing", async () => {
      using folder = temporaryFolder();
      const databasePath = join(folder.path, "allclear.db");
      let session: string;
      let ready: Ready;
      let after: number;
      {
        await using app = await createTestApp({ databasePath });
        session = await app.signedIn();
        ready = await open(app, session);
        shown(await app.call(ready.path, { session, form: ready.form }));
        after = count(app);
      }
      await using app = await createTestApp({ databasePath });
      expectShownBefore(await app.call(ready.path, { session, form: ready.form }));
      expect(count(app)).toBe(after);
      expect(timesDone(app)).toBe(1);
    });

    test("submitting the form with one changed field acts again", async () => {
      await using app = await createTestApp();
      const session = await app.signedIn();
      const { path, form } = await open(app, session);
      const first = shown(await app.call(path, { session, form }));
      const second = await app.call(path, { session, form: { ...form, ...changed } });
      expect(shown(second)).not.toBe(first);
      expect(timesDone(app)).toBe(2);
    });

    test("opening the form again creates another form token", async () => {
      await using app = await createTestApp();
      const session = await app.signedIn();
      const { from, form } = await open(app, session);
      expect(await openForm(app, from, session)).not.toBe(form["form"]);
    });
  });
}

describe("one form token in two sessions", () => {
  test("the same form token in two sessions creates a key for each, and each sees only its own value", async () => {
    await using app = await createTestApp();
    const [one, other] = [await app.signedIn("admin"), await app.signedIn("admin")];
    const form = { form: await openForm(app, NEW_KEY, one), ...KEY_FIELDS };
    const answers = await Promise.all(
      [one, other].map((session) => app.call(NEW_KEY, { session, form })),
    );
    expect(new Set(answers.map(revealedValue)).size).toBe(2);
    expect(keysOf(app)).toHaveLength(2);
    await app.clock.advance(MINUTE);
    for (const session of [one, other]) {
      expectShownBefore(await app.call(NEW_KEY, { session, form }));
    }
  });

  test("a session that has ended is not shown the value that it created", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const form = { form: await openForm(app, NEW_KEY, session), ...KEY_FIELDS };
    const value = revealedValue(await app.call(NEW_KEY, { session, form }));
    await app.call("/admin/sign-out", { session, form: {} });
    const answer = await app.call(NEW_KEY, { session, form });
    expect(answer.status).toBe(401);
    expect(answer.text).not.toContain(value);
  });
});

describe("a rejected form for a new key", () => {
  test("a corrected form creates the key with the same form token", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const form = { form: await openForm(app, NEW_KEY, session), ...KEY_FIELDS };
    const rejected = await app.call(NEW_KEY, { session, form: { ...form, name: "" } });
    expect(rejected.status).toBe(422);
    revealedValue(await app.call(NEW_KEY, { session, form }));
    expect(keysOf(app)).toHaveLength(1);
  });

  test("a form that failed in the database creates the key when submitted again", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const form = { form: await openForm(app, NEW_KEY, session), ...KEY_FIELDS };
    const { write } = app.ctx.db;
    app.ctx.db.write = () => Promise.reject(new Error("disk full"));
    expect((await app.call(NEW_KEY, { session, form })).status).toBe(500);
    app.ctx.db.write = write;
    revealedValue(await app.call(NEW_KEY, { session, form }));
    expect(keysOf(app)).toHaveLength(1);
  });
});

describe("a form with an expiry date", () => {
  test("a form submitted again after its expiry date says that the value was shown, and a new one is rejected", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const today = new Date(app.clock.now()).toISOString().slice(0, 10);
    const fields = { ...KEY_FIELDS, expires: "date", expires_date: today };
    const form = { form: await openForm(app, NEW_KEY, session), ...fields };
    expect((await app.call(NEW_KEY, { session, form })).status).toBe(200);
    // Over midnight in UTC, and within the session's day.
    await app.clock.advance(13 * 60 * MINUTE);
    expectShownBefore(await app.call(NEW_KEY, { session, form }));
    const other = { form: await openForm(app, NEW_KEY, session), ...fields };
    const rejected = await app.call(NEW_KEY, { session, form: other });
    expect(rejected.status).toBe(422);
    expect(rejected.text).toContain("is in the past");
    expect(keysOf(app)).toHaveLength(1);
  });
});
