import { Type } from "@sinclair/typebox";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import type { EventType } from "../../events/outbox";
import { type Actor, authorOf } from "../../base/actor";
import {
  EVENT_DATA_MAX_BYTES,
  EVENT_TEXT_MAX,
  eventFields,
  jsonBytes,
  truncateText,
} from "../timeline/updates";
import { Maintenance, MaintenanceUpdate } from "./model";

const { updates: _updates, ...Fields } = Maintenance.properties;

/** The data of a maintenance's event. */
export const MaintenanceEventData = Type.Object(
  {
    ...Fields,
    ...eventFields(MaintenanceUpdate, "MaintenanceEventUpdate"),
  },
  { title: "MaintenanceEventData" },
);

/**
 * Records an event of a maintenance. `notify` is false for a silent change, `isNews` true if its newest update is
 * new. `actor` makes the change.
 */
export function recordMaintenanceEvent(
  ctx: Ctx,
  tx: Tx,
  type: EventType,
  maintenance: Maintenance,
  { notify, isNews = false, actor }: { notify: boolean; isNews?: boolean; actor: Actor },
): void {
  const { id: subjectId, page_id: pageId } = maintenance;
  const data = eventData(maintenance, notify);
  ctx.outbox.record(tx, { type, pageId, subjectId, data, isNews, author: authorOf(actor) });
}

/**
 * Returns the data of a maintenance's event: the resource of the API with the newest update instead of
 * all. The text is cut at 4,000 code points. If the data is still too large, the list of components is
 * halved until it fits, then the text. Parts with something left out have `truncated: true`.
 */
export function eventData(maintenance: Maintenance, notify: boolean): Record<string, unknown> {
  const { updates, ...resource } = maintenance;
  const [latest] = updates;
  const dataWith = (textLength: number, components: number) => ({
    ...resource,
    components: resource.components.slice(0, components),
    ...(components < resource.components.length ? { truncated: true } : {}),
    latest_update: latest ? { ...latest, ...truncateText(latest.body, textLength) } : null,
    notify,
  });
  const isSmall = (textLength: number, count: number) =>
    canFit(resource.components, count) &&
    jsonBytes(dataWith(textLength, count)) <= EVENT_DATA_MAX_BYTES;
  let textLength = EVENT_TEXT_MAX;
  let count = resource.components.length;
  while (count > 0 && !isSmall(textLength, count)) count = Math.floor(count / 2);
  while (textLength > 0 && !isSmall(textLength, count)) textLength = Math.floor(textLength / 2);
  return dataWith(textLength, count);
}

/** Returns false if the first `count` components alone exceed the limit of an event. */
function canFit(components: Maintenance["components"], count: number): boolean {
  let bytes = 0;
  for (let index = 0; index < count && bytes <= EVENT_DATA_MAX_BYTES; index++) {
    bytes += jsonBytes(components[index]);
  }
  return bytes <= EVENT_DATA_MAX_BYTES;
}
