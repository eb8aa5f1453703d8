import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createWebhookSite, RECEIVER, WEBHOOKS } from "../../support/webhook-site";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

describe("a new webhook", () => {
  test("a new webhook receives all events in the standard format by default", async () => {
    await using site = await createWebhookSite();
    const { status, headers, body } = await site.post({ url: RECEIVER });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^whk_/),
      ref: "receiver-example-com",
      url: RECEIVER,
      description: null,
      events: ["*"],
      page: null,
      page_id: null,
      monitors: ["*"],
      format: "standard",
      group_seconds: 30,
      settings: {},
      secret_settings: [],
      enabled: true,
      disabled_reason: null,
      success_rate_24h: null,
      paused_until: null,
      confirmed_at: null,
      version: 1,
      created_at: "2026-03-10T12:00:00.000Z",
      updated_at: "2026-03-10T12:00:00.000Z",
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    expect(headers.get("location")).toBe(`https://status.test${WEBHOOKS}/${body.id}`);
    expect(headers.get("etag")).toBe('"1"');
    expect(headers.get("cache-control")).toBe("no-store");
    const { secret, ...shown } = body;
    expect(secret).toBeDefined();
    expect(await site.read(body.id)).toEqual(shown);
    expect((await site.call("")).body).toEqual({ data: [shown], next_cursor: null });
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "webhook.create",
      actorKind: "key",
      targetId: body.id,
      summary: "Created the webhook “receiver-example-com”",
    });
  });

  test("a new webhook has the given fields", async () => {
    await using site = await createWebhookSite();
    const given = {
      url: RECEIVER,
      description: "Our chat",
      events: ["incident.created", "monitor.down"],
      format: "statuspage",
      enabled: false,
    };
    const made = await site.create({ ...given, page: "acme", secret: SECRET });
    expect(made).toMatchObject({
      ...given,
      ref: "our-chat",
      page: "acme",
      page_id: site.pageId,
      secret: SECRET,
      disabled_reason: null,
    });
  });

  test("each of several equal webhooks has its own secret and ref", async () => {
    await using site = await createWebhookSite();
    const made = [await site.create(), await site.create(), await site.create()];
    expect(new Set(made.map(({ secret }) => secret)).size).toBe(3);
    expect(made.map(({ ref }) => ref)).toEqual([
      "receiver-example-com",
      "receiver-example-com-2",
      "receiver-example-com-3",
    ]);
  });
});

describe("an Idempotency-Key", () => {
  const headers = { "idempotency-key": "8e03978e" };

  test("twenty concurrent requests with one Idempotency-Key create one webhook and show its secret once", async () => {
    await using site = await createWebhookSite();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => site.post({ url: RECEIVER }, { headers })),
    );
    const secrets = answers.map(({ body }) => body.secret);
    expect(secrets.filter((secret) => secret !== null)).toHaveLength(1);
    const replayed = answers.filter((each) => each.headers.get("idempotency-replayed") === "true");
    expect(replayed).toHaveLength(19);
    for (const { status, body } of replayed) {
      expect(status).toBe(201);
      expect(body).toEqual({ ...answers[0]?.body, secret: null });
    }
    expect((await site.call("")).body.data).toHaveLength(1);
  });

  test("the same Idempotency-Key with another body is idempotency_mismatch, and nothing is written", async () => {
    await using site = await createWebhookSite();
    await site.post({ url: RECEIVER }, { headers });
    const before = await site.state();
    const other = await site.post({ url: RECEIVER, enabled: false }, { headers });
    expectProblem(other, "idempotency_mismatch");
    expect(await site.state()).toEqual(before);
  });
});

test("GET /webhooks lists webhooks newest first in pages that skip nothing while more are created", async () => {
  await using site = await createWebhookSite();
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.unshift((await site.create()).id);
  const seen: string[] = [];
  let path = "?limit=2";
  for (;;) {
    const { body, headers } = await site.call(path);
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    if (body.next_cursor === null) break;
    path = `?limit=2&cursor=${body.next_cursor}`;
    expect(headers.get("link")).toBe(`<https://status.test${WEBHOOKS}${path}>; rel="next"`);
    await site.create();
  }
  expect(seen).toEqual(ids);
  expectProblem(await site.call("?limit=0"), "invalid_request");
  expectProblem(await site.call("?cursor=nonsense"), "invalid_request");
  expectProblem(await site.call("?colour=red"), "invalid_request");
});
