import { describe, expect, test } from "bun:test";
import { redactText, redactUrl } from "../../src/base/redaction";
import { createTestLog } from "../support/log";

const TOKEN = "2njCM0Suv6JWV2dnAekXafwwhu4oz61CatjqZcK7EAB";

describe("the log", () => {
  test("a logged error keeps type, redacted message, stack and cause, and no arguments", () => {
    const { log, lines } = createTestLog("error");
    const url = `http://[/admin/setup/${TOKEN}`;
    try {
      new URL(url);
    } catch (error) {
      log.error({ err: new Error(`cannot read ${url}`, { cause: error }) }, "failed");
    }
    expect(JSON.stringify(lines)).not.toContain(TOKEN);
    const { err } = lines[0] as unknown as { err: Record<string, unknown> };
    expect(err["type"]).toBe("Error");
    expect(err["message"]).toBe("cannot read http://[/admin/setup/[redacted]");
    expect(err["stack"]).toContain("log.test.ts");
    expect(err["cause"]).toMatchObject({ type: "TypeError", code: "ERR_INVALID_URL" });
  });

  test("a thrown value that is no error is logged", () => {
    const { log, lines } = createTestLog("error");
    log.error({ err: "only words" }, "failed");
    expect(lines[0]).toMatchObject({ err: { type: "string", message: "only words" } });
  });
});

describe("redaction of paths in the log", () => {
  test.each([
    `/admin/setup/${TOKEN}`,
    `/admin//setup/${TOKEN}`,
    `/Admin/Setup/${TOKEN}`,
    `/admin/./join/${TOKEN}?x=1`,
    `/admin/join/%20${TOKEN}`,
    `/elsewhere?next=/admin/setup/${TOKEN}`,
    "/admin/setup/short-and-mistyped",
    `/api/v1/heartbeats/${TOKEN}/start?rid=1`,
    "/api/v1/heartbeats/short-and-mistyped/fail",
    `/status/acme/with/${TOKEN}`,
    `/status/acme%2Fwith%2F${TOKEN}/feed.atom?x=1`,
    "/status/acme/with/short-and-mistyped/api/v2/summary.json",
    `/x?access_token=${TOKEN}`,
  ])("the path %s is logged without its token", (path) => {
    expect(redactUrl(path)).not.toContain(TOKEN);
    expect(redactUrl(path)).not.toContain("short-and-mistyped");
    expect(redactUrl(path)).toContain("[redacted]");
  });

  test.each([
    "/api/v1/components/cmp_01kah2v9w0e0rs6x0h3ye0a1bc",
    "/assets/allclear.0123456789abcdef.css",
    "/status/acme?x=1",
    "/status/acme/with",
  ])("the path %s is logged unchanged", (path) => {
    expect(redactUrl(path)).toBe(path);
    expect(redactText(path)).toBe(path);
  });
});
