import type { TSchema } from "@sinclair/typebox";
import { OperatorError } from "../../../db/errors";
import { type ComponentStatus, worstStatus } from "../../../base/status";
import { schemaErrors } from "../../../base/validation";
import { sha256Hex } from "../../../base/hash";
import { sum } from "../../../base/numbers";
import { oneLine, plural } from "../../../base/text";
import {
  type Found,
  type FoundIncident,
  type FoundMaintenance,
  keyOf,
  type LeftOut,
} from "../source";
import { cutName } from "../texts";
import { componentsOf, keyOfComponent } from "./components";
import {
  isObject,
  LISTED_MAX,
  SourceComponent,
  type SourceDocuments,
  SourceIncident,
  SourcePage,
} from "./document";
import { isKnownField } from "./fields";
import { incidentOf, isMaintenance, type Place } from "./incidents";
import { maintenanceOf } from "./maintenance";
import { leftOutOf, pageOf } from "./page";

/** Maximum numbers of objects, so that a settings transaction stays short. */
const COMPONENTS_MAX = 5_000;
const INCIDENTS_MAX = 20_000;
const UPDATES_MAX = 100_000;
/** In all updates together. */
const AFFECTED_MAX = 200_000;

/** Maximum numbers of unknown fields and of names that are shown. */
const FIELDS_MAX = 20;
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
  const leftOut: LeftOut[] = [];
  const valid = <Row>(schema: TSchema, rows: readonly unknown[], type: string): Row[] =>
    rows.flatMap((row, index) => {
      const reason = reasonAgainst(schema, row);
      if (reason === undefined) return [row as Row];
      leftOut.push({ foreign: foreignOf(row, type, index), reason });
      return [];
    });
  const page = source.page as SourcePage;
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
  const incidents: FoundIncident[] = [];
  const maintenance: FoundMaintenance[] = [];
  for (const entry of entries) {
    if (isMaintenance(entry)) keep(maintenanceOf(entry, place), maintenance, leftOut);
    else keep(incidentOf(entry, place), incidents, leftOut);
  }
  return {
    kind: "statuspage",
    fingerprint: sha256Hex(`allclear-import:${page.id}`),
    pages: [foundPage],
    ...componentsOf(rows, place.page, givenBy(incidents)),
    monitors: [],
    webhooks: [],
    maintenance: maintenance.toSorted((one, other) => plannedAt(one) - plannedAt(other)),
    schedules: [],
    incidents,
    leftOut: [...leftOut, ...leftOutOf(source.page as Record<string, unknown>)],
    notRead: unknownFields(source),
    toDo: [...limitsOf(source, entries), ...withoutComponents(source), ...unmarkedOf(incidents)],
  };
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
function foreignOf(row: unknown, type: string, index: number) {
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
  const names = [...unknown].sort();
  const shown = names.slice(0, FIELDS_MAX).map((name) => cutName(name, "a field", 60));
  return names.length > FIELDS_MAX ? [...shown, `${names.length - FIELDS_MAX} more fields`] : shown;
}
