import { describe, expect, test } from "bun:test";
import { EVENTS, type EventType, type RecordedEvent } from "../../../src/events/outbox";
import {
  beginAt,
  choiceOf,
  deadlineAt,
  pageReason,
  silentReason,
} from "../../../src/features/mailings/rules";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../../src/base/time";

const NOW = Date.UTC(2026, 2, 10, 12);

function eventWith(type: EventType, data: Record<string, unknown> = {}): RecordedEvent {
  const update = { id: "upd_1", display_at: toIso(NOW), created_at: toIso(NOW) };
  return {
    id: "evt_1",
    type,
    pageId: "page_1",
    subjectId: "inc_1",
    at: NOW,
    isNews: true,
    data: { status: "investigating", notify: true, latest_update: update, ...data },
  };
}

describe("an event", () => {
  test.each(Object.keys(EVENTS) as EventType[])("%s is mailed if a choice includes it", (type) => {
    const isChosen = !/^monitor\.|^webhook\.|^fleet\.|^location\.|^incident\.deleted$/.test(type);
    expect(choiceOf(type) !== undefined).toBe(isChosen);
    expect(silentReason(eventWith(type)) === undefined).toBe(isChosen);
    expect(silentReason(eventWith(type, { notify: false }))).toBeDefined();
    expect(silentReason(eventWith(type, { source: "import" }))).toBeDefined();
  });

  test("of a public page is mailed, of a private one and of the sample page never", () => {
    expect(pageReason({ visibility: "public", isSample: false })).toBeUndefined();
    expect(pageReason({ visibility: "private", isSample: false })).toBe("The page is private.");
    expect(pageReason({ visibility: "public", isSample: true })).toBe(
      "The page is the sample page.",
    );
  });

  test.each([
    ["an hour", HOUR_MS, true],
    ["a millisecond more than an hour", HOUR_MS + 1, false],
  ])("with an update dated back by %s is mailed: %#", (_, age, expected) => {
    const update = { display_at: toIso(NOW - age), created_at: toIso(NOW) };
    const event = eventWith("incident.updated", { latest_update: update });
    expect(silentReason(event) === undefined).toBe(expected);
  });

  test.each([
    "incident.updated",
    "incident.resolved",
    "incident.reopened",
    "incident.postmortem_published",
    "maintenance.updated",
  ] as const)("%s that is not news, such as of an edit, is not mailed", (type) => {
    const event = eventWith(type);
    expect(silentReason({ ...event, isNews: false })).toMatch(/^Edits|^Only the first/);
    delete event.isNews;
    expect(silentReason(event)).toBeDefined();
  });
});

describe("a mailing", () => {
  test("begins at once, or for updates two minutes after the last one", () => {
    const last = NOW - 30 * SECOND_MS;
    expect(beginAt("incident.resolved", NOW, last)).toBe(NOW);
    expect(beginAt("incident.updated", NOW, last)).toBe(NOW + 90 * SECOND_MS);
    expect(beginAt("incident.updated", NOW, null)).toBe(NOW);
    expect(beginAt("maintenance.updated", NOW, NOW - HOUR_MS)).toBe(NOW);
    expect(beginAt("component.status_changed", NOW, null)).toBe(NOW + 120 * SECOND_MS);
    expect(beginAt("component.status_changed", NOW, last)).toBe(last + 15 * MINUTE_MS);
  });

  test("has to begin within 24 hours, and before its maintenance ends unless it says so", () => {
    const until = { scheduled_until: toIso(NOW + HOUR_MS) };
    expect(deadlineAt(eventWith("incident.created"))).toBe(NOW + DAY_MS);
    expect(deadlineAt(eventWith("maintenance.started", until))).toBe(NOW + HOUR_MS);
    expect(deadlineAt(eventWith("maintenance.completed", until))).toBe(NOW + DAY_MS);
    expect(deadlineAt(eventWith("maintenance.cancelled", until))).toBe(NOW + DAY_MS);
    const later = { scheduled_until: toIso(NOW + 3 * DAY_MS) };
    expect(deadlineAt(eventWith("maintenance.scheduled", later))).toBe(NOW + DAY_MS);
  });
});
