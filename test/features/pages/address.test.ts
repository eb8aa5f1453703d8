import { describe, expect, test } from "bun:test";
import { pageUrl } from "../../../src/features/pages/addresses";

const PAGE = {
  slug: "acme",
  visibility: "public",
  customDomains: ["status.acme.com"],
  passwordId: null,
  hasLinks: false,
} as const;
const at = (baseUrl: string, more: Partial<Parameters<typeof pageUrl>[1]> = {}) =>
  pageUrl(baseUrl, { ...PAGE, customDomains: [...PAGE.customDomains], ...more });

describe("a link to a page begins with", () => {
  test("its first custom domain, under the scheme of the public address and without its port", () => {
    expect(at("https://up.test:8443")).toBe("https://status.acme.com/status/acme");
    expect(at("http://up.test")).toBe("http://status.acme.com/status/acme");
  });

  test("the public address where the page has no domain, or is private", () => {
    expect(at("https://up.test:8443", { customDomains: [] })).toBe(
      "https://up.test:8443/status/acme",
    );
    expect(at("https://up.test:8443", { visibility: "private" })).toBe(
      "https://up.test:8443/status/acme",
    );
  });

  test("its custom domain where it is private and has a password or a link, with which that serves it", () => {
    for (const rule of [{ passwordId: "pwd_1" }, { hasLinks: true }]) {
      expect(at("https://up.test:8443", { visibility: "private", ...rule })).toBe(
        "https://status.acme.com/status/acme",
      );
    }
  });

  test("the public address, its port included, where that has come to be on the page's domain", () => {
    expect(at("http://status.acme.com:8080")).toBe("http://status.acme.com:8080/status/acme");
  });
});
