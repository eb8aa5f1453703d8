import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { startDelivering } from "../../../src/features/webhooks/deliver/deliverer";
import { shownUrl } from "../../../src/features/webhooks/formats";
import { expectProblem } from "../../support/app";
import { createTestEgress } from "../../support/egress";
import { temporaryFolder } from "../../support/temporary-folder";
import {
  createWebhookSite,
  RECEIVER,
  SECRET_DESTINATIONS,
  SLACK,
} from "../../support/webhook-site";

const FORMATS = Object.keys(SECRET_DESTINATIONS) as (keyof typeof SECRET_DESTINATIONS)[];

/** Every row of a database's tables, as text. */
function dump(path: string): Map<string, string> {
  const database = new Database(path, { readonly: true });
  const names = database
    .query("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    .all();
  const tables = (names as { name: string }[]).map(({ name }) => {
    const rows = database.query(`SELECT * FROM "${name}"`).all();
    return [name, JSON.stringify(rows)] as const;
  });
  database.close();
  return new Map(tables);
}

describe("a webhook's secrets", () => {
  test.each(FORMATS)(
    "a webhook's secrets for %s are stored in its row only and never returned",
    async (format) => {
      const { url, settings, shown, secrets } = SECRET_DESTINATIONS[format] ?? {
        url: "",
        secrets: [],
      };
      using folder = temporaryFolder();
      const databasePath = join(folder.path, "allclear.db");
      await using site = await createWebhookSite({ databasePath, logLevel: "trace" });
      const { app } = site;
      const { egress } = await createTestEgress({}, { clock: app.clock });
      const deliverer = startDelivering(app.ctx, egress);
      const headers = { "idempotency-key": "one" };
      const json = { url, format, ...(settings ? { settings } : {}) };
      const made = await site.post(json, { headers });
      expect(made.status).toBe(201);
      const { id } = made.body;
      const said: string[] = [];
      const say = async (path: string, options = {}) => {
        said.push((await site.call(path, options)).text);
      };
      const replayed = await site.post(json, { headers });
      expect(replayed.body).toEqual({ ...made.body, secret: null });
      said.push(replayed.text);
      const rotated = await site.call(`/${id}/rotate-secret`, { method: "POST" });
      const everySecret = [...secrets, made.body.secret, rotated.body.secret];
      await site.patch(id, { description: "Changed" }).then(({ text }) => said.push(text));
      await say(`/${id}/test`, { method: "POST" });
      await deliverer.whenIdle();
      await say(`/${id}/deliveries`);
      await say(`/${id}`);
      await say("");
      const rejected = await site.patch(id, { url: `${url}…`, settings: { ...settings, a: 1 } });
      expectProblem(rejected, "validation_failed");
      said.push(rejected.text);
      expect((await site.read(id)).url).toBe(shown);
      await deliverer.stop(0);

      const tables = dump(databasePath);
      expect(tables.get("delivery_tries")).toContain('"error":"');
      expect(everySecret.filter((secret) => tables.get("webhooks")?.includes(secret))).toEqual(
        everySecret,
      );
      tables.delete("webhooks");
      const everything = [...said, ...tables.values(), JSON.stringify(app.logged)].join("\n");
      expect(everything).toContain("webhook.test");
      expect(everySecret.filter((secret) => everything.includes(secret))).toEqual([]);

      await site.call(`/${id}`, { method: "DELETE" });
      const deleted = [...dump(databasePath).values()].join("\n");
      expect(deleted).toContain(id);
      expect(everySecret.filter((secret) => deleted.includes(secret))).toEqual([]);
    },
  );

  test("a webhook's secrets are in no public response", async () => {
    await using site = await createWebhookSite();
    const { secret } = await site.create({ url: SLACK, format: "slack", page: "acme" });
    for (const path of ["/status/acme", "/openapi.json", "/status/acme/summary.json"]) {
      const { status, text } = await site.app.call(path);
      expect(status).toBe(200);
      for (const part of [secret, "quite-private-end"]) expect(text).not.toContain(part);
    }
  });
});

describe("secret URLs", () => {
  test("a secret URL is kept if a change contains its masked form", async () => {
    await using site = await createWebhookSite();
    const { id } = await site.create({ url: SLACK, format: "slack" });
    const { body } = await site.patch(id, { url: shownUrl("slack", SLACK), description: "Chat" });
    expect(body).toMatchObject({ description: "Chat", version: 2 });
    expect(site.app.audit().at(-1)?.summary).toBe(
      "Changed the webhook “hooks-slack-com”: description",
    );
    const other = `${SLACK}-other`;
    await site.patch(id, { url: other });
    expect(site.app.audit().at(-1)?.summary).toBe("Changed the webhook “Chat”: URL");
  });

  test("a change of the format requires a secret URL again", async () => {
    await using site = await createWebhookSite();
    const { id } = await site.create({ url: SLACK, format: "slack" });
    const before = await site.state();
    const change = { format: "standard" };
    for (const json of [change, { ...change, url: shownUrl("slack", SLACK) }]) {
      const { errors } = expectProblem(await site.patch(id, json), "validation_failed");
      expect(errors).toEqual([
        {
          pointer: "#/url",
          detail: expect.stringContaining("must be entered again for another format"),
        },
      ]);
    }
    expect(await site.state()).toEqual(before);
    const { body } = await site.patch(id, { ...change, url: RECEIVER });
    expect(body).toMatchObject({ format: "standard", url: RECEIVER });
  });
});

describe("secret tokens among the settings", () => {
  test("a change to another server requires the token again", async () => {
    await using site = await createWebhookSite();
    const { url, settings } = SECRET_DESTINATIONS.gotify ?? { url: "" };
    const { id } = await site.create({ url, settings, format: "gotify" });
    const before = await site.state();
    const elsewhere = { url: "https://collector.example.com" };
    const { errors } = expectProblem(await site.patch(id, elsewhere), "validation_failed");
    expect(errors).toEqual([
      {
        pointer: "#/settings/token",
        detail: "must be entered again for another address or recipient",
      },
    ]);
    expect(await site.state()).toEqual(before);
    expectProblem(await site.patch(id, { url: `${url}/below` }), "validation_failed");
    expect(await site.state()).toEqual(before);
    expect((await site.patch(id, { description: "On call" })).status).toBe(200);
    expect((await site.patch(id, { ...elsewhere, settings })).status).toBe(200);
  });

  test("a change to another recipient requires the token again", async () => {
    await using site = await createWebhookSite();
    const { url, settings } = SECRET_DESTINATIONS.telegram ?? { url: "" };
    const { id } = await site.create({ url, settings, format: "telegram" });
    const before = await site.state();
    for (const other of [{ chat_id: "-100999" }, { message_thread_id: 7 }]) {
      // oxlint-disable-next-line no-await-in-loop
      const answer = await site.patch(id, { settings: other });
      expect(expectProblem(answer, "validation_failed").errors).toEqual([
        {
          pointer: "#/settings/bot_token",
          detail: "must be entered again for another address or recipient",
        },
      ]);
    }
    expect(await site.state()).toEqual(before);
    const again = { ...settings, chat_id: "-100999", message_thread_id: 7 };
    expect((await site.patch(id, { settings: again })).status).toBe(200);
    // Without a topic, the messages go to the chat itself.
    const left = await site.patch(id, { settings: { message_thread_id: null } });
    expect(expectProblem(left, "validation_failed").errors).toHaveLength(1);
    const same = { description: "On call", settings: { chat_id: "-100999", message_thread_id: 7 } };
    expect((await site.patch(id, same)).status).toBe(200);
  });

  test("a change to another server can clear an optional token", async () => {
    await using site = await createWebhookSite();
    const { url, settings } = SECRET_DESTINATIONS.ntfy ?? { url: "" };
    const { id } = await site.create({ url, settings, format: "ntfy" });
    const elsewhere = { url: "https://ntfy.example.com/acme" };
    expectProblem(await site.patch(id, elsewhere), "validation_failed");
    const { body } = await site.patch(id, { ...elsewhere, settings: { token: null } });
    expect(body).toMatchObject({ ...elsewhere, settings: {}, secret_settings: [] });
  });
});
