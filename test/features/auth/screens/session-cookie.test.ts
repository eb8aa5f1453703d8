import { describe, expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../../../support/app";
import {
  invite,
  NO_BASE_URL,
  PASSWORD,
  setUpPath,
  signIn,
  trySignIn,
  userWithPassword,
} from "../../../support/dashboard";
import { enrol, passwordStep, sendCode } from "../../../support/second-factors";

const PLAIN = { ALLCLEAR_BASE_URL: "http://nas:8080" };
const HTTPS = { ALLCLEAR_BASE_URL: "https://status.acme.test" };
const ADA = "ada@example.com";
const OWNER = { name: "Ada", email: ADA, password: PASSWORD };

/** A cookie's name and its attributes, as a browser reads them. */
function readCookie(header: string | null) {
  const [pair = "", ...attributes] = (header ?? "").split("; ");
  const [name = "", value = ""] = pair.split("=");
  return { name, value, attributes: attributes.sort() };
}

/** Requests that start a session. Each returns the `Set-Cookie` header of its answer. */
const SESSION_STARTS: { what: string; start(app: TestApp): Promise<string | null> }[] = [
  {
    what: "signing in",
    async start(app) {
      await userWithPassword(app, ADA);
      return (await trySignIn(app, ADA)).headers.get("set-cookie");
    },
  },
  {
    what: "setting up",
    async start(app) {
      const answer = await app.call(await setUpPath(app), { form: OWNER });
      return answer.headers.get("set-cookie");
    },
  },
  {
    what: "a code",
    async start(app) {
      const { id } = await userWithPassword(app, ADA);
      const authenticator = await enrol(app, id);
      const cookie = await passwordStep(app, ADA);
      const answer = await sendCode(app, cookie, { code: await authenticator.nextCode() });
      return answer.headers.get("set-cookie");
    },
  },
  {
    what: "accepting an invitation",
    async start(app) {
      const { path } = await invite(app, await app.signedIn(), "grace@example.com");
      const answer = await app.call(path, { form: { name: "Grace", password: PASSWORD } });
      return answer.headers.get("set-cookie");
    },
  },
];

for (const { what, start } of SESSION_STARTS) {
  describe(`the cookie of ${what}`, () => {
    test(`the session cookie after ${what} is HttpOnly and SameSite=Lax if the public address is plain HTTP`, async () => {
      await using app = await createTestApp({ env: PLAIN });
      const { name, value, attributes } = readCookie(await start(app));
      expect(name).toBe("allclear_session");
      expect(value).toMatch(/^[0-9A-Za-z]{43}$/);
      expect(attributes).toEqual(["HttpOnly", "Max-Age=1209600", "Path=/", "SameSite=Lax"]);
    });

    test(`the session cookie after ${what} is bound to host and HTTPS if the public address is HTTPS`, async () => {
      await using app = await createTestApp({ env: HTTPS });
      const { name, attributes } = readCookie(await start(app));
      expect(name).toStartWith("__Host-");
      expect(attributes).toEqual([
        "HttpOnly",
        "Max-Age=1209600",
        "Path=/",
        "SameSite=Lax",
        "Secure",
      ]);
    });
  });
}

describe("the session cookie", () => {
  test("the session cookie is bound to HTTPS at once if the set-up sets an HTTPS address", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const form = { ...OWNER, public_address: "https://status.acme.test" };
    const answer = await app.call(await setUpPath(app), { form });
    const { name, attributes } = readCookie(answer.headers.get("set-cookie"));
    expect(name).toStartWith("__Host-");
    expect(attributes).toContain("Secure");
  });

  test("signing out clears the session cookie under the same name and path", async () => {
    for (const env of [PLAIN, HTTPS]) {
      await using app = await createTestApp({ env });
      await userWithPassword(app, ADA);
      const begun = readCookie((await trySignIn(app, ADA)).headers.get("set-cookie"));
      const answer = await app.call("/admin/sign-out", { session: begun.value, form: {} });
      const ended = readCookie(answer.headers.get("set-cookie"));
      expect([ended.name, ended.value]).toEqual([begun.name, ""]);
      const expected = begun.attributes.map((it) => it.replace(/^(Max-Age)=.*/, "$1=0"));
      expect(ended.attributes).toEqual(expected);
    }
  });

  test("the session cookie works among other cookies, and only under its own name", async () => {
    await using app = await createTestApp({ env: HTTPS });
    await userWithPassword(app, ADA);
    const token = await signIn(app, ADA);
    const statusWith = async (cookie: string) =>
      (await app.call("/admin", { headers: { cookie } })).status;
    expect(await statusWith(`theme=dark; __Host-allclear=${token}; x=y`)).toBe(200);
    // A cookie without the prefix could be set over plain HTTP or by another host of the domain.
    expect(await statusWith(`allclear_session=${token}`)).toBe(401);
    expect(await statusWith(`x__Host-allclear=${token}`)).toBe(401);
    expect(await statusWith(`__Host-allclear=${token}x`)).toBe(401);
    expect(await statusWith("__Host-allclear=")).toBe(401);
  });

  test("a session token is not accepted in Authorization or the query", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const token = await signIn(app, ADA);
    const authorization = `Bearer ${token}`;
    expect((await app.call("/admin", { headers: { authorization } })).status).toBe(401);
    expect((await app.call(`/admin?session=${token}`)).status).toBe(401);
  });
});

describe("the sign-in page", () => {
  const notice = "Signing in needs HTTPS";

  test("the sign-in page links to the public address if the browser would not keep the session cookie", async () => {
    await using app = await createTestApp({ env: HTTPS });
    const elsewhere = await app.call("/admin/sign-in", { host: "nas:8080" });
    expect(elsewhere.text).toContain(notice);
    const inClearText = await app.call("/admin/sign-in", { host: "status.acme.test" });
    expect(inClearText.text).toContain(notice);
    expect(elsewhere.text).toContain('href="https://status.acme.test/admin"');
    // The option that helps if the address was saved by mistake.
    expect(elsewhere.text).toContain("--base-url");
    const headers = { "x-forwarded-proto": "https" };
    const fine = [
      // Browsers send this header over HTTPS only, so it reveals HTTPS behind a proxy without headers.
      await app.call("/admin/sign-in", {
        host: "status.acme.test",
        headers: { "sec-fetch-site": "none" },
      }),
      await app.call("/admin/sign-in", { host: "localhost:8080" }),
      await app.call("/admin/sign-in", { host: "nas:8080", headers }),
    ];
    for (const { text } of fine) expect(text).not.toContain(notice);
  });

  test("the sign-in page does not ask for HTTPS if the public address is plain HTTP", async () => {
    await using app = await createTestApp({ env: PLAIN });
    const answer = await app.call("/admin/sign-in", { host: "192.168.1.5:8080" });
    expect(answer.text).not.toContain(notice);
  });
});
