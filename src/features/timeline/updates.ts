/* Common parts of incidents and maintenance: fields of bodies and events, limits, sizes of lists. */
import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { notFound } from "../../base/errors";
import { Nullable, OneOf, Text } from "../../base/schema";
import { INCIDENT_STATUSES, type IncidentStatus, type MaintenanceStatus } from "../../base/status";
import { codePointLength } from "../../base/text";
import { MINUTE_MS, parseInstant } from "../../base/time";
import type { Reader, Tx } from "../../db/statements";
import type { MessageKey } from "../../languages/words";

/** Maximum length of an update's text, in code points. */
export const UPDATE_TEXT_MAX = 10_000;

/** Maximum number of components that one incident update or one maintenance can name. */
export const NAMED_COMPONENTS_MAX = 1_000;

/** Maximum number of updates of one incident or maintenance, without the one that ends it. */
export const UPDATES_MAX = 250;

/** Returns the message for the status of an update. */
export function updateKey(status: IncidentStatus | MaintenanceStatus): MessageKey {
  return isIncidentStatus(status) ? `incident.${status}` : `maintenance.${status}`;
}

function isIncidentStatus(status: IncidentStatus | MaintenanceStatus): status is IncidentStatus {
  return (INCIDENT_STATUSES as readonly string[]).includes(status);
}

export const UpdateText = Text({
  minLength: 1,
  maxLength: UPDATE_TEXT_MAX,
  description: "Markdown.",
});

// The description states the default: a declared one would also concern a PATCH that omits the field.
export const Notify = Type.Boolean({
  description: "True to send notifications, by the formats for people. Default: true.",
});

/** Outcome of the mails about a change, in the answer to its request. */
export const WrittenMail = Type.Object(
  {
    state: OneOf(["queued", "held", "off", "none"], {
      title: "WrittenMailState",
      description:
        "queued: a mailing to the page's subscribers was recorded. held: it was recorded, and waits for an admin. off: the page sends no mails. none: this change is not mailed.",
    }),
    reason: Type.Optional(
      Type.String({
        description: "Present unless the state is queued.",
        examples: ["The page has no subscribers."],
      }),
    ),
  },
  { title: "WrittenMail" },
);
export type WrittenMail = Static<typeof WrittenMail>;

/** Returns the answer to a request that creates an incident or a maintenance: the object, with the mail about it. */
export function createdAnswer<Fields extends TProperties, Update extends TProperties>(
  owner: TObject<Fields>,
  update: TObject<Update>,
  title: string,
) {
  const written = { ...update.properties, mail: WrittenMail };
  const updates = Type.Array(Type.Object(written, { title: `${title}Update` }), {
    description: "Its only update.",
  });
  return Type.Object({ ...owner.properties, updates }, { title });
}

/** Returns the answer to a request that changes an incident or a maintenance: the object, with the mail about it. */
export function changedAnswer<Fields extends TProperties, Update extends TProperties>(
  owner: TObject<Fields>,
  update: TObject<Update>,
  title: string,
) {
  const written = { ...update.properties, mail: Type.Optional(WrittenMail) };
  const updates = Type.Array(Type.Object(written, { title: `${title}Update` }), {
    description: "Newest first. The first one has `mail`.",
  });
  return Type.Object({ ...owner.properties, updates }, { title });
}

/** Incident or maintenance that a request writes. */
export interface WrittenSubject {
  id: string;
  pageId: string;
  /** True if what is written is not published. */
  isDraft?: boolean;
}

/** Returns the outcome of the mails about the change that a transaction has made of an object. */
export type MailOf = (tx: Tx, subject: WrittenSubject) => WrittenMail;

/** Returns the answer to a change: the object with the mail about it in its newest update. */
export function withMail<Written extends { updates: readonly object[] }>(
  written: Written,
  mail: WrittenMail,
): Written {
  const [newest, ...earlier] = written.updates;
  return newest ? { ...written, updates: [{ ...newest, mail }, ...earlier] } : written;
}

/** Time by which a client's clock can be ahead of the server's. */
const CLOCK_SKEW_MS = MINUTE_MS;

/** Returns true if a time is later than now, by any client's clock. Unix ms. */
export function isInFuture(at: number, now: number): boolean {
  return at > now + CLOCK_SKEW_MS;
}

/** Returns a time of a body, which its schema has validated, in unix ms. */
export function toMs(text: string): number {
  const ms = parseInstant(text);
  if (ms === undefined) throw new Error("the schema accepts only valid times");
  return ms;
}

/** Returns the update of an id. Throws `not_found`. */
export function requireUpdate<Update extends { id: string }>(
  updates: readonly Update[],
  id: string,
): Update {
  const update = updates.find((each) => each.id === id);
  if (!update) throw notFound("update");
  return update;
}

/** Field of the data of an event of which something was left out. */
export const Truncated = Type.Optional(
  Type.Literal(true, { description: "Present if something was left out." }),
);

/** Returns the fields that the data of an event has in addition to those of its object. `title` names its update. */
export function eventFields<Fields extends TProperties>(update: TObject<Fields>, title: string) {
  return {
    truncated: Truncated,
    latest_update: Nullable(Type.Object({ ...update.properties, truncated: Truncated }, { title })),
    notify: Type.Boolean({ description: "False for a silent change." }),
  };
}

/** Maximum length of a text in an event, in code points. */
export const EVENT_TEXT_MAX = 4_000;

/** Limit of an event's data, since an event can have 20 KB with its envelope. */
export const EVENT_DATA_MAX_BYTES = 19_000;

/** Size of a value as JSON, in bytes. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Returns a text for an event: at most `length` code points, and `truncated` if any were cut. */
export function truncateText(body: string, length: number): { body: string; truncated?: true } {
  if (body.length <= length || codePointLength(body) <= length) return { body };
  return { body: [...body].slice(0, length).join(""), truncated: true };
}

/** Number of updates shown of each incident or maintenance in a list: the newest ones. */
export const UPDATES_IN_LISTS = 20;

/** Number of components shown of each incident or maintenance that exceeds the limit of a document. */
export const TRUNCATED_COMPONENTS_MAX = 20;

/** Rows that one page of an API list reads: updates, named components and each 250 bytes of text. */
const LIST_ROWS_MAX = 10_000;

/** Updates and named components that one document or screen reads of everything that it lists. */
const DOCUMENT_ROWS_MAX = 5_000;

/** Bytes of text that cost an answer about as much as one named component. */
const TEXT_BYTES_PER_ROW = 250;

/** Statements that measure incidents or maintenances. `ids` is a JSON list. */
interface SizeStatements {
  /** Counts rows in the order of `ids`, and stops after `most` rows in total. */
  listRowCounts(
    reader: Reader,
    params: { ids: string; most: number },
  ): { id: string; rows: number }[];
  /** Returns the bytes of the texts of at most `each` newest updates of each id. */
  listTextSizes(
    reader: Reader,
    params: { ids: string; each: number },
  ): { id: string; bytes: number }[];
}

/** Builds the functions that limit lists of incidents or of maintenances by their size. */
export function listLimits({ listRowCounts, listTextSizes }: SizeStatements) {
  return {
    /** Returns the number of leading entries, at least 1, that one page of an API list can show. */
    countForPage(reader: Reader, entries: readonly { row: { id: string } }[]): number {
      const ids = entries.map(({ row }) => row.id);
      const params = { ids: JSON.stringify(ids), most: LIST_ROWS_MAX + 1, each: UPDATES_IN_LISTS };
      const rows = rowsById(listRowCounts(reader, params));
      for (const { id, bytes } of listTextSizes(reader, params)) {
        const own = rows.get(id);
        if (own !== undefined) rows.set(id, own + Math.floor(bytes / TEXT_BYTES_PER_ROW));
      }
      return Math.max(1, countWithin(ids, rows, LIST_ROWS_MAX));
    },

    /** Returns the number of leading ids that a document can show with all their components. */
    countComplete(reader: Reader, ids: readonly string[]): number {
      const params = { ids: JSON.stringify(ids), most: DOCUMENT_ROWS_MAX + 1 };
      return countWithin(ids, rowsById(listRowCounts(reader, params)), DOCUMENT_ROWS_MAX);
    },
  };
}

function rowsById(counts: readonly { id: string; rows: number }[]): Map<string, number> {
  return new Map(counts.map(({ id, rows }) => [id, rows]));
}

/** Returns the number of leading ids with at most `most` rows in total. Ids without a count exceed it. */
function countWithin(
  ids: readonly string[],
  rows: ReadonlyMap<string, number>,
  most: number,
): number {
  let sum = 0;
  const end = ids.findIndex((id) => (sum += rows.get(id) ?? Number.POSITIVE_INFINITY) > most);
  return end < 0 ? ids.length : end;
}
