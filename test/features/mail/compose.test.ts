import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type ComposedMail,
  encodeAround,
  type EncodedText,
  encodeShared,
  placeLine,
  toMessage,
} from "../../../src/features/mail/compose";
import { parseMails } from "../../support/parsed-mail";

function mailWith(fields: Partial<ComposedMail> = {}): ComposedMail {
  return {
    from: { name: "Northwind", address: "status@example.com" },
    replyTo: null,
    to: "anna@example.net",
    subject: "[Northwind] Checkout is slow",
    text: "Hello\n",
    html: "<p>Hello</p>\n",
    headers: {},
    messageId: "<eml_1@example.com>",
    date: Date.UTC(2026, 10, 22, 14, 32),
    ...fields,
  };
}

const LONG = "Wir untersuchen das Problem, größere Ausfälle gibt es nicht. ".repeat(170);

describe("a message", () => {
  test.each([
    ["Latin", "Checkout is slow", "We are looking into it.\n"],
    ["Cyrillic", "Сбой оплаты: мы уже знаем о проблеме и работаем над ней", "Мы ищем причину.\n"],
    ["Arabic", "بطء في الدفع", "نحن نبحث في المشكلة.\n"],
    ["emoji", "🔥 Checkout 👩‍👩‍👧‍👦", "🔥".repeat(300) + "\n"],
    ["10,000 characters", "Ausfall", `${LONG.slice(0, 10_000)}\n`],
    ["a line of one dot", "Dots", ".\n..\n.hidden\nFrom here\n\n.\n"],
    ["equals signs", "a=?b?= =?UTF-8?Q?x?=", `${"=".repeat(500)}\n=3D=\n=\n`],
    ["spaces at line ends", "Spaces", "one \ntwo\t\n three\n"],
  ])("with %s is read by another parser as it was written", async (_, subject, text) => {
    const html = `<p>${Bun.escapeHTML(text)}</p>\n`;
    const [parsed] = await parseMails([toMessage(mailWith({ subject, text, html }))]);
    expect(parsed?.defects).toEqual([]);
    expect(parsed?.headers["Subject"]).toEqual([subject]);
    expect(parsed?.parts).toEqual([
      { type: "text/plain", charset: "utf-8", encoding: "quoted-printable", text },
      { type: "text/html", charset: "utf-8", encoding: "quoted-printable", text: html },
    ]);
    expect(parsed?.longestLine).toBeLessThanOrEqual(78);
  });

  test("has each of its headers once", async () => {
    const message = toMessage(
      mailWith({
        replyTo: "help@example.com",
        references: "<inc_1@example.com>",
        inReplyTo: "<inc_1@example.com>",
        headers: {
          "List-Unsubscribe": `<https://status.example.com/mail/unsubscribe/${"x".repeat(80)}>`,
        },
      }),
    );
    const [parsed] = await parseMails([message]);
    expect(parsed?.headers).toEqual({
      From: ["Northwind <status@example.com>"],
      To: ["anna@example.net"],
      "Reply-To": ["help@example.com"],
      Subject: ["[Northwind] Checkout is slow"],
      Date: ["Sun, 22 Nov 2026 14:32:00 +0000"],
      "Message-ID": ["<eml_1@example.com>"],
      "In-Reply-To": ["<inc_1@example.com>"],
      References: ["<inc_1@example.com>"],
      "Auto-Submitted": ["auto-generated"],
      "X-Auto-Response-Suppress": ["All"],
      "List-Unsubscribe": [`<https://status.example.com/mail/unsubscribe/${"x".repeat(80)}>`],
      "MIME-Version": ["1.0"],
      "Content-Type": ['multipart/alternative; boundary="=_allclear"'],
    });
  });

  test("has the name of its sender in at most 75 octets", async () => {
    const names = ["Ünï".repeat(40), "Дом", 'Say "hi", Bob', "x".repeat(200), "🙂".repeat(50)];
    const messages = names.map((name) =>
      toMessage(mailWith({ from: { name, address: "status@example.com" } })),
    );
    const parsed = await parseMails(messages);
    for (const [index, message] of messages.entries()) {
      const raw = /^From: ([\s\S]*?)\s+<status@example\.com>\r\n/.exec(
        Buffer.from(message).toString(),
      );
      expect(raw?.[1]?.length).toBeLessThanOrEqual(75);
      const name = parsed[index]?.from?.name ?? "";
      expect(names[index]).toStartWith(name.replace(/…$/, ""));
      expect(parsed[index]?.from?.address).toBe("status@example.com");
    }
    expect(parsed[1]?.from?.name).toBe("Дом");
    expect(parsed[2]?.from?.name).toBe('Say "hi", Bob');
  });

  test.each([
    ["a@b.example\r\nBcc: c@d.example"],
    ["a@b.example, c@d.example"],
    ["<a@b.example>"],
    ["a@b@c.example"],
    ["a b@c.example"],
    ["@c.example"],
    [""],
  ])("is refused for the recipient %j", (to) => {
    expect(() => toMessage(mailWith({ to }))).toThrow("address");
    expect(() => toMessage(mailWith({ from: { name: "x", address: to } }))).toThrow("address");
    expect(() => toMessage(mailWith({ replyTo: to }))).toThrow("address");
  });

  test.each([
    [{ headers: { "X-A": "b\r\nBcc: c@d.example" } }],
    [{ headers: { "X-A\r\nBcc": "b" } }],
    [{ headers: { Bcc: "c@d.example" } }],
    [{ headers: { "List-Id": "Ünïcode <page.example.com>" } }],
    [{ messageId: "<a@b>\r\nBcc: c@d.example" }],
    [{ references: "a" }],
  ])("is refused for %j", (fields) => {
    expect(() => toMessage(mailWith(fields))).toThrow("header");
  });

  test("gets no header, recipient or part from any text", async () => {
    const fragments = [
      ...'\r\n\t :=?<>@,".;\\\u0000\u0001\u2028ABé🙂-',
      "\r\nBcc: x@y.zz\r\n",
      "=?UTF-8?Q?",
      "?=",
      "\r\n--=_allclear--\r\n",
    ];
    const hostile = fc
      .array(fc.constantFrom(...fragments), { maxLength: 60 })
      .map((parts) => parts.join(""));
    const cases = fc.sample(fc.record({ name: hostile, subject: hostile, text: hostile }), 60);
    const parsed = await parseMails(
      cases.map(({ name, subject, text }) =>
        toMessage(
          mailWith({ from: { name, address: "status@example.com" }, subject, text, html: text }),
        ),
      ),
    );
    expect(parsed).toHaveLength(60);
    for (const mail of parsed) {
      expect(mail.defects).toEqual([]);
      expect(Object.keys(mail.headers)).toHaveLength(9);
      expect(mail.headers["To"]).toEqual(["anna@example.net"]);
      expect(mail.from?.address).toBe("status@example.com");
      expect(mail.parts).toHaveLength(2);
      expect(mail.longestLine).toBeLessThanOrEqual(78);
    }
  });
});

describe("a text that is encoded once for many recipients", () => {
  const text = `Grüße\n${placeLine("manage")}\nEnd = here\n${placeLine("leave")}\n`;

  test("equals the same text encoded for one recipient", () => {
    const lines = { manage: `Manage: https://a.example/${"é".repeat(60)}`, leave: "." };
    const shared = encodeShared(text, ["manage", "leave"]);
    const whole = `Grüße\n${lines.manage}\nEnd = here\n.\n`;
    const message = (content: ComposedMail["text"]) =>
      Buffer.from(toMessage(mailWith({ text: content, html: content }))).toString();
    expect(message(shared?.fill(lines) ?? "")).toBe(message(whole));
  });

  test.each([
    ["lacks a place", "a\n", ["manage"]],
    ["has a place twice", `${placeLine("a")}\n${placeLine("a")}\n`, ["a"]],
    ["has another place", `${placeLine("b")}\n`, ["a"]],
    ["has a place within a line", `x ${placeLine("a")}\n`, ["a"]],
    ["has a line after its place", `${placeLine("a")} y\n`, ["a"]],
    ["has a mark without an end", `\u0001a\n`, ["a"]],
  ])("is refused if it %s", (_, broken, places) => {
    expect(encodeShared(broken, places)).toBeUndefined();
  });
});

describe("lines with the link of a recipient", () => {
  const SLOT = "https://manage.invalid/";
  const decoded = (text: EncodedText) =>
    text.quotedPrintable
      .replaceAll("=\r\n", "")
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
      .replaceAll("\r\n", "\n");

  test.each([
    ["short", `Manage: ${SLOT}\n`, "https://a.test/x"],
    [
      "long",
      `Manage: ${SLOT}\n`,
      `https://a.test/mail/manage/sub_${"a".repeat(26)}.${"b".repeat(43)}`,
    ],
    ["twice", `<a href="${SLOT}">${SLOT}</a>\n`, `https://a.test/sub_${"c".repeat(90)}`],
    ["with a tilde in the text", `~ ${SLOT} ~\n`, "https://a.test/x"],
    ["with signs that are encoded", `Manage: ${SLOT}\n`, "https://a.test/?a=b"],
  ])("contain it unchanged: %s", (_, text, link) => {
    const encode = encodeAround(text, SLOT);
    for (const one of [link, `${link}yz`, link]) {
      const encoded = encode(one);
      expect(decoded(encoded)).toBe(text.replaceAll(SLOT, one));
      const lines = encoded.quotedPrintable.split("\r\n");
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(76);
      expect(lines.filter((line) => line.startsWith("."))).toEqual([]);
    }
  });

  test("never begin a line with a dot of the link", () => {
    for (let length = 1; length < 200; length++) {
      const link = `https://a.test/${"a".repeat(length)}.b`;
      const encoded = encodeAround(`${SLOT}\n`, SLOT)(link);
      expect(encoded.quotedPrintable).not.toContain("\n.");
      expect(decoded(encoded)).toBe(`${link}\n`);
    }
  });
});
