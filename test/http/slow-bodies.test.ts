import { describe, expect, test } from "bun:test";
import {
  beginRequest,
  CHUNKED_FORM,
  countedOf,
  sendForever,
  untilRead,
} from "../support/body-senders";
import { createTestClock } from "../support/clock";
import { userWithPassword } from "../support/dashboard";
import { parseAnswer } from "../support/raw-http";
import { type ServedApp, serveApp } from "../support/served-app";

/** Milliseconds within which a chunked body without credentials must have arrived. */
const ANONYMOUS_MS = 26_000;
const SIGN_OUT = "/admin/sign-out";

/** Begins to sign out with a body in chunks, of which only the first has come. */
async function holdSignOut(site: ServedApp) {
  const connection = await beginRequest(site, `POST ${SIGN_OUT}`, CHUNKED_FORM);
  connection.send("4\r\nnext\r\n");
  await untilRead(site);
  return connection;
}

async function signIn({ origin }: ServedApp): Promise<number> {
  const body = new URLSearchParams({ email: "ada@example.com", password: "wrong wrong wrong" });
  const answer = await fetch(`${origin}/admin/sign-in`, {
    method: "POST",
    body,
    headers: { origin },
  });
  await answer.body?.cancel();
  return answer.status;
}

describe("bodies that arrive slowly", () => {
  test("slow bodies never block a plain form of the same address", async () => {
    await using site = await serveApp({ clock: createTestClock() });
    await userWithPassword(site.app, "ada@example.com");
    using first = await holdSignOut(site);
    using second = await holdSignOut(site);
    using third = await beginRequest(site, `POST ${SIGN_OUT}`, CHUNKED_FORM);
    expect(await third.untilClosed()).toStartWith("HTTP/1.1 429");
    expect(await signIn(site)).toBe(422);
    expect([first.received(), second.received()]).toEqual(["", ""]);
  });

  test("a slow body without credentials is ended after 26 seconds and frees its slot", async () => {
    const clock = createTestClock();
    await using site = await serveApp({ clock });
    using first = await holdSignOut(site);
    using second = await holdSignOut(site);
    await clock.advance(ANONYMOUS_MS - 1);
    first.send("1\r\n=\r\n");
    await untilRead(site);
    expect(countedOf(site, SIGN_OUT)).toEqual({});
    await clock.advance(1);
    await Promise.all([first.untilClosed(), second.untilClosed()]);
    expect(countedOf(site, SIGN_OUT)).toEqual({ "499": 2 });
    expect(site.app.logged.filter((entry) => Number(entry["level"]) >= 40)).toEqual([]);

    using whole = await holdSignOut(site);
    whole.send("0\r\n\r\n");
    expect(await whole.until(/\r\n\r\n/)).toStartWith("HTTP/1.1 303");
  });

  test("a slow body is ended sooner if its declared length is smaller, and later with a key", async () => {
    const clock = createTestClock();
    await using site = await serveApp({ clock });
    const { components } = await site.app.page({}, ["API"]);
    const key = await site.app.keyWith("write:components");
    // The time of a body begins once its route is loaded.
    await site.app.app.loadRoutes();
    const path = `/api/v1/components/${components["API"]}`;
    using form = await beginRequest(site, `POST ${SIGN_OUT}`, [
      "Content-Type: application/x-www-form-urlencoded",
      "Content-Length: 16384",
    ]);
    using change = await beginRequest(site, `PATCH ${path}`, [
      `Authorization: Bearer ${key}`,
      "Content-Type: application/json",
      "Transfer-Encoding: chunked",
    ]);
    await untilRead(site);
    await clock.advance(11_000);
    expect(await form.untilClosed()).toContain("\r\nConnection: close\r\n");
    await clock.advance(34_999);
    expect(countedOf(site, "/api/v1/components/:id")).toEqual({});
    await clock.advance(1);
    await change.untilClosed();
    expect(countedOf(site, "/api/v1/components/:id")).toEqual({ "499": 1 });
  });
});

test("a request with two equal Content-Length headers is rejected, its connection closed, and the limits of bodies stay in force", async () => {
  await using site = await serveApp({ clock: createTestClock() });
  using _first = await holdSignOut(site);
  using _second = await holdSignOut(site);
  using twice = await beginRequest(site, `POST ${SIGN_OUT}`, [
    "Content-Type: application/x-www-form-urlencoded",
    "Content-Length: 5",
    "Content-Length: 5",
  ]);
  twice.send("next=");
  const answer = parseAnswer(await twice.untilClosed());
  expect([answer?.status, answer?.headers["connection"]]).toEqual([400, "close"]);
  expect(answer?.body).toContain('"code":"invalid_request"');
  using third = await beginRequest(site, `POST ${SIGN_OUT}`, CHUNKED_FORM);
  expect(await third.untilClosed()).toStartWith("HTTP/1.1 429");
});

describe("a body of a route that reads none", () => {
  test.each([
    "GET /",
    "HEAD /",
    "GET /status/acme/summary.json",
    "GET /healthz",
    "GET /admin/sign-in",
  ])(
    "a chunked body that the route does not read ends with the answer: %s",
    async (requestLine) => {
      await using site = await serveApp({ clock: createTestClock() });
      await site.app.page({}, ["API"]);
      using connection = await beginRequest(site, requestLine, ["Transfer-Encoding: chunked"]);
      const answer = parseAnswer(await sendForever(connection));
      expect([answer?.status, answer?.headers["connection"]]).toEqual([200, "close"]);
    },
  );

  test("a body of declared length that the route does not read keeps the connection open", async () => {
    await using site = await serveApp({ clock: createTestClock() });
    using connection = await beginRequest(site, "GET /healthz", ["Content-Length: 4"]);
    connection.send("abcd");
    const { origin } = site;
    await connection.until(/"ok"/);
    connection.send(`GET /readyz HTTP/1.1\r\nHost: ${new URL(origin).host}\r\n\r\n`);
    expect(await connection.until(/writable/)).not.toContain("Connection: close");
  });
});

test("a sign-in rejected by the limit of bodies counts as no attempt", async () => {
  await using site = await serveApp({ clock: createTestClock() });
  await userWithPassword(site.app, "ada@example.com");
  using _first = await holdSignOut(site);
  using _second = await holdSignOut(site);
  for (let count = 0; count < 20; count++) {
    using rejected = await beginRequest(site, "POST /admin/sign-in", CHUNKED_FORM);
    expect(await rejected.untilClosed()).toStartWith("HTTP/1.1 429");
  }
  expect(await signIn(site)).toBe(422);
});
