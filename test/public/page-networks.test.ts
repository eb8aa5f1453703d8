import { describe, expect, test } from "bun:test";
import { expectProblem } from "../support/app";
import { PAGE_PASSWORD } from "../support/page-access";
import {
  createPrivateSite,
  pathsForPeople,
  pathsForPrograms,
  sealOf,
  SEALED,
} from "../support/private-site";

const INSIDE = { from: "10.1.2.3" };
const OUTSIDE = { from: "203.0.113.7" };

async function withNetworks(env: Record<string, string> = {}) {
  const site = await createPrivateSite({}, { env });
  await site.networks("10.0.0.0/8", "198.51.100.9", "2001:db8:1::/48");
  return site;
}

describe("the networks of a private page", () => {
  test("visitors in the networks see the page and its documents, without a cookie", async () => {
    await using site = await withNetworks();
    const paths = pathsForPeople(site).filter((path) => !path.endsWith("/groups/other"));
    for (const path of [...paths, ...pathsForPrograms(site), "/status/inside/version"]) {
      const answer = await site.app.call(path, INSIDE);
      expect([path, answer.status]).toEqual([path, 200]);
      expect([path, sealOf(answer)]).toEqual([path, SEALED]);
      expect(answer.headers.getSetCookie()).toEqual([]);
      expectProblem(await site.app.call(path, OUTSIDE), "not_found");
    }
  });

  test("addresses are compared as networks, in IPv4, IPv6 and IPv4-mapped IPv6", async () => {
    await using site = await withNetworks();
    const statusFrom = async (from: string) =>
      (await site.app.call("/status/inside", { from })).status;
    for (const from of [
      "10.0.0.0",
      "10.255.255.255",
      "::ffff:10.0.0.1",
      "198.51.100.9",
      "2001:db8:1::1",
      "2001:db8:1:ffff::1",
    ]) {
      expect([from, await statusFrom(from)]).toEqual([from, 200]);
    }
    for (const from of [
      "9.255.255.255",
      "11.0.0.0",
      "198.51.100.8",
      "2001:db8:2::1",
      "::a00:1",
      "not an address",
    ]) {
      expect([from, await statusFrom(from)]).toEqual([from, 404]);
    }
  });

  test("each request is judged by its own address and the networks of that moment", async () => {
    await using site = await withNetworks();
    expect((await site.app.call("/status/inside", INSIDE)).status).toBe(200);
    await site.networks("203.0.113.0/24");
    expectProblem(await site.app.call("/status/inside", INSIDE), "not_found");
    expect((await site.app.call("/status/inside", OUTSIDE)).status).toBe(200);
    await site.networks();
    expectProblem(await site.app.call("/status/inside", OUTSIDE), "not_found");
  });

  test("outside of the networks a page with a password asks for it, and inside it does not", async () => {
    await using site = await withNetworks();
    await site.password(PAGE_PASSWORD);
    expect((await site.app.call("/status/inside", OUTSIDE)).status).toBe(401);
    expect((await site.app.call("/status/inside", INSIDE)).status).toBe(200);
  });

  test("a request with a header of proxies from a peer that is not trusted is in no network", async () => {
    await using site = await withNetworks();
    const sent: Record<string, string>[] = [
      { "x-forwarded-for": "10.1.2.3" },
      { "x-forwarded-for": "203.0.113.7" },
      { forwarded: "for=203.0.113.7" },
      { "x-real-ip": "10.1.2.3" },
      { "x-forwarded-proto": "https" },
      { "x-forwarded-host": "status.test" },
      { "cf-connecting-ip": "203.0.113.7" },
      { via: "1.1 proxy" },
    ];
    for (const headers of sent) {
      for (const { from } of [INSIDE, OUTSIDE]) {
        expectProblem(await site.app.call("/status/inside", { from, headers }), "not_found");
      }
    }
  });

  test("behind a trusted proxy the client's address counts, and never that of the proxy", async () => {
    await using site = await withNetworks({ ALLCLEAR_TRUSTED_PROXIES: "10.0.0.1" });
    const statusFor = async (forwarded: string, from = "10.0.0.1") => {
      const headers = { "x-forwarded-for": forwarded };
      return (await site.app.call("/status/inside", { from, headers })).status;
    };
    expect(await statusFor("10.1.2.3")).toBe(200);
    expect(await statusFor("10.1.2.3, 10.0.0.1")).toBe(200);
    expect(await statusFor("203.0.113.7")).toBe(404);
    // The client sent the header itself, as a proxy that is not trusted does.
    expect(await statusFor("203.0.113.7, 10.1.2.3")).toBe(404);
    // A client writes what it likes before the entry of the proxy.
    expect(await statusFor("10.1.2.3, 203.0.113.7")).toBe(404);
    // A proxy that does not know the client, or a hop that cannot be read.
    for (const unknown of ["unknown", "10.1.2.3, unknown", "", "10.1.2.3,"]) {
      expect([unknown, await statusFor(unknown)]).toEqual([unknown, 404]);
    }
    // Another machine is no proxy.
    expect(await statusFor("10.1.2.3", "10.0.0.2")).toBe(404);
    // A proxy that names the client in another way, or not at all.
    const unnamed: Record<string, string>[] = [
      {},
      { forwarded: "for=10.1.2.3" },
      { "x-real-ip": "10.1.2.3" },
    ];
    for (const headers of unnamed) {
      expectProblem(
        await site.app.call("/status/inside", { from: "10.0.0.1", headers }),
        "not_found",
      );
    }
    // Other headers of a proxy that names the client are those of the proxy.
    const headers = { "x-forwarded-for": "10.1.2.3", "x-real-ip": "10.1.2.3", via: "1.1 proxy" };
    const named = await site.app.call("/status/inside", { from: "10.0.0.1", headers });
    expect(named.status).toBe(200);
  });

  test("networks hold for names of this installation, and not for a name that another site may have", async () => {
    await using site = await withNetworks();
    const statusAt = async (host: string) =>
      (await site.app.call("/status/inside", { ...INSIDE, host })).status;
    for (const host of [
      "status.test",
      "STATUS.test.:8443",
      "10.0.0.7:8080",
      "[2001:db8::1]:8080",
      "localhost:8080",
      "nas",
      "nas.local",
      "status.home.arpa:8080",
    ]) {
      expect([host, await statusAt(host)]).toEqual([host, 200]);
    }
    for (const host of ["evil.example", "status.test.evil.example", "10.0.0.7.evil.example"]) {
      expect([host, await statusAt(host)]).toEqual([host, 404]);
    }
    // A grant is a cookie of its host.
    await site.password(PAGE_PASSWORD);
    const grant = await site.enter();
    expect((await site.read("/status/inside", grant, { host: "evil.example" })).status).toBe(200);
  });

  test("networks are no way in at / and on a custom domain", async () => {
    const host = "status.inside.example";
    await using site = await createPrivateSite({ custom_domains: [host] });
    await site.networks("203.0.113.0/24");
    expect((await site.app.call("/status/inside")).status).toBe(200);
    for (const path of ["/", "/status/inside", "/api/v2/summary.json"]) {
      expect((await site.app.call(path, { host })).status).toBe(404);
    }
    expectProblem(await site.app.call("/api/v2/summary.json"), "not_found");
  });
});
