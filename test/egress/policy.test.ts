import { describe, expect, test } from "bun:test";
import { parseNetworks } from "../../src/base/config/parse";
import { hostError, monitorPolicy, policiesOf, webhookPolicy } from "../../src/egress/policy";

const mailPolicy = (config: Parameters<typeof policiesOf>[0]["config"]) =>
  policiesOf({ allowedNetworks: [], config }).mail;

const privatePolicy = policiesOf({ allowedNetworks: [] }).private;

const METADATA_SPELLINGS = [
  "169.254.169.254",
  "2852039166",
  "0xa9fea9fe",
  "0xA9.0xFE.0xA9.0xFE",
  "0251.0376.0251.0376",
  "169.254.43518",
  "169.16689662",
  "１６９．２５４．１６９．２５４",
  "①⑥⑨.254.169.254",
  "169.254.169.254.",
  "::ffff:169.254.169.254",
  "[::ffff:169.254.169.254]",
  "[::ffff:a9fe:a9fe]",
  "[0:0:0:0:0:FFFF:A9FE:A9FE]",
  "[::a9fe:a9fe]",
  "[::ffff:0:a9fe:a9fe]",
  "[64:ff9b::a9fe:a9fe]",
  "[64:ff9b:1::a9fe:a9fe]",
  "[2002:a9fe:a9fe::1]",
  "[64:ff9b:1:a9fe:a9:fe00::]",
  "[64:ff9b:1:a9:fe:a9fe::]",
  "[64:ff9b:1:0:a9:fea9:fe00:0]",
  "[2001:0:a9fe:a9fe::1]",
  "[2001:0:808:808:0:0:5601:5601]",
  "[2606:4700::5efe:a9fe:a9fe]",
  "[2606:4700::200:5efe:a9fe:a9fe]",
  "169.254.170.2",
  "169.254.1.1",
  "fe80::1",
  "[febf:ffff::1]",
  "fd00:ec2::254",
  "[fd00:0ec2:0:0:0:0:0:254]",
  "fd20:ce::254",
  "100.100.100.200",
  "1684301000",
  "192.0.0.192",
  "168.63.129.16",
];

const NOWHERE = [
  "0.0.0.0",
  "0",
  "0.1.2.3",
  "::",
  "224.0.0.1",
  "239.1.1.1",
  "ff02::1",
  "255.255.255.255",
];

const PRIVATE = [
  "127.0.0.1",
  "127.1",
  "::1",
  "10.1.2.3",
  "172.16.0.1",
  "192.168.1.1",
  "100.64.0.1",
  "fc00::1",
  "fd12:3456::1",
  "198.18.0.1",
  "::ffff:10.1.2.3",
  "[64:ff9b::10.1.2.3]",
];

const PUBLIC = [
  "8.8.8.8",
  "93.184.216.34",
  "2606:4700::1111",
  "[64:ff9b::8.8.8.8]",
  "[64:ff9b:1::8.8.8.8]",
  "::ffff:8.8.8.8",
];

describe("addresses that monitors may reach", () => {
  test.each(METADATA_SPELLINGS)(
    "monitors cannot reach link-local and metadata addresses: %s",
    (host) => {
      expect(hostError(host, monitorPolicy)).toMatch(
        /^is (a link-local address|an address at which)/,
      );
    },
  );

  test.each(NOWHERE)("monitors cannot reach addresses without services: %s", (host) => {
    expect(hostError(host, monitorPolicy)).toBe("is not an address that a service has");
  });

  test.each([...PRIVATE, ...PUBLIC, "example.com", "nas"])(
    "monitors can reach all other addresses: %s",
    (host) => {
      expect(hostError(host, monitorPolicy)).toBeUndefined();
    },
  );

  test.each([
    "",
    " ",
    "a b",
    "a/b",
    "a@b",
    "a:80",
    "a?b",
    "a#b",
    "a\\b",
    "a%00",
    "[::1",
    "::g",
    "1.2.3.4.5",
    "256.1.1.1",
    "a..b",
    "fe80::1%eth0",
    `${"a".repeat(64)}.`.repeat(5),
  ])("a text that is no host is reported as such: %p", (text) => {
    expect(hostError(text, monitorPolicy)).toBe("must be a host name or an IP address");
  });
});

describe("addresses that webhooks may reach", () => {
  const policy = webhookPolicy([]);

  test.each(PUBLIC)("webhooks can reach public addresses: %s", (host) => {
    expect(hostError(host, policy)).toBeUndefined();
  });

  test.each([
    ...PRIVATE,
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "240.0.0.1",
    "2001:db8::1",
    "3fff::1",
    "100::1",
    "fec0::1",
    "4000::1",
    "5f00::1",
  ])("webhooks cannot reach other addresses: %s", (host) => {
    expect(hostError(host, policy)).toBeDefined();
  });

  test.each([...METADATA_SPELLINGS, ...NOWHERE])(
    "webhooks cannot reach what monitors cannot reach: %s",
    (host) => {
      expect(hostError(host, policy)).toBeDefined();
    },
  );

  test("webhooks can reach exactly the allowed private networks", () => {
    const allowing = webhookPolicy(parseNetworks("10.0.0.0/8, fd12::/16"));
    expect(hostError("10.1.2.3", allowing)).toBeUndefined();
    expect(hostError("::ffff:10.1.2.3", allowing)).toBeUndefined();
    expect(hostError("fd12::1", allowing)).toBeUndefined();
    expect(hostError("192.168.1.1", allowing)).toStartWith(
      "is not an address of the public internet; ",
    );
    expect(hostError("fd13::1", allowing)).toStartWith(
      "is not an address of the public internet; ",
    );
  });

  test("allowing all networks does not allow link-local and metadata addresses", () => {
    const allowing = webhookPolicy(parseNetworks("0.0.0.0/0, ::/0"));
    expect(hostError("127.0.0.1", allowing)).toBeUndefined();
    for (const host of METADATA_SPELLINGS) expect(hostError(host, allowing), host).toBeDefined();
  });
});

describe("addresses that mail may reach", () => {
  const byFlag = { smtpHost: "relay.internal", outboundAllow: undefined };
  const byDashboard = { smtpHost: undefined, outboundAllow: parseNetworks("10.0.0.0/8") };
  const everything = { smtpHost: undefined, outboundAllow: parseNetworks("0.0.0.0/0, ::/0") };

  test.each([...METADATA_SPELLINGS, ...NOWHERE])(
    "mail cannot reach link-local and metadata addresses, whoever names the relay: %s",
    (host) => {
      for (const config of [byFlag, byDashboard, everything, undefined]) {
        expect(hostError(host, mailPolicy(config))).toBeDefined();
      }
    },
  );

  test.each([...PRIVATE, "127.0.0.1", "::1"])(
    "mail reaches a private address if a flag names the relay, or ALLCLEAR_OUTBOUND_ALLOW contains it: %s",
    (host) => {
      expect(hostError(host, mailPolicy(byFlag))).toBeUndefined();
      expect(hostError(host, mailPolicy(everything))).toBeUndefined();
      for (const config of [{ smtpHost: undefined, outboundAllow: undefined }, undefined]) {
        expect(hostError(host, mailPolicy(config))).toContain("ALLCLEAR_OUTBOUND_ALLOW");
      }
    },
  );

  test.each(PUBLIC)("mail reaches public addresses: %s", (host) => {
    for (const config of [byFlag, byDashboard, undefined]) {
      expect(hostError(host, mailPolicy(config))).toBeUndefined();
    }
  });

  test("mail reaches only the private networks that are named", () => {
    const policy = mailPolicy(byDashboard);
    expect(hostError("10.1.2.3", policy)).toBeUndefined();
    expect(hostError("192.168.1.1", policy)).toContain("ALLCLEAR_SMTP_HOST");
  });
});

describe("requests without TLS to a server that the operator names", () => {
  test.each([
    "127.0.0.1",
    "[::1]",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "fd12::1",
  ])("reach %s", (host) => {
    expect(hostError(host, privatePolicy)).toBeUndefined();
  });

  test.each(["93.184.216.34", "[2606:4700::1111]", "198.51.100.1", "[64:ff9b::5db8:d822]"])(
    "do not reach %s",
    (host) => {
      expect(hostError(host, privatePolicy)).toContain("not a private address");
    },
  );

  test.each([...METADATA_SPELLINGS, ...NOWHERE])("never reach %s", (host) => {
    expect(hostError(host, privatePolicy)).toBeDefined();
  });
});
