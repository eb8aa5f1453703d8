import { type Incident, type IncidentUpdate, presentUpdate, presentWithoutUpdates } from "./model";
import type { IncidentRecord, UpdateRecord } from "./records";

/** In code points. */
const TEXT_MAX = 4_000;
const COMPONENTS_MAX = 100;
/** Limit of an event's data: receivers accept 20 KB with the envelope. */
const DATA_MAX_BYTES = 19_000;

/**
 * Returns the data of an incident's event: the resource of the API with one update instead of all.
 * Texts are cut at 4,000 characters, and further where many bytes make a character or many
 * components are named, to stay under 20 KB; what was cut says `truncated: true`.
 */
export function eventData(
  record: Omit<IncidentRecord, "updates">,
  told: UpdateRecord | undefined,
  notify: boolean,
  baseUrl: string,
): Record<string, unknown> {
  const incident = presentWithoutUpdates(record, baseUrl);
  const update = told ? presentUpdate(told) : null;
  const isCut = record.isCut === true;
  for (let share = 1; ; share /= 2) {
    const most = { text: Math.floor(TEXT_MAX * share), list: Math.floor(COMPONENTS_MAX * share) };
    const data = { ...cut(incident, update, { ...most, isCut }), notify };
    const isSmall = Buffer.byteLength(JSON.stringify(data)) <= DATA_MAX_BYTES;
    if (isSmall || most.text === 0) return data;
  }
}

function cut(
  incident: Omit<Incident, "updates">,
  update: IncidentUpdate | null,
  most: { text: number; list: number; isCut: boolean },
): Record<string, unknown> {
  const { components, postmortem } = incident;
  return {
    ...incident,
    components: components.slice(0, most.list),
    ...(most.isCut || components.length > most.list ? { truncated: true } : {}),
    postmortem: postmortem && { ...postmortem, ...cutBody(postmortem.body, most.text) },
    latest_update: update && {
      ...update,
      components: update.components.slice(0, most.list),
      ...(update.components.length > most.list ? { truncated: true } : {}),
      ...cutBody(update.body, most.text),
    },
  };
}

/** Never through the middle of a character. */
function cutBody(body: string, most: number): { body: string; truncated?: true } {
  if (body.length <= most) return { body };
  const characters = [...body];
  if (characters.length <= most) return { body };
  return { body: characters.slice(0, most).join(""), truncated: true };
}
