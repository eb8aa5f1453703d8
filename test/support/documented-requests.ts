/* Requests that services document, and the comparison of requests with them. */
import { expect } from "bun:test";
import { join } from "node:path";
import Ajv from "ajv";
import type { RecordedEvent } from "../../src/events/outbox";
import { writeFor } from "./webhook-formats";

interface DocumentedRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  /** JSON Schema of the body, or of the fields of a form. */
  body: object;
}

interface Fixture {
  /** Page that documents the request, and the day on which it was read. */
  source: string;
  read: string;
  secrets: Readonly<Record<string, string>>;
  /** Requests, in whose URLs `<key>` is the key of the object and `<id>` the id of the message. */
  begin: DocumentedRequest;
  end?: DocumentedRequest;
}

const ajv = new Ajv({ strict: true, allErrors: true });
ajv.addKeyword({
  keyword: "maxBytes",
  type: "string",
  validate: (max: number, text: string) => Buffer.byteLength(text) <= max,
});

const FOLDER = join(import.meta.dir, "../features/webhooks/presets");

/** Reads the documented requests of a preset. */
export function documentedBy(preset: string): Promise<Fixture> {
  return Bun.file(join(FOLDER, `${preset}.json`)).json();
}

export function isDocumented(body: unknown, request: DocumentedRequest): boolean {
  return ajv.compile(request.body)(body) === true;
}

/** Writes the request of a template for an event, as a receiver gets it. */
export function requestOf(url: string, settings: Record<string, unknown>, event: RecordedEvent) {
  const message = writeFor("template", event, { url, settings });
  if (!message) throw new Error("There is no message.");
  const { method, headers, body } = message;
  const isForm = headers["content-type"]?.includes("form") ?? false;
  const parsed: unknown = isForm ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body);
  const named = message.url?.replace(event.subjectId, "<key>").replace("evt_1", "<id>");
  return { method, url: named, headers, body: parsed };
}

/** Expects that a request is as its service documents it. */
export function expectDocumented(
  request: ReturnType<typeof requestOf>,
  { method, url, headers, body }: DocumentedRequest,
): void {
  expect(request).toMatchObject({ method, url });
  expect(request.headers).toEqual({ ...headers });
  const isValid = ajv.compile(body);
  isValid(request.body);
  expect([request.body, isValid.errors]).toEqual([request.body, null]);
}
