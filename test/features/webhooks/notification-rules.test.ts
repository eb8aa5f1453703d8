import { describe, expect, test } from "bun:test";
import { isSecretField } from "../../../src/base/secrets";
import { FORMATS } from "../../../src/features/webhooks/formats";
import { isForPeople, WEBHOOK_FORMATS } from "../../../src/base/webhook";
import { bodyFor, incidentEvent, writeFor } from "../../support/webhook-formats";

describe("events with notify: false", () => {
  test.each([...WEBHOOK_FORMATS])(
    "an event with notify: false is sent by %s only if it is a format for programs",
    (name) => {
      const loud = incidentEvent("Name", "Text");
      const silent = incidentEvent("Name", "Text", { notify: false });
      expect(writeFor(name, loud)).toBeDefined();
      expect(writeFor(name, silent) !== undefined).toBe(!isForPeople(name));
    },
  );

  test("an event with notify: false has deliver_notifications: false in the statuspage format", () => {
    const silent = incidentEvent("Name", "Text", { notify: false });
    expect(bodyFor("statuspage", silent).incident.incident_updates).toMatchObject([
      { deliver_notifications: false },
    ]);
  });
});

describe("Statuspage's headline", () => {
  test("Statuspage's headline is the page's if known, else derived from the event", () => {
    const headline = { indicator: "minor", description: "Minor Service Outage" };
    const event = incidentEvent("Name", "Text", { impact: "critical" });
    const pageOf = (context: object) =>
      JSON.parse(writeFor("statuspage", event, context)?.body ?? "").page;
    expect(pageOf({ headline })).toMatchObject({ status_indicator: "minor" });
    expect(pageOf({})).toMatchObject({ status_indicator: "critical" });
  });
});

describe("links of notifications", () => {
  test("a notification links to its subject, or to the page if that has no address or is deleted", () => {
    const urlOf = (event: Parameters<typeof writeFor>[1]) =>
      bodyFor("discord", event).embeds[0].url;
    const created = incidentEvent("Name", "Text");
    expect(urlOf(created)).toBe("https://status.test/status/acme/incidents/inc_1");
    expect(urlOf({ ...created, type: "incident.deleted" })).toBe("https://status.test/status/acme");
    // An endpoint's own URL is not for everybody who reads its messages.
    const tried = {
      ...created,
      type: "webhook.test" as const,
      data: { url: "https://secret.test" },
    };
    expect(urlOf(tried)).toBe("https://status.test/status/acme");
    expect(JSON.stringify(bodyFor("slack", tried))).not.toContain("secret.test");
  });
});

describe("secret settings", () => {
  test.each([
    ["ntfy", "token"],
    ["ntfy", "authorization"],
    ["gotify", "token"],
    ["telegram", "bot_token"],
    ["uptime-kuma", "headers"],
  ] as const)("a message for %s contains no secret %s", (name, setting) => {
    const settings = { [setting]: "123456:quite-private", chat_id: "1" };
    expect(isSecretField(FORMATS[name].settings, setting)).toBe(true);
    const message = writeFor(name, incidentEvent("Name", "Text"), { settings });
    expect(message?.body).toContain("Text");
    expect(message?.body).not.toContain("quite-private");
  });
});
