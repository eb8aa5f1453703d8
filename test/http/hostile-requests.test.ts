import { describe, expect, test } from "bun:test";
import { redactUrl } from "../../src/base/redaction";
import { createTestApp, expectProblem } from "../support/app";
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
