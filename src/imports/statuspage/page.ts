import type { TSchema } from "@sinclair/typebox";
import { sha256Hex } from "../../base/hash";
import type { ForeignObject } from "../../base/import-report";
import { sum } from "../../base/numbers";
import {
  COMPONENT_STATUSES,
  type ComponentStatus,
  IMPACTS,
  INCIDENT_STATUSES,
  MAINTENANCE_STATUSES,
  type MaintenanceStatus,
  type NamedStatus,
  worstStatus,
} from "../../base/status";
import { capitalised, isObject, oneLine, plural, spaced, toRef } from "../../base/text";
import { HOUR_MS, parseDay, toIso } from "../../base/time";
import { schemaErrors } from "../../base/validation";
import { OperatorError } from "../../db/errors";
import { impactOf } from "../../features/incidents/rules";
import {
  emptyFound,
  type ForeignKey,
  type Found,
  type FoundComponent,
  type FoundGroup,
  type FoundIncident,
  type FoundMaintenance,
  type FoundPage,
  keyOf,
  type LeftOut,
} from "../found";
import { cutName, listUnknown, Notes } from "../kit";
import { railsTimeZone } from "../rails-time-zones";
import {
  isKnownField,
  keyOfComponent,
  LISTED_MAX,
  namedStatusOf,
  NOT_MOVED,
  SourceComponent,
  type SourceDocuments,
  SourceIncident,
  SourcePage,
  type SourceUpdate,
  timeOf,
} from "./document";

/** Maximum numbers of objects, so that a settings transaction stays short. */
const COMPONENTS_MAX = 5_000;
const INCIDENTS_MAX = 20_000;
const UPDATES_MAX = 100_000;
/** In all updates together. */
const AFFECTED_MAX = 200_000;

/** Maximum number of names that are shown. */
const NAMES_MAX = 3;

/** Returns everything that a page has. Throws an OperatorError for documents that cannot be used. */
export function foundIn(source: SourceDocuments): Found {
  const [fault] = schemaErrors(SourcePage, source.page);
  if (fault) {
    const field = fault.pointer.slice(2);
    throw new OperatorError(
      `This is no page of Statuspage: ${field === "" ? "it" : `its ${oneLine(field)}`} ${oneLine(fault.detail)}.`,
    );
  }
  requireAtMost(source.components.length, COMPONENTS_MAX, "component");
  requireAtMost(source.incidents.length, INCIDENTS_MAX, "incident");
  const page = source.page as SourcePage;
  const found = emptyFound("statuspage", sha256Hex(`allclear-import:${page.id}`));
  const { leftOut, incidents, maintenance } = found;
  const valid = <Row>(schema: TSchema, rows: readonly unknown[], type: string): Row[] =>
    rows.flatMap((row, index) => {
      const reason = reasonAgainst(schema, row);
      if (reason === undefined) return [row as Row];
      leftOut.push({ foreign: foreignOfInvalid(row, type, index), reason });
      return [];
    });
  const rows = valid<SourceComponent>(SourceComponent, source.components, "component");
  const entries = valid<SourceIncident>(SourceIncident, source.incidents, "incident");
  const updates = entries.flatMap(({ incident_updates: ofOne }) => ofOne ?? []);
  const affected = sum(updates.map(({ affected_components: ofOne }) => ofOne?.length ?? 0));
  requireAtMost(updates.length, UPDATES_MAX, "update");
  requireAtMost(affected, AFFECTED_MAX, "affected component");
  const foundPage = pageOf(page);
  const place: Place = {
    page: keyOf(foundPage.foreign),
    components:
      source.components.length === 0
        ? { has: () => true }
        : new Set(rows.filter(({ group }) => !group).map(({ id }) => id)),
  };
  for (const entry of entries) {
    if (isMaintenance(entry)) keep(maintenanceOf(entry, place), maintenance, leftOut);
    else keep(incidentOf(entry, place), incidents, leftOut);
  }
  maintenance.sort((one, other) => plannedAt(one) - plannedAt(other));
  found.pages.push(foundPage);
  Object.assign(found, sortComponents(rows, place.page, givenBy(incidents)));
  leftOut.push(...leftOutOf(page));
  found.notRead.push(...unknownFields(source));
  found.toDo.push(
    ...limitsOf(source, entries),
    ...withoutComponents(source),
    ...unmarkedOf(incidents),
  );
  return found;
}

function requireAtMost(count: number, max: number, noun: string): void {
  if (count <= max) return;
  throw new OperatorError(
    `The page has ${plural(count, noun)}; ${max.toLocaleString("en")} is the most.`,
  );
}

function keep<Row extends object>(outcome: Row | LeftOut, rows: Row[], leftOut: LeftOut[]): void {
  if ("reason" in outcome) leftOut.push(outcome);
  else rows.push(outcome);
}

/** Returns the time of the first update, since lists show the maintenance last that was recorded first. */
function plannedAt({ body }: FoundMaintenance): number {
  return Date.parse(body.updates[0]?.display_at ?? "");
}

function reasonAgainst(schema: TSchema, row: unknown): string | undefined {
  const [error] = schemaErrors(schema, row);
  return error && oneLine(`Its ${error.pointer.slice(2) || "entry"} ${error.detail}.`);
}

/** Returns the identity of an object that is not valid. */
function foreignOfInvalid(row: unknown, type: string, index: number) {
  const { id, name } = isObject(row) ? row : {};
  const shown = typeof id === "string" && id !== "" ? cutName(id, `${index + 1}`, 100) : undefined;
  return {
    type,
    id: shown ?? `${type}s[${index}]`,
    name: cutName(typeof name === "string" ? name : "", `Unnamed ${type}`),
  };
}

/** Returns the statuses that open incidents give to components. */
function givenBy(incidents: readonly FoundIncident[]): Map<string, ComponentStatus> {
  const given = new Map<string, ComponentStatus>();
  for (const { body } of incidents) {
    if (body.updates.at(-1)?.status === "resolved") continue;
    const last = Object.assign({}, ...body.updates.map(({ components }) => components)) as Record<
      string,
      ComponentStatus
    >;
    for (const [key, status] of Object.entries(last)) {
      const id = key.slice(keyOfComponent("").length);
      given.set(id, worstStatus([status, given.get(id) ?? "operational"]));
    }
  }
  return given;
}

/** Says how far back public documents go. */
function limitsOf({ cut }: SourceDocuments, entries: readonly SourceIncident[]): string[] {
  const startOf = ({ scheduled_for, started_at, created_at }: SourceIncident) =>
    (scheduled_for ?? started_at ?? created_at ?? "").slice(0, 10);
  return [...cut].map((name) => {
    const listed = entries.filter((entry) => isMaintenance(entry) === (name === "maintenances"));
    const [first] = listed.map(startOf).filter(Boolean).toSorted();
    const until = first === undefined ? "" : `, back to ${oneLine(first)}`;
    return `These are the ${LISTED_MAX} newest ${name}${until}. To import all of them, give an API key by --api-key-file.`;
  });
}

/** Says that incidents and maintenance can only name components of earlier imports. */
function withoutComponents({ components, incidents }: SourceDocuments): string[] {
  return components.length > 0 || incidents.length === 0
    ? []
    : [
        "The source has no components, so incidents and maintenance name only those of earlier imports. Import components.json too.",
      ];
}

/** Says which incidents give no component a status, so that bars and uptime do not show them. */
function unmarkedOf(incidents: readonly FoundIncident[]): string[] {
  const unmarked = incidents.filter(({ body }) =>
    body.updates.every(({ components }) => Object.keys(components).length === 0),
  );
  if (unmarked.length === 0) return [];
  const names = unmarked.slice(0, NAMES_MAX).map(({ foreign }) => `“${oneLine(foreign.name)}”`);
  const rest = unmarked.length - names.length;
  const listed = rest > 0 ? `${names.join(", ")} and ${plural(rest, "other")}` : names.join(", ");
  return [
    `${plural(unmarked.length, "incident")} without affected components: bars and uptime do not show ${unmarked.length === 1 ? "it" : "them"}. To change this, name components in an update: ${listed}.`,
  ];
}

/** Lists the fields that this version does not know, each once. */
function unknownFields({ page, components, incidents }: SourceDocuments): string[] {
  const unknown = new Set<string>();
  const read = (kind: "page" | "component" | "incident", rows: readonly unknown[]) => {
    for (const row of rows) {
      for (const field of isObject(row) ? Object.keys(row) : []) {
        if (!isKnownField(kind, field)) unknown.add(`${kind}.${field}`);
      }
    }
  };
  read("page", [page]);
  read("component", components);
  read("incident", incidents);
  return listUnknown([...unknown].sort(), { lengthMax: 60 });
}

const HOSTED = ".statuspage.io";
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/;

/** Returns the page of a page of Statuspage. */
function pageOf(page: SourcePage): FoundPage {
  const address = URL.parse((hasWebsite(page) ? null : page.url) ?? "");
  const isPrivate = page.viewers_must_be_team_members === true || Boolean(page.ip_restrictions);
  const visibility = isPrivate ? "private" : "public";
  const notes = new Notes();
  if (isPrivate) {
    const reason = "Everyone who is signed in sees the page, from any address.";
    notes.change("visibility", "restricted", visibility, reason);
  }
  return {
    foreign: { type: "page", id: page.id, name: cutName(page.name, "Unnamed page") },
    body: {
      slug: slugOf(page, address),
      name: page.name,
      description: page.page_description ?? null,
      visibility,
      ...(page.time_zone && { time_zone: railsTimeZone(page.time_zone) }),
    },
    changes: notes.changes,
    domains: domainsOf(page, address),
  };
}

/** Returns true if the URL is that of a website: the REST API has it, with the subdomain of the page. */
function hasWebsite(page: object): boolean {
  return "subdomain" in page;
}

/** Returns the name of a page in addresses: its subdomain, or what its address has. */
function slugOf({ subdomain, name }: SourcePage, address: URL | null): string {
  // The address of a page of Allclear, which answers the same documents.
  const [, slug] = /^\/status\/([^/]+)$/.exec(address?.pathname ?? "") ?? [];
  const host = address?.hostname ?? "";
  const label = host.endsWith(HOSTED) ? host.slice(0, -HOSTED.length) : host;
  return toRef(subdomain ?? "") || toRef(slug ?? label) || toRef(name) || "status-page";
}

/** Returns the host names of its own at which the page is served. */
function domainsOf({ domain }: SourcePage, address: URL | null): string[] {
  const isAtRoot = address?.pathname === "/" && address.port === "";
  const hosts = [domain ?? "", isAtRoot ? address.hostname : ""].map((host) => host.toLowerCase());
  return [...new Set(hosts)].filter((host) => HOST_NAME.test(host) && !host.endsWith(HOSTED));
}

/** Lists what Statuspage has and is not moved: some for every page, others if the page has a value. */
function leftOutOf(page: Readonly<Record<string, unknown>>): LeftOut[] {
  const set = Object.keys(page).filter(
    (field) => hasValue(page[field]) && (field !== "url" || hasWebsite(page)),
  );
  return NOT_MOVED.filter(
    ({ fields }) =>
      fields.length === 0 || fields.some((start) => set.some((field) => field.startsWith(start))),
  ).map(({ id, name, reason }) => ({ foreign: { type: "setting", id, name }, reason }));
}

function hasValue(value: unknown): boolean {
  return value !== null && value !== undefined && value !== "" && value !== false;
}

/** Returns the identity of a component or of a group. */
function foreignOfComponent({ id, name, group }: SourceComponent): ForeignObject {
  const type = group ? "group" : "component";
  return { type, id, name: cutName(name, `Unnamed ${type}`) };
}

/**
 * Returns groups and components in the order of their positions, which at Statuspage count within a group. `given` are the statuses that open
 * incidents give to components, by id.
 */
function sortComponents(
  list: readonly SourceComponent[],
  page: ForeignKey,
  given: ReadonlyMap<string, ComponentStatus>,
): { groups: FoundGroup[]; components: FoundComponent[] } {
  const ordered = list.toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0));
  const groups = ordered.filter(({ group }) => group);
  const groupIds = new Set(groups.map(({ id }) => id));
  const components = ordered.filter(({ group }) => !group);
  return {
    groups: groups.map((group) => groupOf(group, page)),
    components: components.map((one) => componentOf(one, page, groupIds, given.get(one.id))),
  };
}

function groupOf(group: SourceComponent, page: ForeignKey): FoundGroup {
  const { name, description = null } = group;
  return { foreign: foreignOfComponent(group), page, body: { name, description }, changes: [] };
}

function componentOf(
  component: SourceComponent,
  page: ForeignKey,
  groupIds: ReadonlySet<string>,
  given: ComponentStatus = "operational",
): FoundComponent {
  const notes = new Notes();
  const groupId = component.group_id ?? "";
  const isInGroup = groupId !== "" && groupIds.has(groupId);
  const baseline = baselineOf(component, given, notes);
  if (!isInGroup) {
    notes.text("group_id", groupId, "", "The source does not have this group.");
  }
  return {
    foreign: foreignOfComponent(component),
    page,
    group: isInGroup ? keyOf({ type: "group", id: groupId }) : null,
    body: {
      name: component.name,
      description: component.description ?? null,
      showcase: component.showcase ?? true,
      start_date: startOf(component),
      only_show_if_degraded: component.only_show_if_degraded ?? false,
    },
    changes: notes.changes,
    baseline,
  };
}

/** Returns the day from which uptime is known. */
function startOf({ start_date: day, created_at: createdAt }: SourceComponent): string | null {
  if (day && parseDay(day) !== undefined) return day;
  const at = timeOf(createdAt);
  return at === undefined ? null : toIso(at).slice(0, 10);
}

/** Returns the status that people set: what is worse than that of open incidents. Maintenance gives its own. */
function baselineOf({ status }: SourceComponent, given: ComponentStatus, notes: Notes) {
  const baseline = namedStatusOf(status) ?? null;
  if (status && baseline === null && status !== "under_maintenance") {
    notes.text("status", status, "operational", "This status is not known.");
  }
  return baseline !== null && isWorse(baseline, given) ? baseline : null;
}

/** Returns true if a status is worse than another. */
function isWorse(status: ComponentStatus, than: ComponentStatus): boolean {
  return COMPONENT_STATUSES.indexOf(status) > COMPONENT_STATUSES.indexOf(than);
}

/** Number of missing components that an incident names. */
const MISSING_NAMED_MAX = 10;

/** Page and components that are moved, and to which incidents and maintenance refer. */
interface Place {
  page: ForeignKey;
  /** Ids of the components; all ids where the source has no list of them, since earlier imports may have had one. */
  components: Pick<ReadonlySet<string>, "has">;
}

/** Returns true for a maintenance, which Statuspage counts as an incident. */
function isMaintenance({ scheduled_for: scheduledFor }: SourceIncident): boolean {
  return Boolean(scheduledFor);
}

/** Returns the incident of one of Statuspage, or the reason for which it cannot be moved. */
function incidentOf(incident: SourceIncident, place: Place): FoundIncident | LeftOut {
  const notes = new Notes();
  const missing = new Set<string>();
  const foreign = foreignOf(incident, "incident");
  const isOver = incident.status === "resolved" || incident.status === "postmortem";
  const steps = { statuses: INCIDENT_STATUSES, first: "investigating" as const };
  const ending = isOver ? "resolved" : undefined;
  const updates = updatesOf(incident, { ...steps, ending }, notes).map(({ source, ...update }) => ({
    ...update,
    components: statusesOf(source, place, missing, notes),
  }));
  noteMissing(missing, notes);
  const [first] = updates;
  if (!first) return { foreign, reason: "It has no valid time." };
  const startedAt = timeOf(incident.started_at) ?? first.at;
  return {
    foreign,
    page: place.page,
    body: {
      name: incident.name,
      impact_override: overrideOf(incident, updates, notes),
      started_at: toIso(startedAt),
      updates: updates.map(({ at: _at, ...update }) => update),
      postmortem: postmortemOf(incident, notes),
    },
    changes: notes.changes,
    externalId: incident.id,
  };
}

function foreignOf({ id, name }: SourceIncident, type: string): ForeignObject {
  return { type, id, name: cutName(name, `Unnamed ${type}`) };
}

/** Returns the statuses that an update gives to components. */
function statusesOf(
  update: SourceUpdate | undefined,
  { components }: Place,
  missing: Set<string>,
  notes: Notes,
): Record<ForeignKey, NamedStatus> {
  const statuses: Record<ForeignKey, NamedStatus> = {};
  for (const { code, name, new_status: text } of update?.affected_components ?? []) {
    if (!components.has(code)) {
      missing.add(name ?? code);
      continue;
    }
    const status = namedStatusOf(text) ?? "operational";
    if (!notes.changes.some(({ field }) => field === "new_status")) {
      notes.text("new_status", text ?? "", status, "Incidents do not set this status.");
    }
    statuses[keyOfComponent(code)] = status;
  }
  return statuses;
}

/** Notes components that are no longer on the page, of which the first ones are named. */
function noteMissing(names: ReadonlySet<string>, notes: Notes): void {
  const more = names.size - MISSING_NAMED_MAX;
  const named = [...names].slice(0, MISSING_NAMED_MAX).map((name) => name.slice(0, 300));
  for (const from of more > 0 ? [...named, plural(more, "other component")] : named) {
    notes.change("components", from, null, "The page does not have this component.");
  }
}

/** Returns the impact where that of the components is another one; else null. */
function overrideOf(
  incident: SourceIncident,
  updates: readonly { components: Readonly<Record<ForeignKey, NamedStatus>> }[],
  notes: Notes,
) {
  const text = incident.impact_override ?? incident.impact;
  if (!text) return null;
  const impact = IMPACTS.find((each) => each === text);
  const named = updates.flatMap(({ components }) => Object.values(components));
  const computed = impactOf([worstStatus(named)], null);
  if (impact === undefined) {
    notes.text("impact", text, computed, "This impact is not known.");
  }
  return impact === undefined || impact === computed ? null : impact;
}

/** Returns the post-mortem if it is published. */
function postmortemOf(incident: SourceIncident, notes: Notes) {
  const update = incident.incident_updates?.find(({ status }) => status === "postmortem");
  const isPublished =
    incident.status === "postmortem" || update !== undefined || incident.postmortem_published_at;
  const body = incident.postmortem_body || update?.body || "";
  const note = (from: string | null, reason: string) =>
    notes.change("postmortem_body", from, null, reason);
  if (!isPublished) {
    if (body !== "") note("set", "It is a draft, and only published ones are moved.");
    return null;
  }
  if (body.trim() === "") {
    note(null, "The text of its post-mortem is not in the source.");
    return null;
  }
  const { postmortem_published_at: at } = incident;
  const publishedAt = timeOf(
    typeof at === "string" ? at : null,
    update?.display_at,
    update?.created_at,
    incident.resolved_at,
    incident.updated_at,
    incident.created_at,
  );
  if (publishedAt === undefined) {
    note("set", "It has no valid time.");
    return null;
  }
  return { body, published_at: toIso(publishedAt) };
}

const REMIND_MINUTES = 60;
const FINAL: ReadonlySet<string> = new Set([
  "completed",
  "cancelled",
] satisfies MaintenanceStatus[]);

/** Returns the maintenance of one of Statuspage, or the reason for which it cannot be moved. */
function maintenanceOf(incident: SourceIncident, place: Place): FoundMaintenance | LeftOut {
  const notes = new Notes();
  const foreign = foreignOf(incident, "maintenance");
  const start = timeOf(incident.scheduled_for);
  if (start === undefined) return { foreign, reason: "It has no valid planned start." };
  const end = endOf(incident, start, notes);
  const ending = endingOf(incident);
  const steps = { statuses: MAINTENANCE_STATUSES, first: "scheduled" as const, ending };
  const updates = updatesOf(incident, steps, notes);
  if (updates.length === 0) return { foreign, reason: "It has no valid time." };
  if (ending === undefined) noteTransitions(incident, notes);
  return {
    foreign,
    page: place.page,
    components: componentsOf(incident, place, notes),
    body: {
      name: incident.name,
      scheduled_for: toIso(start),
      scheduled_until: toIso(end),
      ...flagsOf(incident),
      updates: updates.map(({ status, body, display_at }) => ({ status, body, display_at })),
    },
    changes: notes.changes,
  };
}

/** Returns the final status; undefined if it is not over. */
function endingOf({ status }: SourceIncident): MaintenanceStatus | undefined {
  if (status === "postmortem" || status === "resolved") return "completed";
  return MAINTENANCE_STATUSES.find((each) => each === status && FINAL.has(each));
}

function endOf({ scheduled_until: text }: SourceIncident, start: number, notes: Notes): number {
  const end = timeOf(text);
  if (end !== undefined && end > start) return end;
  const reason = "A maintenance ends after its start.";
  const from = end === undefined ? null : toIso(end);
  notes.change("scheduled_until", from, toIso(start + HOUR_MS), reason);
  return start + HOUR_MS;
}

/** Returns the flags. The public documents do not have them, so those of a new maintenance are taken. */
function flagsOf(incident: SourceIncident) {
  const { scheduled_auto_in_progress: starts, scheduled_auto_completed: ends } = incident;
  const { scheduled_remind_prior: reminds } = incident;
  return {
    ...(typeof starts === "boolean" && { auto_start: starts }),
    ...(typeof ends === "boolean" && { auto_complete: ends }),
    ...(typeof reminds === "boolean" && {
      remind_minutes_before: reminds ? REMIND_MINUTES : null,
    }),
  };
}

/** Notes differences in what a maintenance does to its components. */
function noteTransitions(incident: SourceIncident, notes: Notes): void {
  const reason = "Components are under maintenance from its start to its end.";
  for (const field of [
    "auto_transition_to_maintenance_state",
    "auto_transition_to_operational_state",
  ] as const) {
    if (incident[field] === false) notes.change(field, false, true, reason);
  }
}

/** Returns the components of the page that a maintenance names. */
function componentsOf(
  { components, incident_updates: updates }: SourceIncident,
  place: Place,
  notes: Notes,
) {
  const named = new Map<string, string>();
  for (const { id, name } of components ?? []) named.set(id, name ?? id);
  for (const { affected_components: affected } of updates ?? []) {
    for (const { code, name } of affected ?? []) named.set(code, name ?? code);
  }
  const missing = [...named].filter(([id]) => !place.components.has(id));
  noteMissing(new Set(missing.map(([, name]) => name)), notes);
  return [...named.keys()].filter((id) => place.components.has(id)).map(keyOfComponent);
}

/** An update with a status of this installation. */
interface UsableUpdate<Status> {
  /** Unix ms. */
  at: number;
  status: Status;
  body: string;
  display_at: string;
  /** Undefined for one that was added. */
  source: SourceUpdate | undefined;
}

/**
 * Returns the updates of an incident or a maintenance in the order of their effect, at least one. `ending` is the status that the last one must have; undefined while it goes on.
 */
function updatesOf<Status extends string>(
  incident: SourceIncident,
  {
    statuses,
    ending,
    first,
  }: { statuses: readonly Status[]; ending: Status | undefined; first: Status },
  notes: Notes,
): UsableUpdate<Status>[] {
  const updates: UsableUpdate<Status>[] = [];
  const dropped = new Map<string, number>();
  // Newest first in the source, so that of two at one time the later one is written later.
  for (const source of (incident.incident_updates ?? []).toReversed()) {
    // The text of the post-mortem.
    if (source.status === "postmortem") continue;
    const at = timeOf(source.display_at, source.created_at);
    const status = statuses.find((each) => each === source.status);
    if (at === undefined || status === undefined) {
      const problem = at === undefined ? "no valid time" : "an unknown status";
      dropped.set(problem, (dropped.get(problem) ?? 0) + 1);
      continue;
    }
    updates.push({ at, status, body: textOf(source, status), display_at: toIso(at), source });
  }
  for (const [problem, count] of dropped) {
    const reason = `Updates with ${problem} are not moved.`;
    notes.change("incident_updates", plural(count, "update"), null, reason);
  }
  updates.sort((a, b) => a.at - b.at);
  const created = timeOf(incident.created_at, incident.started_at, incident.scheduled_for);
  if (updates.length === 0 && created !== undefined) {
    updates.push(addedUpdate(first, created));
    notes.change("incident_updates", null, "added", "It has no update, and gets one.");
  }
  const last = updates.at(-1);
  if (ending !== undefined && last !== undefined && last.status !== ending) {
    const at = timeOf(incident.resolved_at, incident.updated_at) ?? last.at;
    updates.push(addedUpdate(ending, Math.max(at, last.at)));
    notes.change("incident_updates", null, "added", "No update ends it, so one is added.");
  }
  return updates;
}

/** Returns an update that says its status. */
function addedUpdate<Status extends string>(status: Status, at: number) {
  return { at, status, body: wordsOf(status), display_at: toIso(at), source: undefined };
}

function wordsOf(status: string): string {
  return `${capitalised(spaced(status))}.`;
}

/** Returns the text of an update; words for its status without one. */
function textOf({ body }: SourceUpdate, status: string): string {
  return body && body.trim() !== "" ? body : wordsOf(status);
}
