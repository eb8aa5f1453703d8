import type { TSchema } from "@sinclair/typebox";
import type { FieldError } from "../../errors";
import type { RecordedEvent } from "../../events";
import type { ComponentStatus } from "../../kernel/component-status";
import type { WebhookFormat } from "../../kernel/webhook";

/** What is sent to an endpoint. */
export interface Message {
  /** Where to, if that is not the endpoint's URL as it is. */
  url?: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** What a format is given besides the event. */
export interface FormatContext {
  url: string;
  /** What the endpoint has set for this format. */
  settings: Readonly<Record<string, unknown>>;
  /** Who tells it: the page's name, or this installation's address where an event has no page. */
  pageName: string;
  pageUrl: string;
  /**
   * What the page shows as a whole, where that is known, by Atlassian Statuspage's words. Without it a
   * format that needs one says how bad that is which the event tells of.
   */
  headline?: { indicator: string; description: string } | undefined;
  /** Returns the status that a component shows now, or undefined if the component was deleted. */
  statusOf: (componentId: string) => ComponentStatus | undefined;
}

/** What an endpoint's body is made for. A file in `formats/` and a line in its registry. */
export interface Format {
  name: WebhookFormat;
  /** What people call it, and what they need to know to set it up: where its URL is found. */
  label: string;
  hint: string;
  /** What it needs beside the URL, strict; an empty object for most. */
  settings: TSchema;
  /** Names of those settings that are secrets: written, never read back. */
  secretSettings: readonly string[];
  /**
   * Where whoever knows a URL can write to the channel behind it: the beginning of the path that tells
   * nothing of that. What follows it is a secret, like a setting that is one. Left out where a URL is none.
   */
  openPath?: RegExp;
  /** Whether it is made for people, who skip what says `notify: false`. */
  isForPeople: boolean;
  /** What is wrong with a URL or settings for this service; pointers `#/url`, `#/settings/…`. */
  validate(url: string, settings: Readonly<Record<string, unknown>>): FieldError[];
  /**
   * The message for an event; undefined where this format does not tell of it. Deterministic: the same
   * event and context give the same bytes. Texts are escaped for the service and cut at its limits.
   */
  write(event: RecordedEvent, context: FormatContext): Message | undefined;
}
