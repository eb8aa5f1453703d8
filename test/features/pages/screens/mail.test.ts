import { describe, expect, test } from "bun:test";
import { mailSettingsOf } from "../../../../src/features/pages/mail";
import { fieldErrorsOn, typedIn } from "../../../support/html";
import { createPageDashboard, flashAfter, PAGES } from "../../../support/page-dashboard";

const FIELDS = {
  subscriptions: "yes",
  from_name: "Acme Operations",
  reply_to: "Help@EXAMPLE.com",
  subject: "status",
  footer: "Acme, 1 Road\r\nTown",
};

describe("a page's settings about e-mail", () => {
  test("the form stores all settings and shows them again", async () => {
    await using site = await createPageDashboard();
    const path = `${PAGES}/${site.id}/mail`;
    const answer = await site.change("mail", FIELDS);
    expect(await flashAfter(site, answer, path)).toBe("The settings about e-mail were changed.");
    expect(mailSettingsOf(site.page())).toEqual({
      subscriptions: true,
      from_name: "Acme Operations",
      reply_to: "Help@example.com",
      subject: "status",
      footer: "Acme, 1 Road\nTown",
    });
    const { text } = await site.show(path);
    expect(typedIn(text, "from_name")).toEqual(["Acme Operations"]);
    expect(typedIn(text, "subject")).toEqual(["status"]);
    expect(site.app.audit().at(-1)?.action).toBe("page.update");
  });

  test("empty fields and an unchecked box restore the defaults and end subscribing", async () => {
    await using site = await createPageDashboard();
    await site.change("mail", FIELDS);
    const empty = { from_name: "", reply_to: " ", subject: "thread", footer: "" };
    expect((await site.change("mail", empty)).status).toBe(303);
    expect(mailSettingsOf(site.page())).toEqual({
      subscriptions: false,
      from_name: null,
      reply_to: null,
      subject: "thread",
      footer: null,
    });
  });

  test("an invalid address and a long text are shown again with their errors", async () => {
    await using site = await createPageDashboard();
    const before = site.state();
    const typed = { ...FIELDS, reply_to: "help@", footer: "x".repeat(501) };
    const answer = await site.change("mail", typed);
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["reply_to", "footer"]);
    expect(typedIn(answer.text, "reply_to")).toEqual(["help@"]);
    expect(site.state()).toEqual(before);
  });

  test("only admins see and change them", async () => {
    await using site = await createPageDashboard();
    const path = `${PAGES}/${site.id}/mail`;
    const editor = await site.app.signedIn("editor");
    expect((await site.app.call(path, { session: editor })).status).toBe(403);
    const sent = await site.app.call(path, { session: editor, form: FIELDS });
    expect(sent.status).toBe(403);
    const { text } = await site.app.call(`${PAGES}/${site.id}`, { session: editor });
    expect(text).not.toContain(path);
  });

  test("the screen says while no mail can be sent", async () => {
    await using site = await createPageDashboard();
    expect((await site.show(`${PAGES}/${site.id}/mail`)).text).toContain("E-mail is not set up");
  });
});
