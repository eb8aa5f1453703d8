import { expect, test } from "bun:test";
import { createTestApp } from "../../support/app";
import { apply, applyError, lineOf } from "../../support/apply";
import { readWebhooks, WEBHOOK_ENV, WEBHOOKS_FILE as FILE } from "../../support/webhooks-file";

test("the unchanged file of these tests is accepted", async () => {
  await using app = await createTestApp();
  expect((await apply(app, FILE, false, WEBHOOK_ENV)).changes).toHaveLength(6);
});

test.each([
  {
    right: "format: slack",
    wrong: "format: pigeon",
    says: "webhooks[1].format must be one of standard, statuspage, uptime-kuma, slack",
  },
  {
    right: "incident.resolved",
    wrong: "incident.exploded",
    says: "webhooks[0].events[1] must be one of *, component.status_changed",
  },
  {
    right: "incident.resolved",
    wrong: "'*'",
    at: "events:",
    says: 'webhooks[0].events must be ["*"] alone or a list of types',
  },
  { right: "page: acme", wrong: "page: nowhere", says: "page is not the slug of a page: nowhere" },
  {
    right: "https://ci.example.com/hooks/allclear",
    wrong: "http://169.254.169.254/",
    says: "url has a host that is",
  },
  {
    right: "https://ci.example.com/hooks/allclear",
    wrong: "http://2130706433/",
    says: "url has a host that is",
  },
  {
    right: "https://ci.example.com/hooks/allclear",
    wrong: "https://me:pw@ci.example.com/",
    says: "url must not contain a user name or password",
  },
  {
    right: "https://ntfy.sh/acme-status",
    wrong: "https://ntfy.sh/",
    says: "url must be a topic's URL",
  },
  {
    right: "https://ci.example.com/hooks/allclear",
    wrong: "null",
    at: "url: null",
    says: "webhooks[0].url is required: only a secret URL can be left out to keep it",
  },
  {
    right: ', chat_id: "@acme"',
    wrong: "",
    at: "settings:",
    says: "webhooks[2].settings.chat_id is required",
  },
  {
    right: 'chat_id: "@acme"',
    wrong: 'chat_id: "@acme", topic: 7',
    says: "webhooks[2].settings.topic is not a known field",
  },
  {
    right: "format: slack",
    wrong: "format: slack\n    settings: { token: x }",
    at: "settings: { token: x }",
    says: "webhooks[1].settings.token is not a known field",
  },
  {
    right: "enabled: false",
    wrong: "enabled: perhaps",
    says: "webhooks[2].enabled must be true or false",
  },
  {
    right: "enabled: false",
    wrong: "colour: red",
    says: "webhooks[2].colour is not a known field",
  },
  {
    right: "ref: deployments",
    wrong: "ref: Our Chat",
    says: "webhooks[0].ref must have only lower-case letters",
  },
  {
    right: "ref: deployments",
    wrong: "ref: on-call",
    at: "description: On call",
    says: "webhooks[2] has the same ref as an earlier one: on-call",
  },
  {
    right: "description: Our chat",
    wrong: "description: …",
    says: "webhooks[1] must have a ref, or a description to make one from",
  },
])(
  "a file is rejected with its line, and nothing is created: $says",
  async ({ right, wrong, at, says }) => {
    await using app = await createTestApp();
    const text = FILE.replace(right, wrong);
    const rejection = await applyError(app, text, WEBHOOK_ENV);
    expect(rejection).toStartWith(`line ${lineOf(text, at ?? wrong)}: `);
    expect(rejection).toContain(says);
    expect(rejection).not.toContain("\n");
    expect(app.audit()).toEqual([]);
    expect(await readWebhooks(app)).toEqual([]);
  },
);

test("webhooks of a file can be in allowed private networks only", async () => {
  const text = FILE.replace("https://ci.example.com/", "http://10.1.2.3/");
  await using strict = await createTestApp();
  expect(await applyError(strict, text, WEBHOOK_ENV)).toContain("url has a host that is");
  await using app = await createTestApp({ env: { ALLCLEAR_OUTBOUND_ALLOW: "10.0.0.0/8" } });
  expect((await apply(app, text, false, WEBHOOK_ENV)).changes).toHaveLength(6);
});
