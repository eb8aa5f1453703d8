import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createTestApp, expectProblem, versionOf } from "../../support/app";
import { temporaryFolder } from "../../support/temporary-folder";
import {
  createWebhookSite,
  RECEIVER,
  WEBHOOKS,
  type WebhookSite,
} from "../../support/webhook-site";

const lastAudit = (site: WebhookSite) => site.app.audit().at(-1);

describe("changes of a webhook", () => {
  test("a change of a webhook affects the given fields and names them in the audit log", async () => {
    await using site = await createWebhookSite();
    const { secret, ...made } = await site.create({ description: "Chat" });
    expect(secret).toBeDefined();
    await site.app.clock.advance(1_000);
    const change = { url: "https://other.example.com/in", events: ["monitor.up"], page: "acme" };
    const answer = await site.patch(made.id, change);
    const { status, body } = answer;
    expect(status).toBe(200);
    const after = {
      ...made,
      ...change,
      page_id: site.pageId,
      version: 2,
      updated_at: "2026-03-10T12:00:01.000Z",
    };
    expect(body).toEqual(after);
    expect(versionOf(answer)).toBe(2);
    expect(await site.read(made.id)).toEqual(after);
    expect(lastAudit(site)).toMatchObject({
      action: "webhook.update",
      targetId: made.id,
      summary: "Changed the webhook “Chat”: URL, events, page",
    });
  });

  test("a change of a webhook clears fields that are null", async () => {
    await using site = await createWebhookSite();
    const { id } = await site.create({ description: "Chat", page: "acme" });
    const { body } = await site.patch(id, { description: null, page: null });
    expect(body).toMatchObject({ description: null, page: null, page_id: null });
  });

  test("a change of a webhook to its current values changes nothing", async () => {
    await using site = await createWebhookSite();
    const { secret, id, ...made } = await site.create({ description: "Chat" });
    expect(secret).toBeDefined();
    const before = await site.state();
    const { url, description, events, page, format, settings, enabled } = made;
    const same = { url, description, events, page, format, settings, enabled };
    expect((await site.patch(id, same)).body.version).toBe(1);
    expect(await site.state()).toEqual(before);
  });

  test("a change of settings merges by name, clears null and validates the result", async () => {
    await using site = await createWebhookSite();
    const { id } = await site.create({
      format: "telegram",
      url: "https://api.telegram.org",
      settings: { bot_token: "123456:ABC", chat_id: "@acme", message_thread_id: 5 },
    });
    const { body } = await site.patch(id, {
      settings: { bot_token: "123456:ABC", chat_id: "@other", message_thread_id: null },
    });
    expect(body).toMatchObject({ settings: { chat_id: "@other" }, secret_settings: ["bot_token"] });
    expect(body.settings).toEqual({ chat_id: "@other" });
    const before = await site.state();
    for (const [settings, pointer, detail] of [
      [{ bot_token: "123456:ABC", chat_id: null }, "#/settings/chat_id", "is required"],
      [{ colour: null }, "#/settings/colour", "is not a known field"],
    ] as const) {
      const { errors } = expectProblem(await site.patch(id, { settings }), "validation_failed");
      expect(errors).toEqual([{ pointer, detail }]);
    }
    expect(await site.state()).toEqual(before);
  });

  test("a change of the format removes all settings", async () => {
    await using site = await createWebhookSite();
    const settings = { token: "AWnhsVvNnMtXp3q" };
    const { id } = await site.create({ format: "gotify", settings });
    const { body } = await site.patch(id, { format: "standard" });
    expect(body).toMatchObject({ format: "standard", settings: {}, secret_settings: [] });
    const back = await site.patch(id, { format: "gotify" });
    const { errors } = expectProblem(back, "validation_failed");
    expect(errors).toEqual([{ pointer: "#/settings/token", detail: "is required" }]);
  });
});

test("a webhook whose network is no longer allowed can be disabled and get another URL", async () => {
  using folder = temporaryFolder();
  const databasePath = join(folder.path, "allclear.db");
  const env = { ALLCLEAR_OUTBOUND_ALLOW: "10.0.0.0/8" };
  const { id, url } = await (async () => {
    await using site = await createWebhookSite({ databasePath, env });
    return site.create({ url: "https://10.1.2.3/hooks" });
  })();
  await using app = await createTestApp({ databasePath });
  const key = await app.keyWith("manage:webhooks");
  const patch = (json: object) => app.call(`${WEBHOOKS}/${id}`, { method: "PATCH", key, json });
  expect((await patch({ enabled: false })).body).toMatchObject({ enabled: false, url });
  expectProblem(await patch({ url: `${url}/other` }), "validation_failed");
  expect((await patch({ url: RECEIVER })).body.url).toBe(RECEIVER);
});

describe("disabling a webhook", () => {
  test("a disabled webhook rejects test events until it is enabled, and both changes are in the audit log", async () => {
    await using site = await createWebhookSite();
    const { id } = await site.create({ description: "Chat" });
    const woken: string[] = [];
    site.app.ctx.signals.deliveriesQueued.on((webhook) => woken.push(webhook));
    const disabled = await site.patch(id, { enabled: false });
    expect(disabled.body).toMatchObject({ enabled: false, disabled_reason: null, version: 2 });
    expect(lastAudit(site)).toMatchObject({
      action: "webhook.disable",
      summary: "Disabled the webhook “Chat”",
    });
    const events = site.app.events();
    expectProblem(await site.call(`/${id}/test`, { method: "POST" }), "conflict");
    expect(site.app.events()).toEqual(events);
    await site.patch(id, { enabled: true });
    expect(lastAudit(site)).toMatchObject({
      action: "webhook.enable",
      summary: "Enabled the webhook “Chat”",
    });
    expect(woken).toEqual([id, id]);
  });
});

describe("If-Match", () => {
  const changes: [string, string, object | undefined][] = [
    ["PATCH", "", { description: "Changed" }],
    ["DELETE", "", undefined],
    ["POST", "/rotate-secret", undefined],
  ];

  test.each(changes)(
    "a stale If-Match is precondition_failed for %s %s",
    async (method, path, json) => {
      await using site = await createWebhookSite();
      const { id } = await site.create();
      const before = await site.state();
      const send = (ifMatch: string) =>
        site.call(`/${id}${path}`, {
          method,
          ...(json ? { json } : {}),
          headers: { "if-match": ifMatch },
        });
      for (const stale of ['"2"', 'W/"2"', "nonsense"]) {
        const answer = await send(stale);
        expectProblem(answer, "precondition_failed");
        expect(answer.headers.get("etag")).toBe('"1"');
      }
      expect(await site.state()).toEqual(before);
      const answers = await Promise.all([send('"1"'), send('"1"')]);
      const statuses = answers.map(({ status }) => status).toSorted();
      // What is deleted is not there for the second.
      expect(statuses).toEqual(method === "DELETE" ? [204, 404] : [200, 412]);
    },
  );
});

test("a deleted webhook is not_found, and its ref is free", async () => {
  await using site = await createWebhookSite();
  const { id, ref } = await site.create();
  const kept = await site.create({ description: "Kept" });
  expect((await site.call(`/${id}`, { method: "DELETE" })).status).toBe(204);
  expectProblem(await site.call(`/${id}`), "not_found");
  expect((await site.call("")).body.data.map((each: { id: string }) => each.id)).toEqual([kept.id]);
  expect(lastAudit(site)).toMatchObject({ action: "webhook.delete", targetId: id });
  expect((await site.create()).ref).toBe(ref);
});
