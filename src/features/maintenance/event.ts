import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import type { EventType } from "../../events";
import { codePointLength } from "../../kernel/text";
import type { Maintenance } from "./model";

/** An update's text in an event is cut at so many code points. */
const TEXT_MAX = 4_000;
/** Limit of an event's data: an event may have 20 KB with its envelope. */
const DATA_MAX_BYTES = 19_000;

/**
 * Tells the outside of a maintenance: the resource with its newest update in the place of all of them.
 * `notify` says whether formats for people are to pass it on.
 */
export function recordMaintenanceEvent(
  ctx: Pick<AppContext, "outbox">,
  tx: Tx,
  type: EventType,
  maintenance: Maintenance,
  notify: boolean,
): void {
  ctx.outbox.record(tx, {
    type,
    pageId: maintenance.page_id,
    subjectId: maintenance.id,
    data: eventData(maintenance, notify),
  });
}

/**
 * Returns the data of a maintenance's event. The update's text is cut at 4,000 code points with
 * `truncated: true`. If the event is still too large, the list of components is cut (with
 * `truncated: true`), then the text again.
 */
export function eventData(maintenance: Maintenance, notify: boolean): Record<string, unknown> {
  const { updates, ...resource } = maintenance;
  const [latest] = updates;
  const dataWith = (textLength: number, components: number) => ({
    ...resource,
    components: resource.components.slice(0, components),
    ...(components < resource.components.length ? { truncated: true } : {}),
    latest_update: latest ? { ...latest, ...cut(latest.body, textLength) } : null,
    notify,
  });
  const isSmall = (textLength: number, count: number) =>
    mayFit(resource.components, count) && weigh(dataWith(textLength, count)) <= DATA_MAX_BYTES;
  let textLength = TEXT_MAX;
  let count = resource.components.length;
  while (count > 0 && !isSmall(textLength, count)) count = Math.floor(count / 2);
  while (textLength > 0 && !isSmall(textLength, count)) textLength = Math.floor(textLength / 2);
  return dataWith(textLength, count);
}

/** Returns false if the first `count` components alone are more than an event may weigh. */
function mayFit(components: Maintenance["components"], count: number): boolean {
  let bytes = 0;
  for (let index = 0; index < count && bytes <= DATA_MAX_BYTES; index++) {
    bytes += weigh(components[index]);
  }
  return bytes <= DATA_MAX_BYTES;
}

function weigh(data: unknown): number {
  return Buffer.byteLength(JSON.stringify(data));
}

function cut(body: string, length: number): { body: string; truncated?: true } {
  if (codePointLength(body) <= length) return { body };
  return { body: [...body].slice(0, length).join(""), truncated: true };
}
