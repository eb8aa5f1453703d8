import { describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../../src/base/time";
import { createFollowedPage, type FollowedPage } from "../../support/feed-site";

/** The events of the calendar, each as what its properties say. */
async function eventsOf(site: FollowedPage) {
  return (await site.calendar()).getAllSubcomponents("vevent").map((event) => {
    const text = (name: string) => String(event.getFirstPropertyValue(name));
    return {
      uid: text("uid"),
      sequence: Number(text("sequence")),
      status: text("status"),
      summary: text("summary"),
      start: text("dtstart"),
      end: text("dtend"),
      changed: text("last-modified"),
      stamp: text("dtstamp"),
      description: text("description"),
      url: text("url"),
    };
  });
}

describe("maintenance in the calendar", () => {
  test("maintenance in the calendar is an event in UTC with permalink, components and text", async () => {
    await using site = await createFollowedPage();
    const { id, url } = await site.plan({
      scheduled_for: "2026-07-01T10:00:00+02:00",
      scheduled_until: "2026-07-01T11:30:00.500+02:00",
    });
    expect(await eventsOf(site)).toEqual([
      {
        uid: id,
        sequence: 1,
        status: "CONFIRMED",
        summary: "Upgrade",
        start: "2026-07-01T08:00:00Z",
        // The format has whole seconds only.
        end: "2026-07-01T09:30:01Z",
        changed: "2026-03-10T12:00:00Z",
        stamp: "2026-03-10T12:00:00Z",
        description: `Affected: API\n\nScheduled · 10 March 2026, 12:00:00 UTC\nA minute without search.\n\n${url}`,
        url,
      },
    ]);
    const calendar = await site.calendar();
    expect(calendar.getFirstPropertyValue("version")).toBe("2.0");
    expect(calendar.getFirstPropertyValue("x-wr-calname")).toBe("Acme");
    expect((await site.read("calendar.ics")).text).toEndWith("END:VCALENDAR\r\n");
  });

  test("maintenance in the calendar keeps its UID, raises SEQUENCE with each change and can be CANCELLED", async () => {
    await using site = await createFollowedPage();
    const { id } = await site.plan();
    const [planned] = await eventsOf(site);
    await site.app.clock.advance(HOUR_MS / 2);
    await site.send("PATCH", `/maintenance/${id}`, { scheduled_until: "2026-03-10T16:00:00Z" });
    const [moved] = await eventsOf(site);
    expect(moved).toMatchObject({
      uid: id,
      status: "CONFIRMED",
      end: "2026-03-10T16:00:00Z",
      changed: "2026-03-10T12:30:00Z",
    });
    await site.send("POST", `/maintenance/${id}/cancel`);
    const [cancelled] = await eventsOf(site);
    expect(cancelled).toMatchObject({ uid: id, status: "CANCELLED", end: "2026-03-10T16:00:00Z" });
    const sequences = [planned, moved, cancelled].map((event) => event?.sequence ?? 0);
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
  });

  test("maintenance in the calendar ends at least one second after its start, except in the last second of 9999", async () => {
    await using site = await createFollowedPage();
    await site.plan({
      scheduled_for: "2026-03-10T14:00:00.100Z",
      scheduled_until: "2026-03-10T14:00:00.900Z",
    });
    await site.plan({
      scheduled_for: "9999-12-31T00:00:00Z",
      scheduled_until: "9999-12-31T23:59:59.999Z",
    });
    expect((await eventsOf(site)).map(({ start, end }) => [start, end])).toEqual([
      ["2026-03-10T14:00:00Z", "2026-03-10T14:00:01Z"],
      ["9999-12-31T00:00:00Z", "9999-12-31T23:59:59Z"],
    ]);
  });

  test("the calendar contains maintenance years ahead and the 100 last planned, in order of time", async () => {
    await using site = await createFollowedPage();
    const far = { scheduled_for: "2030-01-01T00:00:00Z", scheduled_until: "2030-01-01T01:00:00Z" };
    await site.plan({ name: "far", ...far });
    for (let n = 0; n < 101; n++) {
      const { id } = await site.plan({ name: `cancelled ${n}` });
      await site.send("POST", `/maintenance/${id}/cancel`);
    }
    const names = (await eventsOf(site)).map(({ summary }) => summary);
    expect(names).toHaveLength(101);
    expect(names.at(-1)).toBe("far");
    expect(names).not.toContain("cancelled 0");
    expect(names).toContain("cancelled 100");
  });

  test("the calendar has no events without maintenance, even with incidents", async () => {
    await using site = await createFollowedPage();
    await site.open();
    expect(await eventsOf(site)).toEqual([]);
  });
});
