import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem } from "../../../support/app";
import { ACCOUNT, NO_BASE_URL } from "../../../support/dashboard";
import { readHtml } from "../../../support/html";

const GENERAL = "/admin/settings/general";

describe("changing the public address", () => {
  test("changing the public address to HTTPS ends all sessions but that of the user who changed it", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const [owner, other] = [await app.signedIn("owner"), await app.signedIn("viewer")];
    const form = { public_address: "https://status.acme.test" };
    const answer = await app.call(GENERAL, { session: owner, form });
    expect(answer.status).toBe(303);
    const cookie = (answer.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
    expect(cookie).toStartWith("__Host-allclear=");
    expect((await app.call("/admin", { headers: { cookie } })).status).toBe(200);
    // A token that went over the wire in clear text opens nothing now.
    for (const token of [owner, other]) {
      for (const name of ["allclear_session", "__Host-allclear"]) {
        const headers = { cookie: `${name}=${token}` };
        expectProblem(await app.call("/admin", { headers }), "sign_in_required");
      }
    }
  });

  test("the user who changed the public address to HTTPS has one session and sees the confirmation", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const session = await app.signedIn("owner");
    const change = async (address: string, headers: Record<string, string>) => {
      const answer = await app.call(GENERAL, { headers, form: { public_address: address } });
      return { cookie: (answer.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "" };
    };
    const before = { cookie: `allclear_session=${session}` };
    const headers = await change("https://status.acme.test", before);
    const next = readHtml((await app.call(GENERAL, { headers })).text);
    expect(next.texts(".flash")).toEqual(["The public address was changed."]);
    const account = readHtml((await app.call(ACCOUNT, { headers })).text);
    expect(account.attributes('button[name="session"]', "value")).toEqual([]);
    // The first token stays invalid if the change is reverted.
    await change("http://nas.acme.test", headers);
    expectProblem(await app.call("/admin", { headers: before }), "sign_in_required");
  });

  test("changing the public address without changing its scheme ends no session", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const [owner, other] = [await app.signedIn("owner"), await app.signedIn("viewer")];
    const form = { public_address: "http://nas.acme.test" };
    const answer = await app.call(GENERAL, { session: owner, form });
    expect(answer.headers.get("set-cookie")).toBeNull();
    for (const session of [owner, other]) {
      expect((await app.call("/admin", { session })).status).toBe(200);
    }
  });
});

describe("several session cookies in one request", () => {
  test("a planted session cookie does not hide the live one, in any position", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const session = await app.signedIn();
    for (const cookie of [
      `allclear_session=junk; allclear_session=${session}`,
      `a=b; allclear_session=; allclear_session=${"x".repeat(43)};allclear_session=${session}; c=d`,
      `allclear_session=${session}; allclear_session=junk`,
    ]) {
      expect((await app.call("/admin", { headers: { cookie } })).status).toBe(200);
    }
  });

  test("at most four session cookies of one request are checked", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const session = await app.signedIn();
    const cookie = `${"allclear_session=junk; ".repeat(4)}allclear_session=${session}`;
    expectProblem(await app.call("/admin", { headers: { cookie } }), "sign_in_required");
  });
});
