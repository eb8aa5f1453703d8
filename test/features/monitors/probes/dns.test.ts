import { describe, expect, test } from "bun:test";
import type { DnsQuery } from "../../../../src/egress/model";
import type { Egress } from "../../../../src/egress/egress";
import { probeOf } from "../../../../src/features/monitors/probes";
import { startDnsServer, SERVFAIL } from "../../../support/dns-server";
import { probe } from "../../../support/probe";

/** Returns an egress with a resolver for these records, and its queries. */
function knows(records: string[]) {
  const queries: DnsQuery[] = [];
  const unexpected = () => Promise.reject(new Error("unexpected query"));
  const egress: Egress = {
    query: async (query) => {
      queries.push(query);
      return { records };
    },
    connect: unexpected,
    resolve: unexpected,
    ping: unexpected,
    socket: unexpected,
    request: unexpected,
    askDocker: unexpected,
  };
  return { egress, queries };
}

const check = (records: string[], config: object) =>
  probe("dns", { name: "example.com", ...config }, { context: { egress: knows(records).egress } });

describe("DNS checks", () => {
  test("a DNS check queries the configured resolver and compares the expected records", async () => {
    await using server = await startDnsServer(() => ({ records: [Buffer.from([192, 0, 2, 7])] }));
    const config = { name: "example.com", resolver: server.address, expected: ["192.0.2.7"] };
    expect((await probe("dns", config)).outcome).toBe("ok");
    expect(server.questions()).toBe(1);
    const missing = await probe("dns", { ...config, expected: ["192.0.2.8"] });
    expect(missing.outcome).toBe("failed");
    expect(missing.message).toBe("The record 192.0.2.8 is missing; there is: 192.0.2.7");
  });

  test("a DNS check fails if the resolver fails", async () => {
    await using server = await startDnsServer(() => SERVFAIL);
    const result = await probe("dns", { name: "example.com", resolver: server.address });
    expect(result).toMatchObject({ outcome: "failed", latencyMs: null });
    expect(result.message).toContain("SERVFAIL");
  });

  test("a DNS check requests A records by default", async () => {
    const { egress, queries } = knows(["192.0.2.7"]);
    await probe("dns", { name: "example.com" }, { context: { egress } });
    await probe("dns", { name: "example.com", record_type: "TXT" }, { context: { egress } });
    expect(queries.map(({ type, policy }) => `${type} ${policy}`)).toEqual([
      "A monitor",
      "TXT monitor",
    ]);
  });

  test("a DNS check compares records in any order and equivalent spelling, but TXT exactly", async () => {
    const mail = { record_type: "MX", expected: ["20 MX2.Example.com.", "10 mx1.example.com"] };
    expect((await check(["10 mx1.example.com", "20 mx2.example.com"], mail)).outcome).toBe("ok");
    const six = { record_type: "AAAA", expected: ["2001:DB8:0::1"] };
    expect((await check(["2001:db8::1"], six)).outcome).toBe("ok");
    const text = { record_type: "TXT", expected: ["v=spf1 -ALL"] };
    expect((await check(["v=spf1 -ALL"], text)).outcome).toBe("ok");
    expect((await check(["v=spf1 -all"], text)).outcome).toBe("failed");
  });

  test("a DNS check fails without a record", async () => {
    expect((await check([], {})).outcome).toBe("failed");
  });

  test("the message of a DNS check has at most 300 characters", async () => {
    const records = Array.from({ length: 100 }, (_, i) => `192.0.2.${i}`);
    const { message } = await check(records, { expected: ["192.0.3.1"] });
    expect(message).toHaveLength(300);
  });

  test("the message of a DNS check contains no line breaks or bidirectional overrides", async () => {
    const text = { record_type: "TXT", expected: ["v=spf1 -all"] };
    const { message } = await check(["a\r\nb\u202ec"], text);
    expect(message).toBe("The record v=spf1 -all is missing; there is: a  b c");
  });

  test("a DNS configuration rejects invalid names and resolvers that are names or blocked addresses", () => {
    const { validate } = probeOf("dns");
    expect(validate({ name: "_dmarc.example.com" })).toEqual([]);
    expect(validate({ name: "example.com", resolver: "[2001:db8::1]:5353" })).toEqual([]);
    for (const name of ["a b", "a..b", ".", `${"a".repeat(64)}.com`]) {
      expect(validate({ name })).toEqual([
        { pointer: "#/name", detail: "must be a name such as example.com" },
      ]);
    }
    for (const resolver of ["dns.example.com", "169.254.169.253", "[fe80::1]:53", "1.1.1.1:0"]) {
      expect(validate({ name: "example.com", resolver }).map(({ pointer }) => pointer)).toEqual([
        "#/resolver",
      ]);
    }
  });
});
