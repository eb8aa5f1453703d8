import { describe, expect, test } from "bun:test";
import type { WebhookFormat } from "../../../../src/base/webhook";
import { FORMATS } from "../../../../src/features/webhooks/formats";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import {
  createWebhookDashboard,
  fieldsOf,
  NEW_WEBHOOK,
  PROGRAM,
  revealedSecret,
  WEBHOOK_LIST,
} from "../../../support/webhook-dashboard";
import { SECRET_DESTINATIONS } from "../../../support/webhook-site";

/** Secret settings by format, written down here, so that a test finds one that is not marked. */
const SECRET_SETTINGS: Partial<Record<WebhookFormat, string[]>> = {
  "uptime-kuma": ["headers"],
  ntfy: ["token", "authorization"],
  gotify: ["token"],
  telegram: ["bot_token"],
};

describe("the form for a new webhook", () => {
  test("a new webhook has the typed values and shows its secret once", async () => {
    await using dashboard = await createWebhookDashboard();
    const { page, app } = dashboard;
    const answer = await dashboard.create({
      which: "some",
      events: ["incident.created", "monitor.down"],
      page: page.id,
    });
    const secret = revealedSecret(answer);
    const [row] = dashboard.rows();
    expect(row).toMatchObject({
      url: PROGRAM,
      description: "Relay",
      events: ["incident.created", "monitor.down"],
      pageId: page.id,
      format: "standard",
      enabled: true,
      secret,
    });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("content-encoding")).toBeNull();
    for (const path of [
      WEBHOOK_LIST,
      `${WEBHOOK_LIST}/${row?.id}`,
      `${WEBHOOK_LIST}/${row?.id}/edit`,
    ]) {
      // oxlint-disable-next-line no-await-in-loop
      expect((await dashboard.open(path)).text).not.toContain("whsec_");
    }
    expect(JSON.stringify([app.audit(), app.logged])).not.toContain(secret);
  });

  test("the form for a new webhook starts with every event of every page", async () => {
    await using dashboard = await createWebhookDashboard();
    expect((await dashboard.made()).events).toEqual(["*"]);
    expect(dashboard.rows()[0]?.pageId).toBeNull();
  });

  for (const format of Object.values(FORMATS)) {
    test(`the form for ${format.label} has its settings and explains where to find them`, async () => {
      await using dashboard = await createWebhookDashboard();
      const { text } = await dashboard.open(`${NEW_WEBHOOK}?format=${format.name}`);
      const page = readHtml(text);
      expect(page.texts('[aria-current="true"]')).toEqual([format.label]);
      expect(page.texts(".hint")).toContain(format.hint);
      const { properties } = format.settings;
      const names = page.attributes('[name^="setting_"]', "name");
      // The secrets of a template have an input each, once it names them.
      expect(names.map((name) => name.replace("setting_", ""))).toEqual(
        Object.keys(properties).filter((name) => name !== "secrets"),
      );
      const hidden = page.controls.filter(({ type }) => type === "password");
      expect(hidden.map(({ name }) => name.replace("setting_", ""))).toEqual([
        ...(SECRET_SETTINGS[format.name] ?? []),
      ]);
    });
  }

  test("choosing another format shows its fields, keeps the typed values and creates nothing", async () => {
    await using dashboard = await createWebhookDashboard();
    const before = dashboard.state();
    const answer = await dashboard.create({ choose_format: "telegram", description: "Our group" });
    expect(answer.status).toBe(200);
    expect(fieldErrorsOn(answer.text)).toEqual({});
    expect(typedIn(answer.text, "format")).toEqual(["telegram"]);
    expect(typedIn(answer.text, "description")).toEqual(["Our group"]);
    expect(typedIn(answer.text, "url")).toEqual([PROGRAM]);
    expect(typedIn(answer.text, "setting_chat_id")).toEqual([""]);
    expect(dashboard.state()).toEqual(before);
  });

  test("Enter in the form for a new webhook presses its main button", async () => {
    await using dashboard = await createWebhookDashboard();
    const { text } = await dashboard.open(NEW_WEBHOOK);
    const [first] = readHtml(text).attributes("main form button", "class");
    expect(first).toContain("enter-button");
  });

  for (const [format, { url, settings = {}, secrets }] of Object.entries(SECRET_DESTINATIONS)) {
    test(`the secrets of a ${format} webhook are on no screen once it is created`, async () => {
      await using dashboard = await createWebhookDashboard();
      const fields = fieldsOf(settings);
      const answer = await dashboard.create({ format, url, ...fields });
      const [row] = dashboard.rows();
      expect(row).toMatchObject({ format, url, settings });
      const home = `${WEBHOOK_LIST}/${row?.id}`;
      const screens = await Promise.all([WEBHOOK_LIST, home, `${home}/edit`].map(dashboard.open));
      for (const { text } of [answer, ...screens]) {
        for (const secret of secrets) expect(text).not.toContain(secret);
      }
    });
  }

  test("an invalid new webhook is redisplayed with all errors and typed values except secrets", async () => {
    await using dashboard = await createWebhookDashboard();
    const before = dashboard.state();
    const answer = await dashboard.create({
      format: "telegram",
      url: "http://2130706433/",
      setting_bot_token: "not a token",
      setting_chat_id: "our group",
      setting_message_thread_id: "first",
      page: "page_01kah2v9w0e0rs6x0h3ye0a1bc",
    });
    expect(answer.status).toBe(422);
    const errors = fieldErrorsOn(answer.text);
    expect(Object.keys(errors)).toEqual([
      "url",
      "setting_bot_token",
      "setting_chat_id",
      "setting_message_thread_id",
      "page",
    ]);
    expect(errors["setting_message_thread_id"]).toBe(
      "Message thread id must be a whole number of at least 1.",
    );
    expect(typedIn(answer.text, "setting_chat_id")).toEqual(["our group"]);
    expect(typedIn(answer.text, "setting_bot_token")).toEqual([""]);
    expect(answer.text).not.toContain("not a token");
    expect(dashboard.state()).toEqual(before);
  });

  test.each([
    ["none", { events: [] }],
    ["one that does not exist", { events: ["incident.exploded"] }],
    ["one twice", { events: ["incident.created", "incident.created"] }],
  ])("a new webhook for some events requires valid ones; rejected: %s", async (_, fields) => {
    await using dashboard = await createWebhookDashboard();
    const answer = await dashboard.create({ which: "some", ...fields });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({ events: "Select at least one event." });
    expect(dashboard.rows()).toEqual([]);
  });
});
