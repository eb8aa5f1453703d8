import { describe, expect, test } from "bun:test";
import { PRESETS } from "../../../../src/features/webhooks/presets";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import {
  createWebhookDashboard,
  fieldsOf,
  NEW_WEBHOOK,
  WEBHOOK_LIST,
} from "../../../support/webhook-dashboard";

const SETTINGS = {
  method: "POST",
  headers: { Authorization: "Bearer {secret.TOKEN}" },
  body: '{"text": "{title}"}',
};
const URL_WITH_SECRET = "https://receiver.example.com/{secret.PART}";
const SECRETS = { TOKEN: "quite-private-token", PART: "quite-private-part" };

/** Returns the content of a text area. */
const areaOf = (html: string, name: string) => readHtml(html).texts(`textarea[name="${name}"]`)[0];

const selectedIn = (html: string, name: string) =>
  readHtml(html).attributes(`select[name="${name}"] option[selected]`, "value");

const secretInputs = (html: string) =>
  readHtml(html)
    .controls.map(({ name }) => name)
    .filter((name) => name.startsWith("secret_"));

describe("the presets of the form for any receiver", () => {
  test("each is a button, and none is chosen at first", async () => {
    await using dashboard = await createWebhookDashboard();
    const { text } = await dashboard.open(`${NEW_WEBHOOK}?format=template`);
    const page = readHtml(text);
    expect(page.attributes('button[name="choose_preset"]', "value")).toEqual(Object.keys(PRESETS));
    expect(page.attributes('button[name="choose_preset"][aria-current]', "value")).toEqual([]);
    expect(secretInputs(text)).toEqual([]);
    const other = await dashboard.open(`${NEW_WEBHOOK}?format=slack`);
    expect(readHtml(other.text).attributes('button[name="choose_preset"]', "value")).toEqual([]);
  });

  test("a chosen one fills the request, the events and the fields of secrets, and creates nothing", async () => {
    await using dashboard = await createWebhookDashboard();
    const before = dashboard.state();
    const { text, status } = await dashboard.create({
      format: "template",
      description: "On call",
      choose_preset: "pagerduty",
    });
    expect(status).toBe(200);
    const page = readHtml(text);
    expect(fieldErrorsOn(text)).toEqual({});
    expect(page.texts('button[name="choose_preset"][aria-current="true"]')).toEqual(["PagerDuty"]);
    expect(page.texts(".hint")).toContain(PRESETS.pagerduty.hint);
    expect(typedIn(text, "description")).toEqual(["On call"]);
    expect(typedIn(text, "url")).toEqual([PRESETS.pagerduty.url]);
    expect(selectedIn(text, "setting_method")).toEqual(["POST"]);
    expect(areaOf(text, "setting_headers")).toBe("content-type: application/json");
    expect(JSON.parse(areaOf(text, "setting_body") ?? "")).toEqual(PRESETS.pagerduty.body);
    expect(JSON.parse(areaOf(text, "setting_resolve_body") ?? "")).toEqual(
      PRESETS.pagerduty.resolve.body,
    );
    expect(typedIn(text, "which")).toEqual(["some"]);
    expect(typedIn(text, "events")).toEqual(["monitor.down", "monitor.up"]);
    expect(secretInputs(text)).toEqual(["secret_INTEGRATION_KEY"]);
    expect(page.texts(".hint")).toContain("Integration key of the service.");
    expect(dashboard.state()).toEqual(before);
  });

  test("another one replaces the request of the one before", async () => {
    await using dashboard = await createWebhookDashboard();
    const { text } = await dashboard.create({
      format: "template",
      preset: "pagerduty",
      setting_resolve_body: "x",
      secret_INTEGRATION_KEY: "quite-private",
      choose_preset: "pushover",
    });
    expect(areaOf(text, "setting_resolve_body")).toBe("");
    expect(typedIn(text, "setting_text_limit")).toEqual(["1024"]);
    expect(typedIn(text, "which")).toEqual(["all"]);
    expect(secretInputs(text)).toEqual(["secret_APP_TOKEN", "secret_USER_KEY"]);
    expect(text).not.toContain("quite-private");
  });

  test("a webhook is created from it with its secrets alone, and its screen shows none of them", async () => {
    await using dashboard = await createWebhookDashboard();
    const filled = await dashboard.create({ format: "template", choose_preset: "opsgenie" });
    const fields = Object.fromEntries(
      ["setting_headers", "setting_body", "setting_resolve_body"].map((name) => [
        name,
        // As a browser sends lines.
        (areaOf(filled.text, name) ?? "").replaceAll("} ", "}\r\n"),
      ]),
    );
    const made = await dashboard.made({
      format: "template",
      preset: "opsgenie",
      url: typedIn(filled.text, "url")[0] ?? "",
      setting_method: "POST",
      setting_title_limit: "130",
      setting_resolve_url: typedIn(filled.text, "setting_resolve_url")[0] ?? "",
      ...fields,
      secret_API_KEY: "quite-private-key",
    });
    expect(made).toMatchObject({
      format: "template",
      settings: {
        method: "POST",
        headers: { authorization: "GenieKey {secret.API_KEY}", "content-type": "application/json" },
        title_limit: 130,
        resolve_url: PRESETS.opsgenie.resolve.url,
        secrets: { API_KEY: "quite-private-key" },
      },
    });
    expect(JSON.parse(String(made.settings["body"]))).toEqual(PRESETS.opsgenie.body);
    const home = `${WEBHOOK_LIST}/${made.id}`;
    const screens = await Promise.all([WEBHOOK_LIST, home, `${home}/edit`].map(dashboard.open));
    for (const { text } of screens) expect(text).not.toContain("quite-private-key");
    const [, detail] = screens;
    expect(detail?.text).toContain("Set, not shown: API_KEY");
    expect(detail?.text).toContain("authorization: GenieKey {secret.API_KEY}");
    expect(detail?.text).not.toContain("Messages about monitors");
  });
});

describe("the form for any receiver", () => {
  test("asks for each secret that the request names, with a field for it", async () => {
    await using dashboard = await createWebhookDashboard();
    const typed = { format: "template", url: URL_WITH_SECRET, ...fieldsOf(SETTINGS) };
    const shown = await dashboard.create({ ...typed, show_secrets: "yes" });
    expect(shown.status).toBe(200);
    expect(secretInputs(shown.text)).toEqual(["secret_PART", "secret_TOKEN"]);
    expect(areaOf(shown.text, "setting_headers")).toBe("Authorization: Bearer {secret.TOKEN}");
    const rejected = await dashboard.create({ ...typed, secret_TOKEN: SECRETS.TOKEN });
    expect(rejected.status).toBe(422);
    expect(fieldErrorsOn(rejected.text)).toEqual({
      secret_PART: "PART is required, since the request has {secret.PART}.",
    });
    expect(rejected.text).not.toContain(SECRETS.TOKEN);
    expect(dashboard.rows()).toEqual([]);
  });

  test("names the wrong part of a request", async () => {
    await using dashboard = await createWebhookDashboard();
    const { status, text } = await dashboard.create({
      format: "template",
      setting_method: "POST",
      setting_headers: "Authorization: Bearer abc",
      setting_body: '{"a": {title}}',
      setting_resolve_url: "https://other.example.com/",
      setting_text_limit: "few",
    });
    expect(status).toBe(422);
    expect(fieldErrorsOn(text)).toEqual({
      setting_text_limit: "Text limit must be a whole number from 50 to 10,000.",
    });
    const again = await dashboard.create({
      format: "template",
      setting_method: "POST",
      setting_headers: "Authorization: Bearer abc",
      setting_body: '{"a": {title}}',
      setting_resolve_url: "https://other.example.com/",
    });
    expect(fieldErrorsOn(again.text)).toEqual({
      setting_headers: "“Authorization” is a secret: write it as {secret.NAME}.",
      setting_body: "Body must be JSON, with placeholders inside of texts only.",
      setting_resolve_url: "Resolve URL must have the same scheme, host and port as the URL.",
    });
    const lines = await dashboard.create({
      format: "template",
      setting_method: "POST",
      setting_headers: "no colon",
    });
    expect(fieldErrorsOn(lines.text)).toMatchObject({
      setting_headers: "Write a name, a colon and a value on each line.",
    });
    expect(dashboard.rows()).toEqual([]);
  });

  test("keeps stored secrets that are left empty while the request stays, and asks again for all otherwise", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made({
      format: "template",
      url: URL_WITH_SECRET,
      ...fieldsOf({ ...SETTINGS, secrets: SECRETS }),
    });
    const typed = fieldsOf(SETTINGS);
    const kept = await dashboard.edit(id, { ...typed, description: "Kept" });
    expect(kept.status).toBe(303);
    expect(dashboard.rows()[0]).toMatchObject({
      description: "Kept",
      settings: { ...SETTINGS, secrets: SECRETS },
    });
    const unchanged = await dashboard.edit(id, typed);
    expect(unchanged.status).toBe(303);
    expect(dashboard.rows()[0]?.version).toBe(2);

    const body = { ...typed, setting_body: '{"text": "{title}", "is": "{secret.TOKEN}"}' };
    const rejected = await dashboard.edit(id, body);
    expect(rejected.status).toBe(422);
    expect(fieldErrorsOn(rejected.text)).toEqual({
      setting_secrets: "Secrets must be entered again for another address or recipient.",
    });
    const half = await dashboard.edit(id, { ...body, secret_TOKEN: "new" });
    expect(half.status).toBe(422);
    const both = { secret_TOKEN: "new", secret_PART: "other" };
    expect((await dashboard.edit(id, { ...body, ...both })).status).toBe(303);
    expect(dashboard.rows()[0]?.settings).toMatchObject({
      secrets: { TOKEN: "new", PART: "other" },
    });
  });

  test("removes a stored secret that the request does not name any more", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made({
      format: "template",
      url: URL_WITH_SECRET,
      ...fieldsOf({ ...SETTINGS, secrets: SECRETS }),
    });
    const answer = await dashboard.edit(id, {
      ...fieldsOf(SETTINGS),
      setting_headers: "",
      secret_PART: "again",
    });
    expect(answer.status).toBe(303);
    expect(dashboard.rows()[0]?.settings).toEqual({
      method: "POST",
      body: SETTINGS.body,
      secrets: { PART: "again" },
    });
  });
});
