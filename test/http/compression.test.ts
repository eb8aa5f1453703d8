import { describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { acceptsGzip } from "../../src/http/representation";
import { createTestApp, type TestApp } from "../support/app";
import { createComponentSite } from "../support/component-site";

/** One answer with its body as the bytes that were sent. */
async function read(app: TestApp, path: string, encoding?: string, more?: Record<string, string>) {
  const headers = { ...more, ...(encoding === undefined ? {} : { "accept-encoding": encoding }) };
  const request = new Request(`http://status.test${path}`, { headers });
  const response = await app.app.handle(request, () => "203.0.113.7");
  return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
}

describe("an answer of some size", () => {
  test("an answer is compressed on request and equal after decompression", async () => {
    await using app = await createTestApp();
    const plain = await read(app, "/openapi.json");
    const packed = await read(app, "/openapi.json", "gzip, br");
    expect(plain.response.headers.get("content-encoding")).toBeNull();
    expect(packed.response.headers.get("content-encoding")).toBe("gzip");
    expect(packed.bytes.byteLength).toBeLessThan(plain.bytes.byteLength / 2);
    expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
    for (const { response } of [plain, packed]) {
      expect(response.headers.get("vary")).toBe("Accept-Encoding");
    }
  });

  test("an answer has one entity tag per encoding, valid for that encoding only", async () => {
    await using app = await createTestApp();
    const tagOf = async (encoding?: string) =>
      (await read(app, "/openapi.json", encoding)).response.headers.get("etag") ?? "";
    const [plain, packed] = [await tagOf(), await tagOf("gzip")];
    expect(plain).not.toBe(packed);
    const status = async (encoding: string | undefined, known: string) =>
      (await read(app, "/openapi.json", encoding, { "if-none-match": known })).response.status;
    expect(await status(undefined, plain)).toBe(304);
    expect(await status("gzip", packed)).toBe(304);
    expect(await status(undefined, packed)).toBe(200);
    expect(await status("gzip", plain)).toBe(200);
  });

  test("a 304 has an entity tag and no Content-Encoding", async () => {
    await using app = await createTestApp();
    const { response, bytes } = await read(app, "/openapi.json", "gzip", { "if-none-match": "*" });
    expect(response.status).toBe(304);
    expect(bytes.byteLength).toBe(0);
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    expect(response.headers.get("etag")).toMatch(/^"[0-9a-f]{32}"$/);
  });

  test("pages, documents, lists and files are compressed", async () => {
    await using site = await createComponentSite();
    const { app, key } = site;
    const docs = (await app.call("/docs")).text;
    const asset = /"(\/assets\/docs\.[^"]+\.js)"/.exec(docs)?.[1] ?? "";
    for (const path of ["/docs/errors", "/api/v1/status/acme", asset]) {
      const authorization = `Bearer ${key}`;
      const { response } = await read(app, path, "gzip", { authorization });
      expect([path, response.headers.get("content-encoding")]).toEqual([path, "gzip"]);
    }
  });
});

test("a single resource and a problem are not compressed", async () => {
  await using site = await createComponentSite();
  const { app, key, path } = site;
  for (const target of [path, "/api/v1/key", "/nothing"]) {
    const { response } = await read(app, target, "gzip", { authorization: `Bearer ${key}` });
    expect([target, response.headers.get("content-encoding")]).toEqual([target, null]);
  }
});

test("a small answer is not compressed and has no Vary", async () => {
  await using site = await createComponentSite();
  const { response } = await read(site.app, `${site.path}/history`, "gzip", {
    authorization: `Bearer ${site.key}`,
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-encoding")).toBeNull();
  expect(response.headers.get("vary")).toBeNull();
});

describe("Accept-Encoding", () => {
  test.each([
    ["gzip", true],
    ["GZIP", true],
    ["x-gzip", true],
    ["br, gzip", true],
    ["gzip, deflate, br, zstd", true],
    ["br ,GZIP , zstd", true],
    ["gzip;q=1", true],
    ["gzip;q=0.001", true],
    ["gzip ; q=0.5 , br", true],
    ["*", true],
    ["br;q=1, *;q=0.1", true],
    ["*;q=0, gzip", true],
    ["", false],
    ["br", false],
    ["identity", false],
    ["gzip;q=0", false],
    ["gzip;q=0.000", false],
    ["gzip;q=0, *", false],
    ["*, gzip;q=0", false],
    ["*;q=0", false],
    ["gzipped", false],
    ["gzip;q=x", false],
  ])("the Accept-Encoding %p accepts gzip: %p", (header, isTaken) => {
    expect(acceptsGzip(header)).toBe(isTaken);
  });
});

test("concurrent answers from the same bytes have their own rate limit headers and ids", async () => {
  await using site = await createComponentSite();
  const { app } = site;
  const made = await Promise.all(
    [10, 20, 30].map((rate_limit) => app.createKey({ rate_limit, scopes: ["read:status"] })),
  );
  const answers = await Promise.all(
    Array.from({ length: 9 }, (_, index) =>
      app.call("/api/v1/status/acme", { key: made[index % 3]?.value }),
    ),
  );
  expect(answers.map((answer) => answer.headers.get("ratelimit-policy"))).toEqual(
    answers.map((_, index) => `"key";q=${[10, 20, 30][index % 3]};w=60`),
  );
  expect(new Set(answers.map((answer) => answer.headers.get("x-request-id"))).size).toBe(9);
});
