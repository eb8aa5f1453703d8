import { describe, expect, spyOn, test } from "bun:test";
import { redactUrl } from "../../src/base/redaction";
import { issueSetUpLink } from "../../src/features/users/invitations";
import { createTestApp, expectProblem, type TestApp } from "../support/app";
import { NO_BASE_URL, PASSWORD, signIn, userWithPassword } from "../support/dashboard";
import { named, PROXY, PROXY_ENV } from "../support/identity-proxy";
import { CODE, enrol, passwordStep, SECOND_FACTOR, signInByCode } from "../support/second-factors";
import { streamOf } from "../support/streamed-body";

describe("hostile requests", () => {
  test.each(["h:99999", "h:abc", "[::1"])(
    "HEAD with the Host %s is answered by the gateway",
    async (host) => {
      await using app = await createTestApp();
      const request = new Request("http://status.test/healthz", { method: "HEAD" });
      // Bun hands such a Host over inside the URL, and no URL can be made of it again.
      Object.defineProperty(request, "url", { value: `http://${host}/healthz` });
      const answer = await app.app.handle(request, () => "203.0.113.7");
      expect(answer.status).toBe(200);
      expect(answer.headers.get("x-request-id")).toStartWith("req_");
    },
  );

  test.each(["5, 5", "5,6", "", "+5", "-5", "5e0", "0x5", "5.0", "5 5", "five"])(
    "a body with the Content-Length %p is rejected before it is read, and the connection is closed",
    async (length) => {
      await using app = await createTestApp();
      const key = await app.keyWith("write:components", "manage:monitors");
      const json = { type: "push", name: "Backup", config: {} };
      const { body } = await app.call("/api/v1/monitors", { method: "POST", key, json });
      const headers = { "content-type": "application/json", "content-length": length };
      for (const [method, path] of [
        ["PATCH", "/api/v1/components"],
        ["POST", `/api/v1/heartbeats/${body.token}`],
      ] as const) {
        const { stream, wasRead } = streamOf("hello");
        const answer = await app.call(path, { method, key, raw: stream, headers });
        expect(expectProblem(answer, "invalid_request").detail).toContain("Content-Length");
        expect([answer.headers.get("connection"), wasRead()]).toEqual(["close", false]);
      }
    },
  );

  test("a path that cannot be decoded is not_found", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    for (const path of ["/assets/%E0%A4%A", "/status/%zz", "/api/v1/components/%c3%28", "/%"]) {
      expectProblem(await app.call(path, { key }), "not_found");
    }
  });
});

describe("redaction of URLs in the log", () => {
  const key = `allclear_${"a".repeat(49)}`;

  test.each([
    `http://h/x?k=${key}`,
    `http://h/x?b=%zz&a=%61llclear_${"a".repeat(49)}`,
    `http://h/x?a=allclear%5F${"a".repeat(49)}`,
    `http://h/x?a=%2561llclear_${"a".repeat(49)}`,
    `http://h/x?access%5Ftoken=secret-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa&y=1`,
    `http://h/${key}`,
  ])("the secret in %s is redacted", (url) => {
    expect(redactUrl(url)).toContain("[redacted]");
    expect(redactUrl(url)).not.toContain("aaaaaaaaaaaaaaaaaaaa");
  });

  test("a URL without a secret is logged unchanged", () => {
    expect(redactUrl("http://h/x?page=%C3%A9&limit=5")).toBe("http://h/x?page=%C3%A9&limit=5");
  });
});

describe("texts in forms whose normal form takes time that grows with the square of their length", () => {
  /** Marks that Unicode's normal forms reorder. Many more would make a failing test last for hours. */
  const MARKS = "a" + "\u0315".repeat(3_000) + "\u0300".repeat(3_000);
  /** Limit of what is normalised, in UTF-16 units. */
  const READ_MAX = 4_000;

  /** Calls `send`, and returns the length of the longest text that was normalised or read as a URL meanwhile. */
  async function longestRead(send: () => Promise<unknown>): Promise<number> {
    const normalize = spyOn(String.prototype, "normalize");
    const parse = spyOn(URL, "parse");
    try {
      await send();
      "a".normalize();
      const texts = [...normalize.mock.contexts, ...parse.mock.calls.map(([url]) => url)];
      return Math.max(...texts.map((text) => String(text).length));
    } finally {
      normalize.mockRestore();
      parse.mockRestore();
    }
  }

  /** Sends a form that is rejected for one long field, which is not normalised. */
  async function expectUnread(
    app: TestApp,
    path: string,
    form: Record<string, string>,
    options: object = {},
  ): Promise<void> {
    const longest = await longestRead(async () => {
      const { status } = await app.call(path, { form, ...options });
      expect([path, status]).toEqual([path, 422]);
    });
    expect(longest, path).toBeLessThanOrEqual(READ_MAX);
  }

  test("are not read as codes", async () => {
    const env = {
      ...PROXY_ENV,
      ALLCLEAR_CREATE_USERS: "off",
      ALLCLEAR_OIDC_ISSUER: "https://login.northwind.example",
      ALLCLEAR_OIDC_CLIENT_ID: "allclear",
    };
    await using app = await createTestApp({ env });
    const { id } = await userWithPassword(app, "ada@example.com");
    const ada = await enrol(app, id);
    const session = await signInByCode(app, "ada@example.com", ada);
    const cookie = await passwordStep(app, "ada@example.com", { from: "198.51.100.1" });
    for (const name of ["code", "recovery_code"]) {
      await expectUnread(app, CODE, { [name]: MARKS }, { headers: { cookie } });
    }
    const confirmed = { code: MARKS, current_password: PASSWORD };
    await expectUnread(app, `${SECOND_FACTOR}/recovery-codes`, confirmed, { session });
    await expectUnread(app, `${SECOND_FACTOR}/off`, confirmed, { session });
    const connect = "/admin/settings/account/connect";
    const atHome = { session, headers: { origin: app.ctx.baseUrl } };
    await expectUnread(app, connect, { code: MARKS, password: PASSWORD }, atHome);
    const own = { own_code: MARKS, own_password: PASSWORD };
    const behind = { session, from: PROXY, headers: named("bob") };
    await expectUnread(app, `${connect}/named`, own, behind);
  });

  test("are not read as a code of a new second factor, or as a time zone", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, "ada@example.com");
    const session = await signIn(app, "ada@example.com");
    const form = { code: MARKS, secret: "A".repeat(32), current_password: PASSWORD };
    await expectUnread(app, SECOND_FACTOR, form, { session });
    const zone = { time_zone: MARKS };
    await expectUnread(app, "/admin/settings/account/time-zone", zone, { session });
  });

  test("are not read as the e-mail of the first user, or as an address", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const token = await app.ctx.db.write((tx) => issueSetUpLink(app.ctx, tx));
    const first = { name: "Ada", password: PASSWORD, public_address: "http://status.test" };
    const setUp = `/admin/setup/${token}`;
    await expectUnread(app, setUp, { ...first, email: `${MARKS}@example.com` });
    const url = `https://${MARKS}/`;
    await expectUnread(app, setUp, { ...first, email: "ada@example.com", public_address: url });
    await userWithPassword(app, "ada@example.com");
    const session = await signIn(app, "ada@example.com");
    const general = "/admin/settings/general";
    await expectUnread(app, general, { public_address: url }, { session });
    await expectUnread(app, "/admin/settings/import/from/statuspage", { url }, { session });
    const relay = { host: MARKS, tls: "starttls", from: "status@example.com" };
    await expectUnread(app, "/admin/mail", relay, { session });
  });
});
