import type { TObject } from "@sinclair/typebox";
import type { FieldError } from "../../../base/errors";
import type { RecordedEvent } from "../../../events/outbox";
import type { ComponentStatus } from "../../../base/status";
import type { WebhookFormat } from "../../../base/webhook";

/** Request to an endpoint. */
export interface Message {
  /** Method, if it differs from POST. */
  method?: string;
  /** Address, if it differs from the endpoint's URL. */
  url?: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Events of monitors that one message is made of. */
export interface GatheredEvents {
  /** Oldest first; at least two. */
  events: readonly RecordedEvent[];
  /** Number of other monitors that are down, and down by the last message about them. */
  stillDown: number;
}

/** Context of an event for a format. */
export interface FormatContext {
  url: string;
  /** Settings of the endpoint for this format. */
  settings: Readonly<Record<string, unknown>>;
  /** Header `webhook-id`: the same at every attempt. */
  messageId: string;
  /** Sender: the page's name, or this installation's address for an event without a page. */
  pageName: string;
  pageUrl: string;
  /** Public address of this installation, at which the dashboard is. */
  baseUrl: string;
  /**
   * Headline of the page in Atlassian Statuspage's words, if known. Without it a format that needs
   * one uses the severity of the event.
   */
  headline?: { indicator: string; description: string } | undefined;
  /** Gathered events of monitors for one message; absent for a message about one event. */
  gathered?: GatheredEvents | undefined;
  /** Returns the status that a component shows now, or undefined if the component was deleted. */
  statusOf: (componentId: string) => ComponentStatus | undefined;
}

/**
 * Limit of the messages that a service takes: `count` in any time of `inMs`, or `burst` at once and then one in each
 * `everyMs`.
 */
export type Limit = { count: number; inMs: number } | { burst: number; everyMs: number };

/** Body format of endpoints: a file in `formats/` and a line in its registry. */
export interface Format {
  name: WebhookFormat;
  /** Name of the service, and a hint about where its URL is found. */
  label: string;
  hint: string;
  /** Strict schema of further settings, with the secret ones; an empty object for most. */
  settings: TObject;
  /**
   * Public beginning of the path, for services whose URL alone permits writing to a channel. The
   * rest of the path is a secret. Omitted if the URL is not secret.
   */
  openPath?: RegExp;
  /**
   * Limits of the service, which all endpoints of one destination share. Empty for programs, which take messages as
   * fast as they answer until they refuse one, and for e-mail, which the mail relay limits.
   */
  pace: readonly Limit[];
  /** Path of the field of a JSON response with the seconds of a pause, if the service names them there. */
  pauseField?: readonly string[];
  /** Returns the name of the destination, if the URL alone does not name it. May contain secrets. */
  destination?(url: URL, settings: Readonly<Record<string, unknown>>): string;
  /**
   * Returns errors of a URL or settings for this service, with pointers `#/url` and `#/settings/…`.
   */
  validate(url: string, settings: Readonly<Record<string, unknown>>): FieldError[];
  /** Returns the settings without parts that nothing uses. They may be invalid. */
  trim?(url: string, settings: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** Returns the secret settings in further spellings in which a receiver can get them. */
  spellSecrets?(settings: Readonly<Record<string, unknown>>): readonly string[];
  /**
   * Returns the message for an event; undefined if the format has none. Deterministic: the same
   * event and context give the same bytes. Texts are escaped for the service and cut at its limits.
   */
  write(event: RecordedEvent, context: FormatContext): Message | undefined;
}

/** Returns a message with a JSON body. */
export function jsonMessage(
  body: unknown,
  more: { url?: string; headers?: Readonly<Record<string, string>> } = {},
): Message {
  const { url, headers } = more;
  return {
    ...(url === undefined ? {} : { url }),
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}
