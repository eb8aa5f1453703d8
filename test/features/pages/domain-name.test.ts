import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { hostNameOf, toDomain, validateDomains } from "../../../src/features/pages/addresses";

describe("a custom domain", () => {
  test.each([
    ["status.acme.com", "status.acme.com"],
    ["Status.ACME.com", "status.acme.com"],
    ["status.acme.com.", "status.acme.com"],
    ["münchen.example", "xn--mnchen-3ya.example"],
    ["XN--MNCHEN-3YA.example", "xn--mnchen-3ya.example"],
    ["faß.example", "xn--fa-hia.example"],
    ["status。acme。com", "status.acme.com"],
    ["status", "status"],
    ["1.acme.com", "1.acme.com"],
  ])("the custom domain %s is stored as %s", (text, domain) => {
    expect(toDomain(text)).toBe(domain);
    expect(validateDomains([text])).toEqual([]);
  });

  test.each([
    "",
    " ",
    "https://status.acme.com",
    "status.acme.com/",
    "status.acme.com:8080",
    "status.acme.com?x",
    "status.acme.com#x",
    "user@status.acme.com",
    "status acme.com",
    "status\u00ADacme.com",
    "status\nacme.com",
    "%61cme.com",
    "*.acme.com",
    "_acme.example",
    "-acme.com",
    "acme-.com",
    "a..b",
    ".acme.com",
    "xn--a",
    `${"a".repeat(64)}.com`,
    `${"a.".repeat(127)}com`,
    "192.0.2.1",
    "0x7f.1",
    "2130706433",
    "①②⑦.0.0.1",
    "[2001:db8::1]",
    "2001:db8::1",
    "℀.com",
  ])("the custom domain %j is rejected", (text) => {
    expect(toDomain(text)).toBeUndefined();
    expect(validateDomains(["good.example", text]).map(({ pointer }) => pointer)).toEqual([
      "#/custom_domains/1",
    ]);
  });

  test.each(["localhost", "LOCALHOST", "status.localhost"])(
    "the custom domain %s is rejected as a name of this machine",
    (text) => {
      expect(validateDomains([text])).toEqual([
        { pointer: "#/custom_domains/0", detail: "must not be a name of this machine" },
      ]);
    },
  );

  test("a repeated custom domain is rejected in any notation", () => {
    expect(validateDomains(["münchen.example", "a.example", "XN--mnchen-3ya.example."])).toEqual([
      { pointer: "#/custom_domains/2", detail: "is already in the list" },
    ]);
  });

  test("a custom domain has one stored form, which equals the host of requests to it", () => {
    fc.assert(
      fc.property(fc.domain(), fc.boolean(), fc.option(fc.nat(65_535)), (text, isLoud, port) => {
        const domain = toDomain(text) ?? "";
        expect(domain).not.toBe("");
        expect(toDomain(domain)).toBe(domain);
        const host = `${isLoud ? text.toUpperCase() : text}${port === null ? "" : `:${port}`}`;
        expect(hostNameOf(`http://${host}/status/acme?x=http://b.example/`)).toBe(domain);
        expect(hostNameOf(`https://${host}`)).toBe(domain);
      }),
    );
  });

  test("reading a custom domain from any text never fails", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const domain = toDomain(text);
        if (domain !== undefined) expect(domain).toMatch(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/);
      }),
    );
  });
});
