import { describe, expect, test } from "bun:test";
import { type Answer, type CallOptions, createTestApp } from "../support/app";
import { createReplicaPair } from "../support/fleet/replica-pair";
import { createTestStore, startTestMirror } from "../support/mirror-site";
import {
  createPageAccess,
  enterByLink,
  enterByPassword,
  grantOf,
  PAGE_PASSWORD,
} from "../support/page-access";
import { sealOf, SEALED, SEALED_TOKEN } from "../support/private-site";
import {
  createCrawledSite,
  OTHER_HOST,
  PRIVATE_HOST,
  PRIVATE_SLUGS,
  PRIVATE_WORD,
  type CrawledSite,
  type Send,
  type Visitor,
} from "../support/crawled-site";
import { isOfGatus } from "../support/route-site";
import { shareSite } from "../support/shared-site";

const HOSTS = ["status.test", PRIVATE_HOST];

/** One request of a crawl and its answer. */
interface Step {
  /** For messages: visitor, host, method, path and status. */
  name: string;
  answer: Answer;
}

/** Sends a visitor to each path of the page that anyone may read, on each host. */
async function crawl(
  { routes, pathOf }: CrawledSite,
  send: Send,
  visitor: Visitor,
  { hosts = HOSTS, methods = ["GET", "HEAD"] }: { hosts?: string[]; methods?: string[] } = {},
): Promise<Step[]> {
  const { name, ...options } = visitor;
  const steps: Step[] = [];
  for (const host of hosts) {
    for (const route of routes) {
      if (isOfGatus(route) && host !== PRIVATE_HOST) continue;
      const slugs = route.path.includes(":slug") ? PRIVATE_SLUGS : [undefined];
      for (const path of slugs.map((slug) => pathOf(route, slug))) {
        for (const method of methods) {
          const answer = await send(path, { ...options, host, method });
          steps.push({ name: `${name}: ${host} ${method} ${path} ${answer.status}`, answer });
        }
      }
    }
  }
  return steps;
}

/** Returns the texts of the page that an answer has, in its body and its headers. */
function leaksOf({ text, headers }: Answer, secrets: readonly string[]): string[] {
  const all = `${text}\n${JSON.stringify([...headers])}`;
  return secrets.filter((secret) => all.includes(secret));
}

/** Paths at which Uptime Kuma has empty lists and badges without a value for a page that does not exist. */
const LIKE_UPTIME_KUMA = /\/api\/(?:status-page|badge|entry-page)/;

/** Expects an answer that shows nothing, is stored nowhere, and is read by no other site. */
function expectNothing(
  { name, answer }: Step,
  { secrets }: CrawledSite,
  statuses: readonly number[],
) {
  const isOfKuma = LIKE_UPTIME_KUMA.test(name);
  const isExpected = statuses.includes(answer.status) || (isOfKuma && answer.status === 200);
  expect([name, isExpected]).toEqual([name, true]);
  expect([name, leaksOf(answer, secrets)]).toEqual([name, []]);
  expectSealed({ name, answer });
  expect([name, answer.headers.get("set-cookie")]).toEqual([name, null]);
}

function expectSealed({ name, answer }: Step, seal: ReturnType<typeof sealOf> = SEALED) {
  expect([name, sealOf(answer)]).toEqual([name, seal]);
}

describe.each([
  ["without a CDN", {}],
  ["with a CDN", { ALLCLEAR_CDN: "15" }],
] as [string, Record<string, string>][])(
  "a crawl of all public paths of a private page %s",
  (_, env) => {
    const shared = shareSite(() => createCrawledSite(env));

    test("visitors without a grant get the form or the answers of a missing page on each host, and no word of the page", async () => {
      const site = await shared();
      expect(site.routes.length).toBeGreaterThan(50);
      for (const visitor of site.strangers) {
        const steps = await crawl(site, site.send, visitor);
        for (const step of steps) expectNothing(step, site, [401, 404]);
        expect(steps.some(({ answer }) => answer.status === 401)).toBe(true);
      }
    }, 600_000);

    test("a guest reads the page and its documents, which no cache stores and no other site reads", async () => {
      const site = await shared();
      for (const visitor of site.guests) {
        const steps = await crawl(site, site.send, visitor, { hosts: ["status.test"] });
        for (const step of steps) {
          expect([step.name, [200, 308, 404].includes(step.answer.status)]).toEqual([
            step.name,
            true,
          ]);
          expectSealed(step);
        }
        const shown = steps.filter(({ answer }) => answer.status === 200);
        expect(shown.length).toBeGreaterThan(50);
        // The texts are in these answers, so that leaks would be found. Versions, logos, the flat
        // summary and answers to HEAD have none.
        const named = shown.filter(({ answer }) => leaksOf(answer, [PRIVATE_WORD]).length > 0);
        expect(named.length).toBeGreaterThan(20);
      }
    }, 600_000);

    test("documents for other sites and forms to subscribe do not exist for guests either", async () => {
      const site = await shared();
      const closed = site.routes.filter(({ path }) =>
        /\/(embed|widget\.js|subscribe|subscribe\/sent|rss)$|\/compat\/|\/api\/(status-page|badge|entry-page)/.test(
          path,
        ),
      );
      expect(closed.length).toBeGreaterThan(10);
      for (const visitor of site.guests) {
        for (const route of closed) {
          const { name: _name, ...options } = visitor;
          const path = site.pathOf(route);
          if (!path.includes("/inside")) continue;
          const answer = await site.send(path, options);
          const isFound = answer.status === 200 && LIKE_UPTIME_KUMA.test(path);
          expect([path, isFound || answer.status === 404]).toEqual([path, true]);
          expect([path, leaksOf(answer, site.secrets)]).toEqual([path, []]);
        }
      }
      const form = { email: "ann@example.com" };
      for (const { name: _name, ...options } of site.guests) {
        const answer = await site.send("/status/inside/subscribe", { ...options, form });
        expect(answer.status).toBe(404);
      }
    });

    test("the form of the page shows no word of it, whether or not the thing below exists", async () => {
      const site = await shared();
      const documents = site.routes.filter(({ path }) =>
        /^\/status\/:slug(\/(history|incidents|maintenance|groups)(\/.*)?)?$/.test(path),
      );
      const paths = [
        ...documents.flatMap((route) => [site.pathOf(route), site.pathOf(route, "acme")]),
        "/status/inside/history?month=2020-01",
        "/status/inside/incidents/inc_none",
        "/status/inside/groups/none",
      ];
      expect(paths.length).toBeGreaterThan(10);
      for (const path of paths) {
        const { status, text, headers } = await site.send(path, {
          headers: { accept: "text/html" },
        });
        expect([path, status]).toEqual([path, 401]);
        expect([path, headers.get("www-authenticate")]).not.toEqual([path, null]);
        expect([path, /<img|og:|\/logo\//.exec(text)]).toEqual([path, null]);
        // An earlier address does not tell the present one.
        if (path.includes("/acme")) expect([path, text.includes("inside")]).toEqual([path, false]);
        expect(text).toContain('type="password"');
      }
    });

    test("the host of another page, and one that no page has, show nothing of the page", async () => {
      const site = await shared();
      for (const { name, ...options } of site.guests) {
        for (const route of site.routes) {
          const path = site.pathOf(route);
          const answer = await site.send(path, { ...options, host: OTHER_HOST });
          expect([name, path, leaksOf(answer, site.secrets)]).toEqual([name, path, []]);
          expect([path, answer.headers.get("cache-control")]).toEqual([path, "no-store"]);
        }
      }
      const [stranger = { name: "" }] = site.strangers;
      for (const step of await crawl(site, site.send, stranger, { hosts: ["elsewhere.example"] })) {
        expectNothing(step, site, [401, 404]);
      }
    });

    test("a link's token opens the documents by itself, whose links keep it, and ended ones open nothing", async () => {
      const site = await shared();
      const { live, ended } = site.tokens;
      const documents = [
        "feed.atom",
        "feed.rss",
        "history.atom",
        "calendar.ics",
        "summary.json",
        "badge.svg",
        "badge.json",
        "api/v2/summary.json",
        "api/v2/incidents.json",
      ];
      for (const host of HOSTS) {
        for (const document of documents) {
          const path = `/status/inside/with/${live}/${document}`;
          const answer = await site.send(path, { host });
          const name = `${host} ${document}`;
          expect([name, answer.status]).toEqual([name, 200]);
          expectSealed({ name, answer }, SEALED_TOKEN);
          expect([name, answer.headers.get("set-cookie")]).toEqual([name, null]);
          // No link leads to the page without the token.
          expect([name, /\/status\/inside(?!\/with\/)/.exec(answer.text)?.[0]]).toEqual([
            name,
            undefined,
          ]);
          for (const token of ended) {
            const refused = await site.send(`/status/inside/with/${token}/${document}`, { host });
            expectNothingBehind({ name, answer: refused }, site);
          }
        }
        for (const rest of ["", "/history", "/incidents"]) {
          const name = `${host}${rest}`;
          const entered = await site.send(`/status/inside/with/${live}${rest}`, { host });
          expect([name, entered.status]).toEqual([name, 303]);
          expect(entered.headers.get("location")).toEndWith(`/status/inside${rest}`);
          expectSealed({ name, answer: entered }, SEALED_TOKEN);
          const headers = { cookie: grantOf(entered) };
          expect((await site.send(`/status/inside${rest}`, { host, headers })).status).toBe(200);
          for (const token of ended) {
            const refused = await site.send(`/status/inside/with/${token}${rest}`, { host });
            expectNothingBehind({ name, answer: refused }, site, true);
          }
        }
        for (const document of ["widget.js", "rss", "version/x", `with/${live}`, "access"]) {
          const answer = await site.send(`/status/inside/with/${live}/${document}`, { host });
          expect([document, answer.status]).toEqual([document, 404]);
        }
      }
      // The token is one of this page, and leads to the form of another one.
      const other = await site.send(`/status/other/with/${live}`);
      expectNothingBehind({ name: "another page", answer: other }, site, true);
      expect((await site.send(`/status/open/with/${live}`)).status).toBe(404);
    });

    test("a wrong password, a wrong method and a broken query say nothing about the page", async () => {
      const site = await shared();
      const attempts: [string, CallOptions, number][] = [
        ["/status/inside/access", { form: { password: "a wrong password" } }, 422],
        ["/status/inside/access", { form: {} }, 422],
        ["/status/inside", { method: "DELETE" }, 405],
        ["/status/inside/feed.atom", { method: "POST", form: {} }, 405],
        ["/status/inside/access", { method: "POST", raw: "" }, 403],
      ];
      for (const [path, options, status] of attempts) {
        const answer = await site.send(path, options);
        expect([path, answer.status]).toEqual([path, status]);
        expect([path, leaksOf(answer, site.secrets)]).toEqual([path, []]);
        expect([path, answer.headers.get("cache-control")]).toEqual([path, "no-store"]);
        expect(answer.headers.get("set-cookie")).toBeNull();
      }
    });
  },
);

/** Expects the answer to a link that opens nothing: nothing, or the way to the form of the page. */
function expectNothingBehind(
  { name, answer }: Step,
  { secrets }: CrawledSite,
  isForPeople = false,
) {
  expect([name, answer.status]).toEqual([name, isForPeople ? 303 : 404]);
  expect([name, answer.headers.get("location")?.includes("/with/") ?? false]).toEqual([
    name,
    false,
  ]);
  expect([name, leaksOf(answer, secrets)]).toEqual([name, []]);
  expectSealed({ name, answer }, SEALED_TOKEN);
  expect([name, answer.headers.get("set-cookie")]).toEqual([name, null]);
}

describe("a private page that has no password", () => {
  const shared = shareSite(() => createCrawledSite({}, { hasPassword: false }));

  test("answers visitors without a grant like a missing page, on each host", async () => {
    const site = await shared();
    for (const visitor of site.strangers) {
      for (const step of await crawl(site, site.send, visitor)) {
        // The root is that of an installation without a page.
        const isHome = step.name.includes(" / ") && step.name.includes("status.test");
        expectNothing(step, site, isHome ? [200] : [404]);
      }
    }
  }, 600_000);

  test("answers like a page that does not exist, header by header", async () => {
    const site = await shared();
    const { routes, pathOf, send } = site;
    for (const headers of [{}, { accept: "text/html" }] as Record<string, string>[]) {
      for (const route of routes.filter(({ path }) => path.includes(":slug"))) {
        for (const method of ["GET", "HEAD", "OPTIONS"]) {
          const [own, unknown] = await Promise.all(
            ["inside", "nobody"].map((slug) => send(pathOf(route, slug), { headers, method })),
          );
          expect([route.path, method, facts(own)]).toEqual([route.path, method, facts(unknown)]);
        }
      }
    }
  });

  test("opens for guests as one with a password does", async () => {
    const site = await shared();
    for (const { name, ...options } of site.guests) {
      for (const path of ["/status/inside", "/status/inside/feed.atom", "/"]) {
        const { status, text } = await site.send(path, options);
        expect([name, path, status, text.includes(PRIVATE_WORD)]).toEqual([name, path, 200, true]);
      }
    }
  });
});

/** Returns what a client sees of an answer, without what differs between two requests for one path. */
function facts(answer: Answer | undefined) {
  if (!answer) throw new Error("there is no answer");
  const ofRequest = /^(x-request-id|ratelimit|x-ratelimit-remaining|date)$/;
  const headers = [...answer.headers].filter(([name]) => !ofRequest.test(name));
  const text = answer.text
    .replaceAll(answer.headers.get("x-request-id") ?? "no id", "ID")
    .replaceAll("nobody", "inside");
  return { status: answer.status, headers: headers.toSorted(), text };
}

describe("copies of a private page", () => {
  test("a replica shows no more than the primary: nothing to strangers, the page to guests", async () => {
    const site = await createCrawledSite();
    await using pair = await createReplicaPair({ primary: site.app });
    let sent = 0;
    const send: Send = async (path, options) => {
      sent += 1;
      // A replica forwards 600 requests of an address in a minute.
      if (sent % 500 === 0) await site.app.clock.advance(60_000);
      return pair.call(path, options);
    };
    for (const visitor of site.strangers) {
      for (const step of await crawl(site, send, visitor, { methods: ["GET"] })) {
        expectNothing(step, site, [401, 404]);
      }
    }
    for (const { name, ...options } of site.guests) {
      const { status, text } = await send("/status/inside", options);
      expect([name, status, text.includes(PRIVATE_WORD)]).toEqual([name, 200, true]);
    }
  }, 600_000);

  test("a mirror has lost each file of a page with rules, and gets none for its guests", async () => {
    await using site = await createCrawledSite();
    const { app, pageId } = site;
    const { update } = createPageAccess(app, pageId);
    const store = createTestStore();
    const mirrored = await startTestMirror(app, store);
    const words = () =>
      Array.from(store.files).flatMap(([path, { bytes }]) => {
        const content = `${path}\n${new TextDecoder().decode(bytes)}`;
        const isFound = [...site.secrets, ...PRIVATE_SLUGS.map((slug) => `/${slug}/`)].some(
          (text) => content.includes(text),
        );
        return isFound ? [path] : [];
      });
    await mirrored.pass(0);
    expect(store.files.size).toBeGreaterThan(5);
    expect(words()).toEqual([]);
    await update({ visibility: "public" });
    await mirrored.pass(1_000);
    expect(words().length).toBeGreaterThan(20);
    await update({ visibility: "private" });
    await mirrored.mirror.left();
    expect(words()).toEqual([]);
    await site.send("/status/inside", site.guests[0]);
    await mirrored.pass(60_000);
    expect(words()).toEqual([]);
    await mirrored.mirror.stop();
  });

  test("no log, audit row, event or metric has a password, a token or a grant", async () => {
    await using app = await createTestApp({ logLevel: "debug" });
    const { page } = await app.page({ slug: "inside", visibility: "private" });
    const access = createPageAccess(app, page.id);
    await access.password(PAGE_PASSWORD);
    const link = await access.link("Partners");
    const grants = [
      await enterByPassword(app.call, "inside"),
      await enterByLink(app.call, "inside", link),
    ];
    const wrong = "a wrong password";
    await app.call("/status/inside/access", { form: { password: wrong } });
    for (const cookie of grants) await app.call("/status/inside", { headers: { cookie } });
    const paths = ["", "/", "/history", "/feed.atom", "/nothing"].flatMap((rest) => [
      `/status/inside/with/${link.token}${rest}`,
      `/status/inside/with%2F${link.token}${rest}`,
      `/status/nobody/with/${link.token}${rest}`,
    ]);
    for (const path of paths) await app.call(path);
    await access.revoke(link.link.id);
    for (const path of paths) await app.call(path);
    const key = await app.keyWith("read:analytics");
    const { text: metrics } = await app.call("/metrics", { key });
    const written = JSON.stringify([app.logged, app.audit(), app.events(), metrics]);
    expect(written).toContain("/status/inside/with/[redacted]/feed.atom");
    expect(written).toContain("page.create_link");
    const values = grants.map((grant) => grant.slice(grant.indexOf("=") + 1));
    for (const secret of [PAGE_PASSWORD, wrong, link.token, ...values]) {
      expect(written).not.toContain(secret);
    }
  });
});
