import { describe, expect, test } from "bun:test";
import { listAllWebhooks } from "../../../src/features/webhooks/store";
import { expectProblem } from "../../support/app";
import { createWebhookSite } from "../../support/webhook-site";

const URL_WITH_SECRET = "https://receiver.example.com/{secret.PART}";
const SETTINGS = {
  method: "POST",
  headers: { Authorization: "Bearer {secret.TOKEN}" },
  body: '{"text": "{title}"}',
};
const SECRETS = { PART: "quite-private-part", TOKEN: "quite-private-token" };

const TEMPLATE = {
  format: "template",
  url: URL_WITH_SECRET,
  settings: { ...SETTINGS, secrets: SECRETS },
};

async function createTemplateSite() {
  const site = await createWebhookSite();
  const { id } = await site.create(TEMPLATE);
  return Object.assign(site, {
    id,
    settings: () => listAllWebhooks(site.app.ctx.db, {}).find((row) => row.id === id)?.settings,
  });
}

const pointersOf = (errors: readonly { pointer: string }[]) => errors.map(({ pointer }) => pointer);

const AGAIN = [
  {
    pointer: "#/settings/secrets",
    detail: "must be entered again for another address or recipient",
  },
];

describe("a template in the API", () => {
  test("is shown with its request and the names of its secrets", async () => {
    await using site = await createTemplateSite();
    const shown = await site.read(site.id);
    expect(shown).toMatchObject({
      format: "template",
      url: URL_WITH_SECRET,
      settings: SETTINGS,
      secret_settings: ["secrets.PART", "secrets.TOKEN"],
    });
    expect(shown.settings).toEqual(SETTINGS);
    expect(JSON.stringify(shown)).not.toContain("quite-private");
  });

  test("keeps its secrets in a change that does not touch the request", async () => {
    await using site = await createTemplateSite();
    const change = { description: "Chat", events: ["monitor.down"], settings: SETTINGS };
    expect((await site.patch(site.id, change)).status).toBe(200);
    expect(site.settings()).toEqual(TEMPLATE.settings);
  });

  test("takes one secret again and keeps the others", async () => {
    await using site = await createTemplateSite();
    const answer = await site.patch(site.id, { settings: { secrets: { TOKEN: "another" } } });
    expect(answer.status).toBe(200);
    expect(site.settings()).toEqual({
      ...SETTINGS,
      secrets: { PART: SECRETS.PART, TOKEN: "another" },
    });
    expect(site.app.audit().at(-1)?.summary).toEndWith(": settings");
  });

  test.each<[what: string, change: object]>([
    ["another server", { url: "https://collector.example.com/{secret.PART}" }],
    ["another path", { url: "https://receiver.example.com/a/{secret.PART}" }],
    ["a path that only reads like it", { url: "https://receiver.example.com/%7Bsecret.PART%7D" }],
    ["another body, which could repeat the secret", { settings: { body: "{secret.TOKEN}" } }],
    ["another header", { settings: { headers: { "X-Token": "{secret.TOKEN}" } } }],
    ["another method", { settings: { method: "PUT" } }],
    ["a request for the end", { settings: { resolve_body: '{"a": "{secret.TOKEN}"}' } }],
  ])("asks for all secrets again for %s", async (_what, change) => {
    await using site = await createTemplateSite();
    const before = [site.settings(), await site.state()];
    const rejected = await site.patch(site.id, change);
    expect(expectProblem(rejected, "validation_failed").errors).toEqual(AGAIN);
    const settings = "settings" in change ? (change.settings as object) : {};
    const half = { ...change, settings: { ...settings, secrets: { TOKEN: "t" } } };
    expect(expectProblem(await site.patch(site.id, half), "validation_failed").errors).toEqual(
      AGAIN,
    );
    expect([site.settings(), await site.state()]).toEqual(before);
    const whole = { ...change, settings: { ...settings, secrets: { TOKEN: "t", PART: "p" } } };
    expect((await site.patch(site.id, whole)).status).toBe(200);
  });

  test("needs a secret that its request names, also after a change that removes it", async () => {
    await using site = await createTemplateSite();
    const removed = await site.patch(site.id, { settings: { secrets: { TOKEN: null } } });
    expect(expectProblem(removed, "validation_failed").errors).toEqual([
      {
        pointer: "#/settings/secrets/TOKEN",
        detail: "is required, since the request has {secret.TOKEN}",
      },
    ]);
    const without = { ...TEMPLATE, settings: { ...SETTINGS, secrets: { PART: "a", TOKEN: null } } };
    expectProblem(await site.post(without), "validation_failed");
  });

  test("keeps no secret that its request does not name", async () => {
    await using site = await createTemplateSite();
    const { id } = await site.create({
      ...TEMPLATE,
      settings: { ...SETTINGS, secrets: { ...SECRETS, OTHER: "quite-private-other" } },
    });
    expect((await site.read(id)).secret_settings).toEqual(["secrets.PART", "secrets.TOKEN"]);
    const change = { settings: { headers: null, secrets: { PART: "again" } } };
    expectProblem(await site.patch(id, change), "validation_failed");
    const all = { settings: { headers: null, secrets: { PART: "again", TOKEN: null } } };
    expect((await site.patch(id, all)).body.secret_settings).toEqual(["secrets.PART"]);
  });

  test.each([
    ["http://127.0.0.1/{key}"],
    ["http://[::1]/{secret.PART}"],
    ["http://169.254.169.254/latest/{key}"],
    ["http://0x7f.1/{key}"],
    ["https://{secret.PART}.example.com/"],
    ["https://{secret.PART}/"],
    ["https://receiver.example.com:{secret.PART}/"],
    ["https://me:{secret.PART}@receiver.example.com/"],
    ["{secret.PART}"],
    ["ftp://receiver.example.com/{secret.PART}"],
  ])("is rejected with the URL %s, whatever its secrets are", async (url) => {
    await using site = await createWebhookSite();
    const before = await site.state();
    const answer = await site.post({ ...TEMPLATE, url });
    const { errors = [] } = expectProblem(answer, "validation_failed");
    expect(pointersOf(errors)).toEqual(["#/url"]);
    expect(answer.text).not.toContain("quite-private");
    expect(await site.state()).toEqual(before);
  });

  test("names every error in one answer, and repeats no secret", async () => {
    await using site = await createWebhookSite();
    const answer = await site.post({
      ...TEMPLATE,
      events: ["monitor.exploded"],
      settings: {
        ...SETTINGS,
        body: "{",
        resolve_url: "https://other.example.com/",
        secrets: { ...SECRETS, TOKEN: "quite-private\ntoken", PART: "" },
      },
    });
    const { errors = [] } = expectProblem(answer, "validation_failed");
    expect(pointersOf(errors)).toEqual([
      "#/events/0",
      "#/settings/resolve_url",
      "#/settings/body",
      "#/settings/secrets/PART",
      "#/settings/secrets/TOKEN",
    ]);
    expect(answer.text).not.toContain("quite-private");
  });

  test("loses its request and its secrets with another format, and when it is deleted", async () => {
    await using site = await createTemplateSite();
    const answer = await site.patch(site.id, {
      format: "standard",
      url: "https://receiver.example.com/hooks",
    });
    expect(answer.status).toBe(200);
    expect(site.settings()).toEqual({});
    const { id } = await site.create(TEMPLATE);
    await site.call(`/${id}`, { method: "DELETE" });
    expect(JSON.stringify(listAllWebhooks(site.app.ctx.db, {}))).not.toContain("quite-private");
  });
});
