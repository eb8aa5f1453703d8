import { type TObject, type TProperties, Type } from "@sinclair/typebox";
import { Nullable } from "../../kernel/schema";
import { codePointLength } from "../../kernel/text";

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
