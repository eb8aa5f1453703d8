import { describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { HOUR_MS, SECOND_MS } from "../../../src/base/time";
import { createDeliverySite } from "../../support/delivery-site";
import { type Received, type Receiver, startReceiver } from "../../support/receiver";

/** Creates a page with a webhook for a program, which verifies its messages, and one for a chat. */
async function createSite(program: Receiver, chat: Receiver) {
  const site = await createDeliverySite();
  const { app } = site;
  // The published library holds the time of a message against the machine's own.
  app.clock.setWallClock(Date.now());
  const { components } = await app.page({ slug: "acme", name: "Acme" }, ["API"]);
  const key = await app.keyWith("read:status", "write:incidents", "manage:webhooks");
  const post = async (path: string, json: object) => {
    const answer = await app.call(`/api/v1/${path}`, { method: "POST", key, json });
    expect(answer.status).toBe(201);
    return answer.body;
  };
  const { secret } = await post("webhooks", { url: program.url });
  await post("webhooks", { url: chat.url, format: "slack", events: INCIDENTS, page: "acme" });
  return {
    site,
    post,
    secret,
    api: components["API"] ?? "",
    deliveriesOf: async (index: number) => {
      const { body } = await app.call("/api/v1/webhooks", { key });
      const id = body.data.toReversed()[index].id;
      return (await app.call(`/api/v1/webhooks/${id}/deliveries`, { key })).body.data;
    },
  };
}

const INCIDENTS = ["incident.created", "incident.updated", "incident.resolved"];

const verified = ({ body, headers }: Received, secret: string) =>
  new Webhook(secret).verify(body, headers) as { type: string; data: Record<string, unknown> };

const openIncident = (api: string) => ({
  page: "acme",
  name: "Checkout <fails>",
  body: "We are **looking** into it.",
  components: { [api]: "major_outage" },
});

describe("delivery of an incident", () => {
  test("an incident created by API reaches a program, verified by the published library, and a chat", async () => {
    await using program = startReceiver();
    await using chat = startReceiver();
    const { site, post, secret, api, deliveriesOf } = await createSite(program, chat);
    await using _ = site;

    const incident = await post("incidents", openIncident(api));
    await site.idle();
    const opened = program.received.map((message) => verified(message, secret));
    expect(opened.map(({ type }) => type).toSorted()).toEqual([
      "component.status_changed",
      "incident.created",
    ]);
    expect(opened.find(({ type }) => type === "incident.created")?.data).toMatchObject({
      id: incident.id,
      name: "Checkout <fails>",
      impact: "critical",
      url: incident.url,
      latest_update: { status: "investigating", body: "We are **looking** into it." },
    });
    expect(chat.received).toHaveLength(1);
    expect(chat.received[0]?.body).toContain("Checkout &lt;fails&gt;");
    expect(chat.received[0]?.body).toContain(incident.url);
    expect(chat.received[0]?.body).toContain("*looking*");

    await post(`incidents/${incident.id}/updates`, { status: "resolved", body: "It works again." });
    // Slack takes one message a second.
    await site.pass(2 * SECOND_MS);
    const [, , ...later] = program.received.map((message) => verified(message, secret));
    expect(later.map(({ type }) => type).toSorted()).toEqual([
      "component.status_changed",
      "incident.resolved",
    ]);
    const resolved = later.find(({ type }) => type === "incident.resolved")?.data;
    expect(resolved).toMatchObject({ id: incident.id, status: "resolved" });
    expect(chat.received).toHaveLength(2);
    expect(chat.received[1]?.body).toContain("It works again.");
    const ids = [...program.received, ...chat.received].map(({ id }) => id);
    expect(new Set(ids)).toEqual(new Set(program.received.map(({ id }) => id)));
    const delivered = await deliveriesOf(0);
    expect(delivered).toHaveLength(4);
    for (const one of delivered) expect(one).toMatchObject({ status: "delivered", tries: 1 });
  });

  test("an incident with notify: false reaches the program with that field, and no chat", async () => {
    await using program = startReceiver();
    await using chat = startReceiver();
    const { site, post, secret, api } = await createSite(program, chat);
    await using _ = site;
    const incident = await post("incidents", { ...openIncident(api), notify: false });
    await site.idle();
    expect(chat.received).toEqual([]);
    const messages = program.received.map((message) => verified(message, secret));
    const created = messages.find(({ type }) => type === "incident.created");
    expect(created?.data).toMatchObject({ id: incident.id, notify: false });

    await post(`incidents/${incident.id}/updates`, { body: "This is for all." });
    await site.idle();
    expect(chat.received).toHaveLength(1);
  });

  test("an incident reaches a program that was down for an hour with the same id, without delaying the chat", async () => {
    await using program = startReceiver(() => 503);
    await using chat = startReceiver();
    const { site, post, secret, api, deliveriesOf } = await createSite(program, chat);
    await using _ = site;
    await post("incidents", openIncident(api));
    await site.idle();
    expect(chat.received).toHaveLength(1);
    expect(program.received).toHaveLength(2);
    const sent = new Set(program.received.map(({ id }) => id));
    for (const one of await deliveriesOf(0)) {
      expect(one).toMatchObject({ status: "pending", tries: 1, last_try: { status_code: 503 } });
    }

    await site.pass(HOUR_MS);
    const before = program.received.length;
    expect(before).toBeGreaterThan(4);
    program.answer = () => 204;
    await site.pass(3 * HOUR_MS);
    const arrived = program.received.slice(before);
    expect(new Set(arrived.map(({ id }) => id))).toEqual(sent);
    expect(arrived).toHaveLength(2);
    // Hours of the test's clock are in the library's future, which it would refuse.
    for (const { id, headers, body } of arrived) {
      const at = new Date(Number(headers["webhook-timestamp"]) * 1_000);
      expect(headers["webhook-signature"]).toBe(new Webhook(secret).sign(id, at, body));
    }
    for (const one of await deliveriesOf(0)) expect(one.status).toBe("delivered");
    expect(chat.received).toHaveLength(1);
  });
});
