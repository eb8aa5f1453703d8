/*
 * Character sets of bodies and header values: the labels of the Encoding Standard, bytes, and their text. Another
 * way to declare a character set, or bytes that were read wrongly, is one more row.
 */
import { describe, expect, test } from "bun:test";
import { charsetOf, decodeText, UNREAD_CHARSET } from "../../src/base/charset";
import type { Assertion } from "../../src/features/monitors/assertions/assertions";
import { checkHttp } from "../support/http-check";
import { startRawServer } from "../support/raw-server";

/** All labels of an encoding, a text in it (hex), and the text. */
const LABELS: [labels: string, bytes: string, text: string][] = [
  [
    "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "4772c3bcc39f652c20e4b8ade69687",
    "Grüße, 中文",
  ],
  ["866 cp866 csibm866 ibm866", "90a0a1aee2a0a5e2", "Работает"],
  [
    "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "447a6961b36120bc6c65",
    "Działa źle",
  ],
  [
    "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "a161f572612c20f86973",
    "Ħaġra, ĝis",
  ],
  [
    "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "a9f3ba72736f",
    "Šķērso",
  ],
  [
    "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "c0d0d1dee2d0d5e2",
    "Работает",
  ],
  [
    "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "ead9e5e4",
    "يعمل",
  ],
  [
    "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek",
    "cbe5e9f4eff5f1e3e5df",
    "Λειτουργεί",
  ],
  [
    "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual",
    "f2e5e1e3",
    "עובד",
  ],
  ["csiso88598i iso-8859-8-i logical", "f2e5e1e3", "עובד"],
  ["csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6", "aab6b272736f", "Šķērso"],
  ["iso-8859-13 iso8859-13 iso885913", "d0ede772736f", "Šķērso"],
  ["iso-8859-14 iso8859-14 iso885914", "a865697468696f20f0", "Ẁeithio ŵ"],
  [
    "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "50726978203a203520a420bd7566",
    "Prix : 5 € œuf",
  ],
  ["iso-8859-16", "46756e63fe696f6e65617ae3", "Funcționează"],
  ["cskoi8r koi koi8 koi8-r koi8_r", "f2c1c2cfd4c1c5d4", "Работает"],
  ["koi8-ru koi8-u", "f0d2c1c3c0a4", "Працює"],
  ["csmacintosh mac macintosh x-mac-roman", "47729fa76520d120cf7566", "Grüße — œuf"],
  [
    "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "e3aae9a7d2b9e4b4e9",
    "ใช้งานได้",
  ],
  ["cp1250 windows-1250 x-cp1250", "447a6961b361209f6c65", "Działa źle"],
  ["cp1251 windows-1251 x-cp1251", "d0e0e1eef2e0e5f2", "Работает"],
  [
    "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
    "4772fcdf6520938094",
    "Grüße “€”",
  ],
  ["cp1253 windows-1253 x-cp1253", "cbe5e9f4eff5f1e3e5df", "Λειτουργεί"],
  [
    "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254",
    "c7616cfdfefd796f722093f094",
    "Çalışıyor “ğ”",
  ],
  ["cp1255 windows-1255 x-cp1255", "f2e5e1e320a4", "עובד ₪"],
  ["cp1256 windows-1256 x-cp1256", "eddae3e12081", "يعمل پ"],
  ["cp1257 windows-1257 x-cp1257", "d0ede772736f", "Šķērso"],
  ["cp1258 windows-1258 x-cp1258", "d0616e6720636861f27920fe", "Đang chạy ₫"],
  ["x-mac-cyrillic x-mac-ukrainian", "90e0e1eef2e0e5f2", "Работает"],
  [
    "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    "d4cbd0d0d5fdb3a3",
    "运行正常",
  ],
  ["gb18030", "d4cbd0d0d5fdb3a3209532823620a8b9", "运行正常 𠀀 ü"],
  ["big5 big5-hkscs cn-big5 csbig5 x-x-big5", "b942a740a5bfb160", "運作正常"],
  ["cseucpkdfmtjapanese euc-jp x-euc-jp", "c6b0a4a4a4c6a4a4a4dea4b9208eb1", "動いています ｱ"],
  ["csiso2022jp iso-2022-jp", "1b24424630242424462424245e24391b2842", "動いています"],
  [
    "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "93ae82a282c482a282dc82b720b18740",
    "動いています ｱ①",
  ],
  [
    "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949",
    "c0dbb5bf20c1df208c63",
    "작동 중 똠",
  ],
  ["unicodefffe utf-16be", "0047007200fc00df006500204e2d0020d840dc00", "Grüße 中 𠀀"],
  [
    "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    "47007200fc00df00650020002d4e200040d800dc",
    "Grüße 中 𠀀",
  ],
  ["x-user-defined", "4fcb80ff", "O\uf7cb\uf780\uf7ff"],
];

/** Labels whose encodings no browser reads. */
const UNREAD = "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement";

const bytesOf = (hex: string) => Buffer.from(hex, "hex");
const latin1 = (text: string) => Buffer.from(text, "latin1");

const CYRILLIC = "\xd0\xe0\xe1\xee\xf2\xe0\xe5\xf2";

/** Ways to declare the character set of a body: content type, bytes, and the text that is read. */
const DECLARED: [how: string, contentType: string, sent: Buffer, text: string][] = [
  ["a quoted charset", 'text/html;charset="windows-1251"', latin1(CYRILLIC), "Работает"],
  ["a charset in apostrophes", "text/html; charset='cp1251'", latin1(CYRILLIC), "Работает"],
  ["a charset after others", "text/html; a=b ;CHARSET = CP1251; c", latin1(CYRILLIC), "Работает"],
  ["a byte order mark", "text/plain", latin1("\xff\xfeO\0K\0"), "OK"],
  ["a mark of UTF-16BE", "", latin1("\xfe\xff\0O\0K"), "OK"],
  ["a mark against the content type", "text/html; charset=latin1", Buffer.from("\ufeffü"), "ü"],
  ["a meta element", "text/html", latin1(`<meta charset=cp1251>${CYRILLIC}`), "Работает"],
  [
    "a meta element with http-equiv",
    "text/html",
    latin1(`<html><META http-equiv=Content-Type content="text/html; charset=cp1251">${CYRILLIC}`),
    "Работает",
  ],
  [
    "a meta element without a content type",
    "",
    latin1(`<meta charset="cp1251">${CYRILLIC}`),
    "Работает",
  ],
  [
    "the content type against a meta element",
    "text/html; charset=cp1251",
    latin1(`<meta charset=gbk>${CYRILLIC}`),
    "Работает",
  ],
  [
    "an XML declaration",
    "application/rss+xml",
    latin1(`<?xml version="1.0" encoding="windows-1251"?><a>${CYRILLIC}</a>`),
    "Работает",
  ],
  [
    "an unknown label, then a meta element",
    "text/html; charset=none",
    latin1(`<meta charset=cp1251>${CYRILLIC}`),
    "Работает",
  ],
  ["nothing, and UTF-8", "text/plain", Buffer.from("Grüße"), "Grüße"],
  ["nothing, and no UTF-8", "text/plain", latin1("Gr\xfc\xdfe \x80"), "Grüße €"],
  ["nothing, in JSON", "application/json", Buffer.from('"Grüße"'), "Grüße"],
  ["no meta element in plain text", "text/plain", Buffer.from("<meta charset=cp1251>ü"), "ü"],
];

/** Header values as bytes, and their text. */
const HEADERS: [sent: string, text: string][] = [
  ["plain", "plain"],
  [Buffer.from("Grüße").toString("latin1"), "Grüße"],
  ["Gr\xfc\xdfe", "Grüße"],
  ["5 \x80", "5 €"],
  ["caf\xc3\xa0", "cafà"],
];

async function outcomeOf(head: string, body: Buffer, assertions: Assertion[]) {
  await using server = await startRawServer((socket) => {
    socket.once("data", () => {
      const lines = `HTTP/1.1 200 OK\r\n${head}Content-Length: ${body.length}\r\n\r\n`;
      socket.end(Buffer.concat([latin1(lines), body]));
    });
  });
  return await checkHttp({ url: `http://127.0.0.1:${server.port}/`, assertions });
}

describe("the character set of a body", () => {
  const rows = LABELS.flatMap(([labels, hex, text]) =>
    labels.split(" ").map((label) => [label, hex, text] as const),
  );

  test.each(rows)("a body with the charset %s is read", (label, hex, text) => {
    for (const spelt of [label, label.toUpperCase(), ` "${label}"`]) {
      const charset = charsetOf(bytesOf(hex), `text/plain; charset=${spelt}`);
      expect(charset).toBeString();
      expect(decodeText(bytesOf(hex), charset, false)).toBe(text);
    }
  });

  test("the table has all labels of the Encoding Standard", () => {
    expect(new Set(rows.map(([label]) => label)).size + UNREAD.split(" ").length).toBe(228);
  });

  test.each(UNREAD.split(" "))(
    "a body with the charset %s decides nothing, as no browser reads it",
    async (label) => {
      expect(charsetOf(latin1("x"), `text/plain; charset=${label}`)).toBe(UNREAD_CHARSET);
      const head = `Content-Type: text/plain; charset=${label}\r\n`;
      const lacks: Assertion = { source: "body", op: "not_contains", value: "y" };
      expect(await outcomeOf(head, latin1("x"), [lacks])).toMatchObject({
        outcome: "failed",
        isUndecided: true,
        message: "The body has a character set that browsers do not read either.",
      });
    },
  );

  test.each(DECLARED)("%s decides", async (_how, contentType, sent, text) => {
    const head = contentType === "" ? "" : `Content-Type: ${contentType}\r\n`;
    const contains: Assertion = { source: "body", op: "contains", value: text };
    expect((await outcomeOf(head, sent, [contains])).message).toBeNull();
  });

  test("a character that is cut off at the limit is no wrong byte", () => {
    for (const [labels, hex, text] of LABELS) {
      const [label = ""] = labels.split(" ");
      const charset = charsetOf(bytesOf(hex), `text/plain; charset=${label}`);
      for (let length = 1; length < hex.length / 2; length += 1) {
        const part = decodeText(bytesOf(hex).subarray(0, length), charset, true);
        expect({ label, length, isPart: text.startsWith(part) }).toEqual({
          label,
          length,
          isPart: true,
        });
      }
    }
    expect(decodeText(Buffer.from("Grü").subarray(0, 3), undefined, true)).toBe("Gr");
  });
});

describe("the character set of a header value", () => {
  test.each(HEADERS)("the value %j is read as %j", async (sent, text) => {
    const is: Assertion = { source: "header", property: "X-A", op: "eq", value: text };
    expect((await outcomeOf(`X-A: ${sent}\r\n`, latin1("OK"), [is])).message).toBeNull();
  });
});
