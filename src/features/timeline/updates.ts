import { type Static, Type } from "@sinclair/typebox";
import type { Tx } from "../../db/statements";
import { notFound } from "../../errors/problem";
import { OneOf, Text } from "../../kernel/schema";
import { MINUTE_MS, parseInstant } from "../../kernel/time";

/** Maximum length of an update's text, in code points. */
export const UPDATE_TEXT_MAX = 10_000;

/** Maximum number of components that one incident update or one maintenance can name. */
export const NAMED_COMPONENTS_MAX = 1_000;

/** Maximum number of updates of one incident or maintenance, without the one that ends it. */
export const UPDATES_MAX = 250;

export const UpdateText = Text({
  minLength: 1,
  maxLength: UPDATE_TEXT_MAX,
  description: "Markdown.",
});

// The description states the default: Elysia would fill in a declared one where a PATCH omits the field.
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
