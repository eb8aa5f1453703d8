import type { TSchema } from "@sinclair/typebox";
import { sha256Hex } from "../../base/hash";
import type { ForeignObject } from "../../base/import-report";
import { sum } from "../../base/numbers";
import { COMPONENT_STATUSES, type ComponentStatus, worstStatus } from "../../base/status";
import { oneLine, plural, toRef } from "../../base/text";
import { parseDay, toIso } from "../../base/time";
import { schemaErrors } from "../../base/validation";
import { OperatorError } from "../../db/errors";
import {
  type ForeignKey,
  emptyFound,
  type Found,
  type FoundComponent,
  type FoundGroup,
  type FoundIncident,
  type FoundMaintenance,
  type FoundPage,
  keyOf,
  type LeftOut,
} from "../found";
import { cutName, isObject, listUnknown, Notes } from "../kit";
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
  timeOf,
} from "./document";
import { incidentOf, isMaintenance, maintenanceOf, type Place } from "./incidents";

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
      leftOut.push({ foreign: foreignOf(row, type, index), reason });
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
      ...(page.time_zone && { time_zone: timeZoneOf(page.time_zone) }),
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

/* Statuspage's REST API names time zones as Ruby on Rails does, and its public documents as IANA does. */

/** Cities by the area of IANA's zone with the same name. */
const CITIES = {
  America:
    "Tijuana, Chihuahua, Mazatlan, Mexico City, Monterrey, Bogota, Lima, Caracas, La Paz, Santiago, Asuncion, Montevideo, Puerto Rico",
  Europe:
    "Dublin, Lisbon, London, Belgrade, Bratislava, Budapest, Ljubljana, Prague, Sarajevo, Skopje, Warsaw, Zagreb, Brussels, Copenhagen, Madrid, Paris, Amsterdam, Berlin, Zurich, Rome, Stockholm, Vienna, Bucharest, Helsinki, Riga, Sofia, Tallinn, Vilnius, Athens, Istanbul, Minsk, Kaliningrad, Moscow, Volgograd, Samara",
  Africa: "Casablanca, Monrovia, Cairo, Harare, Nairobi",
  Asia: "Jerusalem, Kuwait, Riyadh, Baghdad, Tehran, Muscat, Baku, Tbilisi, Yerevan, Kabul, Karachi, Tashkent, Kolkata, Kathmandu, Dhaka, Almaty, Novosibirsk, Rangoon, Bangkok, Jakarta, Krasnoyarsk, Chongqing, Hong Kong, Urumqi, Kuala Lumpur, Singapore, Taipei, Irkutsk, Ulaanbaatar, Seoul, Tokyo, Yakutsk, Vladivostok, Magadan, Srednekolymsk, Kamchatka",
  Australia: "Perth, Darwin, Adelaide, Canberra, Melbourne, Sydney, Brisbane, Hobart",
  Pacific: "Guam, Port Moresby, Fiji, Auckland",
} as const;

/** Names that Rails gives to other zones of IANA. */
const OTHER_ZONES = {
  "International Date Line West": "Etc/GMT+12",
  "Midway Island": "Pacific/Midway",
  "American Samoa": "Pacific/Pago_Pago",
  Hawaii: "Pacific/Honolulu",
  Alaska: "America/Juneau",
  "Pacific Time (US & Canada)": "America/Los_Angeles",
  "Mountain Time (US & Canada)": "America/Denver",
  Arizona: "America/Phoenix",
  "Central Time (US & Canada)": "America/Chicago",
  Saskatchewan: "America/Regina",
  Guadalajara: "America/Mexico_City",
  "Central America": "America/Guatemala",
  "Eastern Time (US & Canada)": "America/New_York",
  "Indiana (East)": "America/Indiana/Indianapolis",
  Quito: "America/Lima",
  "Atlantic Time (Canada)": "America/Halifax",
  Newfoundland: "America/St_Johns",
  Brasilia: "America/Sao_Paulo",
  Georgetown: "America/Guyana",
  Greenland: "America/Nuuk",
  "Mid-Atlantic": "Atlantic/South_Georgia",
  "Cape Verde Is.": "Atlantic/Cape_Verde",
  Edinburgh: "Europe/London",
  Bern: "Europe/Zurich",
  "West Central Africa": "Africa/Algiers",
  Kyiv: "Europe/Kiev",
  Kyev: "Europe/Kiev",
  Pretoria: "Africa/Johannesburg",
  "St. Petersburg": "Europe/Moscow",
  "Abu Dhabi": "Asia/Muscat",
  Ekaterinburg: "Asia/Yekaterinburg",
  Islamabad: "Asia/Karachi",
  Chennai: "Asia/Kolkata",
  Mumbai: "Asia/Kolkata",
  "New Delhi": "Asia/Kolkata",
  Astana: "Asia/Dhaka",
  "Sri Jayawardenepura": "Asia/Colombo",
  Hanoi: "Asia/Bangkok",
  Beijing: "Asia/Shanghai",
  Osaka: "Asia/Tokyo",
  Sapporo: "Asia/Tokyo",
  "Solomon Is.": "Pacific/Guadalcanal",
  "New Caledonia": "Pacific/Noumea",
  "Marshall Is.": "Pacific/Majuro",
  Wellington: "Pacific/Auckland",
  "Nuku'alofa": "Pacific/Tongatapu",
  "Tokelau Is.": "Pacific/Fakaofo",
  "Chatham Is.": "Pacific/Chatham",
  Samoa: "Pacific/Apia",
  "Buenos Aires": "America/Argentina/Buenos_Aires",
  Azores: "Atlantic/Azores",
};

/** Names that Rails gives to IANA's zones. */
export const RAILS_TIME_ZONES: Readonly<Record<string, string>> = {
  ...OTHER_ZONES,
  ...Object.fromEntries(
    Object.entries(CITIES).flatMap(([area, cities]) =>
      cities.split(", ").map((city) => [city, `${area}/${city.replaceAll(" ", "_")}`]),
    ),
  ),
};

/** Returns the IANA name of a zone as Statuspage names it; other names as they are. */
function timeZoneOf(name: string): string {
  return (Object.hasOwn(RAILS_TIME_ZONES, name) && RAILS_TIME_ZONES[name]) || name;
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
