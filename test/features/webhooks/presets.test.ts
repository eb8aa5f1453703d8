/* Each preset against the request that its service documents. */
import { beforeAll, describe, expect, test } from "bun:test";
import { EVENTS, type RecordedEvent } from "../../../src/events/outbox";
import { validateDestination } from "../../../src/features/webhooks/formats";
import { PLACEHOLDERS, secretNamesIn } from "../../../src/features/webhooks/formats/template";
import {
  type Preset,
  presetNamed,
  PRESETS,
  presetSettings,
} from "../../../src/features/webhooks/presets";
import { collectEvents, type EventsByType } from "../../support/webhook-events";
import {
  documentedBy,
  expectDocumented,
  isDocumented,
  requestOf,
} from "../../support/documented-requests";
import { incidentEvent } from "../../support/webhook-formats";

const ALL: [name: string, preset: Preset][] = Object.entries(PRESETS);

let events: EventsByType;
beforeAll(async () => {
  events = await collectEvents();
});

const requestFor = (preset: Preset, secrets: object, event: RecordedEvent) =>
  requestOf(preset.url, { ...presetSettings(preset), secrets }, event);

describe.each(ALL)("the preset %s", (name, preset) => {
  test("sends the request that its service documents, for the begin and the end of an outage", async () => {
    const { source, read, secrets, begin, end } = await documentedBy(name);
    expect(source).toStartWith("https://");
    expect(read).toMatch(/^\d{4}-\d\d-\d\d$/);
    expectDocumented(requestFor(preset, secrets, events["monitor.down"]), begin);
    expectDocumented(requestFor(preset, secrets, events["monitor.up"]), end ?? begin);
    expect(end !== undefined).toBe(preset.resolve !== undefined);
  });

  test("sends documented requests for every event and for the longest texts", async () => {
    const { secrets, begin, end } = await documentedBy(name);
    const long = incidentEvent("Ü".repeat(255), "ünï ".repeat(2_500));
    const isReported = ({ type }: RecordedEvent) =>
      preset.resolve === undefined || type !== "incident.postmortem_published";
    for (const event of [...Object.values(events), long].filter(isReported)) {
      const request = requestFor(preset, secrets, event);
      const isEnd = end !== undefined && !isDocumented(request.body, begin);
      expectDocumented(request, isEnd ? end : begin);
    }
  });

  test("has the same key in the request for the begin and the end, if it has both", () => {
    if (preset.resolve === undefined) return;
    const settings = presetSettings(preset);
    const begin = `${preset.url} ${String(settings["body"])}`;
    const end = `${String(settings["resolve_url"] ?? preset.url)} ${String(settings["resolve_body"])}`;
    for (const request of [begin, end]) expect(request).toContain("{key}");
  });

  test("is accepted once its secrets are given, each of which it explains", () => {
    const settings = presetSettings(preset);
    const names = secretNamesIn(preset.url, settings);
    expect(names.toSorted()).toEqual(Object.keys(preset.secrets).toSorted());
    expect(validateDestination("template", preset.url, settings)).toEqual(
      names.map((secret) => ({
        pointer: `#/settings/secrets/${secret}`,
        detail: `is required, since the request has {secret.${secret}}`,
      })),
    );
    const secrets = Object.fromEntries(names.map((secret) => [secret, "x"]));
    expect(validateDestination("template", preset.url, { ...settings, secrets })).toEqual([]);
    for (const text of [preset.hint, ...Object.values(preset.secrets)]) expect(text).toEndWith(".");
    for (const type of preset.events ?? []) expect(Object.keys(EVENTS)).toContain(type);
  });
});

test("presets are found by their names alone, and no preset uses a placeholder that does not exist", () => {
  expect(presetNamed("pagerduty")?.label).toBe("PagerDuty");
  for (const name of ["", "constructor", "Pagerduty"]) expect(presetNamed(name)).toBeUndefined();
  const text = JSON.stringify(PRESETS);
  const used = new Set(Array.from(text.matchAll(/\{([a-z]+)\}/g), ([, name = ""]) => name));
  expect([...used].filter((name) => !Object.hasOwn(PLACEHOLDERS, name))).toEqual([]);
});
