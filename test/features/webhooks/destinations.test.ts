import { describe, expect, test } from "bun:test";
import type { WebhookRow } from "../../../src/features/webhooks/store";
import { blanked, secretsIn } from "../../../src/features/webhooks/deliver/message";
import { destinationKey } from "../../../src/features/webhooks/deliver/delivery-queue";
import { FORMATS, validateDestination } from "../../../src/features/webhooks/formats";
import { WEBHOOK_FORMATS, type WebhookFormat } from "../../../src/base/webhook";
import { DESTINATIONS, incidentEvent, writeFor } from "../../support/webhook-formats";

describe("destinations of formats", () => {
  test.each([...WEBHOOK_FORMATS])(
    "a destination as documented by %s is accepted, and an unknown setting is rejected",
    (name) => {
      const { url, settings } = DESTINATIONS[name];
      expect(FORMATS[name].name).toBe(name);
      expect(validateDestination(name, url, settings)).toEqual([]);
      expect(validateDestination(name, url, { ...settings, colour: "red" })).toEqual([
        { pointer: "#/settings/colour", detail: "is not a known field" },
      ]);
    },
  );

  const telegram = { bot_token: "123456:ABC", chat_id: "@acme" };
  test.each<[WebhookFormat, string, object, string]>([
    ["slack", "https://hooks.slack.com/", {}, "#/url"],
    ["slack", "https://hooks.slack.com/api/chat.postMessage", {}, "#/url"],
    ["discord", "https://discord.com/channels/1/2", {}, "#/url"],
    ["discord", "https://discord.com/api/webhooks/1/abc/slack", {}, "#/url"],
    ["ntfy", "https://ntfy.sh/", {}, "#/url"],
    ["ntfy", "https://ntfy.sh/topic/", {}, "#/url"],
    ["ntfy", "https://ntfy.sh/topic?auth=x", {}, "#/url"],
    ["ntfy", "https://ntfy.sh/topic", { token: "a\r\nx: y" }, "#/settings/token"],
    ["ntfy", "https://ntfy.sh/topic", { authorization: "A\nB: C" }, "#/settings/authorization"],
    [
      "ntfy",
      "https://ntfy.sh/topic",
      { token: "tk_1", authorization: "Basic eDp5" },
      "#/settings/authorization",
    ],
    ...["x", "[]", '{"a": 1}', '{"a b": "c"}', '{"Host": "a"}', '{"a": "b\\n"}'].map(
      (headers): [WebhookFormat, string, object, string] => [
        "uptime-kuma",
        "https://a.example",
        { headers },
        "#/settings/headers",
      ],
    ),
    ["gotify", "https://gotify.example.com", {}, "#/settings/token"],
    ["gotify", "https://gotify.example.com/message?token=A", { token: "A" }, "#/url"],
    ["telegram", "https://api.telegram.org/bot1:A/sendMessage", telegram, "#/url"],
    ["telegram", "https://api.telegram.org/bot1%3aA", telegram, "#/url"],
    ["telegram", "https://api.telegram.org", { bot_token: "1:A" }, "#/settings/chat_id"],
    [
      "telegram",
      "https://api.telegram.org",
      { ...telegram, bot_token: "1:A/../x" },
      "#/settings/bot_token",
    ],
    [
      "telegram",
      "https://api.telegram.org",
      { ...telegram, chat_id: "acme" },
      "#/settings/chat_id",
    ],
    [
      "telegram",
      "https://api.telegram.org",
      { ...telegram, message_thread_id: 0 },
      "#/settings/message_thread_id",
    ],
    ["teams", "https://acme.webhook.office.com/webhookb2/1", {}, "#/url"],
  ])("the destination of %s at %s with %j is rejected", (name, url, settings, pointer) => {
    const errors = validateDestination(name, url, settings as Record<string, unknown>);
    expect(errors.map((error) => error.pointer)).toEqual([pointer]);
  });

  test("a topic of ntfy gets its token, or another Authorization, as a header", () => {
    const headersOf = (settings: Record<string, string>) =>
      writeFor("ntfy", incidentEvent("Name", "Text"), { settings })?.headers["authorization"];
    expect(headersOf({ token: "tk_1" })).toBe("Bearer tk_1");
    expect(headersOf({ authorization: "Basic eDp5" })).toBe("Basic eDp5");
    expect(headersOf({})).toBeUndefined();
    const settings = { authorization: "Basic eDp5" };
    expect(validateDestination("ntfy", "https://ntfy.sh/topic", settings)).toEqual([]);
  });

  test("a destination of a server below a path keeps the path", () => {
    const event = incidentEvent("Name", "Text");
    const urlOf = (name: WebhookFormat, url: string) => writeFor(name, event, { url })?.url;
    expect(urlOf("ntfy", "https://home.test/ntfy/acme")).toBe("https://home.test/ntfy/");
    expect(urlOf("gotify", "https://home.test/gotify/")).toBe("https://home.test/gotify/message");
    expect(urlOf("gotify", "https://home.test/message")).toBe("https://home.test/message");
    expect(urlOf("telegram", "https://bots.test/api/")).toBe(
      "https://bots.test/api/bot123456:ABC-DEF1234ghIkl/sendMessage",
    );
  });

  test.each([
    ["https://discord.com/api/webhooks/1/abc", "https://discord.com/api/v10/webhooks/1/abc"],
    ["https://discord.com/api/v6/webhooks/1/abc", "https://discord.com/api/v10/webhooks/1/abc"],
    [
      "https://discordapp.com/api/webhooks/1/abc?thread_id=7",
      "https://discordapp.com/api/v10/webhooks/1/abc?thread_id=7",
    ],
    ["https://relay.test/api/webhooks/1/abc", "https://relay.test/api/webhooks/1/abc"],
  ])("a message for Discord at %s is sent to %s, which hides its secret", (url, sentTo) => {
    expect(writeFor("discord", incidentEvent("Name", "Text"), { url })?.url).toBe(sentTo);
    const webhook = { format: "discord", url, settings: {} } as WebhookRow;
    expect(blanked(sentTo, secretsIn(webhook))).not.toContain("1/abc");
    const keyOf = (one: string) => destinationKey({ format: "discord", url: one, settings: {} });
    expect(keyOf(url)).toBe(keyOf(sentTo));
  });
});
