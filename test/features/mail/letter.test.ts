import { describe, expect, test } from "bun:test";
import { createWords, wordsOf as wordsOfLocale } from "../../../src/languages/words";
import { confirmationLetter } from "../../../src/features/subscribers/mails";
import {
  momentsOf,
  type Letter,
  renderLetter,
  renderPlace,
} from "../../../src/features/mail/letter";
import { encodeShared, toMessage } from "../../../src/features/mail/compose";
import { contrast } from "../../../src/public/page-document";
import { parseMails } from "../../support/parsed-mail";

function letterWith(fields: Partial<Letter> = {}): Letter {
  return {
    words: ENGLISH,
    sender: "Northwind",
    preheader: "Identified",
    tone: "partial",
    blocks: [
      { type: "status", tone: "partial", text: ["Identified · Major impact"] },
      { type: "title", text: [{ name: "Payments fail" }] },
      { type: "paragraph", isMuted: true, text: ["22 Nov 2026"] },
      {
        type: "markdown",
        source: "The **cause** is known.\n\n- one\n- two\n\n`x`\n\n---",
        url: URL,
      },
      { type: "heading", text: ["Components"] },
      {
        type: "components",
        entries: [
          { name: "API", status: "Operational", tone: "ok" },
          { name: "Search", status: "", tone: "none" },
        ],
      },
      { type: "button", label: "View the incident", url: URL },
    ],
    footer: [
      { type: "place", name: "manage" },
      { type: "link", label: "Leave", url: URL },
      { type: "plain", source: "Harbour Road\nBristol" },
    ],
    ...fields,
  };
}

const ENGLISH = wordsOfLocale("en");
const ARABIC = createWords({ language: { name: "العربية", dir: "rtl" }, messages: {} }, "ar");

const URL = "https://status.example.com/status/northwind?a=1&b=2";

/** Words of a text in lower case, without Markdown's characters. */
function wordsOf(text: string): string[] {
  return text.replaceAll(/[*`_\u2068\u2069]/g, "").match(/[\p{L}\p{N}]+/gu) ?? [];
}

describe("a letter", () => {
  test("says in its text all that its HTML says", () => {
    const { text, html } = renderLetter(letterWith());
    const words = new Set(wordsOf(text));
    const visible = html.slice(html.indexOf("<body")).replaceAll(/<[^>]*>|&\w+;/g, " ");
    expect(wordsOf(visible).length).toBeGreaterThan(20);
    expect(wordsOf(visible).filter((word) => !words.has(word))).toEqual([]);
    for (const [, href] of html.matchAll(/href="([^"]*)"/g)) {
      expect(text).toContain(href?.replaceAll("&amp;", "&") ?? "");
    }
  });

  test("loads nothing, runs nothing and has no form", () => {
    const source =
      '![x](https://a.example/x.png) <img src=x> <script>x</script> [j](javascript:x) <a href="ftp://x">f</a>';
    const { html } = renderLetter(letterWith({ blocks: [{ type: "markdown", source, url: URL }] }));
    expect(html).not.toMatch(/<(?:img|script|form|link|iframe|object|video|svg)\b|url\(|@import/i);
    expect(html).not.toMatch(/href="(?!https:)/);
    expect(html).not.toMatch(/<[^>]*\son[a-z]+=/i);
  });

  test("has readable colours in both themes", () => {
    const { html } = renderLetter(letterWith());
    const rules = /prefers-color-scheme:dark\)\{(.*)\}<\/style>/.exec(html)?.[1] ?? "";
    const dark = [...rules.matchAll(/\.[a-z-]+\{([^}]*)\}/g)].map(([, style]) => style ?? "");
    const light = [...html.matchAll(/ style="([^"]*)"/g)].map(([, style]) => style ?? "");
    const check = (styles: string[], ground: string) => {
      const coloured = styles.filter((style) => /(?:^|;)color:/.test(style));
      for (const style of coloured) {
        const text = /(?:^|;)color:(#[0-9a-f]{6})/.exec(style)?.[1] ?? "";
        const own = /background-color:(#[0-9a-f]{6})/.exec(style)?.[1] ?? ground;
        expect(contrast(text, own)).toBeGreaterThanOrEqual(4.5);
      }
      return coloured.length;
    };
    expect(check(light, "#ffffff")).toBeGreaterThan(10);
    expect(check(dark, "#121212")).toBeGreaterThan(10);
  });

  test("in a language written from right to left has that direction, and keeps names apart", () => {
    const { text, html } = renderLetter(letterWith({ words: ARABIC, sender: "الحالة" }));
    expect(html).toContain('<html lang="ar" dir="rtl">');
    expect(html).toContain("<bdi>Payments fail</bdi>");
    expect(text).toContain("- \u2068API\u2069: Operational");
    expect(renderLetter(letterWith()).html).toContain('<html lang="en" dir="ltr">');
    expect(renderLetter(letterWith()).text).not.toContain("\u2068");
  });

  test("does not let texts form markup, places or other directions", () => {
    const evil = "</p><b>x</b>\u202e\u0001manage\u0001\r\n";
    const letter = letterWith({
      sender: evil,
      preheader: evil,
      blocks: [
        { type: "title", text: [evil, { name: evil }] },
        { type: "markdown", source: evil, url: URL },
        { type: "components", entries: [{ name: evil, status: evil, tone: "ok" }] },
      ],
      footer: [
        { type: "plain", source: evil },
        { type: "place", name: "manage" },
      ],
    });
    const { text, html } = renderLetter(letter);
    expect(html).not.toContain("<b>");
    expect(text + html).not.toContain("\u202e");
    expect(encodeShared(text, ["manage"])).toBeDefined();
    expect(encodeShared(html, ["manage"])).toBeDefined();
  });

  test.each([
    ["10,000 letters", "Ein Satz mit Wörtern. ".repeat(454), false],
    ["10,000 emoji", "🔥".repeat(10_000), true],
    ["20,000 letters", "Text ".repeat(4_000), true],
    ["1,000 links", "http://a.bc/ ".repeat(769), true],
  ])(
    "with %s has at most 80 KB, and links to the full text if it was cut",
    async (_, source, isCut) => {
      const blocks = Array.from({ length: 3 }, () => ({
        type: "components" as const,
        entries: Array.from({ length: 1_000 }, (_, index) => ({
          name: `${index} ${"é".repeat(250)}`,
          status: "Operational",
          tone: "ok" as const,
        })),
      }));
      const one = [{ type: "markdown" as const, source, url: URL }];
      for (const content of [one, [...one, ...blocks]]) {
        const { text, html } = renderLetter(letterWith({ blocks: content, footer: [] }));
        const message = toMessage({
          from: { name: "N", address: "a@example.com" },
          replyTo: null,
          to: "b@example.com",
          subject: "S",
          text,
          html,
          headers: {},
          messageId: "<a@example.com>",
          date: 0,
        });
        expect(message.length).toBeLessThanOrEqual(80_000);
        if (content === one) {
          expect(text.includes(`Read the full text: ${URL}`)).toBe(isCut);
          expect(html.includes("Read the full text")).toBe(isCut);
        }
        const [parsed] = await parseMails([message]);
        expect(parsed?.defects).toEqual([]);
        expect(parsed?.parts.map((part) => part.text)).toEqual([text, html]);
      }
    },
  );

  test("fills in the lines of a recipient in both parts", () => {
    const { text, html } = renderLetter(letterWith());
    const place = renderPlace([{ type: "link", label: "Manage", url: URL }], ENGLISH);
    const fill = (part: string, line: string) =>
      encodeShared(part, ["manage"])
        ?.fill({ manage: line })
        .quotedPrintable.replaceAll("=\r\n", "");
    expect(fill(text, place.text)).toContain("Manage: https://status.example.com/");
    expect(fill(html, place.html)).toContain(">Manage</a>");
  });

  test("that asks for a confirmation names the page and the choices", () => {
    const { text } = renderLetter(
      confirmationLetter(
        {
          words: ENGLISH,
          page: { name: "Northwind", footer: null },
          targets: ["API", "Search"],
          events: ["incidents"],
        },
        { confirm: "https://a.example/confirm", decline: "https://a.example/decline" },
      ),
    );
    expect(text).toContain("About: API, Search");
    expect(text).toContain("Confirm the subscription: https://a.example/confirm");
    expect(text).toContain("Never send such mails to this address: https://a.example/decline");
  });
});

describe("times in mails", () => {
  const at = Date.UTC(2026, 10, 22, 14, 32);

  test.each([
    ["Europe/Berlin", "22 Nov 2026, 15:32 CET (UTC+1)"],
    ["Europe/London", "22 Nov 2026, 14:32 GMT (UTC+0)"],
    ["America/New_York", "22 Nov 2026, 9:32 EST (UTC-5)"],
    ["Asia/Riyadh", "22 Nov 2026, 17:32 UTC+3"],
    ["Etc/UTC", "22 Nov 2026, 14:32 UTC"],
  ])("in %s have the abbreviation and the offset of the zone", (timeZone, expected) => {
    expect(momentsOf({ locale: "en", timeZone }).moment(at)).toBe(expected);
  });

  test("of a span share the day, and of a subject have no offset", () => {
    const moments = momentsOf({ locale: "en", timeZone: "Europe/Berlin" });
    expect(moments.range(at, at + 3_600_000)).toMatch(
      /^22 Nov 2026, 15:32.–.16:32 CET \(UTC\+1\)$|^22 Nov 2026, 15:32–16:32 CET \(UTC\+1\)$/,
    );
    expect(moments.short(at)).toBe("22 Nov 2026, 15:32 CET");
  });
});
