import { describe, expect, test } from "bun:test";
import { exportFile } from "../../../src/features/apply/apply";
import { findPageBySlug } from "../../../src/features/pages/store";
import { mailSettingsOf } from "../../../src/features/pages/mail";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, linesOf } from "../../support/apply";

const fileWith = (mail: string) => `pages: [{ slug: acme, name: Acme, mail: ${mail} }]`;

function mailOf({ ctx }: TestApp) {
  const page = findPageBySlug(ctx.db, { slug: "acme" });
  if (!page) throw new Error("there is no page");
  return mailSettingsOf(page);
}

describe("a page's settings about e-mail in a file", () => {
  test("settings of a file are stored, and a second run changes nothing", async () => {
    await using app = await createTestApp();
    const file = fileWith("{ subscriptions: false, reply_to: Help@EXAMPLE.com, subject: status }");
    await apply(app, file);
    expect(mailOf(app)).toEqual({
      subscriptions: false,
      from_name: null,
      reply_to: "Help@example.com",
      subject: "status",
      footer: null,
    });
    expect((await apply(app, file)).changes).toEqual([]);
    const [page] = exportFile(app.ctx.db).pages;
    expect(page?.mail?.reply_to).toBe("Help@example.com");
  });

  test("settings that a file leaves out return to their defaults, and are not exported", async () => {
    await using app = await createTestApp();
    await apply(app, fileWith("{ footer: Acme, subscriptions: false }"));
    const lines = linesOf(await apply(app, "pages: [{ slug: acme, name: Acme }]"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toStartWith("~ page acme: mail {");
    expect(mailOf(app).subscriptions).toBe(true);
    expect(exportFile(app.ctx.db).pages[0]?.mail).toBeUndefined();
  });

  test("an invalid setting is rejected with its line", async () => {
    await using app = await createTestApp();
    for (const [mail, error] of [
      ["{ reply_to: nobody }", "mail.reply_to must be an e-mail address"],
      ["{ subject: short }", "mail.subject must be one of thread, status"],
      ["{ colour: red }", "mail.colour"],
    ] as const) {
      await expect((async () => apply(app, fileWith(mail)))()).rejects.toThrow(error);
    }
    expect(findPageBySlug(app.ctx.db, { slug: "acme" })).toBeUndefined();
  });
});
