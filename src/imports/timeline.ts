import { validate } from "../base/validation";
import { importIncident } from "../features/incidents/incidents";
import { findIncident } from "../features/incidents/store";
import { ImportIncidentBody, POSTMORTEM_MAX } from "../features/incidents/wire";
import { countClockChanges } from "../features/maintenance/clock";
import { importMaintenance, ImportMaintenanceBody } from "../features/maintenance/import";
import { createSchedule, updateSchedule } from "../features/maintenance/schedules/schedules";
import { findSchedule, type ScheduleRow } from "../features/maintenance/schedules/store";
import { CreateScheduleBody } from "../features/maintenance/schedules/wire";
import { findMaintenance } from "../features/maintenance/store";
import { UPDATE_TEXT_MAX, UPDATES_MAX } from "../features/timeline/updates";
import type { ForeignKey, FoundIncident, FoundMaintenance, FoundSchedule } from "./found";
import type { Notes } from "./kit";
import { fitName, fitText, idOf, idsOf, knownOf, takeNumber, type Writer } from "./objects";
import { requirePage } from "./pages";
import type { ImportRun } from "./run";

type IncidentRow = ReturnType<typeof importIncident>;
type MaintenanceRow = ReturnType<typeof importMaintenance>;

/** Returns how maintenance schedules are imported. */
export function scheduleWriter(run: ImportRun): Writer<FoundSchedule, ScheduleRow> {
  const { ctx, tx, actor } = run;
  const fit = (notes: Notes, { foreign, body, page, components }: FoundSchedule) => {
    const name = fitName(notes, body.name, foreign.type);
    const text = fitBody(notes, body.body, name);
    const place = { page: requirePage(run, page).id, components: idsOf(run, components) };
    return validate(CreateScheduleBody, { ...body, name, body: text, ...place });
  };
  return {
    kind: "schedule",
    find: (id) => findSchedule(tx, id)?.row,
    markOf: ({ version }) => version,
    settingsOf: ({ body, components }) => ({ body, components: knownOf(run, components) }),
    create: (found, notes) => ({
      row: createSchedule(ctx, tx, fit(notes, found), actor, { managedBy: "import" }).row,
    }),
    update: (found, notes, { id }) => ({
      row: updateSchedule(ctx, tx, id, fit(notes, found), actor).row,
    }),
  };
}

/** Returns how maintenance is imported, past or to come. */
export function maintenanceWriter(run: ImportRun): Writer<FoundMaintenance, MaintenanceRow> {
  const { ctx, tx, actor } = run;
  const write = (
    { foreign, body, page, ...found }: FoundMaintenance,
    notes: Notes,
    id?: string,
  ) => {
    const name = fitName(notes, body.name, foreign.type);
    const updates = fitUpdates(notes, body.updates, name);
    const input = { ...body, name, updates, components: idsOf(run, found.components) };
    const { id: pageId } = requirePage(run, page);
    const valid = validate(ImportMaintenanceBody, input);
    return importMaintenance(ctx, tx, pageId, valid, actor, id);
  };
  return {
    kind: "maintenance",
    find: (id) => findMaintenance(tx, { id })?.row,
    // The clock edits nothing.
    markOf: (row) => row.version - countClockChanges(tx, row),
    settingsOf: ({ body, components }) => ({ body, components: knownOf(run, components) }),
    create(found, notes) {
      const row = write(found, notes);
      takeNumber(run, notes, "maintenance", row.id, found.number);
      return { row };
    },
    update: (found, notes, { id }) => ({ row: write(found, notes, id) }),
  };
}

/** Returns how incidents are imported. */
export function incidentWriter(run: ImportRun): Writer<FoundIncident, IncidentRow> {
  const { ctx, tx, actor } = run;
  const write = ({ foreign, body, page, externalId }: FoundIncident, notes: Notes, id?: string) => {
    const name = fitName(notes, body.name, foreign.type);
    const updates = fitUpdates(notes, body.updates, name).map((update) => ({
      ...update,
      components: statusesHere(run, update.components),
    }));
    const { body: text = "", published_at = "" } = body.postmortem ?? {};
    const postmortem = fitText(notes, "postmortem", text, POSTMORTEM_MAX);
    const input = {
      ...body,
      name,
      external_ref: `${run.sourceName}:${externalId}`,
      updates,
      postmortem: postmortem === "" ? null : { body: postmortem, published_at },
    };
    const { id: pageId } = requirePage(run, page);
    const valid = validate(ImportIncidentBody, input);
    return importIncident(ctx, tx, pageId, valid, actor, id);
  };
  return {
    kind: "incident",
    find: (id) => findIncident(tx, { id })?.row,
    markOf: ({ version }) => version,
    settingsOf: ({ body }) => {
      const named = body.updates.flatMap(({ components }) => Object.keys(components));
      return { body, components: knownOf(run, [...new Set(named)] as ForeignKey[]) };
    },
    create(found, notes) {
      const row = write(found, notes);
      takeNumber(run, notes, "incident", row.id, found.number);
      return { row };
    },
    update: (found, notes, { id }) => ({ row: write(found, notes, id) }),
  };
}

/** Sorts incidents by their start, since lists show the one last that was recorded first. */
export function oldestFirst(incidents: readonly FoundIncident[]): FoundIncident[] {
  const startOf = ({ body }: FoundIncident) => Date.parse(body.started_at) || 0;
  return incidents.toSorted((one, other) => startOf(one) - startOf(other));
}

/** Returns statuses by the ids of components here, without those that are not here. */
function statusesHere<Status>(
  run: ImportRun,
  statuses: Readonly<Record<ForeignKey, Status>>,
): Record<string, Status> {
  return Object.fromEntries(
    Object.entries(statuses).flatMap(([key, status]) => {
      const id = idOf(run, key as ForeignKey);
      return id === undefined ? [] : [[id, status]];
    }),
  );
}

/** Returns the text of an update within its limits. One without text says the name. */
function fitBody(notes: Notes, text: string, name: string): string {
  const value = fitText(notes, "body", text, UPDATE_TEXT_MAX);
  return value.trim() === "" ? name : value;
}

/** Returns updates within the limits of this installation; of too many, the first ones and the last one. */
function fitUpdates<Update extends { body: string }>(
  notes: Notes,
  updates: readonly Update[],
  name: string,
): Update[] {
  const isTooLong = updates.length > UPDATES_MAX;
  const kept = isTooLong ? [...updates.slice(0, UPDATES_MAX - 1), ...updates.slice(-1)] : updates;
  const fitted = kept.map((update) => ({ ...update, body: fitBody(notes, update.body, name) }));
  if (isTooLong) {
    const reason = `At most ${UPDATES_MAX} updates are kept: the first ones and the last.`;
    notes.change("updates", updates.length, kept.length, reason);
  }
  return fitted;
}
