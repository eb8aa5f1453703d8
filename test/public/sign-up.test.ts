import { describe, expect, test } from "bun:test";
import { noteRelayOffers } from "../../src/features/mail/settings";
import { mutate } from "../../src/db/statements";
import { mailRequests } from "../../src/db/tables/mail";
import { insertRequest } from "../../src/features/subscribers/store";
import { HOUR_MS } from "../../src/base/time";
import { expectProblem } from "../support/app";
import { readHtml, typedIn } from "../support/html";
import { anotherProcess } from "../support/second-connection";
import { temporaryFolder } from "../support/temporary-folder";
import { createSubscribingSite, RELAY, type SubscribingSite } from "../support/subscribing";

const PATH = "/status/acme/subscribe";
const HTML = { Accept: "text/html" };

const setSource = mutate((orm, $: { source: "import" }) =>
  orm.update(mailRequests).set({ source: $.source }),
);

/** Stores sign-ups of other people, by default one a second, the last one `endedMs` ago. */
async function fill(
  { app, page }: SubscribingSite,
  count: number,
  more: {
    pageId?: string;
    state?: "sent" | "confirmed" | "unsent" | "declined";
    endedMs?: number;
    everyMs?: number;
  } = {},
): Promise<void> {
  const { pageId = page.id, state = "sent", endedMs = 0, everyMs = 1_000 } = more;
  const { ctx } = app;
  await ctx.db.write((tx) => {
    for (let index = 0; index < count; index++) {
      const address = `p${index}-${endedMs}-${state}-${pageId}@example.org`;
      insertRequest(tx, {
        id: ctx.newId("mrq"),
        pageId,
        address,
        addressKey: address,
        throttleKey: address,
        choices: { scope: "page", targets: [], events: ["incidents"] },
        ip: null,
        source: "form",
        clientKey: null,
        requestedAt: ctx.clock.now() - endedMs - index * everyMs,
        expiresAt: ctx.clock.now() + HOUR_MS,
        state,
      });
    }
  });
}

describe("the form for e-mail", () => {
  test("the form is on the subscribe page while mail can be sent", async () => {
    await using site = await createSubscribingSite();
    const answer = await site.app.call(PATH);
    const page = readHtml(answer.text);
    expect(page.attributes("form", "action")).toEqual([PATH]);
    expect(page.texts("main h2")[0]).toBe("E-mail");
    expect(typedIn(answer.text, "scope")).toEqual(["page"]);
    expect(typedIn(answer.text, "events")).toEqual(["incidents", "maintenance"]);
    expect(typedIn(answer.text, "website")).toEqual([""]);
    const offered = page.controls.filter(({ name }) => name === "component" || name === "group");
    expect(offered.map(({ value }) => value)).toContain(site.components["API"] ?? "");
    expect(offered).toHaveLength(3);
    expect(answer.headers.get("set-cookie")).toBeNull();
  });

  test("the form goes and comes with mail, also where the page was cached", async () => {
    await using site = await createSubscribingSite();
    for (const isReady of [true, false, true]) {
      await site.setUpMail(isReady);
      const page = readHtml((await site.app.call(PATH)).text);
      expect(page.attributes("form", "action")).toEqual(isReady ? [PATH] : []);
    }
  });

  test("without mail, with subscriptions off, and on a private page there is no form, and sending one is 404", async () => {
    await using site = await createSubscribingSite();
    await site.setUpMail(false);
    expectProblem(await site.signUp(), "not_found");
    await site.setUpMail(true);
    await site.change({ mail: { subscriptions: false } });
    expect(readHtml((await site.app.call(PATH)).text).attributes("form", "action")).toEqual([]);
    expectProblem(await site.signUp(), "not_found");
    await site.change({ mail: { subscriptions: true }, visibility: "private" });
    expectProblem(await site.app.call(PATH), "not_found");
    expectProblem(await site.signUp(), "not_found");
    expect(site.requests()).toEqual([]);
  });

  test("a sign-up redirects to a page that says the same for everyone", async () => {
    await using site = await createSubscribingSite();
    const answer = await site.signUp();
    expect([answer.status, answer.headers.get("location")]).toEqual([303, `${PATH}/sent`]);
    const sent = await site.app.call(`${PATH}/sent`);
    expect(sent.text).toContain("If this address can be subscribed, a mail is on its way.");
    expect(sent.text).toContain("Open it within 7 days.");
  });

  test("the form of an earlier slug still subscribes to the page", async () => {
    await using site = await createSubscribingSite();
    await site.change({ slug: "fresh" });
    const answer = await site.signUp();
    expect(answer.headers.get("location")).toBe("/status/fresh/subscribe/sent");
    expect(site.requests()).toHaveLength(1);
  });

  test("errors return the form with what was typed", async () => {
    await using site = await createSubscribingSite();
    const answer = await site.signUp({
      email: "ann@localhost",
      scope: "selection",
      events: ["status"],
    });
    expect(answer.status).toBe(422);
    const page = readHtml(answer.text);
    expect(typedIn(answer.text, "email")).toEqual(["ann@localhost"]);
    expect(typedIn(answer.text, "scope")).toEqual(["selection"]);
    expect(typedIn(answer.text, "events")).toEqual(["status"]);
    expect(page.attributes(".form-errors a", "href")).toEqual(["#field-email", "#field-component"]);
    expect(page.texts("#field-component-error")).toEqual(["Choose at least one component."]);
    expect(page.attributes("details", "open")).toEqual([""]);
    expect(site.requests()).toEqual([]);
  });

  test("a component of another page, an unknown scope and unknown events are errors", async () => {
    await using site = await createSubscribingSite();
    const other = await site.app.page({ slug: "other", name: "Other" }, ["Else"]);
    const foreign = other.components["Else"] ?? "";
    const invalid: Record<string, string | readonly string[]>[] = [
      { scope: "selection", component: [foreign] },
      { scope: "everything" },
      { events: ["incidents", "marketing"] },
    ];
    for (const form of invalid) expect((await site.signUp(form)).status).toBe(422);
    expect(site.requests()).toEqual([]);
  });

  test("a local part outside ASCII is taken while the relay offers SMTPUTF8", async () => {
    await using site = await createSubscribingSite();
    const { ctx } = site.app;
    const settings = { host: RELAY.host, port: 587 };
    const email = "zoë@example.com";
    expect((await site.signUp({ email })).status).toBe(422);
    await noteRelayOffers(ctx, settings, new Set(["SMTPUTF8"]));
    expect((await site.signUp({ email })).status).toBe(303);
    await site.decide();
    expect(site.mails().map(({ recipient }) => recipient)).toEqual([email]);
    await noteRelayOffers(ctx, { ...settings, host: "other.example" }, new Set(["SMTPUTF8"]));
    expect((await site.signUp({ email })).status).toBe(422);
    await noteRelayOffers(ctx, settings, new Set());
    expect((await site.signUp({ email })).status).toBe(422);
  });

  test("a form without scope and events is for the page, incidents and maintenance", async () => {
    await using site = await createSubscribingSite();
    await site.signUp({ email: " Ann@EXAMPLE.com " });
    const [request] = site.requests();
    expect(request?.choices).toEqual({
      scope: "page",
      targets: [],
      events: ["incidents", "maintenance"],
    });
    expect([request?.address, request?.addressKey]).toEqual(["Ann@example.com", "ann@example.com"]);
  });

  test("a form from another site is rejected, and one that is not urlencoded", async () => {
    await using site = await createSubscribingSite();
    const headers = { origin: "https://evil.example" };
    expectProblem(await site.signUp({}, { headers }), "cross_site_request");
    const json = await site.app.call(PATH, {
      method: "POST",
      json: { email: "ann@example.com" },
      headers: { origin: "http://status.test" },
    });
    expectProblem(json, "unsupported_media_type");
    expect(site.requests()).toEqual([]);
  });

  test("while changes cannot be stored the form comes back with what was typed", async () => {
    using folder = temporaryFolder();
    const databasePath = `${folder.path}/allclear.db`;
    await using site = await createSubscribingSite({}, { databasePath });
    await using other = anotherProcess(site.app, databasePath);
    other.sqlite.run("BEGIN IMMEDIATE");
    const answering = site.signUp({ events: ["status"] });
    await site.app.clock.advance(6_000);
    const answer = await answering;
    other.sqlite.run("ROLLBACK");
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(readHtml(answer.text).texts(".form-errors")).toEqual([
      "Your subscription could not be stored. Try again in a moment.",
    ]);
    expect(typedIn(answer.text, "email")).toEqual(["ann@example.com"]);
    expect(typedIn(answer.text, "events")).toEqual(["status"]);
    expect(site.requests()).toEqual([]);
    const logged = site.app.logged.find(({ msg }) => msg === "a sign-up could not be stored");
    expect(logged?.["request"]).toBe(answer.headers.get("x-request-id"));
    expect(JSON.stringify(site.app.logged)).not.toContain("ann@");
    expect((await site.signUp()).status).toBe(303);
  });

  test("a program that fills in the hidden field gets the usual answer and no mail", async () => {
    await using site = await createSubscribingSite();
    const answer = await site.signUp({ website: "https://spam.example" });
    expect(answer.headers.get("location")).toBe(`${PATH}/sent`);
    await site.decide();
    expect(site.requests().map(({ state }) => state)).toEqual(["unsent"]);
    expect(site.mails()).toEqual([]);
  });

  test("a client has ten sign-ups an hour, counted by IPv6 network", async () => {
    await using site = await createSubscribingSite();
    for (let index = 0; index < 10; index++) {
      const from = `2001:db8:1:2::${index + 1}`;
      expect((await site.signUp({ email: `p${index}@example.com` }, { from })).status).toBe(303);
    }
    const refused = await site.signUp({}, { from: "2001:db8:1:2::ff" });
    expectProblem(refused, "rate_limited");
    expect(refused.headers.get("retry-after")).toBe("3600");
    expect((await site.signUp({}, { from: "2001:db8:1:3::1" })).status).toBe(303);
    await site.app.clock.advance(HOUR_MS);
    expect((await site.signUp({}, { from: "2001:db8:1:2::ff" })).status).toBe(303);
  });

  test("an IPv6 /48 has 50 sign-ups an hour and 150 a day, whatever the /64", async () => {
    await using site = await createSubscribingSite();
    let sent = 0;
    const send = (network: string) => {
      sent += 1;
      const from = `${network}:${sent.toString(16)}::1`;
      return site.signUp({ email: `p${sent}@example.com` }, { from });
    };
    for (let hour = 0; hour < 3; hour++) {
      for (let index = 0; index < 50; index++) {
        expect((await send("2001:db8:1")).status).toBe(303);
      }
      const refused = await send("2001:db8:1");
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "3600"]);
      expect((await send("2001:db8:2")).status).toBe(303);
      await site.app.clock.advance(HOUR_MS);
    }
    const refused = await send("2001:db8:1");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, String(21 * 3_600)]);
    expect(refused.text).toContain("150 sign-ups a day from this network");
  });

  test("beyond 1,000 an hour on a page, or 2,000 in all, no visitor can sign up", async () => {
    await using site = await createSubscribingSite();
    await fill(site, 1_000);
    const refused = await site.signUp({}, { headers: HTML });
    expect(refused.status).toBe(429);
    expect(refused.text).toContain("Too many people are signing up");
    expect(Number(refused.headers.get("retry-after"))).toBe(3_600 - 999);
    const other = await site.app.page({ slug: "other", name: "Other" });
    const onOther = { form: { email: "ann@example.com" }, from: "192.0.2.1" };
    expect((await site.app.call("/status/other/subscribe", onOther)).status).toBe(303);
    await fill(site, 999, { pageId: other.page.id });
    expectProblem(await site.app.call("/status/other/subscribe", onOther), "rate_limited");
  });

  test("sign-ups that get no mail do not count for the limits of page and installation", async () => {
    await using site = await createSubscribingSite();
    await fill(site, 2_000, { state: "unsent" });
    expect((await site.signUp()).status).toBe(303);
  });

  test("beyond 20,000 an hour no sign-up is stored, also of those that get no mail", async () => {
    await using site = await createSubscribingSite();
    await fill(site, 19_999, { state: "unsent", everyMs: 100 });
    expect((await site.signUp()).status).toBe(303);
    const refused = await site.signUp({ email: "bob@example.com" });
    expect(refused.status).toBe(429);
    expect(refused.text).toContain("Too many people are signing up");
    expect(Number(refused.headers.get("retry-after"))).toBe(3_600 - 1_999);
    expect(site.requests()).toHaveLength(20_000);
    // Those of an import leave room for visitors.
    await site.app.ctx.db.write((tx) => setSource(tx, { source: "import" }));
    expect((await site.signUp({ email: "bob@example.com" })).status).toBe(303);
  });

  test("the limit of a page falls to 100 while hardly any earlier sign-up was confirmed", async () => {
    await using site = await createSubscribingSite();
    await fill(site, 100, { endedMs: HOUR_MS + 1 });
    await fill(site, 91, { endedMs: HOUR_MS + 1, state: "declined" });
    await fill(site, 9, { endedMs: HOUR_MS + 1, state: "confirmed" });
    await fill(site, 99);
    expect((await site.signUp({ email: "a@example.com" })).status).toBe(303);
    expectProblem(await site.signUp({ email: "b@example.com" }), "rate_limited");
    await fill(site, 1, { endedMs: HOUR_MS + 500, state: "confirmed" });
    expect((await site.signUp({ email: "b@example.com" })).status).toBe(303);
  });
});

describe("the mail of a sign-up", () => {
  test("an unknown address gets a confirmation with nothing of the sign-up but its id", async () => {
    await using site = await createSubscribingSite();
    await site.requested();
    const [request] = site.requests();
    const [mail, ...others] = site.mails();
    expect(others).toEqual([]);
    expect(mail).toMatchObject({
      class: 1,
      template: "confirmation",
      recipient: "ann@example.com",
      params: { request: request?.id ?? "", page: site.page.id },
      status: "pending",
    });
    expect(request?.state).toBe("sent");
  });

  test("10,000 sign-ups for one recipient cause at most 3 mails a day, also with plus-tags and dots", async () => {
    await using site = await createSubscribingSite();
    const spellings = ["ann.lee@example.com", "annlee+a@example.com", "AnnLee@example.com"];
    for (let round = 0; round < 60; round++) {
      const email = spellings[round % 3] ?? "";
      expect((await site.signUp({ email })).status).toBe(303);
      await site.app.clock.advance(10 * 60_000);
    }
    expect(site.mails()).toHaveLength(3);
    expect(site.requests()).toHaveLength(60);
  });

  test("several pages together send at most 5 mails a day to a recipient", async () => {
    await using site = await createSubscribingSite();
    for (let index = 0; index < 7; index++) {
      await site.app.page({ slug: `page-${index}`, name: "Page" });
      const form = { email: "ann@example.com" };
      const from = `192.0.2.${index + 1}`;
      await site.app.call(`/status/page-${index}/subscribe`, { form, from });
      await site.app.clock.advance(10 * 60_000);
    }
    expect(site.mails()).toHaveLength(5);
  });

  test("a subscriber gets one reminder a day, and nothing changes by itself", async () => {
    await using site = await createSubscribingSite();
    const before = await site.subscribed();
    await site.app.clock.advance(HOUR_MS);
    await site.requested("ann@example.com", { events: ["status"] });
    await site.app.clock.advance(HOUR_MS);
    await site.requested("ann@example.com", { events: ["status"] });
    expect(site.mails().map(({ template }) => template)).toEqual([
      "confirmation",
      "already_subscribed",
    ]);
    expect(site.subscribers()).toEqual([before]);
  });

  test("sign-ups that an earlier process left are decided about at the start", async () => {
    await using site = await createSubscribingSite();
    await fill(site, 1, { state: "waiting" as never });
    await site.app.clock.advance(60_000);
    await site.decide();
    expect(site.mails()).toHaveLength(1);
  });
});

describe("what a sign-up reveals", () => {
  test("answer and statements are the same whatever is known of the address", async () => {
    await using site = await createSubscribingSite();
    await site.subscribed("known@example.com");
    await site.requested("declined@example.com");
    const request = site.requests().find(({ address }) => address === "declined@example.com");
    if (!request) throw new Error("the sign-up is missing");
    await site.app.call(site.path("decline", request), { method: "POST", form: {} });
    await site.app.clock.advance(HOUR_MS);
    await site.requested("waits@example.com");
    const { statements } = site.app.ctx.db;
    const seen: unknown[] = [];
    for (const name of ["known", "declined", "waits", "newer"]) {
      const writtenBefore = statements.written;
      const answer = await site.signUp({ email: `${name}@example.com` });
      const headers = Object.fromEntries(answer.headers);
      for (const varying of [
        "x-request-id",
        "ratelimit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
      ]) {
        delete headers[varying];
      }
      seen.push({ status: answer.status, text: answer.text, headers });
      expect(statements.written - writtenBefore).toBe(1);
      await site.decide();
    }
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(
      site
        .requests()
        .slice(-4)
        .map(({ state }) => state),
    ).toEqual(["sent", "unsent", "unsent", "sent"]);
  });
});
