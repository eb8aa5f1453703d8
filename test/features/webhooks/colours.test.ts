import { expect, test } from "bun:test";
import { TONE_COLOURS } from "../../../src/features/webhooks/formats/tones";
import tokens from "../../../src/ui/tokens.css" with { type: "text" };

test("notifications use the colours of the design's light tokens", () => {
  const light = tokens.slice(0, tokens.indexOf("}"));
  const token = (name: string) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(light)?.[1] ?? "";
  expect(TONE_COLOURS).toEqual({
    operational: token("operational"),
    under_maintenance: token("maintenance"),
    degraded_performance: token("degraded"),
    partial_outage: token("partial"),
    major_outage: token("major"),
    unknown: token("no-data"),
  });
});
