import { beforeAll, describe, expect, test } from "bun:test";
import { isForPeople, type WebhookFormat, WEBHOOK_FORMATS } from "../../../src/base/webhook";
import type { RecordedEvent } from "../../../src/events/outbox";
import { collectEvents, type EventsByType } from "../../support/webhook-events";
import { writeFor } from "../../support/webhook-formats";

const MONITORS = "https://status.test/admin/monitors";
const PAGE = "https://status.test/status/acme";
const FORMATS = WEBHOOK_FORMATS.filter(isForPeople);

let events: EventsByType;
beforeAll(async () => {
  events = await collectEvents();
});

/** Returns the addresses of the installation in a message, each once. */
function linksIn(format: WebhookFormat, event: RecordedEvent, gathered?: RecordedEvent[]) {
  const context = gathered ? { gathered: { events: gathered, stillDown: 0 } } : {};
  const message = writeFor(format, event, context);
  // Some services escape characters of texts.
  const body = message?.body.replaceAll("\\", "") ?? "";
  return [...new Set(body.match(/https:\/\/status\.test[\w/?=&-]*/g))];
}

describe.each(FORMATS)("the links of %s messages", (format) => {
  test("each message about one monitor links to the monitor in the dashboard, and to nothing else", () => {
    for (const event of Object.values(events)) {
      if (!event.type.startsWith("monitor.")) continue;
      expect([event.type, ...linksIn(format, event)]).toEqual([
        event.type,
        `${MONITORS}/${event.subjectId}`,
      ]);
    }
  });

  test("gathered messages link to their monitor, or to the list if they are about several", () => {
    const { "monitor.down": down, "monitor.up": up } = events;
    expect(linksIn(format, up, [down, up])).toEqual([`${MONITORS}/${up.subjectId}`]);
    const other = { ...down, id: "evt_2", subjectId: "mon_2" };
    expect(linksIn(format, up, [other, up])).toEqual([MONITORS]);
  });

  test("messages about incidents and components link to the public page", () => {
    const { "incident.created": created, "component.status_changed": changed } = events;
    for (const link of [...linksIn(format, created), ...linksIn(format, changed)]) {
      expect(link).toStartWith(PAGE);
    }
    expect(linksIn(format, changed)).toEqual([PAGE]);
  });
});
