import { secretsIn as secretTexts } from "../../../base/secrets";
import type { WebhookFormat } from "../../../base/webhook";
import type { Ctx } from "../../../context";
import type { Reader } from "../../../db/statements";
import type { RecordedEvent } from "../../../events/outbox";
import { type PageAddress, pageUrl as addressOf } from "../../pages/addresses";
import { type DeliveryToTry, findEventPage } from "../delivery-store";
import type { FormatContext, Message } from "../formats/format";
import { ELLIPSIS, FORMATS } from "../formats/index";
import type { Member } from "./groups";
import { countKnownDown } from "../gathering-store";
import { groupOf, type RefusedMessage } from "../rules";
import { findShownStatus } from "../store";

/** An event with the parts of the endpoint that its format needs. */
export interface Outgoing {
  event: RecordedEvent;
  webhook: { url: string; format: WebhookFormat; settings: Record<string, unknown> };
  /** Header `webhook-id`: the id of the group, or of the event. */
  messageId: string;
  /** Page of the event, if it has one. */
  page: (PageAddress & { name: string }) | null;
  /** Gathered events, of which `event` is the newest; absent for a message about one. */
  gathered?: FormatContext["gathered"];
}

/**
 * Returns the parts of the message that deliveries of one group make, oldest first. `row` is one of them. Messages of
 * several pages belong to none.
 */
export function outgoingOf(
  reader: Reader,
  { webhook }: Pick<DeliveryToTry, "webhook">,
  members: readonly Member[],
): Outgoing & Pick<DeliveryToTry, "webhook"> {
  const events = members.map(({ event }) => event as RecordedEvent);
  const event = events.at(-1);
  if (!event) throw new Error("a group of deliveries has no event");
  const [pageId = null, ...otherPages] = new Set(events.map((one) => one.pageId));
  const page =
    pageId === null || otherPages.length > 0 ? undefined : findEventPage(reader, { id: pageId });
  const groupId = members[0] && groupOf(members[0].delivery);
  const outgoing = { event, webhook, page: page ?? null, messageId: groupId ?? event.id };
  if (events.length === 1) return outgoing;
  const except = JSON.stringify(events.map(({ subjectId }) => subjectId));
  const stillDown = countKnownDown(reader, { webhookId: webhook.id, except })?.count ?? 0;
  return { ...outgoing, gathered: { events, stillDown } };
}

/**
 * Reads the headline of a page by its id. The application passes it in, since this module must not
 * import `status`.
 */
export type ReadHeadline = (reader: Reader, pageId: string) => Headline;

type Headline = NonNullable<FormatContext["headline"]>;

/**
 * Returns the message for an event; undefined if the endpoint's format has none. Page and component
 * statuses are read from `db` only by formats that need them.
 */
export function writeMessage(
  ctx: Ctx,
  outgoing: Outgoing,
  readHeadline?: ReadHeadline,
): Message | undefined {
  return FORMATS[outgoing.webhook.format].write(
    outgoing.event,
    contextOf(ctx, outgoing, readHeadline),
  );
}

/** Returns the facts about endpoint and page that formats use. */
export function contextOf(
  { baseUrl, db }: Ctx,
  { event: { pageId }, webhook, page, gathered, messageId }: Outgoing,
  readHeadline?: ReadHeadline,
): FormatContext {
  const { url, settings } = webhook;
  return {
    url,
    settings,
    messageId,
    gathered,
    pageName: page?.name ?? new URL(baseUrl).host,
    pageUrl: page ? addressOf(baseUrl, page) : baseUrl,
    baseUrl,
    statusOf: (componentId) => findShownStatus(db, { id: componentId })?.status,
    get headline() {
      return pageId === null ? undefined : readHeadline?.(db, pageId);
    },
  };
}

/** Shorter values of a query, such as in `wait=true`, are options and occur in any text. */
const QUERY_VALUE_MIN = 6;
/** A part of a path is a secret if it has 16 characters, or 8 with a digit; others may be words. */
const LONGER_THAN_WORDS = 16;
const LONG = 8;
/** Length from which the beginning of a secret is removed. */
const BEGINNING_MIN = 4;

/**
 * Returns the secrets in an endpoint's settings and URL in every spelling that a receiver may send
 * back: whole and in parts, plain, decoded and escaped. Longest first.
 */
export function secretsIn({ url, format, settings }: Outgoing["webhook"]): string[] {
  const { settings: schema, openPath, spellSecrets } = FORMATS[format];
  const secrets = [
    ...(openPath ? hiddenIn(new URL(url), openPath) : []),
    ...secretTexts(schema, settings).flatMap(({ text }) => (text === "" ? [] : [text])),
    ...(spellSecrets?.(settings) ?? []),
  ];
  return [...new Set(secrets.flatMap(spellings))].toSorted((a, b) => b.length - a.length);
}

/** Returns a text with the secrets replaced by an ellipsis. */
export function blanked(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, ELLIPSIS), text);
}

/** Returns a cut text without the beginning of a secret at its end. */
export function withoutBeginning(text: string, secrets: readonly string[]): string {
  let most = 0;
  for (const secret of secrets) {
    for (let length = secret.length - 1; length >= BEGINNING_MIN && length > most; length--) {
      if (text.endsWith(secret.slice(0, length))) most = length;
    }
  }
  return most === 0 ? text : text.slice(0, -most) + ELLIPSIS;
}

function hiddenIn({ pathname, search, searchParams }: URL, openPath: RegExp): string[] {
  const hidden = pathname.slice(openPath.exec(pathname)?.[0].length ?? 1);
  const query = search.slice(1);
  const values = [
    ...query.split("&").map((pair) => pair.slice(pair.indexOf("=") + 1)),
    ...searchParams.values(),
  ];
  return [
    ...[hidden, query].filter((whole) => whole !== ""),
    ...hidden.split("/").filter(isNoWord),
    ...values.filter(({ length }) => length >= QUERY_VALUE_MIN),
  ];
}

function isNoWord(part: string): boolean {
  return part.length >= LONGER_THAN_WORDS || (part.length >= LONG && /\d/.test(part));
}

function spellings(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    decoded(secret),
    encodeURIComponent(secret),
    json,
    // Some JSON writers escape slashes, others what is markup in HTML, or all but ASCII.
    json.replaceAll("/", "\\/"),
    json.replace(/[<>&\u2028\u2029]/g, unicodeEscape),
    json.replace(/[^\0-\x7f]/g, unicodeEscape),
  ];
}

/** Escapes one UTF-16 unit. */
function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Refusal of an attempt. */
interface RefusedTry extends RefusedMessage {
  /** True for a test event, which is attempted once: the refusal is its result. */
  isFinal: boolean;
}

/** Result of an attempt. */
export interface TryResult {
  /** Start in unix ms. */
  at: number;
  latencyMs: number;
  /** Null without a response; then `error` gives the reason. */
  statusCode: number | null;
  error: string | null;
  /** First 20 KB of the response, if it was text. */
  answer: string | null;
  /** Set if the receiver refused the message for now. */
  refused?: RefusedTry | undefined;
  /** Ids of the deliveries that were sent, oldest first: several in a group. Absent for that of the attempt. */
  members?: readonly string[];
  /** Set if no retry can succeed, with the reason for disabling the endpoint if there is one. */
  permanent?: { reason?: string };
}

/** Reason for which no attempt was made. */
export type NoTry =
  /** The delivery has ended, or its endpoint is disabled or deleted. */
  | "ended"
  /** The endpoint's format has no message for the event. */
  | "no_message"
  /** A fault of this server prevented the attempt. */
  | "local_fault"
  /** Its mail is queued or being sent. */
  | "awaits_mail";

/** Returns true for a refused attempt that does not count: the delivery waits for the end of the pause. */
export function isPutOff({ refused }: TryResult): boolean {
  return refused?.isFinal === false;
}
