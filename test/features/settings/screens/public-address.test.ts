import { describe, expect, test } from "bun:test";
import { readPublicAddress } from "../../../../src/features/settings/settings";
import { createTestApp, expectProblem } from "../../../support/app";
import { HTML, NO_BASE_URL, sendKeyForm } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";

const GENERAL = "/admin/settings/general";

describe("the public address", () => {
  test("an owner sets the public address, and commands are built from it at once", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const session = await app.signedIn();
    const form = { public_address: " http://nas:8080/ " };
    const answer = await app.call(GENERAL, { session, form });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, GENERAL]);
    const page = await app.call(GENERAL, { session });
    expect(typedIn(page.text, "public_address")).toEqual(["http://nas:8080"]);
    // The way out, where a wrong one keeps everybody out.
    expect(page.text).toContain("--base-url");
    expect((await sendKeyForm(app, session)).text).toContain(" http://nas:8080/api/v1/key");
    expect(app.audit().map(({ action }) => action)).toContain("settings.public_address");
  });

  test("setting the current public address changes nothing and shows “Nothing was changed.”", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const session = await app.signedIn();
    const set = async (address: string) => {
      await app.call(GENERAL, { session, form: { public_address: address } });
      return readHtml((await app.call(GENERAL, { session })).text).texts(".flash");
    };
    expect(await set("http://nas:8080")).toEqual(["The public address was changed."]);
    const before = app.audit();
    expect(await set("http://nas:8080/")).toEqual(["Nothing was changed."]);
    expect(app.audit()).toEqual(before);
  });

  test("an invalid public address is redisplayed with its error, and nothing is written", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const session = await app.signedIn();
    const before = app.audit();
    for (const text of [
      "",
      "nas",
      "ftp://nas",
      "http://nas/path",
      "http://u:p@nas",
      "javascript:x",
      `http://${"a.".repeat(127)}b`,
    ]) {
      const answer = await app.call(GENERAL, { session, form: { public_address: text } });
      expect([text, answer.status]).toEqual([text, 422]);
      expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["public_address"]);
      expect(typedIn(answer.text, "public_address")).toEqual([text]);
    }
    expect(app.audit()).toEqual(before);
    expect(readPublicAddress(app.ctx.db)).toBeUndefined();
  });

  test("a public address set by option is shown and cannot be changed on the dashboard", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const page = await app.call(GENERAL, { session });
    expect(page.text).toContain("https://status.test");
    expect(readHtml(page.text).attributes("main form", "action")).not.toContain(GENERAL);
    const before = app.audit();
    for (const address of ["http://nas", "nonsense"]) {
      const form = { public_address: address };
      expectProblem(await app.call(GENERAL, { session, form }), "conflict");
    }
    expect(app.audit()).toEqual(before);
    expect(readPublicAddress(app.ctx.db)).toBeUndefined();
  });

  test("an admin can neither open nor submit the form for the public address", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const session = await app.signedIn("admin");
    expect((await app.call(GENERAL, { session, headers: HTML })).status).toBe(403);
    const form = { public_address: "http://nas" };
    expectProblem(await app.call(GENERAL, { session, form }), "insufficient_role");
    expect(readPublicAddress(app.ctx.db)).toBeUndefined();
  });
});
