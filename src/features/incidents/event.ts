import { Type } from "@sinclair/typebox";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import type { EventType } from "../../events/catalog";
import type { OutboxEvent } from "../../events/outbox";
import { type Actor, authorOf } from "../../domain/actor";
import { Nullable } from "../../kernel/schema";
import {
  EVENT_DATA_MAX_BYTES,
  EVENT_TEXT_MAX,
  eventFields,
  jsonBytes,
  Truncated,
  truncateText,
} from "../timeline/event-size";
import { Incident, IncidentUpdate, presentUpdate, presentWithoutUpdates } from "./model";
import type { IncidentRecord, UpdateRecord } from "./records";

const COMPONENTS_MAX = 100;

const { updates: _updates, ...Fields } = Incident.properties;

/** The data of an incident's event. */
export const IncidentEventData = Type.Object(
  {
    ...Fields,
    postmortem: Nullable(
      Type.Object({
        body: Type.String({ description: "Markdown." }),
        published_at: Fields.resolved_at,
        truncated: Truncated,
      }),
    ),
    ...eventFields(IncidentUpdate, "IncidentEventUpdate"),
  },
  { title: "IncidentEventData" },
);

/** An incident without updates, for its event. */
type EventRecord = Omit<IncidentRecord, "updates">;

/**
 * Records an event of an incident with one of its updates. `notify` is false for a silent change, `isNews` true if
 * the update is new. `actor` makes the change.
 */
export function recordIncidentEvent(
  ctx: Ctx,
  tx: Tx,
  type: EventType,
  record: EventRecord,
  {
    update,
    notify,
    isNews,
    actor,
    monitors,
  }: {
    update: UpdateRecord | undefined;
    notify: boolean;
    isNews?: boolean;
    actor: Actor;
    monitors?: OutboxEvent["monitors"];
  },
): void {
  const { id: subjectId, pageId } = record.row;
  const data = eventData(record, update, notify, ctx.baseUrl);
  ctx.outbox.record(tx, {
    type,
    pageId,
    subjectId,
    data,
    isNews: isNews === true,
    author: authorOf(actor),
    ...(monitors && { monitors }),
  });
}

/**
 * Returns the data of an incident's event: the resource of the API with one update instead of all.
 * At most 4,000 code points of each text and 100 components are kept. Both limits are halved until
 * the data is small enough. Parts with something left out have `truncated: true`.
 */
export function eventData(
  record: EventRecord,
  latest: UpdateRecord | undefined,
  notify: boolean,
  baseUrl: string,
): Record<string, unknown> {
  const incident = presentWithoutUpdates(record, baseUrl);
  const update = latest ? presentUpdate(latest) : null;
  const isTruncated = record.isTruncated === true;
  for (let share = 1; ; share /= 2) {
    const text = Math.floor(EVENT_TEXT_MAX * share);
    const list = Math.floor(COMPONENTS_MAX * share);
    const data = { ...truncate(incident, update, { text, list, isTruncated }), notify };
    if (text === 0 || jsonBytes(data) <= EVENT_DATA_MAX_BYTES) return data;
  }
}

function truncate(
  incident: Omit<Incident, "updates">,
  update: IncidentUpdate | null,
  limits: { text: number; list: number; isTruncated: boolean },
): Record<string, unknown> {
  const { components, postmortem } = incident;
  return {
    ...incident,
    components: components.slice(0, limits.list),
    ...(limits.isTruncated || components.length > limits.list ? { truncated: true } : {}),
    postmortem: postmortem && { ...postmortem, ...truncateText(postmortem.body, limits.text) },
    latest_update: update && {
      ...update,
      components: update.components.slice(0, limits.list),
      ...(update.components.length > limits.list ? { truncated: true } : {}),
      ...truncateText(update.body, limits.text),
    },
  };
}
