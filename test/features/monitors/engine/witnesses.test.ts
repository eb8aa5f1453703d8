import { describe, expect, test } from "bun:test";
import { outsideHostOf, Witnesses } from "../../../../src/features/monitors/engine/network";

type Hosts = readonly (readonly [host: string, ...addresses: string[]])[];

function areEnough(hosts: Hosts): boolean {
  const witnesses = new Witnesses();
  for (const [host, ...addresses] of hosts) {
    const outside = outsideHostOf(host, addresses.length > 0 ? addresses : [host]);
    if (outside) witnesses.add(outside);
  }
  return witnesses.areEnough;
}

describe("witnesses of a lost network", () => {
  const enough: [name: string, hosts: Hosts][] = [
    ["three addresses in two networks", [["9.9.9.9"], ["9.9.9.10"], ["8.8.8.8"]]],
    [
      "three names in three networks",
      [
        ["a", "9.9.9.9"],
        ["b", "8.8.8.8"],
        ["c", "1.1.1.1"],
      ],
    ],
    ["IPv6 hosts in two /48", [["2620:fe::fe"], ["2620:fe::9"], ["2620:119:35::35"]]],
    ["IPv4 and IPv6 hosts", [["9.9.9.9"], ["9.9.9.10"], ["2620:119:35::35"]]],
    [
      "names with several addresses",
      [
        ["a", "9.9.9.9", "2620:fe::fe"],
        ["b", "9.9.9.10"],
        ["c", "8.8.8.8", "8.8.4.4"],
      ],
    ],
  ];
  test.each(enough)("%s are enough", (_name, hosts) => {
    expect(areEnough(hosts)).toBe(true);
    expect(areEnough(hosts.toReversed())).toBe(true);
  });

  const tooFew: [name: string, hosts: Hosts][] = [
    ["no host", []],
    ["two hosts in two networks", [["9.9.9.9"], ["8.8.8.8"]]],
    ["three hosts in one /16", [["9.9.1.1"], ["9.9.2.2"], ["9.9.3.3"]]],
    ["three hosts in one /48", [["2620:fe:0:1::1"], ["2620:fe:0:2::1"], ["2620:fe::3"]]],
    ["monitors of one address", [["9.9.9.9"], ["9.9.9.9"], ["a", "9.9.9.9"], ["8.8.8.8"]]],
    [
      "several addresses of one name",
      [
        ["a", "9.9.9.9"],
        ["a", "8.8.8.8"],
        ["a.", "1.1.1.1"],
      ],
    ],
    [
      "names that share an address",
      [["a", "9.9.9.9", "8.8.8.8"], ["b", "8.8.8.8", "1.1.1.1"], ["c", "1.1.1.1"], ["9.9.9.10"]],
    ],
    ["two spellings of an address", [["9.9.9.9"], ["::ffff:9.9.9.9"], ["8.8.8.8"]]],
    [
      "hosts that are all in one network by one of their families",
      [
        ["a", "9.9.9.9", "2620:fe::1"],
        ["b", "9.9.9.10", "2620:fe::2"],
        ["c", "9.9.9.11", "2620:fe::3"],
      ],
    ],
    ["hosts in private networks", [["10.0.0.1"], ["192.168.1.1"], ["8.8.8.8"], ["127.0.0.1"]]],
    [
      "names with a private address too",
      [
        ["a", "9.9.9.9", "10.0.0.1"],
        ["b", "8.8.8.8"],
        ["c", "1.1.1.1", "192.168.1.1"],
      ],
    ],
    ["addresses for documentation", [["192.0.2.1"], ["198.51.100.1"], ["2001:db8::1"]]],
  ];
  test.each(tooFew)("%s are not enough", (_name, hosts) => {
    expect(areEnough(hosts)).toBe(false);
    expect(areEnough(hosts.toReversed())).toBe(false);
  });

  test("ten thousand hosts of one network stay too few, and one more host elsewhere is enough", () => {
    const witnesses = new Witnesses();
    const add = (host: string) => {
      const outside = outsideHostOf(host, [host]);
      if (outside) witnesses.add(outside);
    };
    for (let nth = 0; nth < 10_000; nth++) add(`9.9.${nth >> 8}.${nth & 255}`);
    expect([witnesses.hosts, witnesses.areEnough]).toEqual([10_000, false]);
    add("8.8.8.8");
    expect(witnesses.areEnough).toBe(true);
  });
});
