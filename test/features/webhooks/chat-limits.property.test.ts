import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { RecordedEvent } from "../../../src/events/outbox";
import type { FormatContext } from "../../../src/features/webhooks/formats/format";
import { isForPeople, type WebhookFormat } from "../../../src/base/webhook";
import { gatheredEvents } from "../../support/gathering-site";
import { incidentEvent, writeFor } from "../../support/webhook-formats";

/** A limit of a service: its name, the part of a message that is counted, and the count. */
interface Limit {
  what: string;
  most: number;
  // Tests read bodies freely, as they do answers.
  // oxlint-disable-next-line typescript/no-explicit-any
  count(body: any, sent: string): number;
}

const bytes = (text: string) => Buffer.byteLength(text);

/** Limits as the services count them. A stranger adds a format, or a limit, as a row. */
const LIMITS: Partial<Record<WebhookFormat, readonly Limit[]>> = {
  slack: [
    { what: "text", most: 3_000, count: ({ text }) => text.length },
    ...["section", "context"].map((type, index) => ({
      what: `text of a ${type}`,
      most: 3_000,
      // oxlint-disable-next-line typescript/no-explicit-any
      count: ({ attachments: [{ blocks }] }: any) =>
        (index === 0 ? blocks[0].text : blocks.at(-1).elements[0])?.text.length ?? 0,
    })),
    { what: "blocks", most: 50, count: ({ attachments: [{ blocks }] }) => blocks.length },
  ],
  discord: [
    { what: "title", most: 256, count: ({ embeds: [embed] }) => embed.title.length },
    {
      what: "description",
      most: 4_096,
      count: ({ embeds: [embed] }) => embed.description?.length ?? 0,
    },
    { what: "footer", most: 2_048, count: ({ embeds: [embed] }) => embed.footer.text.length },
    {
      what: "embed",
      most: 6_000,
      count: ({ embeds: [{ title, description = "", footer }] }) =>
        title.length + description.length + footer.text.length,
    },
  ],
  telegram: [
    {
      what: "text after its entities were read",
      most: 4_096,
      count: ({ text }) =>
        text
          .replace(/<[^>]*>/g, "")
          .replaceAll("&lt;", "<")
          .replaceAll("&gt;", ">")
          .replaceAll("&quot;", '"')
          .replaceAll("&amp;", "&").length,
    },
  ],
  ntfy: [
    { what: "message in bytes", most: 4_096, count: ({ message }) => bytes(message) },
    { what: "request in bytes", most: 8_192, count: (_, sent) => bytes(sent) },
  ],
  teams: [
    {
      what: "card inside a JSON string, in bytes",
      most: 28_000,
      count: (_, sent) => bytes(JSON.stringify(sent)),
    },
  ],
  "uptime-kuma": [{ what: "text", most: 4_000, count: ({ msg }) => msg.length }],
};

/** Characters that grow in some format, or may break one. */
const WORST = [
  "&",
  '"',
  "\\",
  "<",
  "*",
  "_",
  "`",
  "@a",
  "😀",
  "👩‍👩‍👧‍👦",
  "語",
  "e\u0301\u0301",
  "\u0001",
  "\u202e",
  "\u2028",
  "\ud800",
  "\n",
  "\n- ",
  "\n> ",
  "**a** ",
  "[a](https://example.com/b) ",
  "{{",
  "|",
  "a",
];

const repeated = (maxLength: number) =>
  fc
    .tuple(fc.array(fc.constantFrom(...WORST), { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(([parts, isWhole]) => {
      const part = parts.join("");
      const count = Math.ceil(maxLength / part.length);
      return isWhole ? part.repeat(count).slice(0, maxLength) : part;
    });

describe.each(Object.entries(LIMITS))("messages for %s", (format, limits) => {
  function expectWithin(name: string, text: string, component: string, pageName: string): void {
    const components = Array.from({ length: 13 }, (_, index) => ({
      id: `cmp_${index}`,
      name: component,
      status: "under_maintenance",
    }));
    const event = incidentEvent(name, text, { components });
    expectMessageWithin(event, { pageName });
    if (!isForPeople(format as WebhookFormat)) return;
    const gathered = gatheredEvents((index) => `${index}${name}`);
    const newest = gathered.events.at(-1);
    if (newest) expectMessageWithin(newest, { pageName, gathered });
  }

  function expectMessageWithin(
    event: RecordedEvent,
    context: Pick<FormatContext, "gathered" | "pageName">,
  ): void {
    const message = writeFor(format as WebhookFormat, event, context);
    const sent = message?.body ?? "";
    expect(sent.isWellFormed()).toBe(true);
    const body: unknown = JSON.parse(sent);
    for (const { what, most, count } of limits) {
      expect(count(body, sent), what).toBeLessThanOrEqual(most);
    }
  }

  test.each(WORST.map((part) => [part]))("made of %j fit", (part) => {
    const long = (length: number) => part.repeat(length).slice(0, length);
    expectWithin(long(255), long(4_000), long(255), long(255));
    expectWithin("Name", "", long(255), "Acme");
    expectWithin(long(255), "Text", "API", "Acme");
  });

  test("of any mixture of such characters fit", () => {
    const texts = fc.tuple(repeated(255), repeated(4_000), repeated(255), repeated(255));
    fc.assert(
      fc.property(texts, (parts) => expectWithin(...parts)),
      { numRuns: 60 },
    );
  });
});

test("a Telegram message uses the whole length, since its markup is not counted", () => {
  const event = incidentEvent("Name", "&".repeat(4_000), { components: [] });
  const { text } = JSON.parse(writeFor("telegram", event)?.body ?? "") as { text: string };
  expect(text.match(/&amp;/g)?.length).toBeGreaterThan(3_800);
});
