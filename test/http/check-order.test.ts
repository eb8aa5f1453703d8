import { describe, expect, test } from "bun:test";
import { type Answer, createTestApp, expectProblem, type TestApp } from "../support/app";
import { streamOf } from "../support/streamed-body";

const JSON_TYPE = { "content-type": "application/json" };
const TOO_LARGE = " ".repeat(300 * 1024);

/** Bodies that each break another rule, and one that breaks none. */
const BODIES: { headers: Record<string, string>; raw: string }[] = [
  { headers: JSON_TYPE, raw: '{"status":"major_outage"}' },
  { headers: JSON_TYPE, raw: "{" },
  { headers: JSON_TYPE, raw: '{"status":"nonsense","extra":1}' },
  { headers: JSON_TYPE, raw: "[".repeat(1_000) },
  { headers: JSON_TYPE, raw: TOO_LARGE },
  { headers: { "content-type": "text/plain" }, raw: "status=major_outage" },
  { headers: {}, raw: "" },
];

interface Site {
  app: TestApp;
  component: string;
  writer: string;
  reader: string;
}

async function createSite(): Promise<Site & AsyncDisposable> {
  const app = await createTestApp();
  const { components } = await app.page({ slug: "acme" }, ["API"]);
  return {
    app,
    component: `/api/v1/components/${components["API"]}`,
    writer: await app.keyWith("write:components"),
    reader: await app.keyWith("read:status"),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/** All of an answer that its caller sees, but for what differs from one request to the next. */
function seen({ status, body, headers }: Answer) {
  return { status, body: { ...body, instance: "" }, challenge: headers.get("www-authenticate") };
}

describe("a request without a key", () => {
  test("a request without a key does not reveal errors of the body or the existence of a resource", async () => {
    await using site = await createSite();
    const { app, component } = site;
    const answers: Answer[] = [];
    for (const path of [component, "/api/v1/components/none", "/api/v1/components"]) {
      for (const body of BODIES) {
        answers.push(await app.call(path, { method: "PATCH", ...body }));
      }
    }
    for (const answer of answers) expectProblem(answer, "missing_key");
    expect(new Set(answers.map((answer) => JSON.stringify(seen(answer)))).size).toBe(1);
    expect(app.events()).toEqual([]);
  });

  test("the body of a request without a key or scope is not read", async () => {
    await using site = await createSite();
    const { app, component, reader, writer } = site;
    const patch = async (key?: string) => {
      const body = streamOf('{"status":', '"major_outage"}');
      const headers = { ...JSON_TYPE, "transfer-encoding": "chunked" };
      const answer = await app.call(component, { method: "PATCH", key, raw: body.stream, headers });
      return [answer.status, body.wasRead()];
    };
    expect(await patch()).toEqual([401, false]);
    expect(await patch("nonsense")).toEqual([401, false]);
    expect(await patch(reader)).toEqual([403, false]);
    expect(await patch(writer)).toEqual([200, true]);
  });
});

describe("the order of checks", () => {
  test("the host is checked before a key in the query, and both before the path", async () => {
    await using site = await createSite();
    const { app, writer } = site;
    const request = new Request(`http://status.test/nothing?key=${writer}`);
    // What Bun hands over where the Host header is empty.
    Object.defineProperty(request, "url", { value: `/nothing?key=${writer}` });
    const answer = (await (
      await app.app.handle(request, () => "203.0.113.7")
    ).json()) as Answer["body"];
    expect(answer.detail).toContain("Host");
    const inQuery = await app.call(`/nothing?key=${writer}`);
    expect(expectProblem(inQuery, "invalid_request").detail).toContain("query string");
    expectProblem(await app.call("/nothing"), "not_found");
  });

  test("the path and method are checked before the credential", async () => {
    await using site = await createSite();
    const { app, component } = site;
    for (const key of [undefined, "nonsense"]) {
      expectProblem(await app.call("/api/v1/nothing", { key }), "not_found");
      expectProblem(await app.call(component, { key, method: "PUT" }), "method_not_allowed");
      expect((await app.call(component, { key })).status).toBe(401);
    }
  });

  test("the rate limit of an address is checked before the credential", async () => {
    await using site = await createSite();
    const { app, component } = site;
    for (let i = 0; i < 100; i++) await app.call("/");
    expectProblem(await app.call(component), "rate_limited");
    expectProblem(await app.call("/nothing"), "rate_limited");
    expectProblem(await app.call("/?access_token=x"), "rate_limited");
  });

  test("the rate limit of a key is checked before scope and body", async () => {
    await using site = await createSite();
    const { app, component } = site;
    const { value: key } = await app.createKey({ rate_limit: 1 });
    const rejected = await app.call(component, { key, method: "PATCH", json: {} });
    expectProblem(rejected, "insufficient_scope");
    for (const body of BODIES) {
      expectProblem(await app.call(component, { key, method: "PATCH", ...body }), "rate_limited");
    }
  });

  test("the scope is checked before size, media type, body and resource", async () => {
    await using site = await createSite();
    const { app, component, reader } = site;
    for (const path of [component, "/api/v1/components/none"]) {
      for (const body of BODIES) {
        const answer = await app.call(path, { key: reader, method: "PATCH", ...body });
        expectProblem(answer, "insufficient_scope");
      }
    }
    expect(app.events()).toEqual([]);
  });

  test("the size is checked before the media type, and that before the JSON", async () => {
    await using site = await createSite();
    const { app, component, writer } = site;
    const patch = (type: string, raw: string) =>
      app.call(component, {
        key: writer,
        method: "PATCH",
        raw,
        headers: { "content-type": type },
      });
    expectProblem(await patch("text/plain", TOO_LARGE), "payload_too_large");
    expectProblem(await patch("application/json", TOO_LARGE), "payload_too_large");
    expectProblem(await patch("text/plain", "{"), "unsupported_media_type");
    expectProblem(await patch("application/json", "{"), "invalid_request");
    expect((await patch("application/json", '{"status":"major_outage"}')).status).toBe(200);
  });

  test("the JSON is checked before the schema, then the resource, then If-Match", async () => {
    await using site = await createSite();
    const { app, component, writer } = site;
    const stale = { "if-match": '"99"', ...JSON_TYPE };
    const patch = (path: string, raw: string) =>
      app.call(path, { key: writer, method: "PATCH", raw, headers: stale });
    const missing = "/api/v1/components/none";
    expectProblem(await patch(missing, "{"), "invalid_request");
    expectProblem(await patch(missing, '{"status":"nonsense"}'), "validation_failed");
    expectProblem(await patch(missing, '{"status":"major_outage"}'), "not_found");
    expectProblem(await patch(component, '{"status":"major_outage"}'), "precondition_failed");
    expect(app.events()).toEqual([]);
  });
});
