import { describe, expect, test } from "bun:test";
import { incidentEvent, writeFor } from "../../support/webhook-formats";

describe("the standard format", () => {
  test("the standard format sends the recorded type, time and data only", () => {
    const event = incidentEvent("a <b>", "c\u0000 @everyone", { notify: false });
    expect(writeFor("standard", event)).toEqual({
      headers: { "content-type": "application/json" },
      body: `{"type":"incident.created","timestamp":"2026-03-10T12:00:00.000Z","data":${JSON.stringify(event.data)}}`,
    });
  });
});
