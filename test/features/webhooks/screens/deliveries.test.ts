import { describe, expect, test } from "bun:test";
import { outcomeOf } from "../../../support/grouped-site";
import { createGatheringSite } from "../../../support/gathering-site";
import { createDeliverySite, type DeliverySite } from "../../../support/delivery-site";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { startReceiver } from "../../../support/receiver";
import { createWebhookDashboard, WEBHOOK_LIST } from "../../../support/webhook-dashboard";

const MINUTE = 60_000;
const pathOf = (id: string, rest = "") => `${WEBHOOK_LIST}/${id}${rest}`;
const newest = (site: DeliverySite) => site.deliveries().at(-1)?.id ?? "";

describe("the deliveries of a webhook", () => {
  test("deliveries are listed newest first and can be filtered by status", async () => {
    await using receiver = startReceiver(({ data }) => (data.index === 1 ? 500 : 204));
    await using site = await createDeliverySite();
    await using dashboard = await createWebhookDashboard({ app: site.app });
    const { id } = await site.endpoint(receiver.url);
    await site.recordEvents(
      { type: "incident.created" },
      { type: "monitor.down" },
      { type: "monitor.up" },
    );
    await site.idle();
    const shown = async (query: string) => {
      const page = readHtml((await dashboard.open(pathOf(id, query))).text);
      return [page.texts(".row-link"), page.texts(".tabs [aria-current]")];
    };
    expect(await shown("")).toEqual([["monitor.up", "monitor.down", "incident.created"], ["All"]]);
    expect(await shown("?show=pending")).toEqual([["monitor.down"], ["Pending"]]);
    expect(await shown("?show=delivered")).toEqual([
      ["monitor.up", "incident.created"],
      ["Delivered"],
    ]);
    expect(await shown("?show=failed")).toEqual([[], ["Failed"]]);
    expect(await shown("?show=nothing")).toEqual(await shown(""));
  });

  test("deliveries of a group say with how many others they wait and were sent", async () => {
    await using chat = await createGatheringSite();
    await using dashboard = await createWebhookDashboard({ app: chat.site.app });
    await chat.at(0, "down a");
    await chat.at(1, "down b", "down c", "down d");
    const notes = async () =>
      readHtml((await dashboard.open(pathOf(chat.webhookId))).text).texts(
        "td:first-child .cell-note",
      );
    expect(await notes()).toEqual(Array(3).fill("Waits for others"));
    await chat.until(31);
    expect(await notes()).toEqual(Array(3).fill("Sent with 2 others"));
    const path = pathOf(chat.webhookId, `/deliveries/${newest(chat.site)}`);
    const { text } = await dashboard.open(path);
    expect(readHtml(text).texts("#delivery-facts dd")).toContain("Sent with 2 others");
    expect(text).toContain("3 monitors are down");
    expect(text).toContain(`webhook-id: ${chat.seen()[1]?.id}`);
  });

  test("the list of deliveries is paginated within its filter, each shown once", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await using dashboard = await createWebhookDashboard({ app: site.app });
    const { id } = await site.endpoint(receiver.url);
    await site.recordEvents(...Array.from({ length: 26 }, (_, index) => `cmp_${index}`));
    await site.idle();
    const first = readHtml((await dashboard.open(pathOf(id, "?show=delivered"))).text);
    const [older = ""] = first.attributes(".pagination a", "href");
    expect(older).toContain("show=delivered");
    const second = readHtml((await dashboard.open(older)).text);
    const links = [first, second].flatMap((page) => page.attributes(".row-link", "href"));
    expect([links.length, new Set(links).size]).toEqual([26, 26]);
  });
});

describe("the screen of a delivery", () => {
  test("the screen of a delivery shows request and response of each attempt", async () => {
    await using receiver = startReceiver((_message, count) =>
      count === 1 ? new Response("come back <later>", { status: 503 }) : new Response("thanks"),
    );
    await using site = await createDeliverySite();
    await using dashboard = await createWebhookDashboard({ app: site.app });
    const { id } = await site.endpoint(receiver.url);
    await site.recordEvents({
      type: "incident.created",
      subjectId: "inc_1",
      data: { name: "<b>Down" },
    });
    await site.pass(MINUTE);
    const path = pathOf(id, `/deliveries/${newest(site)}`);
    const read = async (query: string) => readHtml((await dashboard.open(path + query)).text);
    const last = await read("");
    const [request = "", answer] = last.texts(".side-by-side code");
    expect(request).toStartWith(`POST ${receiver.url} content-type: application/json`);
    expect(request).toContain(`webhook-id: ${receiver.received[0]?.id}`);
    expect(request).toContain(
      `webhook-timestamp: ${receiver.received[1]?.headers["webhook-timestamp"]}`,
    );
    expect(request).toContain('"name": "<b>Down"');
    expect(answer).toBe("thanks");
    expect(last.texts(".side-by-side .strong")).toEqual(["200 OK"]);
    const before = await read("?try=1");
    expect(before.texts(".side-by-side code")[1]).toBe("come back <later>");
    expect(before.texts(".side-by-side .strong")).toEqual(["503 Service Unavailable"]);
    expect(before.attributes("tbody .row-link", "href")).toEqual([`${path}?try=2`]);
  });

  test("the screen of a delivery shows why there was no response", async () => {
    await using site = await createDeliverySite();
    await using dashboard = await createWebhookDashboard({ app: site.app });
    const receiver = startReceiver();
    await receiver[Symbol.asyncDispose]();
    const { id } = await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    await site.idle();
    const page = readHtml((await dashboard.open(pathOf(id, `/deliveries/${newest(site)}`))).text);
    const error = site.tries()[0]?.error ?? "";
    expect(error).not.toBe("");
    expect(page.texts(".side-by-side .strong")).toEqual([error]);
  });

  test("the screen of a delivery shows no secret of URL, headers, settings or signature", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await using dashboard = await createWebhookDashboard({ app: site.app });
    const page = { type: "incident.created", pageId: dashboard.page.id } as const;
    const data = {
      id: "inc_1",
      name: "Down",
      status: "investigating",
      impact: "none",
      url: "https://a.example",
    };
    const endpoints = [
      { format: "slack" as const, path: "/services/T0/B0/veiled-end", settings: {} },
      { format: "ntfy" as const, path: "/topic", settings: { token: "tk_veiled" } },
      { format: "gotify" as const, path: "/", settings: { token: "app-veiled" } },
      {
        format: "telegram" as const,
        path: "",
        settings: { bot_token: "1:veiled", chat_id: "@acme" },
      },
    ];
    const { origin } = new URL(receiver.url);
    for (const { format, path, settings } of endpoints) {
      // oxlint-disable-next-line no-await-in-loop
      await site.endpoint(origin + path, { format, settings });
    }
    await site.recordEvents({ ...page, data });
    await site.idle();
    expect(receiver.received).toHaveLength(endpoints.length);
    for (const { id, webhookId } of site.deliveries()) {
      // oxlint-disable-next-line no-await-in-loop
      const { status, text } = await dashboard.open(pathOf(webhookId, `/deliveries/${id}`));
      expect(status).toBe(200);
      expect(text).toContain(`POST ${origin}`);
      expect(text).not.toContain("veiled");
      const [signed = ""] = receiver.received.map(({ headers }) => headers["webhook-signature"]);
      expect(text).not.toContain(signed);
    }
  });

  test("a delivery is not_found under another webhook", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await using dashboard = await createWebhookDashboard({ app: site.app });
    const { id } = await site.endpoint(receiver.url, { events: ["monitor.up"] });
    await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    const path = `/deliveries/${newest(site)}`;
    expect((await dashboard.open(pathOf(id, path))).status).toBe(404);
    expect((await dashboard.send(pathOf(id, `${path}/redeliver`))).status).toBe(404);
  });
});

describe("redelivery", () => {
  test("a delivered event can be sent again", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await using dashboard = await createWebhookDashboard({ app: site.app });
    const { id } = await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    await site.idle();
    const path = pathOf(id, `/deliveries/${newest(site)}`);
    const answer = await dashboard.send(`${path}/redeliver`);
    expect(await outcomeOf(dashboard, answer, dashboard.session)).toEqual({
      path,
      text: "The event was queued to be sent again.",
    });
    await site.idle();
    expect(receiver.received.map((message) => message.id)).toEqual([
      receiver.received[0]?.id ?? "",
      receiver.received[0]?.id ?? "",
    ]);
    expect(site.app.audit().at(-1)).toMatchObject({ action: "webhook.redeliver", targetId: id });
  });

  test("all deliveries that failed or were cancelled since a time can be sent again, and no earlier ones", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await using dashboard = await createWebhookDashboard({ app: site.app });
    const { id } = await site.endpoint(receiver.url);
    receiver.answer = () => 410;
    await site.recordEvents("cmp_early");
    await site.idle();
    const path = pathOf(id, "/redeliver");
    expect((await dashboard.open(path)).status).toBe(303);
    await site.pass(5 * MINUTE);
    await dashboard.send(pathOf(id, "/enable"));
    const since = new Date(site.app.clock.now()).toISOString().slice(0, 16);
    await site.recordEvents(...Array.from({ length: 501 }, (_, index) => `cmp_${index}`));
    await dashboard.send(pathOf(id, "/disable"));
    await site.idle();
    await dashboard.send(pathOf(id, "/enable"));
    expect(site.deliveries().filter(({ status }) => status === "pending")).toEqual([]);
    receiver.answer = () => 204;
    const arrived = receiver.received.length;
    const [proposed] = typedIn((await dashboard.open(path)).text, "since");
    expect(proposed).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/);
    const answer = await dashboard.send(path, { since });
    const { text } = await outcomeOf(dashboard, answer, dashboard.session);
    expect(text).toMatch(/^50[01] events will be sent again, in order\.$/);
    await site.idle();
    const again = site.deliveries().filter(({ status }) => status === "delivered");
    expect(again.length).toBe(Number.parseInt(text ?? "", 10));
    expect(receiver.received.length).toBe(arrived + again.length);
    expect(site.deliveries()[0]).toMatchObject({ subjectId: "cmp_early", status: "failed" });
  });

  test("a redelivery without failed deliveries changes nothing and shows “Nothing was changed.”", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made();
    const audit = dashboard.app.audit();
    const answer = await dashboard.send(pathOf(id, "/redeliver"), { since: "2026-03-10T11:00" });
    expect((await outcomeOf(dashboard, answer, dashboard.session)).text).toBe(
      "Nothing was changed.",
    );
    expect(dashboard.app.audit()).toEqual(audit);
  });

  test("a time typed before signing in again is shown, and nothing is sent", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made();
    const before = dashboard.state();
    const form = { since: "2026-03-10T11:00", kept_form: "yes" };
    const answer = await dashboard.send(pathOf(id, "/redeliver"), form);
    expect(answer.status).toBe(200);
    expect(typedIn(answer.text, "since")).toEqual([form.since]);
    expect(dashboard.state()).toEqual(before);
  });

  test.each(["", "yesterday", "2026-02-30T12:00"])(
    "a redelivery since the invalid time %p is rejected, and nothing is sent",
    async (since) => {
      await using dashboard = await createWebhookDashboard();
      const { id } = await dashboard.made();
      const before = dashboard.state();
      const answer = await dashboard.send(pathOf(id, "/redeliver"), { since });
      expect(answer.status).toBe(422);
      expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["since"]);
      expect(typedIn(answer.text, "since")).toEqual([since]);
      expect(dashboard.state()).toEqual(before);
    },
  );
});
