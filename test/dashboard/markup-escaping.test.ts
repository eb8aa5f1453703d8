import { describe, expect, test } from "bun:test";
import { listUsers } from "../../src/features/users/users";
import { type Answer, createTestApp, type TestApp } from "../support/app";
import {
  ACCOUNT,
  HTML,
  KEYS,
  keysOf,
  makeKey,
  NEW_KEY,
  NO_BASE_URL,
  openForm,
  revealedLink,
  sendKeyForm,
  sessionIn,
  setUpPath,
  trySignIn,
  USERS,
  userWithPassword,
} from "../support/dashboard";
import { readHtml } from "../support/html";
import { MONITORS, NEW_MONITOR } from "../support/monitor-dashboard";
import { INCIDENT_LIST, REPORT } from "../support/report-dashboard";

const HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "'-alert(1)-'</a>"];

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/**
 * Expects a page in which no text has become markup, and under whose policy nothing written into it
 * would run.
 */
function expectHarmless(answer: Answer): void {
  const { text, headers } = answer;
  expect(headers.get("content-type")).toBe("text/html;charset=utf-8");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).toStartWith("default-src 'none'; ");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  expect(text).not.toContain("<script>alert");
  const page = readHtml(text);
  expect(page.attributes("[style]", "style")).toEqual([]);
  expect(page.attributes("img", "src").filter((src) => !src.startsWith("/assets/"))).toEqual([]);
  // What runs is the one file of this server.
  expect(page.texts("script").join("")).toBe("");
  for (const src of page.attributes("script", "src")) expect(src).toStartWith("/assets/allclear.");
  const tags = text.match(/<[a-z][^>]*>/gi) ?? [];
  expect(tags.filter((tag) => /\son\w+\s*=/i.test(tag.replace(/"[^"]*"/g, '""')))).toEqual([]);
  expect(
    page.attributes("[href]", "href").filter((it) => !/^[/#]|^https:\/\/status/.test(it)),
  ).toEqual(policy === POLICY ? [] : page.attributes('link[rel="icon"]', "href"));
}

/** Screens that show typed text, by the place in which it was typed. */
const PLACES: {
  where: string;
  show(app: TestApp, session: string, text: string): Promise<Answer[]>;
}[] = [
  {
    where: "a key's name",
    async show(app, session, name) {
      const revealed = await sendKeyForm(app, session, { name });
      const path = `${KEYS}/${keysOf(app)[0]?.id}`;
      const paths = [KEYS, path, `${path}/rotate`, `${path}/revoke`, "/admin"];
      const shown = await Promise.all(paths.map((it) => app.call(it, { session })));
      await app.call(`${path}/revoke`, { session, form: {} });
      return [revealed, ...shown, await app.call(KEYS, { session })];
    },
  },
  {
    where: "every field of a key's form that comes back",
    show: async (app, session, text) => {
      const fields = {
        name: `${text}\u202e`,
        scopes: [text],
        rate_limit: text,
        expires_date: text,
      };
      return [
        await sendKeyForm(app, session, { ...fields, expires: "date" }),
        await sendKeyForm(app, session, { ...fields, expires: text }),
      ];
    },
  },
  {
    where: "a user's name and email",
    async show(app, session, name) {
      const form = await openForm(app, `${USERS}/new`, session);
      const email = `${name.replaceAll(/\s/g, "")}@example.com`;
      const invitation = { form, email, name, role: "viewer" };
      const revealed = await app.call(`${USERS}/new`, { session, form: invitation });
      const join = revealedLink(revealed);
      const again = await app.call(`${USERS}/new`, { session, form: { ...invitation, form: "2" } });
      const id = /\/users\/(usr_\w+)/.exec(revealed.text)?.[1] ?? "";
      const paths = [USERS, `${USERS}/${id}`, `${USERS}/${id}/disable`, join];
      const shown = await Promise.all(paths.map((path) => app.call(path, { session })));
      return [revealed, again, ...shown];
    },
  },
  {
    where: "the own name",
    async show(app, session, name) {
      await app.call(`${ACCOUNT}/name`, { session, form: { name } });
      const { id } = await makeKey(app, session);
      const paths = ["/admin", ACCOUNT, KEYS, `${KEYS}/${id}`];
      const form = { name: `${name}\u202e` };
      return [
        ...(await Promise.all(paths.map((path) => app.call(path, { session })))),
        await app.call(`${ACCOUNT}/name`, { session, form }),
      ];
    },
  },
  {
    where: "a search, a card and a place in the list",
    async show(app, session, text) {
      await app.createKey();
      const term = encodeURIComponent(text);
      const queries = [
        `q=${term}`,
        `q=${term}&show=unused`,
        `show=${term}`,
        `before=${term}`,
        term,
      ];
      return Promise.all(queries.map((query) => app.call(`${KEYS}?${query}`, { session })));
    },
  },
  {
    where: "the inputs of an incident form",
    async show(app, session, text) {
      const { page } = await app.page({}, [`${text} API`]);
      const shown = { page: page.id, shown_page: page.id };
      const right = { ...shown, name: text, body: text, status: "identified" };
      await app.call(REPORT, { session, form: right });
      const wrong = { ...right, status: text, started_at: text, external_ref: `${text}\u202e` };
      const term = encodeURIComponent(text);
      const paths = ["/admin", INCIDENT_LIST, `${INCIDENT_LIST}?q=${term}&show=${term}`];
      return [
        await app.call(REPORT, { session, form: wrong }),
        await app.call(`${REPORT}?page=${term}&template=${term}`, { session }),
        ...(await Promise.all(paths.map((path) => app.call(path, { session })))),
      ];
    },
  },
  {
    where: "the text of an incident",
    async show(app, session, text) {
      const { page } = await app.page({}, [`${text} API`]);
      const draft = { page: page.id, shown_page: page.id, status: "identified" };
      const form = { ...draft, name: text, body: text, external_ref: text };
      const incident = (await app.call(REPORT, { session, form })).headers.get("location") ?? "";
      const shown = await app.call(incident, { session });
      const [update = ""] = readHtml(shown.text).attributes(".timeline a", "href");
      const screens = [update, `${incident}/edit`, `${incident}/postmortem`, `${incident}/delete`];
      const wrong = { name: text, body: "", status: text, started_at: text, display_at: text };
      const forms = [`${incident}/updates`, `${incident}/edit`, `${incident}/postmortem`, update];
      const version = { form: { version: "1", ...wrong } };
      return [
        shown,
        await app.call(`${incident}?template=${encodeURIComponent(text)}`, { session }),
        ...(await Promise.all(screens.map((path) => app.call(path, { session })))),
        ...(await Promise.all(forms.map((path) => app.call(path, { session, ...version })))),
      ];
    },
  },
  {
    where: "a monitor's name, what it asks and what must be true of the answer",
    async show(app, session, text) {
      const right = {
        type: "http",
        name: text,
        config_url: "https://example.com/",
        config_method: "GET",
        config_ip_family: "any",
        assertion_0_source: "body",
        assertion_0_op: "contains",
        assertion_0_value: text,
        interval_seconds: "60",
        timeout_ms: "1000",
        failure_threshold: "3",
        success_threshold: "1",
        on_down: "major_outage",
        open_incident: "never",
      };
      const made = await app.call(NEW_MONITOR, { session, form: right });
      const monitor = made.headers.get("location") ?? "";
      const wrong = Object.fromEntries(Object.keys(right).map((field) => [field, text]));
      const headers = { header_0_name: text, header_0_value: text, config_body: text };
      const term = encodeURIComponent(text);
      const paths = [
        MONITORS,
        `${MONITORS}?q=${term}&state=${term}&type=${term}&page=${term}&before=${term}`,
        `${NEW_MONITOR}?type=${term}&component=${term}`,
        monitor,
        `${monitor}?range=${term}`,
        `${monitor}/edit`,
        `${monitor}/delete`,
        `/admin/analytics?page=${term}&span=${term}`,
      ];
      return [
        ...(await Promise.all(paths.map((path) => app.call(path, { session })))),
        await app.call(NEW_MONITOR, { session, form: { ...wrong, ...headers } }),
        await app.call(`${monitor}/edit`, { session, form: { ...wrong, ...headers } }),
      ];
    },
  },
  {
    where: "the text of a webhook and the inputs of its form",
    async show(app, session, text) {
      const { page } = await app.page();
      const right = { format: "standard", url: "https://a.example.com", which: "all" };
      const path = "/admin/settings/webhooks";
      const made = await app.call(`${path}/new`, {
        session,
        form: { ...right, description: text, page: page.id },
      });
      const home = /\/admin\/settings\/webhooks\/whk_\w+/.exec(made.text)?.[0] ?? "";
      const test = await app.call(`${home}/test`, { session, form: {} });
      const subpaths = ["", "/edit", "/rotate", "/disable", "/redeliver", "/delete"];
      const term = encodeURIComponent(text);
      const paths = [
        path,
        ...subpaths.map((rest) => home + rest),
        test.headers.get("location") ?? "",
        `${path}?before=${term}`,
        `${path}/new?format=${term}`,
        `${home}?show=${term}&before=${term}`,
      ];
      const wrong = { format: text, url: text, which: "some", events: text, page: text };
      const telegram = { format: "telegram", setting_chat_id: text, url: text, description: text };
      return [
        made,
        await app.call(`${path}/new`, { session, form: wrong }),
        await app.call(`${path}/new`, { session, form: telegram }),
        await app.call(`${home}/edit`, { session, form: { ...wrong, version: text } }),
        await app.call(`${home}/redeliver`, { session, form: { since: text } }),
        ...(await Promise.all(paths.map((it) => app.call(it, { session })))),
      ];
    },
  },
  {
    where: "the log of what was done, and what it is searched for",
    async show(app, session, text) {
      await app.call(`${ACCOUNT}/name`, { session, form: { name: text } });
      await makeKey(app, session, { name: text });
      const term = encodeURIComponent(text);
      const names = ["q", "actor", "action", "target", "from", "before"];
      const queries = ["", ...names.map((name) => `?${name}=${term}`)];
      const path = "/admin/settings/activity";
      return Promise.all(queries.map((query) => app.call(path + query, { session })));
    },
  },
  {
    where: "a preset",
    show: async (app, session, text) => [
      await app.call(`${NEW_KEY}?preset=${encodeURIComponent(text)}`, { session }),
    ],
  },
  {
    where: "the email and the return address of a sign-in",
    show: async (app, _session, text) => [
      await app.call(`/admin/sign-in?next=${encodeURIComponent(text)}`),
      await app.call(`/admin/sign-in?next=${encodeURIComponent(`/admin?q=${text}`)}`),
      await trySignIn(app, text, "wrong", { next: text }),
    ],
  },
  {
    where: "an id in a path",
    async show(app, session, text) {
      const id = encodeURIComponent(text);
      const paths = [KEYS, USERS].map((it) => `${it}/${id}`);
      const more = [`/admin/join/${id}`, `/admin/setup/${id}`, `/admin/${id}`, `/${id}`];
      return Promise.all([...paths, ...more].map((it) => app.call(it, { session, headers: HTML })));
    },
  },
  {
    where: "a device's word for itself",
    async show(app, _session, text) {
      await userWithPassword(app, "ada@example.com");
      const headers = { "user-agent": `Mozilla/5.0 ${text}` };
      const answer = await trySignIn(app, "ada@example.com", undefined, { headers });
      const session = sessionIn(answer);
      return [await app.call(ACCOUNT, { session })];
    },
  },
];

for (const { where, show } of PLACES) {
  describe(where, () => {
    for (const text of HOSTILE) {
      test(`a hostile text is shown as text, never as markup: ${text}`, async () => {
        await using app = await createTestApp();
        const session = await app.signedIn();
        const answers = await show(app, session, text);
        expect(answers.length).toBeGreaterThan(0);
        for (const answer of answers) expectHarmless(answer);
      });
    }
  });
}

test("hostile values of the set-up and the public address are redisplayed as text", async () => {
  await using app = await createTestApp({ env: NO_BASE_URL });
  const path = await setUpPath(app);
  for (const text of HOSTILE) {
    const form = { name: `${text}\u202e`, email: text, password: text, public_address: text };
    const answer = await app.call(path, { form });
    expect(answer.status).toBe(422);
    expectHarmless(answer);
  }
  const session = await app.signedIn();
  for (const text of HOSTILE) {
    const form = { public_address: text };
    const answer = await app.call("/admin/settings/general", { session, form });
    expect(answer.status).toBe(422);
    expectHarmless(answer);
  }
});

test("a hostile name is displayed exactly as it was typed", async () => {
  await using app = await createTestApp();
  const session = await app.signedIn();
  for (const name of HOSTILE) {
    const { id } = await makeKey(app, session, { name });
    const page = readHtml((await app.call(`${KEYS}/${id}`, { session })).text);
    expect(page.texts("h1")).toEqual([name]);
    expect(page.texts("title")[0]).toStartWith(name);
  }
});

describe("every screen of the dashboard", () => {
  test("every screen has the policy that allows only files of this server, and is never cached", async () => {
    await using app = await createTestApp({ dashboard: true });
    const session = await app.signedIn();
    const { id } = await makeKey(app, session);
    const [user] = listUsers(app.ctx.db);
    const paths = app.app.routes.routes
      .filter(({ method, path }) => method === "GET" && /^\/admin(\/|$)/.test(path))
      // A file to be kept is no screen.
      .filter(({ path }) => !path.endsWith(".csv"))
      .map(({ path }) => path.replace(":id", path.startsWith(KEYS) ? id : (user?.id ?? "")));
    expect(paths.length).toBeGreaterThan(10);
    for (const path of paths) {
      const answer = await app.call(path, { session, headers: HTML });
      expect(answer.headers.get("cache-control")).toBe("no-store");
      if (answer.status === 303) continue;
      expectHarmless(answer);
      const isScreen = answer.text.includes('class="main"');
      if (isScreen) expect(answer.headers.get("content-security-policy")).toBe(POLICY);
    }
  });
});
