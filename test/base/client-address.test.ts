import { describe, expect, test } from "bun:test";
import { parseClientAddress } from "../../src/base/client-address";

describe("a client address", () => {
  test.each([
    ["203.0.113.7", "203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7", "203.0.113.7"],
    ["::FFFF:cb00:7107", "203.0.113.7", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:0db8:0001:0002::1", "2001:db8:1:2::1", "2001:db8:1:2"],
    ["::1", "::1", "0:0:0:0"],
  ])("the address %s is normalised to %s and counted as %s", (text, ip, network) => {
    expect(parseClientAddress(text)).toEqual({ ip, network });
  });

  test("an IPv6 address is counted by its /64", () => {
    const network = (text: string) => parseClientAddress(text)?.network;
    expect(network("2001:db8:0:1::1")).toBe(network("2001:db8:0:1:ffff:ffff:ffff:ffff"));
    expect(network("2001:db8:0:1::1")).not.toBe(network("2001:db8:0:2::1"));
  });

  test("an address with a network interface is counted without it", () => {
    expect(parseClientAddress("fe80::1%eth0")?.network).toBe("fe80:0:0:0");
  });
});

test.each([
  "",
  "unknown",
  "_hidden",
  "1.2.3",
  "1.2.3.4.5",
  "1.2.3.256",
  "010.0.0.1",
  "0x7f.0.0.1",
  "2130706433",
  "1.2.3.4:80",
  "[::1]",
  "::1::",
  "12345::",
  "localhost",
  " 1.2.3.4",
])("%p is not accepted as an address", (text) => {
  expect(parseClientAddress(text)).toBeUndefined();
});
