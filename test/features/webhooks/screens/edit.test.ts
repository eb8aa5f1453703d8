import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { actionsOf } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { outcomeOf } from "../../../support/grouped-site";
import { createWebhookDashboard, PROGRAM, WEBHOOK_LIST } from "../../../support/webhook-dashboard";
import { SLACK } from "../../../support/webhook-site";
import { createWebhook, updateWebhook } from "../../../support/examined";

const NTFY = { format: "ntfy", url: "https://ntfy.sh/acme", setting_token: "tk_one" };

describe("the form that edits a webhook", () => {
  test("editing a webhook changes the typed values and is audited and confirmed", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id, secret } = await dashboard.made();
    const answer = await dashboard.edit(id, {
      description: "Pager",
      which: "some",
      events: ["monitor.down"],
      page: dashboard.page.id,
    });
    expect(await outcomeOf(dashboard, answer, dashboard.session)).toEqual({
      path: `${WEBHOOK_LIST}/${id}`,
      text: "The webhook was changed.",
    });
    expect(dashboard.rows()[0]).toMatchObject({
      description: "Pager",
      events: ["monitor.down"],
      pageId: dashboard.page.id,
      url: PROGRAM,
      secret,
    });
    expect(dashboard.app.audit().at(-1)).toMatchObject({ action: "webhook.update", targetId: id });
  });

  test("the gathering time is a field of formats for people alone", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made({ format: "slack", url: SLACK, group_seconds: "45" });
    expect(dashboard.rows()[0]).toMatchObject({ groupSeconds: 45 });
    const screen = (await dashboard.open(`${WEBHOOK_LIST}/${id}`)).text;
    expect(screen).toContain("Gathered for 45 s");
    const rejected = await dashboard.edit(id, { group_seconds: "301" });
    expect(rejected.status).toBe(422);
    expect(fieldErrorsOn(rejected.text)).toMatchObject({
      group_seconds: expect.stringContaining("300"),
    });
    await dashboard.edit(id, { group_seconds: "0" });
    expect(dashboard.rows()[0]).toMatchObject({ groupSeconds: 0 });
    expect((await dashboard.open(`${WEBHOOK_LIST}/${id}`)).text).toContain("Each by itself");
    const program = await dashboard.made();
    const form = (await dashboard.open(`${WEBHOOK_LIST}/${program.id}/edit`)).text;
    expect(form).not.toContain("group_seconds");
    expect(program.groupSeconds).toBe(30);
  });

  test("submitting an unchanged webhook changes nothing and shows “Nothing was changed.”", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made({
      format: "slack",
      url: SLACK,
      which: "some",
      events: ["monitor.up"],
    });
    const before = dashboard.state();
    const answer = await dashboard.edit(id);
    const { text } = await outcomeOf(dashboard, answer, dashboard.session);
    expect(text).toBe("Nothing was changed.");
    expect(dashboard.state()).toEqual(before);
  });

  test("the edit form keeps a token left empty, replaces a typed one and removes a ticked one", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made(NTFY);
    const token = () => dashboard.rows()[0]?.settings["token"];
    const edit = async (fields: Record<string, string>) =>
      expect((await dashboard.edit(id, fields)).status).toBe(303);
    await edit({ setting_token: "", description: "Screen" });
    expect(token()).toBe("tk_one");
    await edit({ setting_token: "tk_two" });
    expect(token()).toBe("tk_two");
    await edit({ setting_token: "", clear_token: "yes" });
    expect(token()).toBeUndefined();
  });

  test("a token must be typed again if the URL names another server, and nothing is changed until then", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made(NTFY);
    const before = dashboard.state();
    const url = "https://ntfy.example.com/acme";
    const answer = await dashboard.edit(id, { url, setting_token: "" });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({
      setting_token: "Token must be entered again for another address or recipient.",
    });
    expect(dashboard.state()).toEqual(before);
    expect((await dashboard.edit(id, { url, setting_token: "tk_two" })).status).toBe(303);
  });

  test("a rejected or outdated form asks to type a typed token again, since it is not shown", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made(NTFY);
    const typed = { setting_token: "tk_two" };
    const again = "Enter the new value again, because secrets are not shown.";
    for (const [fields, status] of [
      [{ url: "ntfy" }, 422],
      [{ version: "0" }, 409],
      [{ choose_format: "ntfy" }, 200],
    ] as const) {
      const answer = await dashboard.edit(id, { ...typed, ...fields });
      expect(answer.status).toBe(status);
      expect(readHtml(answer.text).texts("#field-setting_token-hint")[0]).toEndWith(again);
      expect(answer.text).not.toContain("tk_two");
    }
    const screen = await dashboard.open(`${WEBHOOK_LIST}/${id}/edit`);
    expect(screen.text).not.toContain(again);
  });

  test("a secret URL must be typed again for another format", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made({ format: "slack", url: SLACK });
    const chosen = await dashboard.edit(id, { choose_format: "discord" });
    expect(chosen.status).toBe(200);
    expect(typedIn(chosen.text, "format")).toEqual(["discord"]);
    expect(dashboard.rows()[0]?.format).toBe("slack");
    const answer = await dashboard.edit(id, { format: "discord" });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["url"]);
    expect(answer.text).not.toContain("quite-private-end");
    expect(dashboard.rows()[0]).toMatchObject({ format: "slack", url: SLACK });
  });

  test("an outdated edit of a webhook is a conflict that keeps the typed text and can be sent again", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id, version } = await dashboard.made();
    const { ctx } = dashboard.app;
    await ctx.db.write((tx) => updateWebhook(ctx, tx, id, { description: "Theirs" }, CLI_ACTOR));
    const before = dashboard.state();
    const late = await dashboard.edit(id, { version: String(version), description: "Mine" });
    expect(late.status).toBe(409);
    expect(typedIn(late.text, "description")).toEqual(["Mine"]);
    expect(dashboard.state()).toEqual(before);
    const [now = ""] = typedIn(late.text, "version");
    expect((await dashboard.edit(id, { version: now, description: "Mine" })).status).toBe(303);
    expect(dashboard.rows()[0]?.description).toBe("Mine");
  });

  test("choosing a format in an outdated edit keeps it outdated", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id, version } = await dashboard.made();
    const { ctx } = dashboard.app;
    await ctx.db.write((tx) => updateWebhook(ctx, tx, id, { description: "Theirs" }, CLI_ACTOR));
    const before = dashboard.state();
    const chosen = await dashboard.edit(id, { version: String(version), choose_format: "gotify" });
    const [shown = ""] = typedIn(chosen.text, "version");
    expect(shown).toBe(String(version));
    const late = await dashboard.edit(id, { version: shown, description: "Mine" });
    expect(late.status).toBe(409);
    expect(dashboard.state()).toEqual(before);
  });

  test("another format requires its own settings, and keeps none of the format before", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made(NTFY);
    const gotify = { format: "gotify", url: "https://gotify.example.com/" };
    const answer = await dashboard.edit(id, { ...gotify, setting_token: "" });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({ setting_token: "Token is required." });
    expect((await dashboard.edit(id, { format: "standard" })).status).toBe(303);
    expect(dashboard.rows()[0]?.settings).toEqual({});
  });

  test("a missing or unknown format is rejected and keeps the format and its settings", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made(NTFY);
    const before = dashboard.state();
    for (const [name, value] of [
      ["format", ""],
      ["format", "fax"],
      ["choose_format", "fax"],
    ] as const) {
      const answer = await dashboard.edit(id, { [name]: value });
      expect(answer.status).toBe(422);
      expect(readHtml(answer.text).texts(".notice a")).toEqual(["Send to"]);
      expect(typedIn(answer.text, "format")).toEqual(["ntfy"]);
    }
    expect(dashboard.state()).toEqual(before);
  });

  test("an unedited form changes nothing if the events are stored in another order", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made();
    const { ctx } = dashboard.app;
    const events = ["monitor.up", "incident.created"] as const;
    await ctx.db.write((tx) => updateWebhook(ctx, tx, id, { events: [...events] }, CLI_ACTOR));
    const before = dashboard.state();
    expect((await dashboard.edit(id)).status).toBe(303);
    expect(dashboard.state()).toEqual(before);
  });

  test("the screens of a webhook from a configuration file name the file as its source", async () => {
    await using dashboard = await createWebhookDashboard();
    const { app } = dashboard;
    const mine = await dashboard.made();
    const row = await app.ctx.db.write(
      (tx) => createWebhook(app.ctx, tx, { url: PROGRAM }, CLI_ACTOR, { managedBy: "apply" }).row,
    );
    const notices = async (id: string, path: string) =>
      readHtml((await dashboard.open(`${WEBHOOK_LIST}/${id}${path}`)).text).texts(
        ".notice .strong",
      );
    for (const path of ["", "/edit"]) {
      // oxlint-disable-next-line no-await-in-loop
      expect(await notices(row.id, path)).toEqual(["Managed by a configuration file"]);
      // oxlint-disable-next-line no-await-in-loop
      expect(await notices(mine.id, path)).toEqual([]);
    }
    expect(actionsOf(app)).toContain("webhook.create");
  });
});
