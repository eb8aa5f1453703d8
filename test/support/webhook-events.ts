import { expect } from "bun:test";
import type { TObject, TSchema } from "@sinclair/typebox";
import { schemaErrors } from "../../src/base/validation";
import type { EventType, RecordedEvent } from "../../src/events/outbox";
import { deleteIncident } from "../../src/features/incidents/incidents";
import { startMaintenanceClock } from "../../src/features/maintenance/clock";
import { CLI_ACTOR } from "../../src/base/actor";
import { EVENT_DATA } from "../../src/other-routes";
import { HOUR_MS } from "../../src/base/time";
import { createTestApp, type TestApp } from "./app";
import { TEST_START } from "./clock";

export type EventsByType = Readonly<Record<EventType, RecordedEvent>>;

/**
 * Collects one event of each type: of components, incidents and maintenance as an application
 * records them, with the same ids in every run, and of monitors as the API shows them.
 */
export async function collectEvents(): Promise<EventsByType> {
  await using app = await createTestApp();
  const recorded: RecordedEvent[] = [];
  app.ctx.outbox.subscribe((_tx, groups) => recorded.push(...groups.flat()));
  const { components } = await app.page({ slug: "acme", name: "Acme" }, ["API", "Web"]);
  const key = await app.keyWith(
    "read:status",
    "write:components",
    "write:incidents",
    "write:maintenance",
  );
  const send = async (method: string, path: string, json: unknown) => {
    const answer = await app.call(`/api/v1/${path}`, { method, key, json });
    if (answer.status >= 400) throw new Error(answer.text);
    return answer.body;
  };
  const { API: api = "", Web: web = "" } = components;
  await send("PATCH", `components/${web}`, { status: "degraded_performance" });
  await playIncident(app, send, { [api]: "major_outage", [web]: "partial_outage" });
  await playMaintenance(app, send, [api]);
  const found = recorded.toReversed().map((event) => [event.type, event] as const);
  // The first event of each type is used.
  const events = { ...MADE, ...withSteadyIds(Object.fromEntries(found)) } as EventsByType;
  expect(eventErrors([...app.events(), ...Object.values(events)])).toEqual([]);
  return events;
}

type Send = (method: string, path: string, json: unknown) => Promise<{ id: string }>;

/** Text of an update with all usual kinds of Markdown. */
const UPDATE = `Requests to the **checkout** fail since about *13:58 UTC*.

1. Orders are kept
2. Payments are ~~lost~~ retried

> \`POST /orders\` answers 503.

See [our notes](https://example.com/notes?a=1&b=2) or https://example.com/live.`;

async function playIncident(app: TestApp, send: Send, components: Record<string, string>) {
  const { id } = await send("POST", "incidents", {
    page: "acme",
    name: "Checkout fails",
    body: UPDATE,
    components,
  });
  const update = (json: object) => send("POST", `incidents/${id}/updates`, json);
  await update({ status: "identified", body: "A database has run out of connections." });
  await update({ status: "resolved", body: "All orders go through again." });
  await update({ status: "investigating", body: "It has come back." });
  await update({ status: "resolved", body: "It is over." });
  const postmortem = { body: "# What happened\n\nA pool was too small.", publish: true };
  await send("PUT", `incidents/${id}/postmortem`, postmortem);
  await app.ctx.db.write((tx) => deleteIncident(app.ctx, tx, id, CLI_ACTOR));
}

async function playMaintenance(app: TestApp, send: Send, components: string[]) {
  const at = (hours: number) => new Date(TEST_START + hours * HOUR_MS).toISOString();
  const plan = () =>
    send("POST", "maintenance", {
      page: "acme",
      name: "Database upgrade",
      body: "A minute without **search**.",
      components,
      scheduled_for: at(2),
      scheduled_until: at(3),
    });
  const timer = startMaintenanceClock(app.ctx);
  const { id } = await plan();
  await send("POST", `maintenance/${id}/updates`, { body: "Reports pause, too." });
  await send("POST", `maintenance/${(await plan()).id}/cancel`, undefined);
  await app.clock.advance(3 * HOUR_MS + 1_000);
  timer.cancel();
}

/**
 * Returns how events differ from their schemas in the OpenAPI document: errors of fields, and fields that are not
 * documented.
 */
export function eventErrors(events: Iterable<{ type: string; data: object }>): string[] {
  return [...events].flatMap(({ type, data }) => {
    const schema = EVENT_DATA[type as EventType] as TObject;
    const errors = schemaErrors(schema, data).map(({ pointer, detail }) => `${pointer} ${detail}`);
    return [...errors, ...unknownFields(schema, data, "#")].map((error) => `${type}: ${error}`);
  });
}

/** Returns the fields of an object, and of objects in it, that its schema does not name. */
function unknownFields(schema: TSchema, value: unknown, pointer: string): string[] {
  if (Array.isArray(value)) {
    const items = schema["items"] as TSchema | undefined;
    return items ? value.flatMap((item) => unknownFields(items, item, `${pointer}/…`)) : [];
  }
  if (typeof value !== "object" || value === null) return [];
  const options = schema["anyOf"] as TSchema[] | undefined;
  const { properties } = options?.find((option) => "properties" in option) ?? schema;
  if (!properties || schema["additionalProperties"] === true) return [];
  return Object.entries(value).flatMap(([name, child]) => {
    const field = (properties as Record<string, TSchema>)[name];
    return field
      ? unknownFields(field, child, `${pointer}/${name}`)
      : `${pointer}/${name} is unknown`;
  });
}

/** Replaces random ids by numbered ones, in the order of their first use. */
function withSteadyIds(events: object): object {
  const numbers = new Map<string, string>();
  const text = JSON.stringify(events).replace(/\b([a-z]{3,4})_[0-9a-z]{26}\b/g, (id, prefix) => {
    const number = String(numbers.size + 1).padStart(3, "0");
    if (!numbers.has(id)) numbers.set(id, `${prefix}_01kkbtek00e0rs6x0h3ye00${number}`);
    return numbers.get(id) ?? id;
  });
  return JSON.parse(text);
}

const MONITOR = {
  id: "mon_01kkbtek00e0rs6x0h3ye00901",
  ref: "checkout",
  name: "Checkout",
  type: "http",
  config: { url: "https://shop.example.com/health", method: "GET" },
  component_ids: ["cmp_01kkbtek00e0rs6x0h3ye00001"],
  components: [
    { id: "cmp_01kkbtek00e0rs6x0h3ye00001", name: "Checkout API", status: "partial_outage" },
  ],
  depends_on: ["mon_01kkbtek00e0rs6x0h3ye00903"],
  locations: ["local"],
  down_when: "majority",
  interval_seconds: 60,
  timeout_ms: 10_000,
  failure_threshold: 3,
  success_threshold: 1,
  retry_interval_seconds: 20,
  degraded_after_ms: 800,
  on_down: "major_outage",
  open_incident: "automatic",
  inverted: false,
  reminder_seconds: 3_600,
  group: "Data centre 2",
  tags: ["production"],
  paused: false,
  certificate_expires_at: null,
  version: 1,
  created_at: "2026-03-01T08:00:00.000Z",
  updated_at: "2026-03-01T08:00:00.000Z",
};

function made(type: EventType, subjectId: string, data: Record<string, unknown>): RecordedEvent {
  const id = `evt_01kkbtek00e0rs6x0h3ye00${String(type.length).padStart(3, "9")}`;
  return { id, type, pageId: null, subjectId, data, at: TEST_START };
}

function monitorIn(state: "up" | "degraded" | "down", message: string | null) {
  const since = "2026-03-10T11:58:00.000Z";
  const outcome = state === "down" ? "failed" : "ok";
  const last_check = { at: "2026-03-10T11:59:58.000Z", outcome, latency_ms: 912, message };
  return { ...MONITOR, state, state_since: since, unreachable_via: null, last_check };
}

function monitorEvent(...[state, message]: Parameters<typeof monitorIn>): RecordedEvent {
  const data = { ...monitorIn(state, message), outage: null };
  return made(`monitor.${state}`, MONITOR.id, data);
}

const MADE = {
  "monitor.down": monitorEvent("down", "answered 503, expected 2xx"),
  "monitor.up": monitorEvent("up", null),
  "monitor.degraded": monitorEvent("degraded", "took 912 ms"),
  "monitor.reminder": made("monitor.reminder", MONITOR.id, {
    monitor: monitorIn("down", "answered 503, expected 2xx"),
    down_since: "2026-03-10T11:58:00.000Z",
    count: 2,
  }),
  "monitor.certificate_expiring": made("monitor.certificate_expiring", MONITOR.id, {
    monitor: {
      ...MONITOR,
      state: "up",
      state_since: "2026-03-01T08:00:00.000Z",
      unreachable_via: null,
      last_check: null,
    },
    host: "shop.example.com",
    intermediate: null,
    not_after: "2026-03-17T11:00:00.000Z",
    days_left: 7,
  }),
  "location.offline": made("location.offline", "loc_01kkbtek00e0rs6x0h3ye00901", {
    id: "loc_01kkbtek00e0rs6x0h3ye00901",
    ref: "berlin",
    name: "Berlin",
    silent_since: "2026-03-10T11:57:00.000Z",
    url: "https://status.example.com/admin/settings/locations/loc_01kkbtek00e0rs6x0h3ye00901",
  }),
  "fleet.alarm": made("fleet.alarm", "mirror_stale", {
    kind: "mirror_stale",
    name: "Mirror out of date",
    severity: "major",
    state: "raised",
    detail: "The mirror in s3://status-mirror/acme was last written 6 min ago.",
    since: "2026-03-10T11:58:00.000Z",
    cleared_at: null,
    url: "https://status.example.com/admin/settings/fleet",
  }),
  "webhook.test": made("webhook.test", "whk_01kkbtek00e0rs6x0h3ye00902", {
    id: "whk_01kkbtek00e0rs6x0h3ye00902",
    ref: "our-chat",
    description: "Our chat",
    events: ["*"],
    page: null,
    page_id: null,
    format: "standard",
    version: 1,
  }),
};
