import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { EVENTS, type EventType } from "../../../src/events/outbox";
import type { Message } from "../../../src/features/webhooks/formats/format";
import { parseJson } from "../../../src/base/text";
import { isForPeople, WEBHOOK_FORMATS } from "../../../src/base/webhook";
import { collectEvents, type EventsByType } from "../../support/webhook-events";
import { gatheredEvents } from "../../support/gathering-site";
import { contextFor, writeFor } from "../../support/webhook-formats";

/*
 * Messages of all formats for all events, each in a golden file. UPDATE_GOLDEN=1 writes the files again; review
 * each changed line.
 */
const FOLDER = join(import.meta.dir, "golden");
const TYPES = Object.keys(EVENTS) as EventType[];
const canWrite = process.env["UPDATE_GOLDEN"] === "1";

let events: EventsByType;
beforeAll(async () => {
  events = await collectEvents();
});

function toHttp(message: Message, url: string): string {
  const headers = Object.entries(message.headers).map(([name, value]) => `${name}: ${value}`);
  const json = parseJson(message.body);
  const body = json === undefined ? message.body : JSON.stringify(json, null, 2);
  return `${[`${message.method ?? "POST"} ${message.url ?? url}`, ...headers, "", body].join("\n")}\n`;
}

const fileOf = (format: string, type: string) => `${format}/${type}.http`;

describe("messages of all formats and events", () => {
  for (const format of WEBHOOK_FORMATS) {
    for (const type of TYPES) {
      test(`the ${format} message for ${type} equals its golden file`, async () => {
        const message = writeFor(format, events[type]);
        const file = Bun.file(join(FOLDER, fileOf(format, type)));
        if (!message) return expect(await file.exists()).toBe(false);
        const current = toHttp(message, contextFor(format).url);
        if (canWrite) await Bun.write(file, current);
        expect(current).toBe(await file.text());
        expect(writeFor(format, structuredClone(events[type]))).toEqual(message);
      });
    }
  }

  for (const format of WEBHOOK_FORMATS.filter(isForPeople)) {
    test(`the ${format} message for gathered events equals its golden file`, async () => {
      const gathered = gatheredEvents();
      const newest = gathered.events.at(-1);
      const message = newest && writeFor(format, newest, { gathered });
      if (!message) throw new Error("There is no message.");
      const file = Bun.file(join(FOLDER, fileOf(format, "gathered")));
      const current = toHttp(message, contextFor(format).url);
      if (canWrite) await Bun.write(file, current);
      expect(current).toBe(await file.text());
    });
  }

  test("only the statuspage format skips events", async () => {
    const skipped = WEBHOOK_FORMATS.flatMap((format) =>
      TYPES.filter((type) => !writeFor(format, events[type])).map((type) => fileOf(format, type)),
    );
    expect(skipped).toEqual([
      "statuspage/incident.deleted.http",
      "statuspage/monitor.down.http",
      "statuspage/monitor.up.http",
      "statuspage/monitor.degraded.http",
      "statuspage/monitor.reminder.http",
      "statuspage/monitor.certificate_expiring.http",
      "statuspage/location.offline.http",
      "statuspage/fleet.alarm.http",
    ]);
    const files = await Array.fromAsync(new Glob("*/*.http").scan(FOLDER));
    const gathered = WEBHOOK_FORMATS.filter(isForPeople).length;
    expect(files.length).toBe(WEBHOOK_FORMATS.length * TYPES.length - skipped.length + gathered);
  });
});
