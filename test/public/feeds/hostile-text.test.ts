import { describe, expect, test } from "bun:test";
import { createFollowedPage } from "../../support/feed-site";

/** Names that a format could take for its own. */
const NAMES = [
  "]]>",
  "a ]]> b ]]> <script>alert(1)</script>",
  "<script>alert('x')</script>",
  '<a href="javascript:alert(1)">x</a> & &amp; &lt; &#60;',
  "👩‍👩‍👧‍👦 Ünïcödé 日本語 𝒳",
  "semi;colon, back\\slash \\n : colon",
  "BEGIN:VEVENT",
  "no \ufffecharacter\uffff",
  "n".repeat(255),
  "🔥".repeat(255),
];

/** Returns a name without code points that are not characters. */
const readable = (name: string) => name.replace(/[\ufffe\uffff]/g, "");

/** HTML as text, as a reader shows a title that is declared as HTML. */
function textOf(html: string): string {
  let text = "";
  void new HTMLRewriter()
    .onDocument({ text: (chunk) => void (text += chunk.text) })
    .transform(html);
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&amp;", "&");
}

describe.each(NAMES)("a page, a component, an incident and a maintenance named %j", (name) => {
  test("hostile names are kept as text in Atom", async () => {
    await using site = await createFollowedPage({ name, description: name }, name);
    await site.open({ name, components: { [site.api]: "major_outage" } });
    await site.plan({ name });
    const feed = await site.atom();
    expect(feed.title?.value).toBe(readable(name));
    expect(feed.authors?.[0]?.name).toBe(readable(name));
    const titles = feed.entries?.map(({ title }) => [title?.type, title?.value]) ?? [];
    expect(titles).toEqual([
      ["text", readable(name)],
      ["text", readable(name)],
    ]);
    const contents = (feed.entries ?? []).map((entry) => entry.content?.value ?? "");
    expect(contents.filter((html) => /<script|<a |javascript:alert\(1\)">/.test(html))).toEqual([]);
    for (const html of contents) expect(textOf(html)).toContain(`Affected: ${readable(name)}`);
  });

  test("hostile names are kept as text in RSS", async () => {
    await using site = await createFollowedPage({ name, description: name }, name);
    await site.open({ name });
    await site.plan({ name });
    const { title, description, items } = await site.rss();
    expect([title, description]).toEqual([readable(name), readable(name)]);
    expect(items?.map((item) => item.title)).toEqual([readable(name), readable(name)]);
  });

  test("hostile names are kept in the calendar and create one event", async () => {
    await using site = await createFollowedPage({ name }, name);
    await site.plan({ name });
    const calendar = await site.calendar();
    const events = calendar.getAllSubcomponents();
    expect(events).toHaveLength(1);
    expect(events[0]?.getFirstPropertyValue("summary")).toBe(readable(name));
    expect(events[0]?.getFirstPropertyValue("description")).toContain(
      `Affected: ${readable(name)}\n`,
    );
    expect(events[0]?.getFirstPropertyValue("status")).toBe("CONFIRMED");
    const { text } = await site.read("calendar.ics");
    const lines = text.split("\r\n");
    expect(lines.filter((line) => Buffer.byteLength(line) > 75)).toEqual([]);
    expect(text.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
    // What the format escapes in a text.
    const written = readable(name).replace(/[\\;,]/g, "\\$&");
    expect(text.replaceAll("\r\n ", "")).toContain(`\r\nX-WR-CALNAME:${written}\r\n`);
  });
});

/** Texts of an update that a format could take for its own. */
const BODIES = [
  "before\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nSUMMARY:Injected",
  "before\rEND:VEVENT\nATTENDEE:mailto:x@example.com",
  "]]></content></entry><entry> ]]> ]]>",
  "\u0001\u0008\u000b\u001f\u007f\ufffe bell",
  "<script>alert(1)</script><img src=x onerror=alert(1)>",
  "![pixel](https://tracker.example/pixel.png) [x](javascript:alert(1)) [y](data:text/html,z)",
];

describe.each(BODIES)("an update that says %j", (body) => {
  test("a hostile update adds no markup and no requests to other hosts", async () => {
    await using site = await createFollowedPage();
    await site.open({ body });
    await site.plan({ body });
    const atom = (await site.atom()).entries ?? [];
    const rss = (await site.rss()).items ?? [];
    expect([atom.length, rss.length]).toEqual([2, 2]);
    for (const html of [
      ...atom.map((entry) => entry.content?.value ?? ""),
      ...rss.map((item) => item.description ?? ""),
    ]) {
      expect(html).not.toMatch(/<(script|img|iframe|entry)|href="(javascript|data):/i);
      const rels = [...html.matchAll(/<a [^>]*>/g)].map(([tag]) => tag);
      for (const tag of rels) expect(tag).toContain('rel="nofollow noopener ugc"');
    }
    const events = (await site.calendar()).getAllSubcomponents();
    expect(events).toHaveLength(1);
    expect(events[0]?.getFirstPropertyValue("summary")).toBe("Upgrade");
    expect(events[0]?.getAllProperties("attendee")).toEqual([]);
    // oxlint-disable-next-line no-control-regex
    const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;
    expect((await site.read("calendar.ics")).text).not.toMatch(controls);
  });
});

test("a text of 10,000 characters is complete in the feeds and truncated in the calendar before its link", async () => {
  await using site = await createFollowedPage();
  const { url } = await site.plan({ body: "🔥".repeat(10_000) });
  expect((await site.atom()).entries?.[0]?.content?.value).toContain("🔥".repeat(10_000));
  const [event] = (await site.calendar()).getAllSubcomponents();
  const description = String(event?.getFirstPropertyValue("description"));
  expect(description).toEndWith(`🔥…\n\n${url}`);
  expect([...description].length).toBeLessThan(4_200);
});
