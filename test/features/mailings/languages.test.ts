import { describe, expect, test } from "bun:test";
import { createMailingSite, type MailingSite } from "../../support/mailing-site";
import { toMessage } from "../../../src/features/mail/compose";
import { LANGUAGES } from "../../../src/languages/tags";
import { wordsOf } from "../../../src/languages/words";
import { parseMails } from "../../support/parsed-mail";

const { t: de } = wordsOf("de");

interface Read {
  subject: string;
  text: string;
  html: string;
}

/** Sends all waiting mails, and returns each as its recipient reads it, by name. */
async function sendByName(site: MailingSite): Promise<Record<string, Read>> {
  const sent = await site.send();
  const parsed = await parseMails(sent.map(toMessage));
  return Object.fromEntries(
    parsed.map(({ defects, headers, parts, longestLine }, index) => {
      expect(defects).toEqual([]);
      expect(longestLine).toBeLessThanOrEqual(998);
      for (const name of ["Subject", "From", "To", "List-Id"]) {
        expect(headers[name]).toHaveLength(1);
      }
      const [text = "", html = ""] = parts.map((part) => part.text);
      return [sent[index]?.name, { subject: headers["Subject"]?.[0] ?? "", text, html }];
    }),
  );
}

describe("mails to the subscribers of a page with several languages", () => {
  test("are written in the language of each, and in that of the page for all others", async () => {
    await using site = await createMailingSite();
    await site.change({ locale: "en", languages: ["de"] });
    await site.subscribe("ann");
    await site.subscribe("bea", { language: "de" });
    await site.subscribe("cem", { language: "hu" });
    const api = site.ids["API"] ?? "";
    await site.open({ name: "Payments fail", components: { [api]: "partial_outage" } });
    const { ann, bea, cem } = await sendByName(site);
    expect(ann?.html).toContain('<html lang="en" dir="ltr">');
    expect(ann?.text).toContain("Investigating · Major impact");
    expect(ann?.text).toContain("Manage or unsubscribe: ");
    expect(bea?.html).toContain('<html lang="de" dir="ltr">');
    expect(bea?.text).toContain(`${de("incident.investigating")} · ${de("impact.major")}`);
    expect(bea?.text).toContain(de("affected.title"));
    expect(bea?.text).toContain(`- API: ${de("status.partial_outage")}`);
    expect(bea?.text).toContain(de("mail.because", { page: "Acme" }));
    expect(bea?.text).toContain(`${de("mail.manage")}: `);
    // The page does not list the language.
    expect(cem?.text).toContain("Investigating");
    // People wrote it.
    expect(ann?.subject).toBe("[Acme] Payments fail");
    expect(bea?.subject).toBe("[Acme] Payments fail");
  });

  test("have times with their language where the words are English for want of a catalog", async () => {
    await using site = await createMailingSite();
    await site.change({ locale: "hu" });
    await site.subscribe("ann");
    await site.open({ name: "Payments fail" });
    const { ann } = await sendByName(site);
    expect(ann?.html).toContain('<html lang="en" dir="ltr">');
    expect(ann?.html).toContain('<bdi lang="hu">2026. márc. 10.');
  });

  test("keep the subject of their thread in each language, with the first name", async () => {
    await using site = await createMailingSite();
    await site.change({ locale: "en", languages: ["de"] });
    await site.subscribe("ann");
    await site.subscribe("bea", { language: "de" });
    const id = await site.plan({ name: "Upgrade" });
    const first = await sendByName(site);
    const subjects = ["ann", "bea"].map((name) => first[name]?.subject);
    expect(subjects[0]).toStartWith("[Acme] Maintenance 10 Mar 2026, 14:00 UTC");
    expect(subjects[1]).toStartWith("[Acme] Wartung 10. März 2026, 14:00 UTC");
    await site.call(`maintenance/${id}`, { name: "Other" }, "PATCH");
    await site.call(`maintenance/${id}/updates`, { body: "More." });
    await site.advance(180_000);
    const second = await sendByName(site);
    expect(["ann", "bea"].map((name) => second[name]?.subject)).toEqual(
      subjects.map((subject) => `Re: ${subject}`),
    );
  });

  test("keep the subject of their thread while the languages of the page change", async () => {
    await using site = await createMailingSite();
    await site.change({ locale: "en", languages: ["de", "fr"] });
    await site.subscribe("ann", { language: "en" });
    await site.subscribe("bea", { language: "de" });
    await site.subscribe("cem", { language: "fr" });
    const id = await site.plan({ name: "Upgrade" });
    const first = await sendByName(site);
    // Also in French while it is not a language of the page.
    for (const change of [
      { locale: "de", languages: ["en"] },
      { locale: "de", languages: ["en", "fr"] },
    ]) {
      await site.change(change);
      await site.call(`maintenance/${id}`, { name: `Other ${change.languages.length}` }, "PATCH");
      await site.call(`maintenance/${id}/updates`, { body: "More." });
      await site.advance(180_000);
      const next = await sendByName(site);
      for (const name of ["ann", "bea", ...(change.languages.includes("fr") ? ["cem"] : [])]) {
        expect(next[name]?.subject).toBe(`Re: ${first[name]?.subject}`);
      }
    }
  });

  test("have subjects for whose words and times no transaction waits", async () => {
    await using site = await createMailingSite();
    const { ctx } = site.app;
    const languages = LANGUAGES.filter((tag) => tag !== "en");
    await site.change({ languages, time_zone: "Europe/Berlin" });
    await site.subscribe("ann", { language: "uk" });
    await site.stopWorker();
    await site.plan({ name: "Upgrade" });
    const { DateTimeFormat } = Intl;
    const { write } = ctx.db;
    const made = { inside: 0, outside: 0 };
    let isWriting = false;
    Intl.DateTimeFormat = new Proxy(DateTimeFormat, {
      construct(target, args) {
        made[isWriting ? "inside" : "outside"] += 1;
        return Reflect.construct(target, args);
      },
    });
    Object.assign(ctx.db, {
      write: ((change) =>
        write((tx) => {
          isWriting = true;
          try {
            return change(tx);
          } finally {
            isWriting = false;
          }
        })) satisfies typeof write,
    });
    try {
      await site.startWorker();
    } finally {
      Object.assign(Intl, { DateTimeFormat });
      Object.assign(ctx.db, { write });
    }
    expect(site.mails()).toHaveLength(1);
    expect(made.outside).toBeGreaterThanOrEqual(LANGUAGES.length);
    expect(made.inside).toBe(0);
  });

  test("keep the subject of a thread that began when the page had one language", async () => {
    await using site = await createMailingSite();
    await site.subscribe("ann");
    const id = await site.plan({ name: "Upgrade" });
    const first = await sendByName(site);
    await site.change({ locale: "en", languages: ["de"] });
    await site.call(`maintenance/${id}`, { name: "Other" }, "PATCH");
    await site.call(`maintenance/${id}/updates`, { body: "More." });
    await site.advance(180_000);
    const { ann } = await sendByName(site);
    expect(ann?.subject).toBe(`Re: ${first["ann"]?.subject}`);
  });

  test("lead to the page in the language of each", async () => {
    await using site = await createMailingSite();
    await site.change({ locale: "en", languages: ["de"] });
    await site.subscribe("ann");
    await site.subscribe("bea", { language: "de" });
    const incident = await site.open({ name: "Payments fail" });
    const maintenance = await site.plan({ name: "Upgrade" });
    const sent = await site.send();
    const paths = [`/status/acme/incidents/${incident}`, `/status/acme/maintenance/${maintenance}`];
    const texts = (await parseMails(sent.map(toMessage))).map(({ parts }) => parts[0]?.text ?? "");
    for (const path of paths) {
      const linesOf = (name: string) =>
        texts.filter((text, index) => sent[index]?.name === name && text.includes(path));
      expect(linesOf("ann")).toHaveLength(1);
      expect(linesOf("ann")[0]).not.toContain(`${path}?`);
      expect(linesOf("bea")[0]).toContain(`${path}?lang=de\n`);
    }
  });

  test("have the status in the subject in their language if the page wants it there", async () => {
    await using site = await createMailingSite();
    await site.change({
      locale: "de",
      languages: ["en"],
      mail: {
        subscriptions: true,
        from_name: null,
        reply_to: null,
        subject: "status",
        footer: null,
      },
    });
    await site.subscribe("ann", { language: "en" });
    await site.subscribe("bea");
    await site.open({ name: "Payments fail" });
    const mails = await sendByName(site);
    expect(mails["ann"]?.subject).toBe("[Acme] Investigating: Payments fail");
    expect(mails["bea"]?.subject).toBe(`[Acme] ${de("incident.investigating")}: Payments fail`);
  });

  test("can be read in every language, in both parts and in its direction", async () => {
    await using site = await createMailingSite();
    const tags = LANGUAGES.filter((tag) => tag !== "en");
    await site.change({ name: "État 状態 الحالة", languages: [...tags] });
    for (const tag of tags) await site.subscribe(tag, { language: tag });
    await site.plan({ name: "Upgrade of {name} <b>it</b>" });
    const mails = await sendByName(site);
    for (const tag of tags) {
      const { t, dir } = wordsOf(tag);
      const mail = mails[tag];
      expect(mail?.html).toContain(`<html lang="${tag}" dir="${dir}">`);
      for (const part of [mail?.text, mail?.html]) {
        expect(part).toContain(t("mail.maintenance.scheduled"));
        expect(part).toContain(t("mail.manage"));
        expect(part).toContain("A minute without search.");
      }
      expect(mail?.subject).toStartWith("[État 状態 الحالة] ");
      expect(mail?.subject).toEndWith("Upgrade of {name} <b>it</b>");
    }
  });
});
