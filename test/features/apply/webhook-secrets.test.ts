import { describe, expect, test } from "bun:test";
import { describeChange } from "../../../src/features/apply/run";
import { exportFile, writeApplyFile } from "../../../src/features/apply/apply";
import { listAllWebhooks } from "../../../src/features/webhooks/store";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, applyError } from "../../support/apply";
import { WEBHOOK_ENV as ENV, WEBHOOKS_FILE as FILE } from "../../support/webhooks-file";

const OTHER_ENV = {
  SIGNING: `whsec_${Buffer.alloc(24, 7).toString("base64")}`,
  SLACK_URL: "https://hooks.slack.com/services/T00000000/B00000000/another-end",
  BOT_TOKEN: "123456:another-token",
  NTFY_TOKEN: "tk_another",
};

/** The same with null in the place of each secret. */
const KEPT = FILE.replaceAll(/"?\$\{\w+\}"?/g, "null");
/** The same without any. */
const LEFT_OUT = FILE.replace("    secret: ${SIGNING}\n", "")
  .replace("    url: ${SLACK_URL}\n", "")
  .replace('bot_token: "${BOT_TOKEN}", ', "")
  .replace('    settings: { token: "${NTFY_TOKEN}" }\n', "");

/** Returns the URL, settings and signing secret of each webhook by its ref. */
function kept({ ctx }: TestApp) {
  return Object.fromEntries(
    listAllWebhooks(ctx.db, {}).map(({ ref, url, settings, secret }) => [
      ref,
      { url, settings, secret },
    ]),
  );
}

async function rejectionOf(app: TestApp, text: string, env: Record<string, string> = ENV) {
  const before = [kept(app), app.audit()];
  const message = await applyError(app, text, env);
  expect([kept(app), app.audit()]).toEqual(before);
  return message;
}

async function createSite(): Promise<TestApp> {
  const app = await createTestApp({ logLevel: "trace" });
  await apply(app, FILE, false, ENV);
  return app;
}

describe("secrets of a webhook in a file", () => {
  test("signing secrets, secret URLs and tokens can be given by variables", async () => {
    await using app = await createSite();
    expect(kept(app)).toMatchObject({
      deployments: { secret: ENV.SIGNING },
      "our-chat": { url: ENV.SLACK_URL },
      "on-call": { settings: { bot_token: ENV.BOT_TOKEN, chat_id: "@acme" } },
      phones: { settings: { token: ENV.NTFY_TOKEN } },
    });
    expect((await apply(app, FILE, false, ENV)).changes).toEqual([]);
  });

  test("a secret with a missing or empty variable is rejected with its line", async () => {
    await using app = await createTestApp();
    const { SLACK_URL: _, ...fewer } = ENV;
    expect(await rejectionOf(app, FILE, { ...fewer, SIGNING: "" })).toBe(
      [
        "line 9: webhooks[0].secret refers to the variable SIGNING, which is empty",
        "line 12: webhooks[1].url refers to the variable SLACK_URL, which is not set",
      ].join("\n"),
    );
    await apply(app, FILE, false, ENV);
    expect(Object.keys(kept(app))).toHaveLength(4);
  });

  test("variables are replaced in secret fields only", async () => {
    await using app = await createTestApp();
    const url = "https://ci.example.com/?key=${SIGNING}";
    await apply(app, FILE.replace("https://ci.example.com/hooks/allclear", url), false, ENV);
    expect(kept(app)["deployments"]?.url).toBe(url);
  });

  test.each([
    ["null", KEPT],
    ["absent", LEFT_OUT],
  ])("a secret that is %s is kept", async (_, text) => {
    await using app = await createSite();
    const before = kept(app);
    expect((await apply(app, text)).changes).toEqual([]);
    const described = text.replace(
      "description: Phones",
      "description: All phones\n    ref: phones",
    );
    expect((await apply(app, described)).changes).toHaveLength(1);
    expect(kept(app)).toEqual(before);
  });

  test("an omitted secret that is not stored is rejected with its line", async () => {
    await using app = await createTestApp();
    const unknown =
      "is a secret that is not known here yet: give it, such as ${NAME} of a variable";
    const only = (name: string, text: string) => {
      const at = text.indexOf("webhooks:\n") + "webhooks:\n".length;
      const entries = text.slice(at).split(/^(?= {2}- )/m);
      return `pages: []\nwebhooks:\n${entries.find((entry) => entry.includes(name))}`.replace(
        "    page: acme\n",
        "",
      );
    };
    expect(await rejectionOf(app, only("ci.example", KEPT))).toBe(`line 6: secret ${unknown}`);
    expect(await rejectionOf(app, only("ci.example", LEFT_OUT))).toBe(`line 3: secret ${unknown}`);
    expect(await rejectionOf(app, only("Our chat", KEPT))).toBe(`line 5: url ${unknown}`);
    expect(await rejectionOf(app, only("Our chat", LEFT_OUT))).toBe(`line 3: url ${unknown}`);
    expect(await rejectionOf(app, only("On call", KEPT))).toBe(
      `line 6: settings.bot_token ${unknown}`,
    );
    expect(await rejectionOf(app, only("On call", LEFT_OUT))).toBe(
      `line 6: settings.bot_token ${unknown}`,
    );
    expect(await rejectionOf(app, only("Phones", KEPT))).toBe(`line 6: settings.token ${unknown}`);
    // An ntfy topic may need none.
    expect((await apply(app, only("Phones", LEFT_OUT))).changes).toHaveLength(1);
  });

  test("a signing secret that the file omits is created", async () => {
    await using app = await createSite();
    const secrets = Object.values(kept(app)).map(({ secret }) => secret);
    for (const secret of secrets) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(new Set(secrets).size).toBe(4);
  });

  test("another signing secret in the file rotates it, and the old one signs for a day", async () => {
    await using app = await createSite();
    const outcome = await apply(app, FILE, false, { ...ENV, SIGNING: OTHER_ENV.SIGNING });
    expect(outcome.changes.map(describeChange)).toEqual([
      '~ webhook deployments: secret "a secret" → "another secret"',
    ]);
    const [deployments] = listAllWebhooks(app.ctx.db, {});
    expect(deployments).toMatchObject({
      secret: OTHER_ENV.SIGNING,
      previousSecret: ENV.SIGNING,
      previousSecretEndsAt: app.clock.now() + 24 * 3_600_000,
    });
    expect(app.audit().at(-1)?.action).toBe("webhook.rotate_secret");
  });

  test("an invalid secret is rejected without revealing it", async () => {
    await using app = await createTestApp();
    const rejection = await rejectionOf(app, FILE, {
      ...ENV,
      SIGNING: "whsec_hunter2",
      BOT_TOKEN: "hunter2",
      SLACK_URL: "https://hooks.slack.com/hunter2",
    });
    expect(rejection).toStartWith("line 9: webhooks[0].secret must be");
    expect(rejection).toContain("line 16: webhooks[2].settings.bot_token must match");
    expect(rejection).not.toContain("hunter2");
    const other = await rejectionOf(app, FILE, {
      ...ENV,
      SLACK_URL: "https://hooks.slack.com/hunter2",
    });
    expect(other).toBe("line 12: url must be the URL of an incoming webhook");
  });

  test("an empty text removes an optional secret", async () => {
    await using app = await createSite();
    const without = FILE.replace("${NTFY_TOKEN}", "");
    expect((await apply(app, without, false, ENV)).changes.map(describeChange)).toEqual([
      '~ webhook phones: settings.token "a secret" → none',
    ]);
    expect(kept(app)["phones"]?.settings).toEqual({});
    expect((await apply(app, without, false, ENV)).changes).toEqual([]);
    expect(await rejectionOf(app, FILE.replace('"${BOT_TOKEN}"', '""'))).toStartWith(
      "line 16: webhooks[2].settings.bot_token is empty",
    );
  });

  test("a secret must be entered again for another address or recipient", async () => {
    await using app = await createSite();
    const elsewhere = (text: string) => text.replace("https://ntfy.sh/", "https://ntfy.example/");
    expect(await rejectionOf(app, elsewhere(LEFT_OUT))).toBe(
      "line 16: settings.token must be entered again for another address or recipient",
    );
    await apply(app, elsewhere(FILE), false, ENV);
    expect(kept(app)["phones"]).toMatchObject({
      url: "https://ntfy.example/acme-status",
      settings: { token: ENV.NTFY_TOKEN },
    });
  });

  test("a secret URL must be entered again for another format", async () => {
    await using app = await createSite();
    expect(await rejectionOf(app, LEFT_OUT.replace("format: slack", "format: discord"))).toBe(
      "line 9: url must be entered again for another format, because it is a secret",
    );
    expect(await rejectionOf(app, LEFT_OUT.replace("format: slack", "format: standard"))).toContain(
      "webhooks[1].url is required: only a secret URL",
    );
    const shown = FILE.replace("${SLACK_URL}", "https://hooks.slack.com/services/…");
    expect(await rejectionOf(app, shown)).toStartWith(
      "line 12: webhooks[1].url is the shortened URL",
    );
  });
});

test("secrets of webhooks are in no report, log, audit entry, event or export", async () => {
  await using app = await createSite();
  const outcome = await apply(app, FILE, false, OTHER_ENV);
  expect(outcome.changes.map(describeChange)).toEqual([
    '~ webhook deployments: secret "a secret" → "another secret"',
    '~ webhook our-chat: url "a secret" → "another secret"',
    '~ webhook on-call: settings.bot_token "a secret" → "another secret"',
    '~ webhook phones: settings.token "a secret" → "another secret"',
  ]);
  expect(kept(app)).toMatchObject({
    "our-chat": { url: OTHER_ENV.SLACK_URL },
    phones: { settings: { token: OTHER_ENV.NTFY_TOKEN } },
  });
  const exported = writeApplyFile(await app.ctx.db.write((tx) => exportFile(tx)), []);
  expect(exported).toContain("    format: slack\n");
  expect(exported).toContain("    settings:\n      bot_token: null\n");
  expect(exported.match(/url: null/g)).toHaveLength(1);
  expect(exported.match(/secret: null/g)).toHaveLength(1);
  const output = JSON.stringify([outcome, app.audit(), app.events(), app.logged, exported]);
  expect(output).toContain("https://ntfy.sh/acme-status");
  for (const { secret } of Object.values(kept(app))) expect(output).not.toContain(secret);
  for (const secret of [...Object.values(ENV), ...Object.values(OTHER_ENV)]) {
    expect(output).not.toContain(secret.replace("https://hooks.slack.com/services/", ""));
  }
});
