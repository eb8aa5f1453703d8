import { describe, expect, test } from "bun:test";
import { getKey } from "../../src/features/keys/records";
import { createTestApp, type TestApp } from "../support/app";

const PROXY = "10.0.0.1";
const BEHIND_PROXIES = { ALLCLEAR_TRUSTED_PROXIES: "10.0.0.0/8, fd00::/8" };

/** Sends a request and returns the rest of the client's bucket: 99 after the first request. */
async function left(app: TestApp, from: string, forwarded?: string): Promise<number> {
  const headers: Record<string, string> =
    forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  const answer = await app.call("/", { from, headers });
  return Number(answer.headers.get("x-ratelimit-remaining"));
}

describe("X-Forwarded-For", () => {
  test("X-Forwarded-For is ignored without trusted proxies", async () => {
    await using app = await createTestApp();
    expect(await left(app, "203.0.113.7", "198.51.100.1")).toBe(99);
    expect(await left(app, "203.0.113.7", "198.51.100.2")).toBe(98);
    expect(await left(app, "203.0.113.7")).toBe(97);
    expect(await left(app, "198.51.100.1")).toBe(99);
  });

  test("X-Forwarded-For is ignored from an untrusted peer", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    expect(await left(app, "203.0.113.7", "198.51.100.1")).toBe(99);
    expect(await left(app, "203.0.113.7", "198.51.100.2")).toBe(98);
    expect(await left(app, "203.0.113.7", "10.0.0.9")).toBe(97);
  });

  test("X-Forwarded-For from a trusted proxy gives each client its own bucket", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    expect(await left(app, PROXY, "198.51.100.1")).toBe(99);
    expect(await left(app, PROXY, "198.51.100.2")).toBe(99);
    expect(await left(app, PROXY, "198.51.100.1")).toBe(98);
    expect(await left(app, "198.51.100.1")).toBe(97);
    expect(await left(app, PROXY)).toBe(99);
  });

  test("X-Forwarded-For is read from the right, so clients cannot forge it", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    for (const [index, spoofed] of ["192.0.2.1", "192.0.2.2", "10.0.0.5", "unknown"].entries()) {
      expect(await left(app, PROXY, `${spoofed}, 198.51.100.1`)).toBe(99 - index);
    }
  });

  test("X-Forwarded-For is read through all trusted proxies up to the first other address", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    expect(await left(app, PROXY, "198.51.100.1, 10.0.0.3, 10.0.0.2")).toBe(99);
    expect(await left(app, PROXY, "198.51.100.2, 203.0.113.9, 10.0.0.2")).toBe(99);
    expect(await left(app, "203.0.113.9")).toBe(98);
    expect(await left(app, "198.51.100.1")).toBe(98);
  });

  test("X-Forwarded-For with trusted proxies only identifies the leftmost", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    expect(await left(app, PROXY, "10.0.0.3, 10.0.0.2")).toBe(99);
    expect(await left(app, "10.0.0.3")).toBe(98);
  });

  test("an invalid entry of X-Forwarded-For identifies the proxy that wrote it", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    const garbage = [
      "",
      ",",
      "unknown",
      "198.51.100.1, unknown",
      "198.51.100.1,",
      "198.51.100.256",
      "0x7f.0.0.1",
      "[::1",
      "198.51.100.1:port",
      "198.51.100.1, <script>",
    ];
    for (const [index, forwarded] of garbage.entries()) {
      expect([forwarded, await left(app, PROXY, forwarded)]).toEqual([forwarded, 99 - index]);
    }
    expect(await left(app, PROXY, "198.51.100.1, unknown, 10.0.0.2")).toBe(99);
    expect(await left(app, "10.0.0.2")).toBe(98);
  });

  test("X-Forwarded-For accepts ports, brackets and spaces", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    const spellings = [
      "198.51.100.1",
      "198.51.100.1:5678",
      " 198.51.100.1 ",
      "::ffff:198.51.100.1",
    ];
    for (const [index, spelling] of spellings.entries()) {
      expect(await left(app, PROXY, spelling)).toBe(99 - index);
    }
    const six = ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:5678", "2001:DB8:0::1"];
    for (const [index, spelling] of six.entries()) {
      expect(await left(app, PROXY, spelling)).toBe(99 - index);
    }
  });
});

describe("client addresses", () => {
  test("a client address is an IPv6 /64", async () => {
    await using app = await createTestApp();
    expect(await left(app, "2001:db8:0:1::1")).toBe(99);
    expect(await left(app, "2001:db8:0:1:ffff:ffff:ffff:ffff")).toBe(98);
    expect(await left(app, "2001:db8:0:2::1")).toBe(99);
  });

  test("IPv4 and IPv4-mapped IPv6 are the same client address", async () => {
    await using app = await createTestApp();
    expect(await left(app, "198.51.100.1")).toBe(99);
    expect(await left(app, "::ffff:198.51.100.1")).toBe(98);
    expect(await left(app, "::ffff:c633:6401")).toBe(97);
  });
});

describe("trusted proxies", () => {
  test("a trusted proxy is recognised by IPv4-mapped and IPv6 addresses", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    expect(await left(app, "::ffff:10.0.0.1", "198.51.100.1")).toBe(99);
    expect(await left(app, "fd00::1", "198.51.100.1")).toBe(98);
    expect(await left(app, "fe00::1", "198.51.100.1")).toBe(99);
  });

  test("a trusted proxy can be configured as a single address", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_TRUSTED_PROXIES: "10.0.0.1" } });
    expect(await left(app, "10.0.0.1", "198.51.100.1")).toBe(99);
    expect(await left(app, "10.0.0.2", "198.51.100.1")).toBe(99);
    expect(await left(app, "10.0.0.2", "198.51.100.1")).toBe(98);
  });

  test("a key's last_used_ip is the client behind a trusted proxy", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    const { key, value } = await app.createKey();
    const headers = { "x-forwarded-for": "192.0.2.1, 198.51.100.1" };
    await app.call("/api/v1/key", { key: value, from: PROXY, headers });
    await app.clock.advance(5_000);
    expect(getKey(app.ctx.db, key.id).last_used_ip).toBe("198.51.100.1");
  });
});

describe("an untrusted peer that keeps forwarding", () => {
  const warnings = (app: TestApp) =>
    app.logged.filter((line) => line.msg.includes("ALLCLEAR_TRUSTED_PROXIES"));

  test("an untrusted peer that keeps forwarding is logged once with its address", async () => {
    await using app = await createTestApp();
    for (let i = 0; i < 60; i++) await left(app, "172.17.0.1", `198.51.100.${i}`);
    expect(warnings(app)).toMatchObject([{ level: 40, peer: "172.17.0.1" }]);
  });

  test("an untrusted peer with few forwarded requests is not logged", async () => {
    await using app = await createTestApp();
    for (let i = 0; i < 3; i++) await left(app, "172.17.0.1", "198.51.100.1");
    for (let i = 0; i < 60; i++) await left(app, "172.17.0.2");
    expect(warnings(app)).toEqual([]);
  });

  test("a trusted proxy is not logged", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    for (let i = 0; i < 60; i++) await left(app, PROXY, `198.51.100.${i}`);
    expect(warnings(app)).toEqual([]);
  });
});
