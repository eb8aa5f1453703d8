import { describe, expect, test } from "bun:test";
import { exportFile, writeApplyFile } from "../../../src/features/apply/apply";
import { deletePage } from "../../../src/features/pages/deletion";
import { findPageBySlug } from "../../../src/features/pages/store";
import { listAllWebhooks, updateWebhookRow } from "../../../src/features/webhooks/store";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createTestApp, type TestApp } from "../../support/app";
import { apply as applyWith, linesOf } from "../../support/apply";
import {
  readWebhooks as read,
  WEBHOOK_ENV,
  WEBHOOKS_FILE as FILE,
} from "../../support/webhooks-file";

const apply = (app: TestApp, text: string, prune = false) =>
  applyWith(app, text, prune, WEBHOOK_ENV);

const SHORT =
  "pages: []\nwebhooks:\n  - { ref: one, url: https://a.example/, secret: '${SIGNING}' }\n";

describe("webhooks in a file", () => {
  test("webhooks of a file are created with a filter, a secret URL, a token, and disabled", async () => {
    await using app = await createTestApp();
    const outcome = await apply(app, FILE);
    expect(linesOf(outcome).filter((line) => line.includes("webhook"))).toEqual([
      "+ webhook deployments",
      "+ webhook our-chat",
      "+ webhook on-call",
      "+ webhook phones",
    ]);
    expect(await read(app)).toMatchObject([
      {
        ref: "deployments",
        url: "https://ci.example.com/hooks/allclear",
        description: null,
        events: ["incident.created", "incident.resolved"],
        page: "acme",
        format: "standard",
        enabled: true,
      },
      {
        ref: "our-chat",
        url: "https://hooks.slack.com/services/…",
        description: "Our chat",
        events: ["*"],
        page: null,
        format: "slack",
      },
      {
        ref: "on-call",
        format: "telegram",
        settings: { chat_id: "@acme" },
        secret_settings: ["bot_token"],
        enabled: false,
        disabled_reason: null,
      },
      { ref: "phones", format: "ntfy", secret_settings: ["token"] },
    ]);
  });

  test("a gathering time is applied, and exported unless it is the default", async () => {
    await using app = await createTestApp();
    const chat = "ref: chat, url: 'https://hooks.slack.com/services/A/B/C', format: slack";
    const file = (time: string) => `pages: []\nwebhooks:\n  - { ${chat}${time} }\n`;
    const stored = () => listAllWebhooks(app.ctx.db, {})[0]?.groupSeconds;
    const exported = () => writeApplyFile(exportFile(app.ctx.db), []).includes("group_seconds");
    await apply(app, file(""));
    expect([stored(), exported()]).toEqual([30, false]);
    expect(linesOf(await apply(app, file(", group_seconds: 0")))[0]).toContain("group_seconds");
    expect([stored(), exported()]).toEqual([0, true]);
    await apply(app, file(""));
    expect([stored(), exported()]).toEqual([30, false]);
  });

  test("applying webhooks twice changes no version, event or audit entry", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const before = [listAllWebhooks(app.ctx.db, {}), app.audit(), app.events()];
    expect((await apply(app, FILE)).changes).toEqual([]);
    expect([listAllWebhooks(app.ctx.db, {}), app.audit(), app.events()]).toEqual(before);
  });

  test("apply changes differing fields of a webhook and resets omitted ones to their defaults", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const changed = FILE.replace("    events: [incident.created, incident.resolved]\n", "")
      .replace("    page: acme\n", "")
      .replace("hooks/allclear", "hooks/status")
      .replace('chat_id: "@acme"', 'chat_id: "-100200", message_thread_id: 7')
      .replace("    enabled: false\n", "");
    expect(linesOf(await apply(app, changed))).toEqual([
      '~ webhook deployments: events ["incident.created","incident.resolved"] → ["*"], page "acme" → none, url "https://ci.example.com/hooks/allclear" → "https://ci.example.com/hooks/status"',
      '~ webhook on-call: enabled false → true, settings.chat_id "@acme" → "-100200", settings.message_thread_id none → 7',
    ]);
    expect((await apply(app, changed)).changes).toEqual([]);
    const [deployments, , onCall] = await read(app);
    expect(deployments).toMatchObject({ events: ["*"], page: null, version: 2 });
    expect(onCall).toMatchObject({
      enabled: true,
      settings: { chat_id: "-100200", message_thread_id: 7 },
      secret_settings: ["bot_token"],
    });
    const fewer = changed.replace(", message_thread_id: 7", "");
    expect((await apply(app, fewer)).changes).toHaveLength(1);
    expect((await read(app))[2].settings).toEqual({ chat_id: "-100200" });
  });

  test("a webhook with another ref or description stays the same webhook", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const before = await read(app);
    const renamed = FILE.replace(
      "ref: deployments",
      "ref: ci\n    previous_refs: [deployments]",
    ).replace("description: Our chat", "description: The chat\n    ref: our-chat");
    expect(linesOf(await apply(app, renamed))).toEqual([
      '~ webhook deployments: ref "deployments" → "ci"',
      '~ webhook our-chat: description "Our chat" → "The chat"',
    ]);
    const after = await read(app);
    expect(after.map(({ id }: { id: string }) => id)).toEqual(
      before.map(({ id }: { id: string }) => id),
    );
    expect(after[0].ref).toBe("ci");
    expect((await apply(app, renamed)).changes).toEqual([]);
  });

  test("webhooks missing from the file stay until they are pruned, and only those of apply are", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("manage:webhooks");
    const json = { url: "https://by-hand.example/" };
    await app.call("/api/v1/webhooks", { method: "POST", key, json });
    await apply(app, FILE);
    const smaller = FILE.slice(0, FILE.indexOf("  - description: Phones"));
    expect(await apply(app, smaller)).toMatchObject({ changes: [], leftovers: ["webhook phones"] });
    expect(await read(app)).toHaveLength(5);
    expect(linesOf(await apply(app, smaller, true))).toEqual(["- webhook phones"]);
    await apply(app, "pages: []", true);
    expect((await read(app)).map(({ ref }: { ref: string }) => ref)).toEqual(["by-hand-example"]);
  });

  test("a hand-made webhook with the ref of the file is changed and never pruned", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("manage:webhooks");
    const json = { url: "https://one.example/", description: "one" };
    const { body } = await app.call("/api/v1/webhooks", { method: "POST", key, json });
    const text = SHORT.replace(", secret: '${SIGNING}'", "");
    expect(linesOf(await apply(app, text))).toEqual([
      '~ webhook one: description "one" → none, url "https://one.example/" → "https://a.example/"',
    ]);
    await apply(app, "pages: []", true);
    expect((await read(app)).map(({ id }: { id: string }) => id)).toEqual([body.id]);
  });

  test("a webhook of a file can name its page by an earlier slug", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const renamed = FILE.replace("slug: acme,", "slug: another, previous_slugs: [acme],");
    expect(linesOf(await apply(app, renamed))).toEqual(['~ page acme: slug "acme" → "another"']);
    expect((await read(app))[0].page).toBe("another");
  });

  test("an automatically disabled webhook stays disabled and is exported as enabled", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const disabled = {
      enabled: false,
      disabledReason: "The endpoint answered 410 Gone.",
      disabledAt: 1,
    };
    await app.ctx.db.write((tx) => {
      const [first] = listAllWebhooks(tx, {});
      if (first) updateWebhookRow(tx, { ...first, ...disabled });
    });
    expect((await apply(app, FILE)).changes).toEqual([]);
    const moved = FILE.replace("hooks/allclear", "hooks/status");
    expect((await apply(app, moved)).changes).toHaveLength(1);
    const off = moved.replace("    page: acme\n", "    page: acme\n    enabled: false\n");
    expect((await apply(app, off)).changes).toEqual([]);
    expect((await read(app))[0]).toMatchObject({
      url: "https://ci.example.com/hooks/status",
      enabled: false,
      disabled_reason: "The endpoint answered 410 Gone.",
    });
    const { webhooks = [] } = await app.ctx.db.write((tx) => exportFile(tx));
    expect(webhooks.map(({ enabled }) => enabled)).toEqual([
      undefined,
      undefined,
      false,
      undefined,
    ]);
  });

  test("the exported file of a page contains its webhooks only", async () => {
    await using app = await createTestApp();
    await apply(app, FILE.replace("pages:\n", "pages:\n  - { slug: other, name: Other }\n"));
    const fileOf = (slug: string) =>
      app.ctx.db.write((tx) => exportFile(tx, { page: findPageBySlug(tx, { slug }) }));
    const said = await fileOf("acme");
    expect(said.webhooks).toEqual([
      {
        ref: "deployments",
        url: "https://ci.example.com/hooks/allclear",
        events: ["incident.created", "incident.resolved"],
        page: "acme",
        secret: null,
      },
    ]);
    expect((await apply(app, writeApplyFile(said, []))).changes).toEqual([]);
    expect(await fileOf("other")).not.toHaveProperty("webhooks");
  });

  test("webhooks of a deleted page are not exported, and a file with another page creates them again", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const { id = "" } = findPageBySlug(app.ctx.db, { slug: "acme" }) ?? {};
    await app.ctx.db.write((tx) => deletePage(app.ctx, tx, id, CLI_ACTOR));
    const { webhooks = [] } = await app.ctx.db.write((tx) => exportFile(tx));
    expect(webhooks.map(({ ref }) => ref)).toEqual(["our-chat", "on-call", "phones"]);
    const again = FILE.replace("slug: acme, name: Acme", "slug: other, name: Other").replace(
      "page: acme",
      "page: other",
    );
    const outcome = await apply(app, again);
    expect(linesOf(outcome)).toContain("+ webhook deployments");
    expect((await read(app)).at(-1).page).toBe("other");
  });
});
