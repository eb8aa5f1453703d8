import { describe, expect, test } from "bun:test";
import { createTestApp } from "../../support/app";
import { COMPONENTS } from "../../support/grouped-site";
import { fieldErrorsOn, readHtml } from "../../support/html";
import { createReportSite, PREVIEW, REPORT } from "../../support/report-dashboard";

/** Returns true if the fold with the rarely needed fields is open. */
const isFoldOpen = (html: string) => readHtml(html).attributes("details.fold", "open").length > 0;

describe("errors of a form", () => {
  test("unreadable text and values that the service rejects are reported together", async () => {
    await using site = await createReportSite();
    const answer = await site.report({ name: "", started_at: "yesterday", resolved_at: "soon" });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({
      name: "Name is empty.",
      started_at: "Started at must be a date and a time such as 2027-01-31 14:00.",
      resolved_at: "Resolved at must be a date and a time such as 2027-01-31 14:00.",
    });
  });

  test("the fold with rarely needed fields opens for an error in it only", async () => {
    await using site = await createReportSite();
    const outside = await site.report({ name: "" });
    expect([outside.status, isFoldOpen(outside.text)]).toEqual([422, false]);
    const inside = await site.report({ started_at: "yesterday" });
    expect([inside.status, isFoldOpen(inside.text)]).toEqual([422, true]);
  });

  for (const [what, path] of [
    ["A report", REPORT],
    ["A preview", PREVIEW],
  ] as const) {
    test(`${what} that is a conflict because of a field shows the conflict at that field, in the open fold`, async () => {
      await using site = await createReportSite();
      await site.report({ external_ref: "ticket-1" });
      const before = await site.state();
      const form = await site.filledIn({ name: "Another", external_ref: "ticket-1" });
      const answer = await site.app.call(path, { session: site.session, form });
      expect(answer.status).toBe(409);
      expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["external_ref"]);
      expect(isFoldOpen(answer.text)).toBe(true);
      expect(readHtml(answer.text).controls).toContainEqual(
        expect.objectContaining({ name: "name", value: "Another" }),
      );
      expect(await site.state()).toEqual(before);
    });
  }
});

describe("a form that is not possible now", () => {
  test("the report form of an installation without a page shows how to begin instead, also if it is submitted", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("editor");
    for (const answer of [
      await app.call(REPORT, { session }),
      await app.call(REPORT, { session, form: { name: "Checkout fails" } }),
      await app.call(PREVIEW, { session, form: { name: "Checkout fails" } }),
    ]) {
      expect(answer.status).toBe(200);
      expect(readHtml(answer.text).texts("main form")).toEqual([]);
      expect(answer.text).toContain("No status page yet");
    }
    expect(app.events()).toEqual([]);
  });

  test("the form for a new component of an installation without a page redirects to the list", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const { status, headers } = await app.call(`${COMPONENTS}/new`, { session });
    expect([status, headers.get("location")]).toEqual([303, COMPONENTS]);
  });
});
