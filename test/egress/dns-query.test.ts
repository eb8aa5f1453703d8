import { describe, expect, test } from "bun:test";
import type { DnsRecordType } from "../../src/egress/model";
import { parseResolver } from "../../src/egress/policy";
import {
  type DnsReply,
  dnsName,
  NXDOMAIN,
  REFUSED,
  SERVFAIL,
  startDnsServer,
} from "../support/dns-server";
import { probe } from "../support/probe";
import { createTestEgress, faultOf, patience, successOf } from "../support/egress";

const { egress } = await createTestEgress();

function resolveRecords(resolver: string, type: DnsRecordType = "A", signal = patience()) {
  return egress.query({ name: "shop.test", type, resolver, policy: "monitor", signal });
}

const numbers = (...values: number[]) =>
  Buffer.concat(
    values.map((value) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    }),
  );

describe("a DNS query", () => {
  test.each<[DnsRecordType, Buffer[], string[]]>([
    ["A", [Buffer.from([192, 0, 2, 1]), Buffer.from([192, 0, 2, 2])], ["192.0.2.1", "192.0.2.2"]],
    ["AAAA", [Buffer.from([0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 1])], ["2001:db8::1"]],
    ["CNAME", [dnsName("www.example.com")], ["www.example.com"]],
    ["NS", [dnsName("ns1.example.com")], ["ns1.example.com"]],
    ["PTR", [dnsName("host.example.com")], ["host.example.com"]],
    [
      "MX",
      [Buffer.concat([Buffer.from([0, 10]), dnsName("mail.example.com")])],
      ["10 mail.example.com"],
    ],
    ["TXT", [Buffer.from("\x06v=spf1")], ["v=spf1"]],
    ["TXT", [Buffer.from(`\xff${"k".repeat(255)}\x03end`, "latin1")], [`${"k".repeat(255)}end`]],
    [
      "SRV",
      [Buffer.concat([Buffer.from([0, 1, 0, 2, 0x1f, 0x90]), dnsName("sip.example.com")])],
      ["1 2 8080 sip.example.com"],
    ],
    ["CAA", [Buffer.from("\x00\x05issueca.test")], ['0 issue "ca.test"']],
    [
      "SOA",
      [Buffer.concat([dnsName("ns.test"), dnsName("admin.test"), numbers(1, 2, 3, 4, 5)])],
      ["ns.test admin.test 1 2 3 4 5"],
    ],
  ])("%s is answered as zone files write it", async (type, records, expected) => {
    await using server = await startDnsServer(() => ({ records }));
    const { records: found } = successOf(await resolveRecords(server.address, type));
    expect(found.toSorted()).toEqual(expected.toSorted());
  });

  test.each([
    ["8.8.4.4", "4.4.8.8.in-addr.arpa"],
    ["192.0.2.255", "255.2.0.192.in-addr.arpa"],
    [
      "2001:db8::567:89ab",
      "b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
    ],
    ["::ffff:192.0.2.1", `1.0.2.0.0.0.0.c.f.f.f.f.${"0.".repeat(20)}ip6.arpa`],
    ["4.4.8.8.in-addr.arpa", "4.4.8.8.in-addr.arpa"],
    ["host.example.com", "host.example.com"],
  ])("PTR records of %s are those of %s", async (name, asked) => {
    const names: string[] = [];
    await using server = await startDnsServer((question) => {
      names.push(question);
      return { records: [dnsName("dns.example.com")] };
    });
    const result = await probe("dns", { name, record_type: "PTR", resolver: server.address });
    expect([result.outcome, names]).toEqual(["ok", [asked]]);
  });

  test("a DNS query is never answered from a cache", async () => {
    const there = { records: [Buffer.from([192, 0, 2, 1])] };
    let reply: DnsReply = there;
    await using server = await startDnsServer(() => reply);
    expect(successOf(await resolveRecords(server.address)).records).toEqual(["192.0.2.1"]);
    reply = NXDOMAIN;
    expect(faultOf(await resolveRecords(server.address)).kind).toBe("dns");
    reply = there;
    expect(successOf(await resolveRecords(server.address)).records).toEqual(["192.0.2.1"]);
    expect(server.questions()).toBe(3);
  });

  test.each<[string, DnsReply, string]>([
    ["that there is no such name", NXDOMAIN, "The name has no such record."],
    ["that there is no such record", { records: [] }, "The name has no such record."],
    ["that it failed", SERVFAIL, "The resolver could not answer (SERVFAIL)."],
    ["that it refuses", REFUSED, "The resolver refused to answer."],
  ])("a DNS query answered %s is a fault", async (_what, reply, message) => {
    await using server = await startDnsServer(() => reply);
    expect(faultOf(await resolveRecords(server.address))).toMatchObject({ kind: "dns", message });
  });

  test("a DNS query without an answer ends with the deadline", async () => {
    const deadline = new AbortController();
    await using server = await startDnsServer(() => {
      deadline.abort();
      return null;
    });
    const fault = faultOf(await resolveRecords(server.address, "A", deadline.signal));
    expect(fault).toMatchObject({ kind: "timeout", message: "Timed out asking the resolver." });
  });

  test("a DNS query to a forbidden address or a name is rejected", async () => {
    expect(faultOf(await resolveRecords("169.254.169.254"))).toMatchObject({ kind: "refused" });
    expect(faultOf(await resolveRecords("[fe80::1]:53"))).toMatchObject({ kind: "refused" });
    expect(faultOf(await resolveRecords("dns.example.com"))).toMatchObject({ kind: "refused" });
  });
});

test.each([
  ["192.0.2.1", { address: "192.0.2.1", port: 53 }],
  ["192.0.2.1:5353", { address: "192.0.2.1", port: 5353 }],
  ["2001:db8::1", { address: "2001:db8::1", port: 53 }],
  ["[2001:db8::1]:5353", { address: "2001:db8::1", port: 5353 }],
  ["192.0.2.1:0", undefined],
  ["192.0.2.1:65536", undefined],
  ["dns.example.com", undefined],
  ["", undefined],
])("the resolver %p is parsed as an address with an optional port", (text, expected) => {
  expect(parseResolver(text)).toEqual(expected);
});
