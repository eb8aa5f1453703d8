import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  formatMailbox,
  maskAddress,
  parseMailAddress,
  parseMailbox,
} from "../../src/base/mail-address";
import { parseSender } from "../../src/base/config/mail";
import { emailError } from "../../src/features/users/rules";
import { mailtoOf, parseMailto } from "../../src/features/webhooks/recipient";
import { createSubscribingSite } from "../support/subscribing";

function parsed(text: string, options = {}) {
  const address = parseMailAddress(text, options);
  if ("error" in address) throw new Error(`${text} ${address.error}`);
  return address;
}

describe("an e-mail address", () => {
  test("is trimmed, keeps its local part and gets its domain in A-labels and lower case", () => {
    expect(parsed(" Anna.Lee+News@Bücher.Example ")).toEqual({
      address: "Anna.Lee+News@xn--bcher-kva.example",
      key: "anna.lee+news@xn--bcher-kva.example",
      throttleKey: "annalee@xn--bcher-kva.example",
      domain: "xn--bcher-kva.example",
    });
  });

  test("has the same key in each normal form and case", () => {
    const composed = parsed("J\u00f6rg@EXAMPLE.com", { allowUtf8Local: true });
    const decomposed = parsed("jo\u0308rg@example.COM", { allowUtf8Local: true });
    expect(decomposed.key).toBe(composed.key);
    expect(parsed("a@ｅｘａｍｐｌｅ．com").domain).toBe("example.com");
  });

  test("keeps plus-tags and dots in its key", () => {
    expect(parsed("a.b+c@example.com").key).not.toBe(parsed("ab@example.com").key);
    expect(parsed("+tag@example.com").throttleKey).toBe("+tag@example.com");
  });

  test.each([
    ["", "nothing"],
    ["-oProxyCommand=x@example.com", "a leading hyphen, as of an option"],
    [" -f@example.com", "a leading hyphen after a space"],
    ["=?utf-8?q?a?=@example.com", "an encoded word"],
    ["a=?b@example.com", "the beginning of an encoded word"],
    ["example.com", "no @"],
    ["@example.com", "no local part"],
    ["a@", "no domain"],
    ["a@localhost", "a domain without a dot"],
    ["a@[127.0.0.1]", "an address literal"],
    ["a@127.0.0.1", "an IP address"],
    ["a@0x7f.1", "an IP address in another spelling"],
    ["a@[IPv6:::1]", "an IPv6 literal"],
    ["a@example.123", "a numeric top-level domain"],
    ['"a b"@example.com', "a quoted local part"],
    ["a(comment)@example.com", "a comment"],
    ["a b@example.com", "a space"],
    ["a@exam ple.com", "a space in the domain"],
    [".a@example.com", "a leading dot"],
    ["a.@example.com", "a final dot"],
    ["a..b@example.com", "two dots"],
    ["a@b@example.com", "two @"],
    ["a@example.com.", "a final dot of the domain"],
    ["a@-example.com", "a leading hyphen"],
    ["a@exa_mple.com", "an underscore in the domain"],
    ["a@example.com/path", "a path"],
    ["a@example.com:25", "a port"],
    ["a@exa%6dple.com", "a percent escape"],
    ["a\r\nb@example.com", "a line break"],
    ["a@example.com\r\nBcc: b@example.com", "a header"],
    ["a\u0000@example.com", "a control character"],
    ["a\u202e@example.com", "a bidirectional override"],
    ["<a@example.com>", "angle brackets"],
    ["a,b@example.com", "a comma"],
    ["a@xn--\u00fc.example", "an invalid A-label"],
  ])("is rejected: %j (%s)", (text) => {
    expect(parseMailAddress(text, { allowUtf8Local: true })).toHaveProperty("error");
  });

  test("may have a local part outside ASCII only if that is allowed", () => {
    expect(parsed("юлия@example.com", { allowUtf8Local: true }).address).toBe("юлия@example.com");
    expect(parseMailAddress("юлия@example.com")).toEqual({
      reason: "address_ascii",
      error: "must have only ASCII characters before the @",
    });
    for (const space of ["\u00a0", "\u200b", "\u3000", "\ufeff", "\ud800"]) {
      const text = `a${space}b@example.com`;
      expect(parseMailAddress(text, { allowUtf8Local: true })).toHaveProperty("error");
    }
  });

  test("has at most 64 octets before the @ and 254 in all", () => {
    const domain = `${"d".repeat(61)}.${"d".repeat(61)}.${"d".repeat(61)}.example`;
    parsed(`${"a".repeat(64)}@example.com`);
    expect(parseMailAddress(`${"a".repeat(65)}@example.com`)).toHaveProperty("error");
    expect(
      parseMailAddress(`${"ж".repeat(33)}@example.com`, { allowUtf8Local: true }),
    ).toHaveProperty("error");
    const rest = 254 - domain.length - 1;
    parsed(`${"a".repeat(rest)}@${domain}`);
    expect(parseMailAddress(`${"a".repeat(rest + 1)}@${domain}`)).toHaveProperty("error");
    expect(parseMailAddress("a".repeat(1_000_000))).toHaveProperty("error");
  });

  test("is parsed to itself, and never contains a character that ends a command or a header", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.emailAddress());
    fc.assert(
      fc.property(text, (typed) => {
        const address = parseMailAddress(typed, { allowUtf8Local: true });
        if ("error" in address) return;
        // oxlint-disable-next-line no-control-regex
        expect(address.address).not.toMatch(/[\u0000-\u0020<>()[\]\\,;:"\u007f-\u009f]/);
        expect(parsed(address.address, { allowUtf8Local: true })).toEqual(address);
      }),
    );
  });
});

describe("a mailbox", () => {
  test("is an address, or a name with an address", () => {
    expect(parseMailbox("status@example.com")).toMatchObject({
      name: null,
      address: { address: "status@example.com" },
    });
    for (const text of ["Ünal & Co <status@example.com>", '"Ünal & Co" <status@example.com> ']) {
      expect(parseMailbox(text)).toMatchObject({ name: "Ünal & Co" });
    }
  });

  test.each([
    "Northwind",
    "Northwind <>",
    "Northwind <status@example.com",
    "Northwind <a@example.com> <b@example.com>",
    "North\r\nBcc: <a@example.com>",
    `${"n".repeat(101)} <a@example.com>`,
  ])("is rejected: %j", (text) => {
    expect(parseMailbox(text)).toHaveProperty("error");
  });

  test("is formatted as it is typed", () => {
    const typed = "Northwind <status@example.com>";
    expect(formatMailbox({ name: "Northwind", address: "status@example.com" })).toBe(typed);
    expect(formatMailbox({ name: null, address: "status@example.com" })).toBe("status@example.com");
  });
});

test("a masked address shows one character before the @", () => {
  expect(maskAddress("anna@example.com")).toBe("a…@example.com");
  expect(maskAddress("😀x@example.com")).toBe("😀…@example.com");
});

describe("an address that a mail server could take for an option or an encoded word", () => {
  const WRONG = ["-x@example.com", "a=?b@example.com", "=?utf-8?q?ann?=@example.com"];

  test.each(WRONG)("%s is refused as a sender, a receiver of alerts and a user", (address) => {
    expect(() => parseSender(address)).toThrow("must not begin with - or contain =?");
    expect(() => parseSender(`Northwind <${address}>`)).toThrow("must not begin");
    expect(parseMailto(mailtoOf(address))).toHaveProperty("error");
    expect(emailError(address)).toBe("must not begin with - or contain =?");
  });

  test.each(WRONG)("%s is refused as a subscriber, and no mail is queued", async (address) => {
    await using site = await createSubscribingSite();
    const form = { email: address, scope: "page", events: ["incidents"] };
    const answer = await site.app.call("/status/acme/subscribe", { method: "POST", form });
    expect(answer.status).toBe(422);
    expect(site.subscribers()).toEqual([]);
    expect(site.mails()).toEqual([]);
  });

  test.each(["a-x@example.com", "a=b@example.com", "a?b@example.com", "a?=b@example.com"])(
    "%s is accepted",
    (address) => {
      expect(parseSender(address).address.address).toBe(address);
      expect(emailError(address)).toBeUndefined();
    },
  );
});
