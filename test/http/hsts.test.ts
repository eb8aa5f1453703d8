import { describe, expect, test } from "bun:test";
import { setPublicAddress } from "../../src/features/settings/settings";
import { CLI_ACTOR } from "../../src/base/actor";
import { createTestApp } from "../support/app";
import { visit } from "../support/domains";

const HSTS = "strict-transport-security";
const YEAR = "max-age=31536000";

/** Public addresses and options, and the header on the host of the address. */
const CASES: readonly [address: string, option: string | undefined, header: string | null][] = [
  ["https://status.test", undefined, YEAR],
  ["https://status.test", "600", "max-age=600"],
  ["https://status.test", "0", "max-age=0"],
  ["https://status.test", "off", null],
  ["https://status.test:8443", undefined, null],
  ["https://status.test:8443", "600", "max-age=600"],
  ["https://localhost", undefined, null],
  ["https://status.localhost", undefined, null],
  ["https://localhost", "600", "max-age=600"],
  ["http://status.test", undefined, null],
  ["http://status.test", "600", null],
];

describe("Strict-Transport-Security", () => {
  test.each(CASES)(
    "with the address %s and the option %p it is %p",
    async (address, option, header) => {
      const env = { ALLCLEAR_BASE_URL: address, ALLCLEAR_HSTS: option };
      await using app = await createTestApp({ env, dashboard: true });
      await app.page({ custom_domains: ["status.acme.example"] });
      const key = await app.keyWith("read:status");
      const authorization = `Bearer ${key}`;
      const host = new URL(address).host;
      for (const [path, init] of [
        ["/", {}],
        ["/status/acme", { method: "HEAD" }],
        ["/status/ACME/", {}],
        ["/nothing", {}],
        ["/api/v1/key", {}],
        ["/api/v1/key", { headers: { authorization } }],
        ["/admin/sign-in", {}],
        ["/admin", { headers: { accept: "text/html" } }],
        ["/icon.svg", {}],
        ["/healthz", {}],
        ["/api/v2/status.json", { method: "OPTIONS" }],
      ] as [string, RequestInit][]) {
        const { headers } = await visit(app, host, path, init);
        expect([path, headers.get(HSTS)]).toEqual([path, header]);
      }
      for (const domain of [
        "status.acme.example",
        "status.acme.example.",
        "STATUS.acme.example:443",
      ]) {
        expect((await visit(app, domain, "/")).headers.get(HSTS)).toBe(header);
      }
      // Their other services may have no TLS.
      for (const other of ["127.0.0.1:8080", "nas.lan", "www.status.test", "test"]) {
        expect((await visit(app, other, "/")).headers.get(HSTS)).toBeNull();
      }
    },
  );

  test("it follows the public address of the dashboard", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_BASE_URL: undefined } });
    const seen = async (host: string) => (await visit(app, host, "/")).headers.get(HSTS);
    expect(await seen("a.example")).toBeNull();
    const { ctx } = app;
    await ctx.db.write((tx) => setPublicAddress(ctx, tx, "https://a.example", CLI_ACTOR));
    expect(await seen("a.example")).toBe(YEAR);
    await ctx.db.write((tx) => setPublicAddress(ctx, tx, "http://a.example", CLI_ACTOR));
    expect(await seen("a.example")).toBeNull();
  });
});
