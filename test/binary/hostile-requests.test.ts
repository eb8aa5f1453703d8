import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  createInstallation,
  type Installation,
  PROCESS_TEST_MS,
  type Server,
} from "../support/binary";
import { openConnection, rawRequest } from "../support/raw-http";

setDefaultTimeout(PROCESS_TEST_MS);

// One server for all of them: it has to outlive them anyway.
let site: Installation;
let server: Server;
let key: string;

beforeAll(async () => {
  site = await createInstallation();
  await site.createPage("acme", ["API"]);
  key = (await site.createKey(["write:components"])).value;
  server = await site.serve({ args: ["--public-rate-limit", "100000"] });
}, PROCESS_TEST_MS);

afterAll(() => site[Symbol.asyncDispose]());

/** The error's code where the answer is a problem that the service itself wrote. */
function codeOf(answer: { headers: Record<string, string>; body: string } | undefined): unknown {
  if (answer?.headers["content-type"] !== "application/problem+json") return undefined;
  expect(answer.headers["x-request-id"]).toMatch(/^req_/);
  return (JSON.parse(answer.body) as { code: unknown }).code;
}

describe("Host headers", () => {
  test.each(["x", "web", "nas:80", "192.0.2.1", "[::1]:8080", "status.example.com"])(
    "a request with the Host %p is routed by its path only",
    async (host) => {
      const get = (path: string) =>
        rawRequest(server.port, [`GET ${path} HTTP/1.1`, `Host: ${host}`]);
      expect((await get("/docs/errors"))?.status).toBe(200);
      // A router that counts characters from a longer host finds `/docs/errors` in these.
      for (let shift = 1; shift <= 12; shift++) {
        const answer = await get(`/${"z".repeat(shift)}/docs/errors`);
        expect([shift, answer?.status, codeOf(answer)]).toEqual([shift, 404, "not_found"]);
      }
      // And what a protected path needs cannot be left out by way of the host.
      expect((await get("/api/v1/status"))?.status).toBe(401);
    },
  );

  test.each(["", "a/b", "a b", "x/docs", "x/docs?", "x?y", "x#y", "user@x", "x\\y"])(
    "the Host %p is rejected on every path",
    async (host) => {
      for (const path of ["/", "/docs/errors", "/api/v1/status"]) {
        const answer = await rawRequest(server.port, [`GET ${path} HTTP/1.1`, `Host: ${host}`]);
        expect([path, answer?.status, codeOf(answer)]).toEqual([path, 400, "invalid_request"]);
      }
      expect((await server.fetch("/docs/errors")).status).toBe(200);
    },
  );

  test.each([
    ["of different hosts", "a.test", "b.test"],
    ["of the same host", "a.test", "a.test"],
    ["of which one is empty", "", "b.test"],
  ])(
    "two Host headers %s are rejected, and a single one is accepted",
    async (_what, first, second) => {
      for (const path of ["/docs/errors", "/healthz", "/api/v1/status", "/admin/sign-in"]) {
        const lines = [`GET ${path} HTTP/1.1`, `Host: ${first}`, `host: ${second}`];
        const answer = await rawRequest(server.port, lines);
        expect([path, answer?.status, codeOf(answer)]).toEqual([path, 400, "invalid_request"]);
      }
      const one = await rawRequest(server.port, ["GET /docs/errors HTTP/1.1", `Host: ${second}`]);
      expect(one?.status).toBe(200);
    },
  );

  test("a request without Host is rejected", async () => {
    const missing = await rawRequest(server.port, ["GET /docs/errors HTTP/1.1"]);
    expect(missing?.status).toBe(400);
    const old = await rawRequest(server.port, ["GET /docs/errors HTTP/1.0"]);
    expect([old?.status, codeOf(old)]).toEqual([400, "invalid_request"]);
  });
});

describe("request lines", () => {
  test("an absolute request target is routed by its path, and its host grants no access", async () => {
    const get = (target: string) =>
      rawRequest(server.port, [`GET ${target} HTTP/1.1`, "Host: status.example.com"]);
    expect((await get("http://status.example.com/healthz"))?.status).toBe(200);
    expect((await get("http://elsewhere.example/api/v1/status"))?.status).toBe(401);
    expect((await get("http://elsewhere.example/nothing"))?.status).toBe(404);
    expect((await get("http://x/api/v1/status"))?.status).toBe(401);
  });

  test.each(["//admin", "//docs", "/docs//errors", "/%64ocs", "/;/docs", "/DOCS"])(
    "the path %p is not_found",
    async (path) => {
      const answer = await rawRequest(server.port, [`GET ${path} HTTP/1.1`, "Host: x"]);
      expect([answer?.status, codeOf(answer)]).toEqual([404, "not_found"]);
    },
  );

  test.each([
    "//api/v1/status",
    "/api//v1/status",
    "/api/v1/status/",
    "/api/v1/./status",
    "/api/v1/%73tatus",
    "/x/../api/v1/status",
  ])("the path %p does not bypass a required key", async (path) => {
    const answer = await rawRequest(server.port, [`GET ${path} HTTP/1.1`, "Host: x"]);
    expect([401, 404]).toContain(answer?.status ?? 0);
  });

  test("dot segments are resolved before the path is routed", async () => {
    const get = (path: string) => rawRequest(server.port, [`GET ${path} HTTP/1.1`, "Host: x"]);
    expect((await get("/nothing/../docs"))?.status).toBe(200);
    expect((await get("/docs/../api/v1/status"))?.status).toBe(401);
    expect((await get("/docs/%2e%2e/api/v1/status"))?.status).toBe(401);
    expect((await get("/../../etc/passwd"))?.status).toBe(404);
  });

  test("a known method without a route is 405 with Allow, and an unknown method ends the connection", async () => {
    const request = (method: string) =>
      rawRequest(server.port, [`${method} /docs HTTP/1.1`, "Host: x"]);
    const propfind = await request("PROPFIND");
    expect([propfind?.status, codeOf(propfind)]).toEqual([405, "method_not_allowed"]);
    expect(propfind?.headers.allow).toBe("GET, HEAD");
    expect((await request("INVENTED"))?.status ?? "closed").toBe("closed");
    expect((await request("GET"))?.status).toBe(200);
  });

  test("HEAD has the headers of GET and no body", async () => {
    const request = (method: string, path: string) =>
      rawRequest(server.port, [`${method} ${path} HTTP/1.1`, "Host: x"]);
    for (const path of ["/docs/errors", "/healthz", "/nothing", "/api/v1/status"]) {
      const [head, get] = [await request("HEAD", path), await request("GET", path)];
      expect([path, head?.status, head?.body]).toEqual([path, get?.status, ""]);
      expect(head?.headers["content-type"]).toBe(get?.headers["content-type"]);
      expect(head?.headers["content-length"]).toBe(get?.headers["content-length"]);
      expect(get?.body).not.toBe("");
    }
  });

  test("pipelined requests are answered in order", async () => {
    using connection = await openConnection(server.port);
    connection.send(
      [
        "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /api/v1/status HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      ].join(""),
    );
    const text = await connection.untilClosed();
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
    expect(statuses).toEqual(["200", "404", "401", "200"]);
    const ids = [...text.matchAll(/x-request-id: (\S+)/gi)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(4);
  });
});

describe("requests that are too large", () => {
  test("a body over 1 MiB is rejected, with or without a declared length, and the server continues", async () => {
    const patch = (headers: string[], body: string) =>
      rawRequest(
        server.port,
        [
          "PATCH /api/v1/components HTTP/1.1",
          "Host: x",
          `Authorization: Bearer ${key}`,
          "Content-Type: application/json",
          ...headers,
        ],
        body,
      );
    const size = 1024 * 1024 + 1;
    const declared = await patch([`Content-Length: ${size}`], "");
    expect(declared?.status).toBe(413);
    const chunk = "x".repeat(size);
    const chunked = await patch(
      ["Transfer-Encoding: chunked"],
      `${size.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`,
    );
    expect(chunked?.status).toBe(413);
    expect((await server.fetch("/readyz")).status).toBe(200);
  });

  test("headers over the limit are 431, and the server continues", async () => {
    const lines = Array.from(
      { length: 32 },
      (_, index) => `X-Filler-${index}: ${"x".repeat(1024)}`,
    );
    const answer = await rawRequest(server.port, ["GET /healthz HTTP/1.1", "Host: x", ...lines]);
    expect(answer?.status).toBe(431);
    expect((await server.fetch("/readyz")).status).toBe(200);
  });
});
