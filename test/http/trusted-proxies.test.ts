import { describe, expect, test } from "bun:test";
import { getKey } from "../../src/features/keys";
import { createTestApp, type TestApp } from "../support/app";

const PROXY = "10.0.0.1";
const BEHIND_PROXIES = { ALLCLEAR_TRUSTED_PROXIES: "10.0.0.0/8, fd00::/8" };

/** What the client's bucket has left after one more request; 99 after its first. */
async function left(app: TestApp, from: string, forwarded?: string): Promise<number> {
  const headers: Record<string, string> =
    forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  const answer = await app.call("/", { from, headers });
  return Number(answer.headers.get("x-ratelimit-remaining"));
}

describe("X-Forwarded-For", () => {
  test("is ignored from anybody while no proxy is trusted", async () => {
    await using app = await createTestApp();
    expect(await left(app, "203.0.113.7", "198.51.100.1")).toBe(99);
    expect(await left(app, "203.0.113.7", "198.51.100.2")).toBe(98);
    expect(await left(app, "203.0.113.7")).toBe(97);
    expect(await left(app, "198.51.100.1")).toBe(99);
  });

  test("is ignored from a peer that is not trusted, where others are", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    expect(await left(app, "203.0.113.7", "198.51.100.1")).toBe(99);
    expect(await left(app, "203.0.113.7", "198.51.100.2")).toBe(98);
    expect(await left(app, "203.0.113.7", "10.0.0.9")).toBe(97);
  });

  test("from a trusted proxy names the client, so that each has a bucket of its own", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    expect(await left(app, PROXY, "198.51.100.1")).toBe(99);
    expect(await left(app, PROXY, "198.51.100.2")).toBe(99);
    expect(await left(app, PROXY, "198.51.100.1")).toBe(98);
    expect(await left(app, "198.51.100.1")).toBe(97);
    expect(await left(app, PROXY)).toBe(99);
  });

  test("is read from the right: what the client wrote itself is not believed", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    for (const [index, spoofed] of ["192.0.2.1", "192.0.2.2", "10.0.0.5", "unknown"].entries()) {
      expect(await left(app, PROXY, `${spoofed}, 198.51.100.1`)).toBe(99 - index);
    }
  });

  test("is walked through every trusted proxy, and no further", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    expect(await left(app, PROXY, "198.51.100.1, 10.0.0.3, 10.0.0.2")).toBe(99);
    expect(await left(app, PROXY, "198.51.100.2, 203.0.113.9, 10.0.0.2")).toBe(99);
    expect(await left(app, "203.0.113.9")).toBe(98);
    expect(await left(app, "198.51.100.1")).toBe(98);
  });

  test("that names trusted proxies alone counts as the leftmost of them", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    expect(await left(app, PROXY, "10.0.0.3, 10.0.0.2")).toBe(99);
    expect(await left(app, "10.0.0.3")).toBe(98);
  });

  test("that is garbage ends the walk at the proxy that wrote it", async () => {
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

  test("may carry ports, brackets and spaces", async () => {
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

describe("one client", () => {
  test("is an IPv6 /64", async () => {
    await using app = await createTestApp();
    expect(await left(app, "2001:db8:0:1::1")).toBe(99);
    expect(await left(app, "2001:db8:0:1:ffff:ffff:ffff:ffff")).toBe(98);
    expect(await left(app, "2001:db8:0:2::1")).toBe(99);
  });

  test("is the same by IPv4 and by IPv4-mapped IPv6", async () => {
    await using app = await createTestApp();
    expect(await left(app, "198.51.100.1")).toBe(99);
    expect(await left(app, "::ffff:198.51.100.1")).toBe(98);
    expect(await left(app, "::ffff:c633:6401")).toBe(97);
  });
});

describe("a trusted proxy", () => {
  test("is recognised by an IPv4-mapped socket, and by IPv6", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    expect(await left(app, "::ffff:10.0.0.1", "198.51.100.1")).toBe(99);
    expect(await left(app, "fd00::1", "198.51.100.1")).toBe(98);
    expect(await left(app, "fe00::1", "198.51.100.1")).toBe(99);
  });

  test("is recognised where a single address is named", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_TRUSTED_PROXIES: "10.0.0.1" } });
    expect(await left(app, "10.0.0.1", "198.51.100.1")).toBe(99);
    expect(await left(app, "10.0.0.2", "198.51.100.1")).toBe(99);
    expect(await left(app, "10.0.0.2", "198.51.100.1")).toBe(98);
  });

  test("sees to it that a key's last use is the client's address", async () => {
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

  test("is told of in the log, once, by its address", async () => {
    await using app = await createTestApp();
    for (let i = 0; i < 60; i++) await left(app, "172.17.0.1", `198.51.100.${i}`);
    expect(warnings(app)).toMatchObject([{ level: 40, peer: "172.17.0.1" }]);
  });

  test("is not told of for a header or two", async () => {
    await using app = await createTestApp();
    for (let i = 0; i < 3; i++) await left(app, "172.17.0.1", "198.51.100.1");
    for (let i = 0; i < 60; i++) await left(app, "172.17.0.2");
    expect(warnings(app)).toEqual([]);
  });

  test("is not told of where it is trusted", async () => {
    await using app = await createTestApp({ env: BEHIND_PROXIES });
    for (let i = 0; i < 60; i++) await left(app, PROXY, `198.51.100.${i}`);
    expect(warnings(app)).toEqual([]);
  });
});
