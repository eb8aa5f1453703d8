import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createTestApp, expectProblem } from "../../../support/app";
import { dumpOf } from "../../../support/database-dump";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { createReportSite, PREVIEW, REPORT } from "../../../support/report-dashboard";
import { temporaryFolder } from "../../../support/temporary-folder";

const STRIP = "Preview. Nothing was published.";

describe("a preview of an incident", () => {
  test("a preview is the public page with the incident and a notice that nothing was published", async () => {
    await using site = await createReportSite();
    const answer = await site.preview({
      name: "Checkout <b>fails</b>",
      body: "We **look** into it.",
      [site.field(site.api)]: "major_outage",
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const page = readHtml(answer.text);
    expect(page.texts("body > .column > .strip")).toEqual([STRIP]);
    expect(page.texts("head title")).toEqual(["Preview: Major system outage · Acme"]);
    expect(page.texts(".banner h1")).toEqual(["Major system outage"]);
    expect(page.texts("article h3")).toEqual(["Checkout <b>fails</b>"]);
    expect(page.texts("article .text strong")).toEqual(["look"]);
  });

  test("a preview equals the page after publishing, except for the notice and the live refresh", async () => {
    await using site = await createReportSite();
    const fields = { [site.field(site.web)]: "degraded_performance" };
    const preview = await site.preview(fields);
    await site.report(fields);
    const published = await site.app.call("/status/acme");
    const withoutIds = (html: string) =>
      html.replaceAll(/(inc|upd)_\w{26}| data-(live|version)="[^"]*"/g, "$1");
    const strip = `<p class="strip t-maint" role="status" lang="en" dir="ltr">${STRIP}</p>`;
    expect(preview.text).toContain(strip);
    expect(withoutIds(preview.text).replace(strip, "").replace("<title>Preview: ", "<title>")).toBe(
      withoutIds(published.text),
    );
    expect(preview.headers.get("content-security-policy")).toBe(
      published.headers.get("content-security-policy"),
    );
  });

  test("a preview of a resolved incident shows the incident's own page", async () => {
    await using site = await createReportSite();
    const answer = await site.preview({
      status: "resolved",
      started_at: "2025-11-02T10:00",
      resolved_at: "2025-11-02T11:00",
    });
    const page = readHtml(answer.text);
    expect(page.texts("h1")).toEqual(["Checkout fails"]);
    expect(page.texts(".strip")).toEqual([STRIP]);
  });

  test("an editor can preview an incident on a private page", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ visibility: "private" });
    const session = await app.signedIn("editor");
    const fields = { page: page.id, shown_page: page.id, name: "Errors", body: "Soon more." };
    const form = { ...fields, status: "investigating" };
    const answer = await app.call(PREVIEW, { session, form });
    expect(readHtml(answer.text).texts("article h3")).toEqual(["Errors"]);
    expect((await app.call("/status/acme")).status).toBe(404);
  });
});

describe("a preview without effects", () => {
  test("a preview changes no row, records no event, emits no signal and keeps the bytes of the page", async () => {
    using folder = temporaryFolder();
    const databasePath = join(folder.path, "allclear.db");
    await using app = await createTestApp({ databasePath });
    const { page, components } = await app.page();
    const session = await app.signedIn("editor");
    await app.call(REPORT, { session });
    const served = await app.call("/status/acme");
    const signals: string[] = [];
    app.ctx.signals.pageChanged.on((id) => signals.push(id));
    const before = dumpOf(databasePath);
    expect(Object.keys(before).length).toBeGreaterThan(10);

    const form = {
      page: page.id,
      shown_page: page.id,
      name: "Errors",
      body: "Soon more.",
      status: "investigating",
      [`component:${components["API"]}`]: "major_outage",
    };
    const answer = await app.call(PREVIEW, { session, form });
    expect(answer.text).toContain(STRIP);

    expect(dumpOf(databasePath)).toEqual(before);
    expect(signals).toEqual([]);
    const after = await app.call("/status/acme");
    expect(after.headers.get("etag")).toBe(served.headers.get("etag"));

    await app.call(REPORT, { session, form: { ...form, intent: "publish" } });
    expect(dumpOf(databasePath)).not.toEqual(before);
    expect(signals).toContain(page.id);
  });

  test("a preview keeps changes that others commit in the same transaction", async () => {
    await using site = await createReportSite();
    const [preview, opened] = await Promise.all([
      site.preview({ name: "Never there" }),
      site.open({ name: "Really there" }),
    ]);
    expect(preview.text).toContain(STRIP);
    expect(site.newEventTypes()).toEqual(["incident.created"]);
    expect((await site.read(opened.id)).name).toBe("Really there");
  });

  test("a previewed report can still be published, once", async () => {
    await using site = await createReportSite();
    const form = await site.filledIn();
    const { session } = site;
    await site.app.call(PREVIEW, { session, form });
    await site.app.call(REPORT, { session, form });
    await site.app.call(REPORT, { session, form });
    expect(site.newEventTypes()).toEqual(["incident.created"]);
  });
});

describe("a preview that is rejected", () => {
  test("a preview of an invalid form is the form with its errors and the typed values", async () => {
    await using site = await createReportSite();
    const answer = await site.preview({
      name: "",
      body: "We look into it.",
      external_ref: "OPS-9",
    });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({ name: "Name is empty." });
    expect(typedIn(answer.text, "external_ref")).toEqual(["OPS-9"]);
    expect(readHtml(answer.text).texts("textarea")).toEqual(["We look into it."]);
    expect(answer.text).not.toContain(STRIP);
  });

  test("a preview by a viewer or from another site is rejected", async () => {
    await using site = await createReportSite("viewer");
    expectProblem(await site.preview(), "insufficient_role");
    const foreign = { headers: { origin: "https://elsewhere.test" } };
    expectProblem(await site.preview({}, foreign), "cross_site_request");
  });
});

test("a preview opens in a new tab, and its address redirects to the form", async () => {
  await using site = await createReportSite();
  const page = readHtml((await site.app.call(REPORT, { session: site.session })).text);
  expect(page.attributes(`button[formaction="${PREVIEW}"]`, "formtarget")).toEqual(["_blank"]);
  const back = await site.app.call(PREVIEW, { session: site.session });
  expect(back.headers.get("location")).toBe(REPORT);
});
