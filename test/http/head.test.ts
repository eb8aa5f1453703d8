import { describe, expect, test } from "bun:test";
import { createTestClock } from "../support/clock";
import { openConnection } from "../support/raw-http";
import { serveApp } from "../support/served-app";

/** Paths of several kinds of routes: documents, files, JSON with and without a key, forms, errors. */
const PATHS = [
  "/",
  "/status/acme",
  "/status/acme/badge.svg",
  "/status/acme/feed.atom",
  "/status/acme/version",
  "/api/v2/summary.json",
  "/api/v1",
  "/api/v1/status/acme",
  "/api/v1/components",
  "/api/v1/monitors",
  "/api/v1/nothing",
  "/openapi.json",
  "/openapi.yaml",
  "/docs/errors",
  "/healthz",
  "/readyz",
  "/compat/kuma/metrics",
  "/icon.svg",
  "/admin",
  "/admin/sign-in",
  "/status/nothing",
  "/nothing",
  "/ping/nothing",
];

/** Headers whose values differ between any two answers. */
const VOLATILE = /^(date|x-request-id|ratelimit|x-ratelimit-(remaining|reset)|set-cookie)$/;

/** Sends a request over a socket and returns the status line and the headers of the answer. */
async function headersOf(port: number, request: string): Promise<Record<string, string>> {
  using connection = await openConnection(port);
  connection.send(`${request}\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
  const [head = ""] = (await connection.untilClosed()).split("\r\n\r\n");
  const [status = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line) => {
    const [, name = "", value = ""] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
    return [name.toLowerCase(), VOLATILE.test(name.toLowerCase()) ? "some" : value];
  });
  return { status, ...Object.fromEntries(headers) };
}

describe("an answer to HEAD over a socket", () => {
  test("an answer to HEAD has the status and every header of the answer to GET, with Date, on every kind of route", async () => {
    await using served = await serveApp({ clock: createTestClock() });
    await served.app.page();
    const key = await served.app.keyWith("read:status", "read:analytics");
    const port = Number(new URL(served.origin).port);
    for (const path of PATHS) {
      for (const more of ["", "\r\nAccept-Encoding: gzip", "\r\nIf-None-Match: *"]) {
        const rest = `${path} HTTP/1.1\r\nAuthorization: Bearer ${key}${more}`;
        const get = await headersOf(port, `GET ${rest}`);
        const head = await headersOf(port, `HEAD ${rest}`);
        expect(get["date"]).toBe("some");
        expect([path, more, head]).toEqual([path, more, get]);
      }
    }
  });

  test("the Date of an answer to HEAD is the time of the server in the form of HTTP", async () => {
    const clock = createTestClock();
    await using served = await serveApp({ clock });
    const { headers } = await served.app.call("/healthz", { method: "HEAD" });
    expect(headers.get("date")).toBe(new Date(clock.now()).toUTCString());
    expect((await served.app.call("/healthz")).headers.get("date")).toBeNull();
  });
});
