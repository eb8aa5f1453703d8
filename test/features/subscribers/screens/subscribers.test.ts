import { describe, expect, test } from "bun:test";
import { suppress } from "../../../../src/features/mail/suppressions";
import type { SubscriberRow } from "../../../../src/features/subscribers/store";
import type { SuppressionReason } from "../../../../src/base/mail-address";
import { DAY_MS } from "../../../../src/base/time";
import { fieldErrorsOn, readHtml } from "../../../support/html";
import { storeMail, storeSubscriber } from "../../../support/mailed-subscriber";
import { createSubscribingSite, type SubscribingSite } from "../../../support/subscribing";

const LIST = "/admin/subscribers";

interface Team extends AsyncDisposable {
  site: SubscribingSite;
  admin: string;
  store(address: string, more?: Omit<Partial<SubscriberRow>, "address">): Promise<SubscriberRow>;
  show(path: string): Promise<{ status: number; text: string }>;
  send(
    path: string,
    form?: Record<string, string | readonly string[]>,
  ): ReturnType<SubscribingSite["app"]["call"]>;
  suppress(row: SubscriberRow, reason: SuppressionReason): Promise<void>;
  row(id: string): SubscriberRow | undefined;
}

async function createTeam(): Promise<Team> {
  const site = await createSubscribingSite();
  // Sign-ups are decided about where a test asks for it.
  site.worker.cancel();
  const { app, page } = site;
  const { ctx } = app;
  const admin = await app.signedIn("admin");
  return {
    site,
    admin,
    store: (address, more = {}) =>
      ctx.db.write((tx) => storeSubscriber(ctx, tx, { pageId: page.id, address, ...more })),
    show: (path) => app.call(path, { session: admin }),
    send: (path, form = { form: "1" }) => app.call(path, { session: admin, form }),
    suppress: ({ addressHmac, pageId }, reason) =>
      ctx.db.write((tx) =>
        suppress(ctx, tx, {
          addressHmac,
          reason,
          ...(reason === "unsubscribed" ? { pageId } : {}),
        }),
      ),
    row: (id) => site.subscribers().find((one) => one.id === id),
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

describe("the list of subscribers", () => {
  test("shows a page's subscribers to admins, and only the numbers to editors", async () => {
    await using team = await createTeam();
    await team.store("ann@example.com");
    const bob = await team.store("bob@example.org");
    await team.suppress(bob, "bounced");
    await team.store("eve@example.net", { status: "unsubscribed", unsubscribedAt: 0 });
    const { text } = await team.show(LIST);
    expect(readHtml(text).texts("tbody .row-link")).toEqual(["bob@example.org", "ann@example.com"]);
    expect(readHtml(text).texts("tbody .state")).toEqual(["Bounced", "Active"]);
    // Of those that wait to be confirmed there is none.
    expect(readHtml(text).texts(".key-numbers .number-value")).toEqual(["2", "1", "1"]);
    const editor = await team.site.app.signedIn("editor");
    const seen = await team.site.app.call(`${LIST}?q=ann&show=unsubscribed`, { session: editor });
    expect(readHtml(seen.text).texts(".key-numbers .number-value")).toEqual(["2", "1", "1"]);
    expect(seen.text).not.toMatch(/(ann|bob|eve)@/);
    const viewer = await team.site.app.signedIn("viewer");
    expect((await team.site.app.call(LIST, { session: viewer })).status).toBe(403);
    for (const [path, status] of [
      [`${LIST}/${bob.id}`, 403],
      [`${LIST}/new`, 403],
    ] as const) {
      expect((await team.site.app.call(path, { session: editor })).status).toBe(status);
    }
  });

  test("is filtered by state, reason, component and part of the address", async () => {
    await using team = await createTeam();
    const { API = "" } = team.site.components;
    await team.store("ann@example.com");
    const bob = await team.store("bob@example.org");
    await team.suppress(bob, "complained");
    await team.store("eve@example.net", { status: "unsubscribed", unsubscribedAt: 0 });
    await team.site.signUp({ email: "new@example.com", scope: "selection", component: API });
    const listed = async (query: string) => {
      const { text } = await team.show(`${LIST}?page=acme&${query}`);
      return readHtml(text).texts("tbody td:first-child");
    };
    expect(await listed("q=EXAMPLE.c")).toEqual(["ann@example.com"]);
    expect(await listed("q=bo")).toEqual(["bob@example.org"]);
    expect(await listed("show=suppressed")).toEqual(["bob@example.org"]);
    expect(await listed("show=suppressed&reason=complained")).toEqual(["bob@example.org"]);
    expect(await listed("show=suppressed&reason=bounced")).toEqual([]);
    expect(await listed("show=unsubscribed")).toEqual(["eve@example.net"]);
    expect(await listed("show=unconfirmed")).toEqual(["new@example.com"]);
    expect(await listed(`show=unconfirmed&component=${API}`)).toEqual(["new@example.com"]);
    expect(await listed(`component=${API}`)).toEqual([]);
  });

  test("lists active subscribers by address on request, but no other view", async () => {
    await using team = await createTeam();
    for (let index = 40; index > 10; index--) await team.store(`p${index}@example.com`);
    const first = readHtml((await team.show(`${LIST}?sort=address`)).text);
    expect(first.texts("tbody .row-link").slice(0, 2)).toEqual([
      "p11@example.com",
      "p12@example.com",
    ]);
    expect(first.attributes("th[aria-sort]", "aria-sort")).toEqual(["ascending"]);
    const [older = ""] = first.attributes(".pagination a", "href");
    const second = readHtml((await team.show(older)).text);
    expect(second.texts("tbody .row-link")).toEqual(
      [36, 37, 38, 39, 40].map((index) => `p${index}@example.com`),
    );
    for (const query of ["show=suppressed", "q=example"]) {
      const other = readHtml((await team.show(`${LIST}?sort=address&${query}`)).text);
      expect(other.attributes("[aria-sort]", "aria-sort")).toEqual([]);
      expect(other.attributes("select[name=sort]", "name")).toEqual([]);
    }
  });

  test("continues after 25 subscribers with the older ones", async () => {
    await using team = await createTeam();
    for (let index = 0; index < 30; index++) await team.store(`p${index}@example.com`);
    const first = readHtml((await team.show(LIST)).text);
    expect(first.texts("tbody .row-link")).toHaveLength(25);
    const [older = ""] = first.attributes(".pagination a", "href");
    const second = readHtml((await team.show(older)).text);
    expect(second.texts("tbody .row-link")).toEqual(
      [4, 3, 2, 1, 0].map((index) => `p${index}@example.com`),
    );
  });
});

describe("adding a subscriber", () => {
  const NEW = `${LIST}/new?page=acme`;
  const FIELDS = { form: "1", email: "ann@example.com", scope: "page", events: "incidents" };

  test("sends a mail to confirm, and nothing else changes", async () => {
    await using team = await createTeam();
    const answer = await team.send(NEW, FIELDS);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, `${LIST}?page=acme`]);
    expect(team.site.mails().map(({ template }) => template)).toEqual(["confirmation"]);
    expect(team.site.subscribers()).toEqual([]);
    expect(team.site.app.audit().at(-1)?.summary).toBe("Asked a…@example.com to subscribe to Acme");
    // The same form once more is the same action.
    expect((await team.send(NEW, FIELDS)).status).toBe(303);
    expect(team.site.mails()).toHaveLength(1);
  });

  test("shows what is wrong, and who cannot be asked", async () => {
    await using team = await createTeam();
    const wrong = { ...FIELDS, form: "2", email: "ann", scope: "selection" };
    expect(fieldErrorsOn((await team.send(NEW, wrong)).text)).toEqual({
      email: "E-mail must be an e-mail address, such as name@example.com.",
    });
    const noTarget = await team.send(NEW, { ...wrong, form: "3", email: "ann@example.com" });
    expect(Object.keys(fieldErrorsOn(noTarget.text))).toEqual(["targets"]);
    const ann = await team.store("ann@example.com");
    const again = await team.send(NEW, { ...FIELDS, form: "4" });
    expect([again.status, fieldErrorsOn(again.text)["email"]]).toEqual([
      409,
      "This address is subscribed already.",
    ]);
    await team.suppress(ann, "blocked");
    const blocked = await team.send(NEW, { ...FIELDS, form: "5" });
    expect(fieldErrorsOn(blocked.text)["email"]).toContain("an admin blocked the address");
    await team.site.setUpMail(false);
    const notReady = await team.send(NEW, { ...FIELDS, form: "6", email: "bob@example.com" });
    expect(notReady.status).toBe(409);
    expect(team.site.mails()).toEqual([]);
  });
});

describe("a subscriber", () => {
  test("is shown with choices, consent and every mail", async () => {
    await using team = await createTeam();
    const ann = await team.store("ann@example.com");
    const { ctx } = team.site.app;
    await ctx.db.write((tx) => {
      storeMail(ctx, tx, ann, { reply: "250 2.0.0 queued" });
      storeMail(ctx, tx, ann, { status: "pending", tries: 2, reply: "451 4.7.1 later" });
    });
    const { text } = await team.show(`${LIST}/${ann.id}`);
    const page = readHtml(text);
    expect(page.texts("h1")).toEqual(["ann@example.com"]);
    expect(text).toContain("Messages about Acme will be sent to this address.");
    expect(text).toContain("203.0.113.9");
    expect(page.texts("tbody .state")).toEqual(["Retrying", "Accepted by the relay"]);
    expect(text).toContain("451 4.7.1 later");
    expect(page.texts("tbody button")).toEqual(["Send again"]);
  });

  test("gets other choices, new links, and is removed", async () => {
    await using team = await createTeam();
    const { API = "", Web = "" } = team.site.components;
    const ann = await team.store("ann@example.com");
    const home = `${LIST}/${ann.id}`;
    const form = {
      version: "1",
      scope: "selection",
      targets: [API, team.site.page.id.replace("page_", "cmp_")],
      events: "status",
    };
    const refused = await team.send(`${home}/edit`, form);
    expect(Object.keys(fieldErrorsOn(refused.text))).toEqual(["targets"]);
    const answer = await team.send(`${home}/edit`, { ...form, targets: [Web, API] });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, home]);
    expect(team.site.choices(team.row(ann.id) ?? ann)).toEqual({
      scope: "selection",
      targets: [API, Web].toSorted(),
      events: ["status"],
    });
    const stale = { ...form, targets: API };
    expect((await team.send(`${home}/edit`, stale)).status).toBe(409);

    const manage = team.site.path("manage", ann);
    expect((await team.send(`${home}/links`)).status).toBe(303);
    expect((await team.site.app.call(manage)).status).toBe(404);
    expect(team.row(ann.id)?.tokenVersion).toBe(2);

    expect((await team.show(`${home}/remove`)).text).toContain("Remove ann@example.com?");
    expect((await team.send(`${home}/remove`)).status).toBe(303);
    expect(team.row(ann.id)?.status).toBe("unsubscribed");
    expect((await team.show(`${home}/edit`)).status).toBe(303);
    const actions = team.site.app.audit().map(({ action }) => action);
    expect(actions.slice(-3)).toEqual([
      "subscriber.update",
      "subscriber.update",
      "subscriber.remove",
    ]);
    expect(JSON.stringify(team.site.app.audit())).not.toContain("ann@");
  });

  test("whose mail bounced is reactivated once in 7 days", async () => {
    await using team = await createTeam();
    const ann = await team.store("ann@example.com");
    const home = `${LIST}/${ann.id}`;
    await team.suppress(ann, "bounced");
    await team.suppress(ann, "soft");
    expect((await team.show(home)).text).toContain("The address is suppressed: bounced");
    expect((await team.send(`${home}/reactivate/bounced`)).status).toBe(303);
    expect(team.site.suppressions()).toEqual([]);
    expect(team.site.app.audit().at(-1)?.summary).toBe(
      "Ended the suppression of a…@example.com (bounced)",
    );
    await team.suppress(ann, "bounced");
    await team.site.app.clock.advance(7 * DAY_MS - 1);
    const admin = await team.site.app.signedIn("admin");
    const send = () =>
      team.site.app.call(`${home}/reactivate/bounced`, { session: admin, form: { form: "2" } });
    expect((await send()).headers.get("location")).toBe(home);
    expect(team.site.suppressions()).toHaveLength(1);
    await team.site.app.clock.advance(1);
    await send();
    expect(team.site.suppressions()).toEqual([]);
  });

  test("who declined is reactivated with the person's request, who complained only by the person", async () => {
    await using team = await createTeam();
    const ann = await team.store("ann@example.com");
    const home = `${LIST}/${ann.id}`;
    await team.suppress(ann, "declined");
    await team.suppress(ann, "complained");
    const without = await team.send(`${home}/reactivate/declined`, { form: "1", request: " " });
    expect(without.status).toBe(422);
    expect(without.text).toContain("The person’s request must have 1 to 500 characters.");
    const request = "Please write to ann@example.com again.";
    expect((await team.send(`${home}/reactivate/declined`, { form: "2", request })).status).toBe(
      303,
    );
    expect(team.site.app.audit().at(-1)?.summary).toEndWith(
      "(declined): “Please write to … again.”",
    );
    expect((await team.send(`${home}/reactivate/complained`)).headers.get("location")).toBe(home);
    expect(team.site.suppressions().map(({ reason }) => reason)).toEqual(["complained"]);
    expect((await team.show(home)).text).toContain("once the person confirms a subscription");
  });

  test("is blocked and unblocked", async () => {
    await using team = await createTeam();
    const ann = await team.store("ann@example.com");
    const home = `${LIST}/${ann.id}`;
    expect((await team.send(`${home}/block`, { form: "1", note: "Legal" })).status).toBe(303);
    expect(team.site.suppressions().map(({ reason }) => reason)).toEqual(["blocked"]);
    expect((await team.show(home)).text).toContain("Legal");
    expect((await team.send(`${home}/reactivate/blocked`)).status).toBe(303);
    expect(team.site.suppressions()).toEqual([]);
  });

  test("gets a mail again, under its own id, but not while it would not be sent", async () => {
    await using team = await createTeam();
    const ann = await team.store("ann@example.com");
    const { ctx } = team.site.app;
    const [id, superseded] = await ctx.db.write((tx) => [
      storeMail(ctx, tx, ann, { status: "failed" }),
      storeMail(ctx, tx, ann, { status: "superseded" }),
    ]);
    const again = (mailId: string | undefined, form = "1") =>
      team.send(`${LIST}/${ann.id}/mails/${mailId}/send-again`, { form });
    expect((await again(id)).status).toBe(303);
    expect((await again(id)).status).toBe(303);
    const [first, , copy, ...others] = team.site.mails();
    expect(others).toEqual([]);
    expect(copy).toMatchObject({
      mailingId: first?.mailingId ?? "",
      subscriberId: ann.id,
      subjectId: first?.subjectId ?? "",
      copy: 1,
      status: "pending",
      expiresAt: ctx.clock.now() + DAY_MS,
    });
    expect(copy?.id).not.toBe(id ?? "");
    const waiting = await again(id, "2");
    expect(waiting.status).toBe(409);
    expect(waiting.text).toContain("The message is already waiting to be sent.");
    expect((await again(superseded, "3")).status).toBe(409);
    expect((await again("eml_unknown", "4")).status).toBe(404);
    await team.suppress(ann, "bounced");
    expect((await again(id, "5")).text).toContain("The address is suppressed, so nothing is sent.");
    expect(team.site.mails()).toHaveLength(3);
  });
});
