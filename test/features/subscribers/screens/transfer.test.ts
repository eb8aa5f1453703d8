import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { parseStoredAddress } from "../../../../src/base/mail-address";
import { addConsentedSubscriber } from "../../../../src/features/subscribers/subscribers";
import { settle } from "../../../support/clock";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { importForm } from "../../../support/import-form";
import { createSubscribingSite, type SubscribingSite } from "../../../support/subscribing";

const IMPORT = "/admin/subscribers/import";
const EXPORT = "/admin/subscribers/export";
const ERASE = "/admin/subscribers/erase";
const CONSENT = { kind: "consent", consent: "Asked at the counter" };

interface Dashboard extends AsyncDisposable {
  site: SubscribingSite;
  session: string;
  send(
    file: string,
    fields?: Record<string, string>,
  ): Promise<{ status: number; location: string | null; text: string }>;
}

async function createDashboard(): Promise<Dashboard> {
  const site = await createSubscribingSite();
  const session = await site.app.signedIn();
  return {
    site,
    session,
    async send(file, fields = {}) {
      const form = { page: site.page.id, kind: "confirm", intent: "import", ...fields };
      const answer = await site.app.call(IMPORT, { ...importForm(file, form), session });
      return {
        status: answer.status,
        location: answer.headers.get("location"),
        text: answer.text,
      };
    },
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

describe("the import of the dashboard", () => {
  test("checks a file without changing anything, lists the bad lines, and then imports the others", async () => {
    await using dashboard = await createDashboard();
    const { site, send } = dashboard;
    const file = "email,components\nann@example.com,api\nbob\ncy@example.com,none\n";
    const audits = site.app.audit().length;
    const checked = await send(file, { ...CONSENT, intent: "check" });
    expect(checked.status).toBe(200);
    const page = readHtml(checked.text);
    expect(page.texts("#bad-lines td").map((text) => text.trim())).toEqual([
      "3",
      "email must be an e-mail address, such as name@example.com",
      "4",
      "components: there is no none",
    ]);
    expect(page.texts(".notice-text").join()).toContain("1 added, 2 not valid.");
    // What was typed stays, but for the file.
    expect(page.texts("textarea[name=consent]")).toEqual([CONSENT.consent]);
    expect([site.subscribers(), site.app.audit().length]).toEqual([[], audits]);
    const imported = await send(file, CONSENT);
    expect([imported.status, readHtml(imported.text).texts(".notice-text .strong")]).toEqual([
      200,
      ["The file was imported"],
    ]);
    expect(site.subscribers()).toMatchObject([
      { address: "ann@example.com", consentSource: "import", consentText: CONSENT.consent },
    ]);
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "subscriber.import",
      actorKind: "user",
      targetId: site.page.id,
      summary: "Imported subscribers of Acme: 1 added, 2 not valid",
    });
  });

  test("asks each person for a confirmation, and redirects after a file without errors", async () => {
    await using dashboard = await createDashboard();
    const { site, send, session } = dashboard;
    const answer = await send("email\nann@example.com\nbob@example.com\n");
    expect([answer.status, answer.location]).toEqual([303, IMPORT]);
    const next = readHtml((await site.app.call(IMPORT, { session })).text);
    expect(next.texts(".flash")).toEqual(["The file was imported: 2 asked to confirm."]);
    expect(site.subscribers()).toEqual([]);
    expect(site.mails().map(({ template }) => template)).toEqual(["confirmation", "confirmation"]);
  });

  test("answers before a long import ends, whose result is then in the activity", async () => {
    await using dashboard = await createDashboard();
    const { site, send, session } = dashboard;
    const { clock } = site.app;
    const lines = Array.from({ length: 3_000 }, (_, index) => `a${index}@example.com`);
    let answer: Awaited<ReturnType<typeof send>> | undefined;
    const sending = send(["email", ...lines, "bob"].join("\n"), CONSENT).then((sent) => {
      answer = sent;
    });
    while (!answer) await clock.advance(10_000);
    await sending;
    const page = readHtml(answer.text);
    const titles = page.texts(".notice-text .strong");
    expect([answer.status, titles]).toEqual([200, ["The import goes on"]]);
    expect(page.texts("#bad-lines td")[0]?.trim()).toBe("3,002");
    expect(site.subscribers().length).toBeLessThan(3_000);
    const [path = ""] = page.attributes(".notice-text a", "href");
    const summaries = () => site.app.audit().map(({ summary }) => summary);
    while (summaries().some((summary) => summary.includes("not reached"))) await settle();
    const activity = await site.app.call(path, { session });
    expect(activity.text).toContain("Imported subscribers of Acme: 3,000 added, 1 not valid");
  });

  test("names the command if checking a file takes too long", async () => {
    await using dashboard = await createDashboard();
    const { site, send } = dashboard;
    const audits = site.app.audit().length;
    const lines = Array.from({ length: 3_000 }, (_, index) => `a${index}@example.com`);
    let answer: Awaited<ReturnType<typeof send>> | undefined;
    const file = ["email", ...lines].join("\n");
    const sending = send(file, { ...CONSENT, intent: "check" }).then((sent) => {
      answer = sent;
    });
    while (!answer) await site.app.clock.advance(10_000);
    await sending;
    const notices = readHtml(answer.text).texts(".notice-text").join();
    expect(notices).toContain("allclear subscriber import --dry-run");
    expect([site.subscribers(), site.app.audit().length]).toEqual([[], audits]);
  });

  test("ends with its session, also after its answer, and the log says so", async () => {
    await using dashboard = await createDashboard();
    const { site, send, session } = dashboard;
    const lines = Array.from({ length: 3_000 }, (_, index) => `a${index}@example.com`);
    let isAnswered = false;
    const sending = send(["email", ...lines].join("\n"), CONSENT).then(() => {
      isAnswered = true;
    });
    while (!isAnswered) await site.app.clock.advance(10_000);
    await sending;
    await site.app.call("/admin/sign-out", { session, form: {} });
    const broken = () => site.app.logged.some(({ msg }) => msg.includes("broke off"));
    while (!broken()) await settle();
    expect(site.app.audit().find(({ action }) => action === "subscriber.import")?.summary).toMatch(
      /^Imported subscribers of Acme: [\d,]+ added, [\d,]+ not reached$/,
    );
  });

  test("names what is missing at its field", async () => {
    await using dashboard = await createDashboard();
    const { site, send, session } = dashboard;
    const file = "email\nann@example.com\n";
    const errorsOf = async (sending: ReturnType<typeof send>) => {
      const { status, text } = await sending;
      return [status, fieldErrorsOn(text)];
    };
    const [status, consent] = await errorsOf(send(file, { kind: "consent", consent: " " }));
    expect([status, Object.keys(consent as object)]).toEqual([422, ["consent"]]);
    const [, ofFile] = await errorsOf(send("mail\nann@example.com\n"));
    expect(JSON.stringify(ofFile)).toContain("the first line must name the columns");
    const form = { page: site.page.id, kind: "confirm", intent: "import" };
    const without = await site.app.call(IMPORT, { session, form });
    expect([without.status, fieldErrorsOn(without.text)]).toEqual([
      422,
      expect.objectContaining({ file: expect.stringContaining("Select a file.") as unknown }),
    ]);
    await site.setUpMail(false);
    const refused = await send(file);
    expect(refused.status).toBe(409);
    expect(readHtml(refused.text).texts(".notice-text").join()).toContain("Mail cannot be sent");
    expect(site.subscribers()).toEqual([]);
  });

  test("takes files up to 900 KiB", async () => {
    await using dashboard = await createDashboard();
    const { site, send } = dashboard;
    const fill = (bytes: number) => `email\nann@example.com\n${"\n".repeat(bytes - 22)}`;
    expect((await send(fill(900 * 1024), CONSENT)).status).toBe(303);
    expect((await send(fill(900 * 1024 + 1), CONSENT)).status).toBe(413);
    expect((await send(fill(1000 * 1024), CONSENT)).status).toBe(413);
    expect(site.subscribers()).toHaveLength(1);
    // Without a file, a form is limited as everywhere else.
    const form = { page: site.page.id, consent: "x".repeat(300 * 1024) };
    const { session } = dashboard;
    expect((await site.app.call(IMPORT, { session, form })).status).toBe(413);
  });

  test("stops when its user's session ends, and the log says how far it came", async () => {
    await using dashboard = await createDashboard();
    const { site, send, session } = dashboard;
    const lines = Array.from({ length: 1_000 }, (_, index) => `a${index}@example.com`);
    const sending = send(["email", ...lines].join("\n"), CONSENT);
    while (site.subscribers().length === 0) await new Promise(setImmediate);
    await site.app.call("/admin/sign-out", { session, form: {} });
    expect((await sending).status).not.toBe(200);
    const count = site.subscribers().length;
    expect(count).toBeLessThan(1_000);
    expect(site.app.audit().map(({ summary }) => summary)).toContain(
      `Imported subscribers of Acme: ${count} added, ${1_000 - count} not reached`,
    );
  });
});

describe("the export of the dashboard", () => {
  test("is a download by POST alone, and recorded", async () => {
    await using dashboard = await createDashboard();
    const { site, send, session } = dashboard;
    await send("email\n+ann@example.com\nbob@example.com\n", CONSENT);
    const audits = site.app.audit().length;
    expect((await site.app.call(EXPORT, { session })).headers.get("content-type")).toStartWith(
      "text/html",
    );
    expect(site.app.audit()).toHaveLength(audits);
    const form = { page: site.page.id, what: "subscribers" };
    const answer = await site.app.call(EXPORT, { session, form });
    expect([answer.status, answer.headers.get("content-disposition")]).toEqual([
      200,
      'attachment; filename="acme-subscribers-2026-03-10.csv"',
    ]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const lines = answer.text.split("\r\n");
    expect(lines[1]).toStartWith("'+ann@example.com,");
    expect(lines[2]).toStartWith("bob@example.com,");
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "subscriber.export",
      summary: "Exported subscribers of Acme",
    });
    const suppressed = await site.app.call(EXPORT, {
      session,
      form: { page: "", what: "suppressed" },
    });
    expect(suppressed.text).toBe("email,page,reason,since\r\n");
    expect(site.app.audit().at(-1)?.summary).toBe("Exported suppressed addresses of all pages");
    const wrong = await site.app.call(EXPORT, { session, form: { page: "", what: "all" } });
    expect(wrong.status).toBe(422);
  });
});

describe("erasing on the dashboard", () => {
  test("deletes an address from every page, and names it nowhere", async () => {
    await using dashboard = await createDashboard();
    const { site, session } = dashboard;
    await site.subscribed("ann@example.com");
    const answer = await site.app.call(ERASE, { session, form: { email: " Ann@example.com " } });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, ERASE]);
    const next = await site.app.call(ERASE, { session });
    expect(readHtml(next.text).texts(".flash")).toEqual([
      "The address was erased: 1 subscription, 1 sign-up.",
    ]);
    expect([site.subscribers(), site.requests(), site.mails()]).toEqual([[], [], []]);
    expect(site.app.audit().at(-1)?.summary).toBe(
      "Erased A…@example.com from all pages: 1 subscription, 1 sign-up",
    );
    const bob = await site.subscribed("bob@example.com");
    const detail = await site.app.call(`/admin/subscribers/${bob.id}`, { session });
    const path = readHtml(detail.text).attributes('a[href^="/admin/subscribers/erase"]', "href");
    // The address is not in the path, which servers between write into their logs.
    expect(path).toEqual([`${ERASE}?subscriber=${bob.id}`]);
    const filled = await site.app.call(path[0] ?? "", { session });
    expect(typedIn(filled.text, "email")).toEqual(["bob@example.com"]);
    expect(site.subscribers()).toHaveLength(1);
    const wrong = await site.app.call(ERASE, { session, form: { email: "ann" } });
    expect([wrong.status, Object.keys(fieldErrorsOn(wrong.text))]).toEqual([422, ["email"]]);
  });
});

test("an address that earlier versions accepted can be erased, and sought among the suppressed ones", async () => {
  await using dashboard = await createDashboard();
  const { site, session } = dashboard;
  const { ctx } = site.app;
  const address = parseStoredAddress("-ann@example.com");
  if ("error" in address) throw new Error(address.error);
  await ctx.db.write((tx) =>
    addConsentedSubscriber(
      ctx,
      tx,
      {
        pageId: site.page.id,
        address,
        choices: { scope: "page", targets: [], events: ["incidents"] },
        source: "command",
        consent: "Asked",
      },
      CLI_ACTOR,
    ),
  );
  expect(site.subscribers()).toHaveLength(1);
  const sought = await site.app.call("/admin/mail/suppressions", {
    session,
    form: { address: "-ann@example.com" },
  });
  expect(sought.status).toBe(200);
  const answer = await site.app.call(ERASE, { session, form: { email: "-ann@example.com" } });
  expect(answer.status).toBe(303);
  expect(site.subscribers()).toEqual([]);
});

test("import, export and erasure are for owners alone", async () => {
  await using dashboard = await createDashboard();
  const { site } = dashboard;
  await site.subscribed("ann@example.com");
  const session = await site.app.signedIn("admin");
  const file = importForm("email\nbob@example.com\n", {
    page: site.page.id,
    ...CONSENT,
    intent: "import",
  });
  for (const [path, options] of [
    [IMPORT, file],
    [EXPORT, { form: { page: "", what: "subscribers" } }],
    [ERASE, { form: { email: "ann@example.com" } }],
  ] as const) {
    expect((await site.app.call(path, { session })).status).toBe(403);
    const answer = await site.app.call(path, { ...options, session });
    expect([answer.status, answer.text.includes("ann@example.com")]).toEqual([403, false]);
  }
  expect(site.subscribers()).toHaveLength(1);
});
