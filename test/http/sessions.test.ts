import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem } from "../support/app";
import { streamOf } from "../support/streamed-body";

const HTML = { accept: "text/html,application/xhtml+xml" };

describe("sessions at the gateway", () => {
  test("a session has its own bucket of 600 requests per minute", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1" } });
    const [first, second] = [await app.signedIn(), await app.signedIn()];
    const answer = await app.call("/admin", { session: first });
    expect(answer.headers.get("ratelimit-policy")).toBe('"session";q=600;w=60');
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("599");
    const other = await app.call("/admin", { session: second });
    expect(other.headers.get("x-ratelimit-remaining")).toBe("599");
    // The address has its one token still.
    expect((await app.call("/")).headers.get("x-ratelimit-remaining")).toBe("0");
  });

  test("a session over its limit is rejected until Retry-After has passed", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    for (let i = 0; i < 600; i++) await app.call("/admin/settings/nothing", { session });
    const paidByAddress = await app.call("/admin", { session });
    expect(paidByAddress.status).toBe(200);
    for (let i = 0; i < 599; i++) await app.call("/admin", { session });
    const rejected = await app.call("/admin", { session });
    const { detail } = expectProblem(rejected, "rate_limited");
    expect(detail).toContain("this session");
    await app.clock.advance(Number(rejected.headers.get("retry-after")) * 1_000);
    expect((await app.call("/admin", { session })).status).toBe(200);
  });

  test("a request with an unknown session is charged to the address", async () => {
    await using app = await createTestApp();
    const answer = await app.call("/admin", { session: "x".repeat(43) });
    expectProblem(answer, "sign_in_required");
    expect(answer.headers.get("ratelimit-policy")).toStartWith('"public"');
  });

  test("a session does not authenticate for the API", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    expectProblem(await app.call("/api/v1/key", { session }), "missing_key");
  });

  test("an API key does not authenticate for the dashboard", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    expectProblem(await app.call("/admin", { key }), "sign_in_required");
  });

  test("a session ends 24 hours after its last use", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const hour = 60 * 60 * 1_000;
    await app.clock.advance(23 * hour);
    expect((await app.call("/admin", { session })).status).toBe(200);
    await app.clock.advance(23 * hour);
    expect((await app.call("/admin", { session })).status).toBe(200);
    await app.clock.advance(24 * hour);
    expectProblem(await app.call("/admin", { session }), "sign_in_required");
  });

  test("a session that ends while its form arrives changes nothing", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const other = await app.signedIn();
    const { stream } = streamOf("name=Slow&scopes=read%3Astatus");
    const raw = new ReadableStream({
      async start(controller) {
        await app.call("/admin/sign-out", { session, form: {} });
        for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
          controller.enqueue(chunk);
        }
        controller.close();
      },
    });
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      origin: "http://status.test",
      "transfer-encoding": "chunked",
    };
    const path = "/admin/settings/keys/new";
    const answer = await app.call(path, { session, method: "POST", raw, headers });
    expectProblem(answer, "sign_in_required");
    expect(app.audit().map(({ action }) => action)).not.toContain("key.create");
    expect((await app.call("/admin", { session: other })).status).toBe(200);
  });
});

describe("requests without a session", () => {
  test("a browser without a session is redirected to the sign-in page with the requested path", async () => {
    await using app = await createTestApp();
    const answer = await app.call("/admin/settings/keys?show=unused", { headers: HTML });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe(
      "/admin/sign-in?next=%2Fadmin%2Fsettings%2Fkeys%3Fshow%3Dunused",
    );
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("a form without a session is answered with a page that says that nothing was saved", async () => {
    await using app = await createTestApp();
    const form = { name: "x" };
    const answer = await app.call("/admin/settings/keys/new", { form, headers: HTML });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("content-type")).toStartWith("text/html");
    expect(answer.text).toContain("Nothing was saved");
    expect(answer.headers.get("www-authenticate")).toContain("Cookie");
  });
});

describe("errors at the gateway", () => {
  test("an error is a page for a browser and a problem for a program", async () => {
    await using app = await createTestApp();
    const page = await app.call("/no/such/page", { headers: HTML });
    expect(page.status).toBe(404);
    expect(page.text).toContain("<h1>Not found</h1>");
    expectProblem(await app.call("/no/such/page"), "not_found");
  });

  test("an error below /api is a problem for any Accept header", async () => {
    await using app = await createTestApp();
    expectProblem(await app.call("/api/v1/status/acme", { headers: HTML }), "missing_key");
  });

  test("an error page has the headers of its error", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1" } });
    await app.call("/");
    const page = await app.call("/", { headers: HTML });
    expect(page.status).toBe(429);
    expect(page.headers.get("retry-after")).toBe("60");
    expect(page.text).toContain("Try again in 60 seconds");
  });
});
