import type { ImportChange } from "../base/import-report";
import { importIncident } from "../features/incidents/incidents";
import { findIncident } from "../features/incidents/store";
import { POSTMORTEM_MAX } from "../features/incidents/wire";
import { countClockChanges } from "../features/maintenance/clock";
import { importMaintenance } from "../features/maintenance/import";
import { findSchedule } from "../features/maintenance/schedules/records";
import { createSchedule, updateSchedule } from "../features/maintenance/schedules/schedules";
import type { ScheduleRow } from "../features/maintenance/schedules/store";
import { findMaintenance } from "../features/maintenance/store";
import { UPDATE_TEXT_MAX, UPDATES_MAX } from "../features/timeline/updates";
import { requirePage } from "./pages";
import { fitName, fitText, idOf, idsOf, knownOf, takeNumber, type Writer } from "./objects";
import type { ImportRun } from "./run";
import type { ForeignKey, FoundIncident, FoundMaintenance, FoundSchedule } from "./found";

type IncidentRow = ReturnType<typeof importIncident>;
type MaintenanceRow = ReturnType<typeof importMaintenance>;

/** Returns how maintenance schedules are imported. */
export function scheduleWriter(run: ImportRun): Writer<FoundSchedule, ScheduleRow> {
  const { ctx, tx, actor } = run;
  const fit = ({ foreign, body, page, components }: FoundSchedule) => {
    const name = fitName(body.name, foreign.type);
    const text = fitBody(body.body, name.value);
    const place = { page: requirePage(run, page).id, components: idsOf(run, components) };
    const input = { ...body, name: name.value, body: text.value, ...place };
    return { input, changes: [...name.changes, ...text.changes] };
  };
  return {
    kind: "schedule",
    find: (id) => findSchedule(tx, id)?.row,
    markOf: ({ version }) => version,
    settingsOf: ({ body, components }) => ({ body, components: knownOf(run, components) }),
    create(found) {
      const { input, changes } = fit(found);
      const { row } = createSchedule(ctx, tx, input, actor, { managedBy: "import" });
      return { row, changes };
    },
    update(found, { id }) {
      const { input, changes } = fit(found);
      return { row: updateSchedule(ctx, tx, id, input, actor).row, changes };
    },
  };
}

/** Returns how maintenance is imported, past or to come. */
export function maintenanceWriter(run: ImportRun): Writer<FoundMaintenance, MaintenanceRow> {
  const { ctx, tx, actor } = run;
  const write = ({ foreign, body, page, components }: FoundMaintenance, id?: string) => {
    const name = fitName(body.name, foreign.type);
    const { updates, changes } = fitUpdates(body.updates, name.value);
    const input = { ...body, name: name.value, updates, components: idsOf(run, components) };
    const row = importMaintenance(ctx, tx, requirePage(run, page).id, input, actor, id);
    return { row, changes: [...name.changes, ...changes] };
  };
  return {
    kind: "maintenance",
    find: (id) => findMaintenance(tx, { id })?.row,
    // The clock edits nothing.
    markOf: (row) => row.version - countClockChanges(tx, row),
    settingsOf: ({ body, components }) => ({ body, components: knownOf(run, components) }),
    create(found) {
      const { row, changes } = write(found);
      const ofNumber = takeNumber(run, "maintenance", row.id, found.number);
      return { row, changes: [...changes, ...ofNumber] };
    },
    update: (found, { id }) => write(found, id),
  };
}

/** Returns how incidents are imported. */
export function incidentWriter(run: ImportRun): Writer<FoundIncident, IncidentRow> {
  const { ctx, tx, actor } = run;
  const write = ({ foreign, body, page, externalId }: FoundIncident, id?: string) => {
    const name = fitName(body.name, foreign.type);
    const { updates, changes } = fitUpdates(body.updates, name.value);
    const postmortem = body.postmortem && {
      ...fitText("postmortem", body.postmortem.body, POSTMORTEM_MAX),
      published_at: body.postmortem.published_at,
    };
    const input = {
      ...body,
      name: name.value,
      external_ref: `${run.sourceName}:${externalId}`,
      updates: updates.map((update) => ({
        ...update,
        components: statusesHere(run, update.components),
      })),
      postmortem:
        postmortem === null || postmortem.value === ""
          ? null
          : { body: postmortem.value, published_at: postmortem.published_at },
    };
    const row = importIncident(ctx, tx, requirePage(run, page).id, input, actor, id);
    return { row, changes: [...name.changes, ...changes, ...(postmortem?.changes ?? [])] };
  };
  return {
    kind: "incident",
    find: (id) => findIncident(tx, { id })?.row,
    markOf: ({ version }) => version,
    settingsOf: ({ body }) => {
      const named = body.updates.flatMap(({ components }) => Object.keys(components));
      return { body, components: knownOf(run, [...new Set(named)] as ForeignKey[]) };
    },
    create(found) {
      const { row, changes } = write(found);
      const ofNumber = takeNumber(run, "incident", row.id, found.number);
      return { row, changes: [...changes, ...ofNumber] };
    },
    update: (found, { id }) => write(found, id),
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
function fitBody(text: string, name: string) {
  const { value, changes } = fitText("body", text, UPDATE_TEXT_MAX);
  return { value: value.trim() === "" ? name : value, changes };
}

/** Returns updates within the limits of this installation; of too many, the first ones and the last one. */
function fitUpdates<Update extends { body: string }>(
  updates: readonly Update[],
  name: string,
): { updates: Update[]; changes: ImportChange[] } {
  const isTooLong = updates.length > UPDATES_MAX;
  const kept = isTooLong ? [...updates.slice(0, UPDATES_MAX - 1), ...updates.slice(-1)] : updates;
  const changes: ImportChange[] = [];
  const fitted = kept.map((update) => {
    const { value, changes: ofText } = fitBody(update.body, name);
    changes.push(...ofText);
    return { ...update, body: value };
  });
  if (isTooLong) {
    const reason = `At most ${UPDATES_MAX} updates are kept: the first ones and the last.`;
    changes.push({ field: "updates", from: updates.length, to: kept.length, reason });
  }
  return { updates: fitted, changes };
}
