import { describe, expect, test } from "bun:test";
import { type Answer, createTestApp, expectProblem, type TestApp } from "../support/app";
import { streamOf } from "../support/streamed-body";

const CHUNKED = { "content-type": "application/json", "transfer-encoding": "chunked" };
const FORM = "application/x-www-form-urlencoded";
const HOME = "203.0.113.7";
const AT_ONCE = 8;
const AT_ONCE_OF_STRANGERS = 2;

/** A site whose component is changed by bodies that arrive when the test lets them. */
async function openSite(env: Record<string, string> = {}) {
  const app = await createTestApp({ env });
  const { components } = await app.page({}, ["API"]);
  const key = await app.keyWith("write:components");
  const path = `/api/v1/components/${components["API"]}`;
  const arrived = Promise.withResolvers<void>();
  const bodyOnItsWay = (text: string) =>
    new ReadableStream({
      async pull(stream) {
        await arrived.promise;
        stream.enqueue(new TextEncoder().encode(text));
        stream.close();
      },
    });
  return {
    app,
    arrive: () => arrived.resolve(),
    /** Begins a change whose body is on its way until `arrive`. */
    begin(more: { from?: string; headers?: Record<string, string> } = {}): Promise<Answer> {
      const { from = HOME, headers = {} } = more;
      const raw = bodyOnItsWay('{"status":"major_outage"}');
      const sent = { ...CHUNKED, ...headers };
      return app.call(path, { method: "PATCH", key, raw, from, headers: sent });
    },
    /** Begins to sign out, which asks for no credential. */
    signOut(from = HOME): Promise<Answer> {
      const headers = { ...CHUNKED, "content-type": FORM, origin: "http://status.test" };
      const raw = bodyOnItsWay("next=");
      return app.call("/admin/sign-out", { method: "POST", raw, from, headers });
    },
    change: (from: string) =>
      app.call(path, { method: "PATCH", key, from, json: { status: "operational" } }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

describe("bodies of unknown length", () => {
  test("an address can send eight bodies of unknown length at once, and the ninth is rate_limited", async () => {
    await using site = await openSite();
    const underWay = Array.from({ length: AT_ONCE }, () => site.begin());
    const rejected = await site.begin();
    expectProblem(rejected, "rate_limited");
    expect(rejected.headers.get("retry-after")).toBe("1");
    expect(site.app.events()).toEqual([]);
    site.arrive();
    const answers = await Promise.all(underWay);
    expect(answers.map(({ status }) => status)).toEqual(underWay.map(() => 200));
    // Their room is free again.
    expect((await site.begin()).status).toBe(200);
  });

  test("bodies of unknown length of one address do not block those of another", async () => {
    await using site = await openSite();
    const underWay = Array.from({ length: AT_ONCE }, () => site.begin());
    const other = site.begin({ from: "203.0.113.8" });
    expectProblem(await site.begin(), "rate_limited");
    site.arrive();
    expect((await other).status).toBe(200);
    await Promise.all(underWay);
  });

  test("bodies of unknown length count for the client of a trusted proxy, and for an untrusted proxy itself", async () => {
    const through = (client: string) => ({
      from: "10.0.0.1",
      headers: { "x-forwarded-for": client },
    });
    for (const isTrusted of [true, false]) {
      await using site = await openSite(
        isTrusted ? { ALLCLEAR_TRUSTED_PROXIES: "10.0.0.1/32" } : {},
      );
      const underWay = Array.from({ length: AT_ONCE }, () => site.begin(through("203.0.113.7")));
      expectProblem(await site.begin(through("203.0.113.7")), "rate_limited");
      const other = site.begin(through("203.0.113.8"));
      site.arrive();
      expect((await other).status).toBe(isTrusted ? 200 : 429);
      await Promise.all(underWay);
    }
  });

  test("bodies of unknown length over IPv6 count for the /48", async () => {
    await using site = await openSite();
    const underWay = Array.from({ length: AT_ONCE }, (_, n) =>
      site.begin({ from: `2001:db8:1:${n}::1` }),
    );
    expectProblem(await site.begin({ from: "2001:db8:1:ff::1" }), "rate_limited");
    const other = site.begin({ from: "2001:db8:2::1" });
    site.arrive();
    expect((await other).status).toBe(200);
    await Promise.all(underWay);
  });

  test("callers without credentials can send two bodies of unknown length at once, without blocking keys", async () => {
    await using site = await openSite();
    const underWay = Array.from({ length: AT_ONCE_OF_STRANGERS }, () => site.signOut());
    expectProblem(await site.signOut(), "rate_limited");
    const withKey = site.begin();
    site.arrive();
    expect((await withKey).status).toBe(200);
    const answers = await Promise.all(underWay);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect((await site.signOut()).status).toBe(303);
  });

  test("bodies of callers with credentials never block those without", async () => {
    await using site = await openSite();
    const underWay = Array.from({ length: AT_ONCE }, () => site.begin());
    const signedOut = site.signOut();
    expectProblem(await site.begin(), "rate_limited");
    site.arrive();
    expect((await signedOut).status).toBe(303);
    await Promise.all(underWay);
  });

  test("a rejected body of unknown length frees its slot", async () => {
    await using site = await openSite();
    for (let count = 0; count < 2 * AT_ONCE; count++) {
      const answer = await site.app.call("/admin/sign-out", {
        method: "POST",
        raw: new Blob(["x".repeat(300 * 1024)]).stream(),
        headers: {
          "transfer-encoding": "chunked",
          "content-type": FORM,
          origin: "http://status.test",
        },
      });
      expectProblem(answer, "payload_too_large");
    }
  });
});

test("the global limit of bodies blocks only large and unbounded ones", async () => {
  await using site = await openSite();
  const underWay = Array.from({ length: 128 }, (_, n) =>
    site.begin({ from: `198.51.100.${Math.floor(n / AT_ONCE)}` }),
  );
  expectProblem(await site.begin(), "rate_limited");
  expect((await site.change(HOME)).status).toBe(200);
  site.arrive();
  await Promise.all(underWay);
  expect((await site.begin()).status).toBe(200);
});

test("bodies without credentials fill at most a quarter of the global limit, so one with a key is accepted", async () => {
  await using site = await openSite();
  // Otherwise the sign-outs reserve room only after the request with the key.
  await site.app.app.loadRoutes();
  const underWay = Array.from({ length: 128 }, (_, n) =>
    site.signOut(`198.51.100.${Math.floor(n / AT_ONCE_OF_STRANGERS)}`),
  );
  const withKey = site.begin();
  site.arrive();
  expect((await withKey).status).toBe(200);
  const statuses = (await Promise.all(underWay)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 303)).toHaveLength(32);
  expect(statuses.filter((status) => status === 429)).toHaveLength(96);
  expect((await site.signOut()).status).toBe(303);
});

test("hundreds of small bodies with a declared length are accepted at once", async () => {
  await using site = await openSite();
  const answers = await Promise.all(Array.from({ length: 300 }, () => site.change("203.0.113.7")));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});

describe("answers before the body is read", () => {
  const send = (app: TestApp, headers: Record<string, string>) =>
    app.call("/api/v1/incidents", { method: "POST", raw: streamOf("{}").stream, headers });

  test("an answer before an unbounded body closes the connection, and before a bounded body keeps it", async () => {
    await using app = await createTestApp();
    const endless = await send(app, CHUNKED);
    expectProblem(endless, "missing_key");
    expect(endless.headers.get("connection")).toBe("close");
    const bounded = await send(app, { "content-type": "application/json", "content-length": "2" });
    expectProblem(bounded, "missing_key");
    expect(bounded.headers.get("connection")).toBeNull();
  });

  test("an answer after a body that was read keeps the connection open", async () => {
    await using site = await openSite();
    site.arrive();
    const answer = await site.begin();
    expect([answer.status, answer.headers.get("connection")]).toEqual([200, null]);
  });
});
