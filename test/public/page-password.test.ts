import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { DAY_MS } from "../../src/base/time";
import { logoPath } from "../../src/features/pages/addresses";
import { putLogo } from "../../src/features/pages/logo";
import { expectProblem } from "../support/app";
import { settle, TEST_START } from "../support/clock";
import { signIn, userWithPassword } from "../support/dashboard";
import { visit } from "../support/domains";
import { createGatedPasswords } from "../support/gated-passwords";
import { readHtml } from "../support/html";
import { createPageAccess, grantOf, PAGE_PASSWORD } from "../support/page-access";
import { png } from "../support/pictures";
import {
  createPrivateSite,
  pathsForPeople,
  pathsForPrograms,
  type PrivateSite,
  PUBLIC_ONLY,
  sealOf,
  SEALED,
  SECRETS,
} from "../support/private-site";

const HTML = { accept: "text/html" };

async function withPassword(options: Parameters<typeof createPrivateSite>[1] = {}) {
  const site = await createPrivateSite({}, options);
  await site.password(PAGE_PASSWORD);
  return site;
}

/** Error below the field. */
const WRONG = "That is not the password of this page. Check capital letters and try again.";

/** Path of an incident whose id is no id, as the form keeps it. */
const BROKEN = `/status/inside/incidents/${encodeURIComponent('"><b>')}`;

/** Expects the form for the password and nothing of the page. */
function expectForm(
  answer: Awaited<ReturnType<PrivateSite["read"]>>,
  next: string,
  action = "/status/inside/access",
): void {
  expect([next, answer.status]).toEqual([next, 401]);
  expect(answer.headers.get("content-type")).toBe("text/html;charset=utf-8");
  expect(answer.headers.get("www-authenticate")).toBe(
    `Cookie realm="allclear", form-action="${action}"`,
  );
  expect(answer.headers.getSetCookie()).toEqual([]);
  expect(sealOf(answer)).toEqual(SEALED);
  const page = readHtml(answer.text);
  expect(page.attributes("form", "action")).toEqual([action]);
  expect(page.controls.map(({ name, value }) => [name, value])).toEqual([
    ["next", next],
    ["password", ""],
  ]);
  for (const secret of [...SECRETS, 'property="og:', "<img"])
    expect(answer.text).not.toContain(secret);
}

describe("a private page with a password", () => {
  test("every path for people is the form, whether or not the thing below exists", async () => {
    await using site = await withPassword();
    for (const path of [...pathsForPeople(site), "/status/inside/incidents/inc_none"]) {
      expectForm(await site.read(path), path);
      // The form does not depend on what the client accepts.
      expectForm(await site.read(path, undefined, { headers: HTML }), path);
    }
    expectForm(await site.read("/status/inside?from=mail"), "/status/inside");
    // A form for another path must not be one from memory, and a long path is not kept.
    expectForm(await site.read("/status/inside/incidents/%22%3E%3Cb%3E"), BROKEN);
    expectForm(await site.read(`/status/inside/incidents/${"x".repeat(1_000)}`), "/status/inside");
  });

  test("the form says for how long a browser is let in, and shows the visitor their own address", async () => {
    await using site = await withPassword();
    const shownTo = async (from: string) =>
      readHtml((await site.read("/status/inside", undefined, { from })).text);
    const page = await shownTo("203.0.113.24");
    expect(page.texts(".word-mark")).toEqual([]);
    expect(page.texts("h1")).toEqual(["This page is private"]);
    const [described] = page.attributes("input[name=password]", "aria-describedby");
    expect(page.texts(`#${described}`)).toEqual([
      "Enter the password that you were given. This browser remembers it for 30 days.",
    ]);
    const seen = "Your address, as this server sees it: ";
    expect(page.texts(".plain-foot")).toEqual([`${seen}203.0.113.24`]);
    expect((await shownTo("2001:db8::7")).texts(".plain-foot")).toEqual([`${seen}2001:db8::7`]);
    const wrong = await site.send("wrong", { from: "198.51.100.8" });
    const again = readHtml(wrong.text);
    expect(again.texts(".plain-foot")).toEqual([`${seen}198.51.100.8`]);
    const [error] = again.attributes("input[name=password]", "aria-describedby");
    expect(again.texts(`#${error}`)).toEqual([WRONG]);
    expect(again.attributes("input[name=password]", "aria-invalid")).toEqual(["true"]);
  });

  test("all other paths are as those of a page that does not exist", async () => {
    await using site = await withPassword();
    const { app, page } = site;
    const logo = await app.ctx.db.write((tx) =>
      putLogo(app.ctx, tx, page.id, { bytes: png(9, 9) }, CLI_ACTOR),
    );
    const paths = [
      ...pathsForPrograms(site),
      ...PUBLIC_ONLY,
      "/status/inside/version",
      logoPath(logo) ?? "",
      "/status/inside/nothing",
      "/status/inside/with/nothing/feed.atom",
      "/compat/gatus/inside/api/v1/endpoints/statuses",
      "/api/status-page/inside",
    ];
    for (const path of paths) {
      const facts = async (asked: string) => {
        const { status, headers, text } = await site.read(asked);
        const kept = Object.fromEntries(
          [...headers].filter(([name]) => !/^(x-)?ratelimit|^x-request-id$/.test(name)),
        );
        return [status, kept, text.replaceAll(/req_\w+/g, "")];
      };
      const hidden = await facts(path);
      expect([path, ...hidden]).toEqual([path, ...(await facts(path.replace("inside", "nobody")))]);
      expect([path, hidden[0]]).toEqual([path, 404]);
      expect(hidden[1]).toMatchObject({ "cache-control": "no-store" });
      expect(hidden[1]).not.toHaveProperty("access-control-allow-origin");
    }
  });

  test("the right password leads to the page with a grant, which opens all of the page", async () => {
    await using site = await withPassword();
    const { app, page } = site;
    const logo = await app.ctx.db.write((tx) =>
      putLogo(app.ctx, tx, page.id, { bytes: png(9, 9) }, CLI_ACTOR),
    );
    const answer = await site.send(PAGE_PASSWORD);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/status/inside"]);
    expect(sealOf(answer)).toEqual(SEALED);
    const grant = grantOf(answer);
    const shown = await site.read("/status/inside", grant);
    expect(shown.status).toBe(200);
    for (const secret of SECRETS) expect(shown.text).toContain(secret);
    expect(shown.text).not.toContain("og:");
    const paths = [
      ...pathsForPeople(site).filter((path) => !path.endsWith("/groups/other")),
      ...pathsForPrograms(site),
      "/status/inside/version",
      logoPath(logo) ?? "",
    ];
    for (const path of paths) {
      const { status, headers } = await site.read(path, grant);
      expect([path, status]).toEqual([path, 200]);
      expect([path, sealOf({ headers })]).toEqual([path, SEALED]);
      expect(headers.getSetCookie()).toEqual([]);
      // A visit is an ordinary public request.
      if (!path.includes("/logo/")) {
        expect(headers.get("ratelimit-policy")).toStartWith('"public"');
      }
      const etag = headers.get("etag") ?? "";
      const again = await site.read(path, grant, { headers: { "if-none-match": etag } });
      expect([path, again.status]).toEqual([path, 304]);
      expect([path, sealOf(again)]).toEqual([path, SEALED]);
    }
    for (const path of PUBLIC_ONLY) {
      expect([path, (await site.read(path, grant)).status]).toEqual([path, 404]);
    }
    const missing = await site.read("/status/inside/incidents/inc_none", grant);
    expectProblem(missing, "not_found");
    expect(sealOf(missing)).toEqual(SEALED);
  });

  test("a wrong password is refused with the form, and no cookie", async () => {
    await using site = await withPassword();
    const answer = await site.send("open sesame 2");
    expect(answer.status).toBe(422);
    expect(readHtml(answer.text).texts("[role=alert]")).toEqual([WRONG]);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(sealOf(answer)).toEqual(SEALED);
    expect(answer.text).not.toContain("open sesame");
    expect((await site.send("")).status).toBe(422);
    expect((await site.send("x".repeat(5_000))).status).toBe(422);
    // Equal text in another normal form is the same password.
    await site.password("café au lait");
    const from = "198.51.100.9";
    expect((await site.send("cafe\u0301 au lait", { from })).status).toBe(303);
  });

  test("the form leads back to the path that was asked for, and never elsewhere", async () => {
    await using site = await withPassword();
    const path = `/status/inside/incidents/${site.incidentId}`;
    let attempts = 0;
    const locationFor = async (next: string) => {
      attempts += 1;
      const form = { password: PAGE_PASSWORD, next };
      // The attempts of one address are limited.
      const from = `198.51.100.${attempts}`;
      const { status, headers } = await site.app.call("/status/inside/access", { form, from });
      expect(status).toBe(303);
      return headers.get("location");
    };
    for (const right of [path, "/status/inside", "/status/inside/history?month=2026-03"]) {
      expect(await locationFor(right)).toBe(right);
    }
    for (const elsewhere of [
      "",
      "/",
      `/status/inside/${"x".repeat(1_000)}`,
      "//evil.example",
      "https://evil.example/",
      "/\\evil.example",
      "/status/other",
      "/status/insider",
      "/status/inside/../other",
      "/status/inside/%2e%2e/other",
      "/status/inside//evil.example",
      "/status/inside/./x",
      "/status/inside\r\nX: y",
      "/admin",
      "javascript:alert(1)",
    ]) {
      expect([elsewhere, await locationFor(elsewhere)]).toEqual([elsewhere, "/status/inside"]);
    }
  });

  test("the form of another site is refused, and sets no cookie", async () => {
    await using site = await withPassword();
    const foreign: Record<string, string>[] = [
      { "sec-fetch-site": "cross-site" },
      { origin: "https://evil.example" },
      { origin: "null" },
    ];
    for (const headers of foreign) {
      const answer = await site.send(PAGE_PASSWORD, { headers });
      expectProblem(answer, "cross_site_request");
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    const own = await site.send(PAGE_PASSWORD, { headers: { "sec-fetch-site": "same-origin" } });
    expect(own.status).toBe(303);
  });

  test("there is no form for an unknown page, a page without a password, and a public one redirects", async () => {
    await using site = await createPrivateSite();
    await site.link("Partner");
    await site.networks("198.51.100.0/24");
    for (const slug of ["inside", "nobody"]) {
      const answer = await site.app.call(`/status/${slug}/access`, {
        form: { password: PAGE_PASSWORD },
      });
      expectProblem(answer, "not_found");
      expect(sealOf(answer)).toEqual(SEALED);
    }
    await site.password(PAGE_PASSWORD);
    await site.update({ visibility: "public" });
    const answer = await site.send("anything");
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/status/inside"]);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test("a page without a rule is shown to users only, and has no documents", async () => {
    await using site = await createPrivateSite();
    const session = await site.app.signedIn("viewer");
    for (const path of pathsForPeople(site)) expectProblem(await site.read(path), "not_found");
    expect((await site.app.call("/status/inside", { session })).status).toBe(200);
    const [feed = ""] = pathsForPrograms(site);
    expectProblem(await site.app.call(feed, { session }), "not_found");
    // With a rule, there are documents, also for users.
    await site.password(PAGE_PASSWORD);
    expect((await site.app.call(feed, { session })).status).toBe(200);
  });
});

describe("a grant", () => {
  test("the cookie of a grant is named and flagged as the host is served", async () => {
    const cookies = async (baseUrl: string, host: string, headers: Record<string, string> = {}) => {
      await using site = await withPassword({ env: { ALLCLEAR_BASE_URL: baseUrl } });
      const origin = `http://${host}`;
      const answer = await site.send(PAGE_PASSWORD, { host, headers: { origin, ...headers } });
      const [cookie = ""] = answer.headers.getSetCookie();
      const [pair = "", ...attributes] = cookie.split("; ");
      const name = pair.split("=")[0]?.replace(site.page.id, "PAGE");
      // The same cookie opens the page on this host.
      const shown = await site.read("/status/inside", pair, { host });
      expect(shown.status).toBe(200);
      return [name, ...attributes.sort()];
    };
    const common = ["HttpOnly", `Max-Age=${30 * 86_400}`, "Path=/", "SameSite=Lax"];
    const secure = ["__Host-allclear_PAGE", ...common, "Secure"];
    const plain = ["allclear_PAGE", ...common];
    expect(await cookies("https://status.test", "status.test")).toEqual(secure);
    expect(await cookies("http://nas.lan:8080", "nas.lan:8080")).toEqual(plain);
    // A cookie of plain HTTP is none of the host over HTTPS.
    await using moved = await withPassword();
    const plainCookie = (await moved.enter()).replace("__Host-", "");
    expect((await moved.read("/status/inside", plainCookie)).status).toBe(401);
    // Other names of the machine, where browsers may drop a Secure cookie.
    expect(await cookies("https://status.test", "10.0.0.5:8080")).toEqual(plain);
    const https = { origin: "https://10.0.0.5:8443" };
    expect(await cookies("https://status.test", "10.0.0.5:8443", https)).toEqual(secure);
  });

  test("a grant opens no other page, no dashboard and no API", async () => {
    await using site = await withPassword();
    const { app } = site;
    const { page: other } = await app.page(
      { slug: "other", name: "Other", visibility: "private" },
      [],
    );
    const grant = await site.enter();
    expectProblem(await site.read("/status/other", grant), "not_found");
    const renamed = grant.replace(site.page.id, other.id);
    expectProblem(await site.read("/status/other", renamed), "not_found");
    for (const path of ["/admin", "/api/v1/status/inside"]) {
      expect([path, (await site.read(path, grant)).status]).toEqual([path, 401]);
    }
  });

  test("a changed grant opens nothing", async () => {
    await using site = await withPassword();
    const grant = await site.enter();
    const [name = "", value = ""] = grant.split("=");
    const [rule = "", expiry = "", mac = ""] = value.split(".");
    const later = (Number.parseInt(expiry, 36) + 1).toString(36);
    const flipped = (mac.startsWith("A") ? "B" : "A") + mac.slice(1);
    for (const changed of [
      `${rule}.${later}.${mac}`,
      `${rule}.${expiry}.${flipped}`,
      `${rule}.${expiry}.`,
      `${rule}.${expiry}`,
      `${rule.replace(/.$/, (last) => (last === "0" ? "1" : "0"))}.${expiry}.${mac}`,
      "",
      "x".repeat(200),
    ]) {
      expect((await site.read("/status/inside", `${name}=${changed}`)).status).toBe(401);
    }
    // Among others of the same name, the right one counts.
    const several = `${name}=wrong; theme=dark; ${grant}`;
    expect((await site.read("/status/inside", several)).status).toBe(200);
  });

  test("a grant ends after 30 days", async () => {
    await using site = await withPassword();
    const grant = await site.enter();
    site.app.clock.setWallClock(TEST_START + 30 * DAY_MS - 1_000);
    expect((await site.read("/status/inside", grant)).status).toBe(200);
    site.app.clock.setWallClock(TEST_START + 30 * DAY_MS);
    expect((await site.read("/status/inside", grant)).status).toBe(401);
    expect((await site.read("/status/inside/feed.atom", grant)).status).toBe(404);
  });

  test("a grant ends at once with another password, the same password again, or none", async () => {
    await using site = await withPassword();
    const first = await site.enter();
    await site.password("another one 2");
    expect((await site.read("/status/inside", first)).status).toBe(401);
    expect((await site.send(PAGE_PASSWORD)).status).toBe(422);
    const second = await site.enter("another one 2");
    expect((await site.read("/status/inside", second)).status).toBe(200);
    await site.password("another one 2");
    expect((await site.read("/status/inside", second)).status).toBe(401);
    const third = await site.enter("another one 2");
    await site.password(null);
    expectProblem(await site.read("/status/inside", third), "not_found");
  });

  test("a grant has no effect while its page is public, and opens it when it is private again", async () => {
    await using site = await withPassword();
    const grant = await site.enter();
    await site.update({ visibility: "public" });
    const open = await site.read("/status/inside", grant);
    expect(open.headers.get("cache-control")).toStartWith("public");
    expect(open.headers.get("x-robots-tag")).toBeNull();
    await site.update({ visibility: "private" });
    expect((await site.read("/status/inside", grant)).status).toBe(200);
    expect((await site.read("/status/inside")).status).toBe(401);
  });

  test("a visit by a grant reads and writes nothing in the database", async () => {
    await using site = await withPassword();
    const grant = await site.enter();
    const paths = [...pathsForPeople(site), ...pathsForPrograms(site)].filter(
      (path) => !path.endsWith("/groups/other"),
    );
    const first: string[] = [];
    for (const path of paths) first.push((await site.read(path, grant)).text);
    const { ctx } = site.app;
    const { db } = ctx;
    Object.assign(ctx, { db: undefined });
    const again: string[] = [];
    for (const path of paths) again.push((await site.read(path, grant)).text);
    Object.assign(ctx, { db });
    expect(again).toEqual(first);
  });

  test("an old slug leads a visitor to the new one, and asks others for the password", async () => {
    await using site = await withPassword();
    const grant = await site.enter();
    await site.update({ slug: "fresh" });
    const moved = await site.read("/status/inside/history", grant);
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "/status/fresh/history"]);
    expect(sealOf(moved)).toEqual(SEALED);
    // A stranger does not learn the new slug.
    const next = "/status/inside/history";
    const asked = await site.read(next);
    expectForm(asked, next);
    expect(asked.text).not.toContain("fresh");
    const form = { password: PAGE_PASSWORD, next };
    const sent = await site.app.call("/status/inside/access", { form });
    expect([sent.status, sent.headers.get("location")]).toEqual([303, next]);
    expect((await site.read(next, grantOf(sent))).status).toBe(308);
  });
});

describe("guessing the password of a page", () => {
  test("an address has ten attempts a minute for a page, and the next one waits", async () => {
    await using site = await withPassword();
    for (let i = 0; i < 10; i++) await site.send("wrong");
    const refused = await site.send(PAGE_PASSWORD);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
    expect(readHtml(refused.text).texts("[role=alert]")[0]).toStartWith("Too many attempts.");
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect(sealOf(refused)).toEqual(SEALED);
    // Other addresses count apart.
    const elsewhere = await site.send(PAGE_PASSWORD, { from: "198.51.100.9" });
    expect(elsewhere.status).toBe(303);
    await site.app.clock.advance(60_000);
    expect((await site.send(PAGE_PASSWORD)).status).toBe(303);
  });

  test("ten quick attempts with the right password pass, and the eleventh waits for its minute", async () => {
    const visitorPasswords = createGatedPasswords(PAGE_PASSWORD);
    await using site = await withPassword({ visitorPasswords });
    const send = async (options: Parameters<PrivateSite["send"]>[1] = {}) => {
      const answer = site.send(PAGE_PASSWORD, options);
      await settle();
      await visitorPasswords.endAll();
      return (await answer).status;
    };
    for (let i = 0; i < 10; i++) expect(await send()).toBe(303);
    expect(await send()).toBe(429);
    expect(await send({ from: "198.51.100.9" })).toBe(303);
    await site.app.clock.advance(60_000);
    expect(await send()).toBe(303);
  });

  test("the attempts of an address for one page do not count for another", async () => {
    await using site = await withPassword();
    const { page: other } = await site.app.page(
      { slug: "other", name: "Other", visibility: "private" },
      [],
    );
    await createPageAccess(site.app, other.id).password("the other one 3");
    for (let i = 0; i < 11; i++) await site.send("wrong");
    expect((await site.send(PAGE_PASSWORD)).status).toBe(429);
    const answer = await site.app.call("/status/other/access", {
      form: { password: "the other one 3" },
    });
    expect(answer.status).toBe(303);
  });

  test("after three wrong passwords an address waits longer each time, and other addresses do not", async () => {
    await using site = await withPassword();
    for (let i = 0; i < 3; i++) expect((await site.send("wrong")).status).toBe(422);
    const waiting = await site.send(PAGE_PASSWORD);
    expect([waiting.status, waiting.headers.get("retry-after")]).toEqual([429, "1"]);
    expect((await site.send(PAGE_PASSWORD, { from: "198.51.100.9" })).status).toBe(303);
    await site.app.clock.advance(1_000);
    expect((await site.send("wrong")).status).toBe(422);
    expect((await site.send("wrong")).headers.get("retry-after")).toBe("2");
    // Failures elsewhere do not make this address wait longer.
    for (let i = 0; i < 40; i++) await site.send("wrong", { from: `198.51.${i}.9` });
    await site.app.clock.advance(2_000);
    expect((await site.send(PAGE_PASSWORD)).status).toBe(303);
  });

  test("visitors who wait for the verification of a password do not delay a sign-in", async () => {
    const visitorPasswords = createGatedPasswords(PAGE_PASSWORD);
    await using site = await withPassword({ visitorPasswords });
    const { app } = site;
    await userWithPassword(app, "ada@example.com");
    const waiting = Array.from({ length: 120 }, (_, i) =>
      site.send("wrong", { from: `198.51.${100 + (i >> 6)}.${i & 63}` }),
    );
    await settle();
    await settle();
    expect(visitorPasswords.begun.length).toBeGreaterThan(0);
    expect(await signIn(app, "ada@example.com")).toMatch(/^[0-9A-Za-z]{43}$/);
    await visitorPasswords.endAll();
    const statuses = new Set((await Promise.all(waiting)).map(({ status }) => status));
    // Those without a place are asked to try again.
    expect([...statuses].sort()).toEqual([422, 503]);
  });

  test("a wrong password is logged with page and address, and never with what was typed", async () => {
    await using site = await withPassword();
    await site.send("a secret guess");
    const line = site.app.logged.find(({ msg }) => msg === "the password of a page was wrong");
    expect(line).toMatchObject({ page: site.page.id, ip: "203.0.113.7" });
    expect(JSON.stringify(site.app.logged)).not.toContain("secret guess");
  });
});

describe("the password form on other hosts", () => {
  test("a page is entered by its password on its custom domain, and the grant is that host's", async () => {
    const host = "status.inside.example";
    await using site = await createPrivateSite({ custom_domains: [host] });
    const { app } = site;
    expect((await visit(app, host, "/")).status).toBe(404);
    await site.password(PAGE_PASSWORD);
    const asked = await app.call("/", { host });
    expectForm(asked, "/", "/access");
    expect(asked.text).not.toContain("inside");
    const form = { password: PAGE_PASSWORD, next: "/" };
    const sent = await app.call("/access", { host, form });
    expect([sent.status, sent.headers.get("location")]).toEqual([303, "/"]);
    const grant = grantOf(sent);
    expect(grant).toStartWith("__Host-");
    const headers = { cookie: grant };
    for (const path of [
      "/",
      "/status/inside",
      "/status/inside/history",
      "/status/inside/feed.atom",
      "/api/v2/summary.json",
      "/history.atom",
    ]) {
      const shown = await visit(app, host, path, { headers });
      expect([path, shown.status, sealOf(shown)]).toEqual([path, 200, SEALED]);
      expect(shown.text).toContain("Inside Story");
    }
    const redirect = await visit(app, host, "/status", { headers });
    expect([redirect.status, redirect.headers.get("location")]).toEqual([308, "/status/inside"]);
    expect((await visit(app, host, "/status")).status).toBe(401);
    for (const path of ["/api/v2/summary.json", "/history.atom", "/admin", "/api/v1/key"]) {
      expect([path, (await visit(app, host, path)).status]).toEqual([path, 404]);
    }
    // The other form of the page is on its domain, too.
    const other = await app.call("/status/inside/access", { host, form });
    expect([other.status, other.headers.get("location")]).toEqual([303, "/status/inside"]);
    await site.password(null);
    expect((await visit(app, host, "/", { headers })).status).toBe(404);
  });

  test("addresses of a page with a password begin with its custom domain", async () => {
    await using site = await createPrivateSite({ custom_domains: ["status.inside.example"] });
    const key = await site.app.keyWith("read:status");
    const urlNow = async () =>
      (await site.app.call("/api/v1/status/inside", { key })).body.page.url;
    expect(await urlNow()).toBe("https://status.test/status/inside");
    await site.networks("10.0.0.0/8");
    expect(await urlNow()).toBe("https://status.test/status/inside");
    await site.password(PAGE_PASSWORD);
    expect(await urlNow()).toBe("https://status.inside.example/status/inside");
    const { body } = await site.app.call("/api/v1/status/inside", { key });
    expect(body.incidents[0].url).toStartWith("https://status.inside.example/status/inside/");
  });

  test("a private default page is served at / with a password or a link, and not with networks alone", async () => {
    await using site = await createPrivateSite();
    const { app } = site;
    const empty = "There is no public status page here yet.";
    const home = async (cookie?: string) => {
      const answer = await site.read("/", cookie);
      expect(sealOf(answer)).toEqual(SEALED);
      return answer;
    };
    expect((await home()).text).toContain(empty);
    await site.networks("203.0.113.0/24");
    expect((await site.read("/status/inside")).status).toBe(200);
    expect((await home()).text).toContain(empty);
    await site.networks();
    const { token } = await site.link("Partner");
    expect((await home()).text).toContain(empty);
    expectProblem(await site.read("/status"), "not_found");
    expectProblem(await site.read("/api/v2/status.json"), "not_found");
    const grant = grantOf(await app.call(`/status/inside/with/${token}`));
    expect((await home(grant)).text).toContain("Inside Story");
    expect((await site.read("/status", grant)).status).toBe(308);
    expect((await site.read("/api/v2/status.json", grant)).body.page.name).toBe("Inside Story");
    expect((await site.read("/history.rss", grant)).text).toContain("Inside Story");
    expectProblem(await app.call("/access", { form: { password: "x" } }), "not_found");
    await site.password(PAGE_PASSWORD);
    // They do not tell the slug, which is in no path that the stranger sent.
    for (const path of ["/", "/status"]) {
      const answer = await site.read(path);
      expectForm(answer, "/", "/access");
      expect(answer.text).not.toContain("inside");
    }
    const wrong = await app.call("/access", { form: { password: "wrong" } });
    expect([wrong.status, wrong.text.includes("inside")]).toEqual([422, false]);
    const sent = await app.call("/access", { form: { password: PAGE_PASSWORD } });
    expect([sent.status, sent.headers.get("location")]).toEqual([303, "/"]);
    expect((await site.read("/", grantOf(sent))).text).toContain("Inside Story");
    await site.update({ visibility: "public" });
    const open = await app.call("/access", { form: { password: PAGE_PASSWORD } });
    expect([open.status, open.headers.get("location")]).toEqual([303, "/"]);
  });
});
