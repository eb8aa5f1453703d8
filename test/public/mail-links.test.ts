import { describe, expect, test } from "bun:test";
import { deletePage } from "../../src/features/pages/deletion";
import { CLI_ACTOR } from "../../src/base/actor";
import { DAY_MS } from "../../src/base/time";
import { type Answer, chargeOf, expectProblem } from "../support/app";
import { visit } from "../support/domains";
import { readHtml, typedIn } from "../support/html";
import { createSubscribingSite, type SubscribingSite } from "../support/subscribing";

const HTML = { Accept: "text/html" };
const ONE_CLICK = { "List-Unsubscribe": "One-Click" };

const post = (
  { app }: SubscribingSite,
  path: string,
  form: Record<string, string | readonly string[]> = {},
): Promise<Answer> => app.call(path, { method: "POST", form });

function expectPage(answer: Answer, title: string): void {
  expect([answer.status, readHtml(answer.text).texts("h1")]).toEqual([200, [title]]);
}

describe("confirming a sign-up", () => {
  test("the link shows page, masked address and choices, and only its button subscribes", async () => {
    await using site = await createSubscribingSite();
    const chosen = site.components["API"] ?? "";
    const form = { scope: "selection", component: [chosen], events: ["incidents"] };
    const link = await site.requested("ann@example.com", form);
    for (const method of ["GET", "HEAD", "GET"]) {
      expect((await site.app.call(link, { method })).status).toBe(200);
    }
    expect(site.subscribers()).toEqual([]);
    const answer = await site.app.call(link);
    expectPage(answer, "Confirm your subscription");
    const page = readHtml(answer.text);
    expect(page.texts("dd")).toEqual(["a…@example.com", "API", "Incidents and their updates"]);
    expect(answer.text).not.toContain("ann@example.com");
    expect(page.texts("button")).toEqual(["Confirm subscription"]);

    const confirmed = await post(site, link);
    const [subscriber] = site.subscribers();
    if (!subscriber) throw new Error("there is no subscriber");
    expect(confirmed.status).toBe(303);
    expect(confirmed.headers.get("location")).toBe(site.path("manage", subscriber));
    expect(subscriber).toMatchObject({
      seq: 1,
      address: "ann@example.com",
      domain: "example.com",
      status: "active",
      consentSource: "form",
      consentIp: "203.0.113.7",
    });
    expect(site.choices(subscriber)).toEqual({
      scope: "selection",
      targets: [chosen],
      events: ["incidents"],
    });
  });

  test("a link that is used twice shows the same success and changes nothing", async () => {
    await using site = await createSubscribingSite();
    const link = await site.requested();
    const first = await post(site, link);
    const before = site.subscribers();
    const second = await post(site, link);
    expect(second.headers.get("location")).toBe(first.headers.get("location") ?? "");
    expect(site.subscribers()).toEqual(before);
    expectPage(await site.app.call(link), "Subscription confirmed");
  });

  test("each link confirms its own choices, and confirming one makes the others void", async () => {
    await using site = await createSubscribingSite();
    const own = await site.requested("ann@example.com", { events: ["status"] });
    await site.app.clock.advance(DAY_MS);
    const stranger = await site.requested("ann@example.com", { events: ["maintenance"] });
    await post(site, own);
    expect(site.subscribers().map(({ events }) => events)).toEqual([["status"]]);
    expectProblem(await post(site, stranger), "not_found");
    expect(site.subscribers().map(({ events }) => events)).toEqual([["status"]]);
  });

  test("a link ends after 7 days and then leads to the form", async () => {
    await using site = await createSubscribingSite();
    const link = await site.requested();
    await site.app.clock.advance(7 * DAY_MS - 1_000);
    expect((await site.app.call(link)).status).toBe(200);
    await site.app.clock.advance(1_000);
    const late = await site.app.call(link, { headers: HTML });
    expect(late.status).toBe(404);
    expect(readHtml(late.text).attributes("main a", "href")).toEqual(["/status/acme/subscribe"]);
    expect(late.text).not.toContain("the address may be incomplete");
    expectProblem(await post(site, link), "not_found");
    expect(site.subscribers()).toEqual([]);
  });

  test("a wrong token shows the same page without a link to a status page", async () => {
    await using site = await createSubscribingSite();
    const link = await site.requested();
    const wrong = `${link.slice(0, -4)}AAAA`;
    const [first, second] = await Promise.all([
      site.app.call(wrong, { headers: HTML }),
      site.app.call("/mail/confirm/unknown", { headers: HTML }),
    ]);
    for (const answer of [first, second]) {
      expect(answer?.status).toBe(404);
      expect(readHtml(answer?.text ?? "").attributes("main a", "href")).toEqual(["/"]);
    }
    expectProblem(await post(site, wrong), "not_found");
    // A token of one purpose is none of another.
    expectProblem(await site.app.call(link.replace("confirm", "decline")), "not_found");
  });

  test("the confirmation of a subscriber changes the choices and keeps the place in the order", async () => {
    await using site = await createSubscribingSite();
    const before = await site.subscribed();
    await site.subscribed("bob@example.com");
    await site.app.clock.advance(DAY_MS);
    await site.change({ name: "Renamed" });
    await post(site, await site.requested("ann@example.com", { events: ["status"] }));
    const [after] = site.subscribers();
    const { id, confirmedAt, consentText } = before;
    expect(consentText).toContain("Acme");
    // The consent is recorded as it was given, with its time and its words.
    expect(after).toMatchObject({ id, seq: 1, events: ["status"], confirmedAt, consentText });
  });

  test("components that were deleted meanwhile are left out", async () => {
    await using site = await createSubscribingSite();
    const chosen = Object.values(site.components);
    const form = { scope: "selection", component: chosen };
    const link = await site.requested("ann@example.com", form);
    const { deleteComponent } = await import("../../src/features/components/components");
    const { ctx } = site.app;
    await ctx.db.write((tx) => deleteComponent(ctx, tx, chosen[0] ?? "", CLI_ACTOR));
    await post(site, link);
    const [subscriber] = site.subscribers();
    expect(subscriber && site.choices(subscriber).targets).toEqual([chosen[1] ?? ""]);
  });

  test("neither a private page nor one without subscriptions is confirmed", async () => {
    await using site = await createSubscribingSite();
    const link = await site.requested();
    await site.change({ mail: { subscriptions: false } });
    expectProblem(await post(site, link), "not_found");
    await site.change({ mail: { subscriptions: true }, visibility: "private" });
    expectProblem(await post(site, link), "not_found");
    expect(site.subscribers()).toEqual([]);
  });
});

describe("declining", () => {
  test("only the button stops all further mails to the address", async () => {
    await using site = await createSubscribingSite();
    const confirm = await site.requested();
    const [request] = site.requests();
    if (!request) throw new Error("the sign-up is missing");
    const link = site.path("decline", request);
    expectPage(await site.app.call(link), "Never send such mails to this address");
    expect(site.suppressions()).toEqual([]);
    expectPage(await post(site, link), "No more such mails");
    expectPage(await post(site, link), "No more such mails");
    expect(site.suppressions()).toEqual([{ reason: "declined", pageId: "" }]);
    await site.app.clock.advance(DAY_MS);
    await site.signUp();
    await site.decide();
    expect(site.mails()).toHaveLength(1);
    expectProblem(await post(site, confirm), "not_found");
  });
});

describe("managing a subscription", () => {
  test("the page shows the choices and the open incidents", async () => {
    await using site = await createSubscribingSite();
    const subscriber = await site.subscribed("ann@example.com", { events: ["status"] });
    const key = await site.app.keyWith("write:incidents");
    const json = { page: "acme", name: "Errors <b>", body: "Hm." };
    const incident = await site.app.call("/api/v1/incidents", { method: "POST", key, json });
    const answer = await site.app.call(site.path("manage", subscriber));
    expectPage(answer, "You are subscribed to Acme");
    expect(typedIn(answer.text, "events")).toEqual(["status"]);
    expect(readHtml(answer.text).texts("li a")).toEqual(["Errors <b>"]);
    expect(readHtml(answer.text).attributes("li a", "href")).toEqual([
      `/status/acme/incidents/${incident.body.id}`,
    ]);
    expect(answer.text).not.toContain("ann@example.com");
  });

  test("saving changes the choices and redirects to the same page", async () => {
    await using site = await createSubscribingSite();
    const before = await site.subscribed();
    const link = site.path("manage", before);
    const web = site.components["Web"] ?? "";
    const choices = { scope: "selection", component: [web], events: ["maintenance", "status"] };
    const answer = await post(site, link, { action: "save", ...choices });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, link]);
    const [after] = site.subscribers();
    if (!after) throw new Error("the subscriber is gone");
    expect(site.choices(after)).toEqual({
      scope: "selection",
      targets: [web],
      events: ["maintenance", "status"],
    });
    expect((await site.app.call(link)).status).toBe(200);
  });

  test("an empty selection and no kind of message are errors that keep what was typed", async () => {
    await using site = await createSubscribingSite();
    const before = await site.subscribed();
    const link = site.path("manage", before);
    const answer = await post(site, link, { action: "save", scope: "selection" });
    expect(answer.status).toBe(422);
    expect(readHtml(answer.text).attributes(".form-errors a", "href")).toEqual([
      "#field-component",
      "#field-events",
    ]);
    expect(typedIn(answer.text, "scope")).toEqual(["selection"]);
    expect(site.subscribers()).toEqual([before]);
    expect((await post(site, link, { action: "promote" })).status).toBe(422);
    expect((await post(site, link)).status).toBe(422);
  });

  test("unsubscribing ends the link, and a new sign-up begins again at the end of the order", async () => {
    await using site = await createSubscribingSite();
    const before = await site.subscribed();
    await site.subscribed("bob@example.com");
    const link = site.path("manage", before);
    const confirmedLink = site.path("confirm", site.requests()[0] ?? { id: "" });
    expectPage(await post(site, link, { action: "unsubscribe" }), "You are unsubscribed");
    expect(site.subscribers()[0]).toMatchObject({ status: "unsubscribed", tokenVersion: 2 });
    expect(site.suppressions()).toEqual([{ reason: "unsubscribed", pageId: site.page.id }]);
    const dead = await site.app.call(link, { headers: HTML });
    expect(dead.status).toBe(404);
    expect(readHtml(dead.text).attributes("main a", "href")).toEqual(["/status/acme/subscribe"]);
    // The link that once confirmed it leads no longer to the subscription either.
    expectProblem(await post(site, confirmedLink), "not_found");
    await site.app.clock.advance(DAY_MS);
    const again = await site.subscribed();
    expect(again).toMatchObject({ id: before.id, seq: 3, status: "active", tokenVersion: 2 });
    expect(site.suppressions()).toEqual([]);
    expectProblem(await site.app.call(link), "not_found");
    expectProblem(await post(site, confirmedLink), "not_found");
  });

  test("erasing deletes subscriber, sign-ups and mails and keeps a mark", async () => {
    await using site = await createSubscribingSite();
    const subscriber = await site.subscribed();
    await site.subscribed("bob@example.com");
    const link = site.path("manage", subscriber);
    expectPage(await post(site, link, { action: "erase" }), "Your data was deleted");
    const left = JSON.stringify([site.subscribers(), site.requests(), site.mails()]);
    expect(left).not.toContain("ann@example.com");
    expect(left).toContain("bob@example.com");
    expect(site.suppressions()).toEqual([{ reason: "erased", pageId: "" }]);
    expectProblem(await post(site, link, { action: "erase" }), "not_found");
    const oneClick = await post(site, site.path("unsubscribe", subscriber), ONE_CLICK);
    expect(oneClick.status).toBe(200);
  });
});

describe("unsubscribing", () => {
  const send = (
    site: SubscribingSite,
    path: string,
    raw: string,
    headers: Record<string, string> = {},
  ) =>
    site.app.call(path, {
      method: "POST",
      raw,
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    });

  test("one click works from anywhere, urlencoded and multipart, and again", async () => {
    await using site = await createSubscribingSite();
    const path = site.path("unsubscribe", await site.subscribed());
    const boundary = "x";
    const multipart = `--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n`;
    const answers = [
      await send(site, path, "List-Unsubscribe=One-Click", {
        origin: "https://mail.example",
        "sec-fetch-site": "cross-site",
        accept: "text/html",
      }),
      await send(site, path, multipart, {
        "content-type": `multipart/form-data; boundary=${boundary}`,
      }),
      await send(site, path, "List-Unsubscribe=One-Click"),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toStartWith("text/plain");
      expect(answer.headers.get("location")).toBeNull();
      expect(answer.headers.get("set-cookie")).toBeNull();
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
    expect(site.subscribers().map(({ status }) => status)).toEqual(["unsubscribed"]);
  });

  test("reading the link changes nothing, and its button answers with a page", async () => {
    await using site = await createSubscribingSite();
    const path = site.path("unsubscribe", await site.subscribed());
    for (const method of ["GET", "HEAD"]) await site.app.call(path, { method });
    expect(site.subscribers().map(({ status }) => status)).toEqual(["active"]);
    expectPage(await site.app.call(path), "Unsubscribe");
    expectPage(await post(site, path, { action: "unsubscribe" }), "You are unsubscribed");
    expectPage(await post(site, path, { action: "unsubscribe" }), "You are unsubscribed");
  });

  test("another body is 422, another media type 415, and another token 404", async () => {
    await using site = await createSubscribingSite();
    const subscriber = await site.subscribed();
    const path = site.path("unsubscribe", subscriber);
    expectProblem(await send(site, path, "List-Unsubscribe=Two-Click"), "validation_failed");
    expectProblem(await send(site, path, ""), "validation_failed");
    const json = { "content-type": "application/json" };
    expectProblem(await send(site, path, "{}", json), "unsupported_media_type");
    for (const wrong of [`${path}x`, path.replace("sub_", "mrq_"), "/mail/unsubscribe/x"]) {
      expectProblem(await send(site, wrong, "List-Unsubscribe=One-Click"), "not_found");
    }
    expectProblem(await site.app.call(path.replace("/unsubscribe/", "/manage/")), "not_found");
    expect(site.subscribers()).toEqual([subscriber]);
  });

  test("it ends a subscription that was made after the mail, also once the address was removed", async () => {
    await using site = await createSubscribingSite();
    const first = await site.subscribed();
    const path = site.path("unsubscribe", first);
    await send(site, path, "List-Unsubscribe=One-Click");
    const { removeOldAddresses } = await import("../../src/features/subscribers/store");
    const { ctx, clock } = site.app;
    await clock.advance(DAY_MS);
    await ctx.db.write((tx) => removeOldAddresses(tx, { until: clock.now(), limit: 10 }));
    const second = await site.subscribed();
    expect(second.id).not.toBe(first.id);
    await send(site, path, "List-Unsubscribe=One-Click");
    expect(site.subscribers().map(({ status }) => status)).toEqual([
      "unsubscribed",
      "unsubscribed",
    ]);
  });

  test("pending mails of the subscriber are cancelled", async () => {
    await using site = await createSubscribingSite();
    const subscriber = await site.subscribed();
    await site.app.clock.advance(DAY_MS);
    await site.requested();
    await send(site, site.path("unsubscribe", subscriber), "List-Unsubscribe=One-Click");
    expect(site.mails().map(({ template, status }) => [template, status])).toEqual([
      ["confirmation", "pending"],
      ["already_subscribed", "cancelled"],
    ]);
  });

  test("it works after a rename, for a private and for a deleted page, and without mail", async () => {
    await using site = await createSubscribingSite();
    const { ctx } = site.app;
    const paths: string[] = [];
    for (const email of ["a@example.com", "b@example.com", "c@example.com"]) {
      paths.push(site.path("unsubscribe", await site.subscribed(email)));
    }
    await site.setUpMail(false);
    await site.change({ slug: "fresh" });
    expect((await send(site, paths[0] ?? "", "List-Unsubscribe=One-Click")).status).toBe(200);
    await site.change({ visibility: "private" });
    expect((await send(site, paths[1] ?? "", "List-Unsubscribe=One-Click")).status).toBe(200);
    const manage = site.path("manage", site.subscribers()[2] ?? { id: "" });
    const page = await site.app.call(manage);
    expectPage(page, "Your subscription to Acme");
    expect(readHtml(page.text).attributes("input[name=action]", "value")).toEqual([
      "unsubscribe",
      "erase",
    ]);
    expectProblem(await post(site, manage, { action: "save", events: ["status"] }), "not_found");
    await ctx.db.write((tx) => deletePage(ctx, tx, site.page.id, CLI_ACTOR));
    expectPage(await site.app.call(manage), "Your subscription to Acme");
    expect((await send(site, paths[2] ?? "", "List-Unsubscribe=One-Click")).status).toBe(200);
    expect(site.subscribers().map(({ status }) => status)).toEqual(Array(3).fill("unsubscribed"));
  });
});

describe("requests for links", () => {
  test("a right token is charged alone, ten a minute, and a wrong one to the client", async () => {
    await using site = await createSubscribingSite();
    const path = site.path("manage", await site.subscribed());
    expect(chargeOf(await site.app.call(path))).toBe("link 9");
    for (let used = 1; used < 10; used++) await site.app.call(path);
    const refused = await site.app.call(path);
    expectProblem(refused, "rate_limited");
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(chargeOf(await site.app.call(`${path}x`))).toStartWith("public ");
  });

  test("1,000 one-click requests from one address are all answered", async () => {
    await using site = await createSubscribingSite(
      {},
      { env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "60", ALLCLEAR_BUCKET_CAPACITY: "2000" } },
    );
    const subscriber = await site.subscribed();
    const id = (index: number) => subscriber.id.slice(0, -4) + String(index).padStart(4, "0");
    const statuses = new Set<number>();
    for (let index = 0; index < 1_000; index++) {
      const path = site.path("unsubscribe", { id: id(index) });
      statuses.add((await post(site, path, ONE_CLICK)).status);
    }
    expect([...statuses]).toEqual([200]);
  });

  test("answers are neither stored, indexed nor named to other sites, and have no token", async () => {
    await using site = await createSubscribingSite();
    const confirm = await site.requested("bob@example.com");
    const subscriber = await site.subscribed();
    const paths = [
      confirm,
      confirm.replace(/.*/, site.path("decline", site.requests()[0] ?? { id: "" })),
      site.path("manage", subscriber),
      site.path("unsubscribe", subscriber),
    ];
    for (const path of paths) {
      const answer = await site.app.call(path);
      expect(answer.status, path).toBe(200);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
      expect(answer.headers.get("x-robots-tag")).toBe("noindex");
      expect(answer.headers.get("set-cookie")).toBeNull();
      expect(answer.text).not.toContain(path.slice(-43));
    }
  });

  test("links work on the domain of their page and not on that of another", async () => {
    await using site = await createSubscribingSite({ custom_domains: ["status.acme.example"] });
    await site.app.page({
      slug: "other",
      name: "Other",
      custom_domains: ["status.other.example"],
    });
    const subscriber = await site.subscribed();
    for (const path of [site.path("manage", subscriber), site.path("unsubscribe", subscriber)]) {
      expect((await visit(site.app, "status.acme.example", path)).status).toBe(200);
      expect((await visit(site.app, "status.other.example", path)).status).toBe(404);
      expect((await visit(site.app, "status.test", path)).status).toBe(200);
    }
    const form = new URLSearchParams(ONE_CLICK);
    const path = site.path("unsubscribe", subscriber);
    const sent = { method: "POST", body: form };
    expect((await visit(site.app, "status.other.example", path, sent)).status).toBe(404);
    await site.change({ visibility: "private" });
    expect((await visit(site.app, "status.acme.example", path, sent)).status).toBe(200);
    expect(site.subscribers().map(({ status }) => status)).toEqual(["unsubscribed"]);
  });

  test("neither a token nor an address reaches the log or the audit", async () => {
    await using site = await createSubscribingSite({}, { logLevel: "debug" });
    const subscriber = await site.subscribed();
    const paths = (["confirm", "decline", "manage", "unsubscribe"] as const).map((purpose) =>
      site.path(purpose, purpose === "manage" ? subscriber : { id: subscriber.id }),
    );
    for (const path of paths) {
      await site.app.call(path, { headers: HTML });
      await site.app.call(path.replace("_", "%5F"), { headers: HTML });
    }
    const written = JSON.stringify([site.app.logged, site.app.audit(), site.app.events()]);
    expect(written).toContain("/mail/manage/[redacted]");
    for (const path of paths) expect(written).not.toContain(path.slice(-43));
    expect(written).not.toContain("ann@example.com");
  });
});
