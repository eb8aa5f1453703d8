import { type Static, Type } from "@sinclair/typebox";
import { kumaTypeOf, type MonitorType } from "../../../base/status";
import { headerError } from "../../../egress/http-headers";
import type { RecordedEvent } from "../../../events/outbox";
import { Secret } from "../../../base/secrets";
import { parseJson } from "../../../base/text";
import { parseInstant, SECOND_MS, toIso } from "../../../base/time";
import { type Block, fittedMessage, paragraph, PLAIN, writeBlocks } from "./markup";
import { type Format, jsonMessage } from "./format";
import { buildNotification } from "./notification";
import { type Data, recordOf, textOf } from "./reading";

/**
 * Messages as the notification type "Webhook" of Uptime Kuma sends them, for programs that read those. Events that are
 * not about the state of a monitor have only a text.
 */

/** Maximum length of a text, in characters. */
const TEXT_MAX = 4_000;

const DOWN = 0;
const UP = 1;

/** Statuses by event. A monitor that is slow is up there. */
const STATUSES: Readonly<Partial<Record<RecordedEvent["type"], number>>> = {
  "monitor.down": DOWN,
  "monitor.reminder": DOWN,
  "monitor.up": UP,
  "monitor.degraded": UP,
};

const Settings = Type.Object(
  {
    headers: Type.Optional(
      Secret({
        minLength: 2,
        maxLength: 4_000,
        check: headersProblem,
        description: "Further headers, as a JSON object.",
        examples: ['{"Authorization": "Bearer 1234"}'],
      }),
    ),
  },
  { additionalProperties: false },
);

export const uptimeKuma: Format = {
  name: "uptime-kuma",
  label: "Uptime Kuma",
  hint: "A URL of a program that reads webhook notifications of Uptime Kuma.",
  settings: Settings,
  pace: [],
  validate: () => [],
  write(event, context) {
    const { data, at } = event;
    // Programs also get events of which people are not told.
    const notification = buildNotification({ ...event, data: { ...data, notify: true } }, context);
    if (!notification) return undefined;
    const { title } = notification;
    const { headers = "{}" } = context.settings as Static<typeof Settings>;
    const status = STATUSES[event.type];
    const text = (blocks: readonly Block[]) =>
      writeBlocks([paragraph(title), ...blocks], PLAIN).trim();
    const msg = fittedMessage(notification, text, ({ length }) => length <= TEXT_MAX);
    if (status === undefined) return send({ heartbeat: null, monitor: null, msg }, headers);
    const monitor = recordOf(data, "monitor") ?? data;
    const id = textOf(monitor, "id") ?? event.subjectId;
    const check = recordOf(monitor, "last_check");
    const heartbeat = {
      monitorID: id,
      status,
      time: toIso(at).slice(0, 23).replace("T", " "),
      msg: (check && textOf(check, "message")) ?? (status === UP ? "OK" : ""),
      ping: check?.["latency_ms"] ?? null,
      important: event.type !== "monitor.reminder",
      duration: durationOf(event),
    };
    return send({ heartbeat, monitor: monitorOf(monitor, id), msg }, headers);
  },
};

function send(body: object, headers: string) {
  return jsonMessage(body, { headers: headersIn(headers) ?? {} });
}

/** Returns the headers of a JSON object in lower case; undefined for other text. */
function headersIn(text: string): Record<string, string> | undefined {
  const parsed = parseJson(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return undefined;
  const entries = Object.entries(parsed);
  if (entries.some(([, value]) => typeof value !== "string")) return undefined;
  return Object.fromEntries(
    entries.map(([name, value]) => [name.toLowerCase(), value as string] as const),
  );
}

function headersProblem(text: string): string | undefined {
  const headers = headersIn(text);
  if (!headers) return 'must be a JSON object of texts, such as {"Authorization": "Bearer 1234"}';
  const errors = Object.entries(headers).map(([name, value]) => headerError(name, value));
  const [error] = errors.filter((each) => each !== undefined);
  return error === undefined ? undefined : `has a header that ${error}`;
}

/** Returns the monitor, with its name for the type there. */
function monitorOf(monitor: Data, id: string): object {
  const config = recordOf(monitor, "config") ?? {};
  const port = config["port"];
  return {
    id,
    name: textOf(monitor, "name") ?? "",
    type: kumaTypeOf(textOf(monitor, "type") as MonitorType | undefined),
    url: textOf(config, "url") ?? null,
    hostname: textOf(config, "host") ?? textOf(config, "name") ?? null,
    port: typeof port === "number" ? port : null,
  };
}

/** Returns the seconds of the outage so far, or of the one that ended; 0 without one. */
function durationOf({ data, at }: RecordedEvent): number {
  const outage = recordOf(data, "outage");
  const started = textOf(data, "down_since") ?? (outage && textOf(outage, "started_at"));
  const startedAt = parseInstant(started ?? "") ?? at;
  return Math.max(0, Math.round((at - startedAt) / SECOND_MS));
}
