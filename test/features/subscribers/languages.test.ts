import { describe, expect, test } from "bun:test";
import { inviteSubscriber } from "../../../src/features/subscribers/sign-up";
import { SIGN_UP_TEMPLATES } from "../../../src/features/subscribers/mails";
import { getPage } from "../../../src/features/pages/pages";
import { insertRequest } from "../../../src/features/subscribers/store";
import { readMailSettings } from "../../../src/features/mail/settings";
import { exportSubscribers, readImportFile } from "../../../src/features/subscribers/transfer";
import { readHtml } from "../../support/html";
import { createSubscribingSite, type SubscribingSite } from "../../support/subscribing";
import { wordsOf } from "../../../src/languages/words";

const { t: de } = wordsOf("de");

const create = () => createSubscribingSite({ locale: "en", languages: ["de", "ja"] });

async function read(
  { app }: SubscribingSite,
  path: string,
  form?: Record<string, string | readonly string[]>,
) {
  const answer = await app.call(path, form ? { method: "POST", form } : {});
  return { ...answer, page: readHtml(answer.text) };
}

/** Returns the languages of the field, and the one that is selected. */
function languagesIn(text: string) {
  const page = readHtml(text);
  return {
    values: page.attributes("#field-language option", "value"),
    selected: page.attributes("#field-language option[selected]", "value"),
  };
}

describe("the language of a subscriber", () => {
  test("is chosen in the form, in which that of the page is selected", async () => {
    await using site = await create();
    const values = ["en", "de", "ja"];
    const own = await read(site, "/status/acme/subscribe");
    expect(languagesIn(own.text)).toEqual({ values, selected: ["en"] });
    const japanese = await read(site, "/status/acme/subscribe?lang=ja");
    expect(languagesIn(japanese.text)).toEqual({ values, selected: ["ja"] });
    expect(japanese.page.attributes("form", "action")).toEqual(["/status/acme/subscribe?lang=ja"]);
  });

  test("is that of the page where it has a single one, without a field", async () => {
    await using site = await createSubscribingSite({ locale: "de" });
    const { text } = await read(site, "/status/acme/subscribe");
    expect(languagesIn(text).values).toEqual([]);
    const subscriber = await site.subscribed("ann@example.com", { language: "ja" });
    expect(subscriber.language).toBeNull();
    const manage = await read(site, site.path("manage", subscriber));
    expect(manage.page.attributes("html", "lang")).toEqual(["de"]);
    expect(manage.page.texts("h1")).toEqual([de("manage.subscribed", { page: "Acme" })]);
  });

  test("holds for the form that was rejected, the answer, and every page of a link", async () => {
    await using site = await create();
    const path = "/status/acme/subscribe?lang=de";
    const wrong = await read(site, path, { email: "none", language: "ja", scope: "selection" });
    expect(wrong.status).toBe(422);
    expect(wrong.page.texts(".form-errors li")).toEqual([
      de("form.wrong.address"),
      de("form.wrong.components"),
    ]);
    expect(languagesIn(wrong.text).selected).toEqual(["ja"]);
    const right = await read(site, path, { email: "ann@example.com", language: "de" });
    expect(right.headers.get("location")).toBe("/status/acme/subscribe/sent?lang=de");
    const sent = await read(site, "/status/acme/subscribe/sent?lang=de");
    expect(sent.page.texts("h1")).toEqual([de("sent.title")]);

    const link = await site.requested("bea@example.com", { language: "de" });
    expect((await read(site, link)).page.texts("h1")).toEqual([de("confirm.title")]);
    await read(site, link, {});
    const bea = site.subscribers().find(({ address }) => address === "bea@example.com");
    if (!bea) throw new Error("there is no subscriber");
    expect(bea.language).toBe("de");
    expect(bea.consentText).toBe(de("confirm.consent", { page: "Acme" }));
    const manage = await read(site, site.path("manage", bea));
    expect(manage.page.attributes("html", "lang")).toEqual(["de"]);
    expect(languagesIn(manage.text).selected).toEqual(["de"]);
    const unsubscribe = site.path("unsubscribe", { id: bea.id });
    expect((await read(site, unsubscribe)).page.texts("h1")).toEqual([de("manage.unsubscribe")]);
    const oneClick = await read(site, unsubscribe, { "List-Unsubscribe": "One-Click" });
    expect(oneClick.text).toBe(`${de("mail.unsubscribed")}\n`);
  });

  test("is changed where the subscription is managed", async () => {
    await using site = await create();
    const ann = await site.subscribed("ann@example.com", { language: "de" });
    const path = site.path("manage", ann);
    await read(site, path, { action: "save", events: ["incidents"], language: "ja" });
    expect((await read(site, path)).page.attributes("html", "lang")).toEqual(["ja"]);
    // One that the page does not offer is left out.
    await read(site, path, { action: "save", events: ["incidents"], language: "fr" });
    expect(site.subscribers()[0]?.language).toBeNull();
    expect((await read(site, path)).page.attributes("html", "lang")).toEqual(["en"]);
  });

  test("is that of the page while the page no longer lists it", async () => {
    await using site = await create();
    const ann = await site.subscribed("ann@example.com", { language: "de" });
    await site.change({ languages: ["ja"] });
    const path = site.path("manage", ann);
    expect((await read(site, path)).page.attributes("html", "lang")).toEqual(["en"]);
    await site.change({ languages: ["de"] });
    expect((await read(site, path)).page.attributes("html", "lang")).toEqual(["de"]);
  });

  test("is kept by every link of those pages to the status page", async () => {
    await using site = await create();
    const { app, page } = site;
    const key = await app.keyWith("write:incidents");
    const json = { page: page.slug, name: "Errors", body: "Hm." };
    const { body } = await app.call("/api/v1/incidents", { method: "POST", key, json });
    const link = await site.requested("ann@example.com", { language: "de" });
    expect((await read(site, link)).page.attributes(".brand", "href")).toEqual([
      "/status/acme?lang=de",
    ]);
    await read(site, link, {});
    const [ann] = site.subscribers();
    if (!ann) throw new Error("there is no subscriber");
    const path = site.path("manage", ann);
    const manage = await read(site, path);
    expect(manage.page.attributes("a", "href")).toEqual([
      "/status/acme?lang=de",
      `/status/acme/incidents/${body.id}?lang=de`,
    ]);
    const ended = await read(site, path, { action: "unsubscribe" });
    expect(ended.page.attributes("a", "href")).toEqual([
      "/status/acme?lang=de",
      "/status/acme?lang=de",
      "/status/acme/subscribe?lang=de",
    ]);
    const dead = await app.call(path, { headers: { accept: "text/html" } });
    expect(dead.status).toBe(404);
    const shown = readHtml(dead.text);
    expect(shown.attributes("html", "lang")).toEqual(["de"]);
    expect(shown.texts("main p")[0]).toBe(de("failure.link_text"));
    expect(shown.attributes("main a", "href")).toEqual(["/status/acme/subscribe?lang=de"]);
    expect(shown.texts("main a")).toEqual([de("subscribe.again")]);
    // A language of the page itself is in no address.
    const bea = await site.subscribed("bea@example.com", { language: "en" });
    const own = await read(site, site.path("manage", bea));
    expect(own.page.attributes(".brand", "href")).toEqual(["/status/acme"]);
  });

  test("is selected where the subscription is managed as it counts, also one no longer listed", async () => {
    await using site = await create();
    const ann = await site.subscribed("ann@example.com", { language: "ja" });
    await site.change({ locale: "de", languages: ["fr", "en"] });
    const manage = await read(site, site.path("manage", ann));
    expect(manage.page.attributes("html", "lang")).toEqual(["de"]);
    expect(languagesIn(manage.text).selected).toEqual(["de"]);
  });

  test("is that of the page that refuses further sign-ups", async () => {
    await using site = await create();
    const { ctx } = site.app;
    const [row] = await site.requested().then(() => site.requests());
    if (!row) throw new Error("there is no sign-up");
    await ctx.db.write((tx) => {
      for (let n = 0; n < 1_000; n++) {
        insertRequest(tx, { ...row, id: ctx.newId("mrq"), clientKey: `192.0.2.${n}` });
      }
    });
    const path = "/status/acme/subscribe?lang=de";
    await read(site, path);
    const refused = await site.app.call(path, {
      form: { email: "bea@example.com" },
      headers: { accept: "text/html" },
    });
    expect(refused.status).toBe(429);
    const [text] = readHtml(refused.text).texts("main p");
    expect(text).toBe(de("failure.crowded", { minutes: 60 }));
  });

  test("is that of the mail which asks for a confirmation, with its subject", async () => {
    await using site = await create();
    await site.requested("ann@example.com", { language: "de" });
    const { ctx } = site.app;
    const [mail] = site.mails();
    const settings = readMailSettings(ctx);
    if (!mail || !settings) throw new Error("no mail was queued");
    const composed = SIGN_UP_TEMPLATES["confirmation"]?.(mail as never, { ctx, settings } as never);
    expect(composed).toMatchObject({ subject: de("mail.confirm_subject", { page: "Acme" }) });
    expect(String((composed as { text: string }).text)).toContain(de("mail.about_all"));
  });
});

describe("a file with subscribers", () => {
  const parse = ({ app, page }: SubscribingSite, text: string) =>
    readImportFile(app.ctx.db, page, [Buffer.from(text)], {
      badLinesMax: 10,
      allowUtf8Local: false,
    });

  test("has a column with languages of the page", async () => {
    await using site = await create();
    const { rows, badLines } = await parse(
      site,
      "email,language\nann@example.com,DE\nbea@example.com,\ncem@example.com,fr\n",
    );
    expect(rows.map(({ choices }) => choices.language)).toEqual(["de", undefined]);
    expect(badLines).toEqual([{ line: 4, detail: "language: fr is none of en, de, ja" }]);
  });

  test("is written with the language of each", async () => {
    await using site = await create();
    await site.subscribed("ann@example.com", { language: "ja" });
    const text = [
      ...exportSubscribers(site.app.ctx.db, { page: site.page, isSuppressed: false }),
    ].join("");
    expect(text.split("\r\n")[0]).toEndWith(",language");
    expect(text.split("\r\n")[1]).toEndWith(",ja");
    const { rows } = await parse(site, text);
    expect(rows[0]?.choices.language).toBe("ja");
  });

  test("can be imported again after the page has lost a language", async () => {
    await using site = await create();
    await site.subscribed("ann@example.com", { language: "ja" });
    await site.change({ languages: ["de"] });
    const { ctx } = site.app;
    const page = getPage(ctx.db, site.page.id);
    const text = [...exportSubscribers(ctx.db, { page, isSuppressed: false })].join("");
    const { rows, badLines } = await readImportFile(ctx.db, page, [Buffer.from(text)], {
      badLinesMax: 10,
      allowUtf8Local: false,
    });
    expect(badLines).toEqual([]);
    expect(rows.map(({ choices }) => choices.language)).toEqual([undefined]);
  });
});

test("an invitation of the team is in the language that the team chooses", async () => {
  await using site = await create();
  const { ctx } = site.app;
  await ctx.db.write((tx) =>
    inviteSubscriber(
      ctx,
      tx,
      {
        pageId: site.page.id,
        address: {
          address: "a@b.example",
          key: "a@b.example",
          throttleKey: "a@b.example",
          domain: "b.example",
        },
        choices: { scope: "page", targets: [], events: ["incidents"], language: "de" },
        source: "dashboard",
      },
      null,
    ),
  );
  const [request] = site.requests();
  const link = site.path("confirm", request ?? { id: "" });
  expect((await read(site, link)).page.texts("h1")).toEqual([de("confirm.title")]);
});
