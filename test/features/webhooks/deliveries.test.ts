import { describe, expect, test } from "bun:test";
import { type Answer, type CallOptions, expectProblem } from "../../support/app";
import { createDeliverySite, type DeliverySite } from "../../support/delivery-site";
import { type Receiver, startReceiver } from "../../support/receiver";
import { WEBHOOKS } from "../../support/webhook-site";

interface Endpoint extends AsyncDisposable {
  site: DeliverySite;
  receiver: Receiver;
  id: string;
  /** Calls a path below the webhook's. */
  call(path: string, options?: CallOptions): Promise<Answer>;
  /** The deliveries as the API lists them. */
  list(query?: string): Promise<Answer["body"]["data"]>;
}

async function createEndpoint(answer: Receiver["answer"]): Promise<Endpoint> {
  const receiver = startReceiver(answer);
  const site = await createDeliverySite();
  const { id } = await site.endpoint(receiver.url);
  const key = await site.app.keyWith("manage:webhooks");
  const call: Endpoint["call"] = (path, options) =>
    site.app.call(`${WEBHOOKS}/${id}${path}`, { key, ...options });
  return {
    site,
    receiver,
    id,
    call,
    list: async (query = "") => (await call(`/deliveries${query}`)).body.data,
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

describe("the deliveries of a webhook", () => {
  test("say how each is going, the newest first", async () => {
    const answer = ({ data }: { data: { index: number } }) =>
      data.index === 0 ? 200 : new Response("Not now", { status: 503 });
    await using endpoint = await createEndpoint(answer);
    await endpoint.site.tell("cmp_1", "cmp_2");
    await endpoint.site.idle();
    const now = new Date(endpoint.site.app.clock.now()).toISOString();
    const common = {
      id: expect.stringMatching(/^dlv_/),
      event_id: expect.stringMatching(/^evt_/),
      event_type: "component.status_changed",
      tries: 1,
      created_at: now,
    };
    expect(await endpoint.list()).toEqual([
      {
        ...common,
        status: "pending",
        next_try_at: expect.stringMatching(/^2026-03-10T12:00:0[456]/),
        last_try: { at: now, status_code: 503, latency_ms: 0, error: null, answer: "Not now" },
        delivered_at: null,
      },
      {
        ...common,
        status: "delivered",
        next_try_at: null,
        last_try: { at: now, status_code: 200, latency_ms: 0, error: null, answer: null },
        delivered_at: now,
      },
    ]);
    expect((await endpoint.call("")).body.success_rate_24h).toBe(0.5);
    expect(await endpoint.list("?status=failed")).toEqual([]);
    const [delivered] = await endpoint.list("?status=delivered");
    expect(delivered.status).toBe("delivered");
    expect((await endpoint.call(`/deliveries/${delivered.id}`)).body).toEqual(delivered);
  });

  test("are read page by page, and of one status where that is asked for", async () => {
    await using endpoint = await createEndpoint(() => 200);
    await endpoint.site.tell("cmp_1", "cmp_2", "cmp_3");
    await endpoint.site.idle();
    const all = await endpoint.list();
    const first = await endpoint.call("/deliveries?limit=2&status=delivered");
    const cursor = first.body.next_cursor;
    expect(first.headers.get("link")).toContain(`limit=2&status=delivered&cursor=${cursor}>`);
    const rest = await endpoint.list(`?limit=2&status=delivered&cursor=${cursor}`);
    expect([...first.body.data, ...rest]).toEqual(all);
    expectProblem(await endpoint.call("/deliveries?status=lost"), "invalid_request");
  });

  test("of another webhook are not among them", async () => {
    await using endpoint = await createEndpoint(() => 200);
    await endpoint.site.tell("cmp_1");
    await endpoint.site.idle();
    const [delivery] = await endpoint.list();
    const other = await endpoint.site.endpoint(endpoint.receiver.url);
    const key = await endpoint.site.app.keyWith("manage:webhooks");
    const path = `${WEBHOOKS}/${other.id}/deliveries`;
    expect((await endpoint.site.app.call(path, { key })).body.data).toEqual([]);
    expectProblem(await endpoint.site.app.call(`${path}/${delivery.id}`, { key }), "not_found");
    const again = { key, method: "POST" };
    const redelivery = await endpoint.site.app.call(`${path}/${delivery.id}/redeliver`, again);
    expectProblem(redelivery, "not_found");
    expect(endpoint.receiver.received).toHaveLength(1);
  });
});

describe("sending a delivery again", () => {
  test("sends the same event once more, and is written down", async () => {
    await using endpoint = await createEndpoint(() => 200);
    const { site, receiver } = endpoint;
    await site.tell("cmp_1");
    await site.idle();
    const [delivered] = await endpoint.list();
    const path = `/deliveries/${delivered.id}/redeliver`;
    const { status, body } = await endpoint.call(path, { method: "POST" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: delivered.id, status: "pending", tries: 1 });
    await site.idle();
    expect(receiver.received.map(({ id }) => id)).toEqual([delivered.event_id, delivered.event_id]);
    expect((await endpoint.list())[0]).toMatchObject({ status: "delivered", tries: 2 });
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "webhook.redeliver",
      actorKind: "key",
      targetId: endpoint.id,
    });
  });

  test("to a webhook that is disabled is refused, and nothing is written", async () => {
    await using endpoint = await createEndpoint(() => 410);
    const { site } = endpoint;
    await site.tell("cmp_1");
    await site.idle();
    expect((await endpoint.call("")).body).toMatchObject({
      enabled: false,
      disabled_reason: "It answered 410 Gone: it wants nothing more.",
      version: 2,
    });
    const [failed] = await endpoint.list();
    const audit = site.app.audit();
    const path = `/deliveries/${failed.id}/redeliver`;
    expectProblem(await endpoint.call(path, { method: "POST" }), "conflict");
    expect(await endpoint.list()).toEqual([failed]);
    expect(site.app.audit()).toEqual(audit);

    endpoint.receiver.answer = () => 200;
    const enabled = await endpoint.call("", { method: "PATCH", json: { enabled: true } });
    expect(enabled.body).toMatchObject({ enabled: true, disabled_reason: null });
    expect((await endpoint.call(path, { method: "POST" })).status).toBe(200);
    await site.idle();
    expect((await endpoint.list())[0]).toMatchObject({ status: "delivered", tries: 2 });
  });
});
