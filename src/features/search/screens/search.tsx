/*
 * Search of the dashboard and the list of its keyboard shortcuts: the routes, their views, and the objects, screens and
 * actions that a search finds.
 */
import { Fragment } from "preact";
import { type Role, roleAllows } from "../../../base/actor";
import { runInSlices, stepsUntil, WHOLE_TURN } from "../../../base/in-slices";
import { listedTone, MONITOR_TONES, STATUS_TONES, type Tone } from "../../../base/status";
import type { Reader } from "../../../db/statements";
import { wordsOf } from "../../../db/word-search";
import { sessionOf } from "../../../http/request-context";
import { incidentWords, MAINTENANCE_WORDS } from "../../../public/state";
import { monitorWord, Shape, STATUS_WORDS } from "../../../ui/blocks";
import { Button, ButtonLink, safeHref } from "../../../ui/buttons";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { readPages } from "../../../ui/frame/page-choice";
import {
  ACCOUNT_PATH,
  componentPath,
  HOME_PATH,
  incidentPath,
  keyPath,
  KEYS_PATH,
  maintenancePath,
  monitorPath,
  NEW_MONITOR_PATH,
  NEW_WEBHOOK_PATH,
  pagePath,
  PAGES_PATH,
  PLAN_PATH,
  REPORT_PATH,
  SEARCH_PATH,
  SHORTCUTS_PATH,
  userPath,
  USERS_PATH,
  webhookPath,
} from "../../../ui/frame/paths";
import type { Place } from "../../../ui/frame/places";
import { Icon, type IconName } from "../../../ui/icons";
import { createArea } from "../../../ui/screens/area";
import { readSearch } from "../../../ui/screens/list";
import { dayAt } from "../../../ui/times";
import { searchComponents } from "../../components/store";
import { searchIncidents } from "../../incidents/store";
import { type KeyListing, listKeyPage } from "../../keys/records";
import { searchMaintenances } from "../../maintenance/store";
import { searchMonitors } from "../../monitors/overview-store";
import { targetOf } from "../../monitors/screens/words";
import { IMPORT_PATH } from "../../subscribers/screens/list";
import { listUsers } from "../../users/users";
import { webhookName } from "../../webhooks/records";
import { listAllWebhooks } from "../../webhooks/store";

/** `/admin/search` and `/admin/shortcuts`, for every role. A search finds only what the role may open. */
export function searchAdminRoutes(deps: AdminDependencies) {
  const { ctx, places } = deps;
  const area = createArea(deps, "/admin", "viewer");

  area.screen(SEARCH_PATH.slice("/admin".length), async (at) => {
    const search = readSearch(at.query);
    const { role, timeZone } = sessionOf(at.requestContext).user;
    const { signal } = at.request;
    const own = { role, timeZone, places: places(role) };
    const searcher = { ...own, now: ctx.clock.now(), signal };
    const groups = await runInSlices(searchEverything(ctx.db, search, searcher));
    return { title: "Search", isStill: true, children: <Search search={search} groups={groups} /> };
  });

  area.screen(SHORTCUTS_PATH.slice("/admin".length), (at) => {
    const { role } = sessionOf(at.requestContext).user;
    const shortcuts = [
      { keys: ["/"], name: "Search" },
      ...(roleAllows(role, "editor") ? [{ keys: ["c"], name: "Report incident" }] : []),
      { keys: ["?"], name: "Keyboard shortcuts" },
      ...places(role).flatMap(({ letter, label }) =>
        letter === undefined ? [] : [{ keys: ["g", letter], name: label }],
      ),
    ];
    return { title: "Keyboard shortcuts", children: <Shortcuts shortcuts={shortcuts} /> };
  });

  return area.routes;
}

interface SearchProps {
  search: string;
  groups: readonly ResultGroup[];
}

/**
 * `/admin/search`: form and results of a search. Links to it open the form in a dialog, where a script
 * shows the results while a person types.
 */
function Search({ search, groups }: SearchProps) {
  return (
    <section class="card dialog-body search-card" data-dialog-body data-search>
      <h1 class="visually-hidden" id="dialog-title" tabIndex={-1}>
        Search
      </h1>
      <form class="search-line" role="search" method="get" action={SEARCH_PATH}>
        <label class="with-icon">
          <Icon name="search" />
          <span class="visually-hidden">
            Search pages, components, monitors, incidents, settings
          </span>
          <input
            class="input"
            type="search"
            name="q"
            value={search}
            placeholder="Search everything"
            autocomplete="off"
            maxLength={200}
            // oxlint-disable-next-line jsx-a11y/no-autofocus -- the only purpose of the screen
            autofocus
          />
        </label>
        <Button>Search</Button>
      </form>
      <p class="found-none" role="status" data-found-none>
        {groups.length === 0 ? `Nothing was found for “${search}”.` : ""}
      </p>
      <div class="found" data-found>
        <Results groups={groups} />
      </div>
      <p class="search-foot">
        <a href={SHORTCUTS_PATH} data-dialog data-scripted hidden>
          Keyboard shortcuts
        </a>
      </p>
    </section>
  );
}

function Results({ groups }: Pick<SearchProps, "groups">) {
  return (
    <>
      {groups.map(({ title, icon, results }) => (
        <Fragment key={title}>
          <h2>{title}</h2>
          <ul>
            {results.map(({ href, name, note, tone }) => (
              <li key={href}>
                <a href={safeHref(href)}>
                  {tone ? <Shape tone={tone} /> : <Icon name={icon} />}
                  <span class="found-name">{name}</span>
                  {note === "" ? null : <span class="found-note">{note}</span>}
                </a>
              </li>
            ))}
          </ul>
        </Fragment>
      ))}
    </>
  );
}

/** Keyboard shortcut. Its keys are pressed one after the other. */
interface Shortcut {
  keys: readonly string[];
  name: string;
}

/** `/admin/shortcuts`: list of the keyboard shortcuts, for a dialog. */
function Shortcuts({ shortcuts }: { shortcuts: readonly Shortcut[] }) {
  return (
    <section class="card dialog-body" data-dialog-body>
      <h1 id="dialog-title" tabIndex={-1}>
        Keyboard shortcuts
      </h1>
      <dl class="shortcuts">
        {shortcuts.map(({ keys, name }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {keys.map((key, index) => (
                <Fragment key={key}>
                  {index === 0 ? null : " then "}
                  <kbd>{key}</kbd>
                </Fragment>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p class="muted">
        Shortcuts need JavaScript, and are inactive while you type in a field. Ctrl+K also opens the
        search.
      </p>
      <div class="actions">
        <button class="button" type="button" data-shortcuts data-scripted hidden>
          Turn shortcuts off in this browser
        </button>
        <ButtonLink href={HOME_PATH} closesDialog>
          Close
        </ButtonLink>
      </div>
    </section>
  );
}

/** Maximum number of results shown of each group. */
const RESULTS_MAX = 6;

/** Object, screen or action that matches a search. */
interface SearchResult {
  href: string;
  name: string;
  /** Kind, place or state, such as "Operational · Northwind". */
  note: string;
  /** Tone of the object's shape; absent if it has no status. */
  tone?: Tone;
}

/** Results of one kind. */
interface ResultGroup {
  title: string;
  /** Icon of results without a tone. */
  icon: IconName;
  results: readonly SearchResult[];
}

interface Searcher {
  role: Role;
  /** Places that the role may open. */
  places: readonly Place[];
  /** Time zone of the days that the results name. */
  timeZone: string;
  /** Ends the search, such as when its client is gone. */
  signal?: AbortSignal;
  /** Unix ms. */
  now: number;
}

/**
 * Searches all that a role may open in several turns of the event loop, and returns the groups with
 * results. Without a search: screens and actions.
 */
export function* searchEverything(
  reader: Reader,
  search: string,
  searcher: Searcher,
): Generator<number, ResultGroup[]> {
  const steps = objectsFor(reader, search, searcher);
  const objects = search === "" ? [] : yield* stepsUntil(searcher.signal, steps, []);
  const groups = [...objects, ...screensFor(search, searcher)];
  return groups.filter(({ results }) => results.length > 0);
}

function* objectsFor(
  reader: Reader,
  search: string,
  { role, timeZone, now }: Searcher,
): Generator<number, ResultGroup[]> {
  const query = { ...wordsOf(search), limit: RESULTS_MAX };
  const components = yield* searchComponents(reader, query);
  yield WHOLE_TURN;
  const monitors = yield* searchMonitors(reader, query);
  yield WHOLE_TURN;
  const incidents = yield* searchIncidents(reader, query);
  yield WHOLE_TURN;
  const maintenances = yield* searchMaintenances(reader, query);
  yield WHOLE_TURN;
  const pages = readPages(reader).filter(({ name, slug, ref }) =>
    containsWords(`${name} ${slug} ${ref}`, search),
  );
  const groups: ResultGroup[] = [
    {
      title: "Components",
      icon: "blocks",
      results: components.map(({ id, name, status, pageName }) => ({
        href: componentPath(id),
        name,
        note: `${STATUS_WORDS[status]} · ${pageName}`,
        tone: STATUS_TONES[status],
      })),
    },
    {
      title: "Monitors",
      icon: "activity",
      results: monitors.map(({ row, state }) => ({
        href: monitorPath(row.id),
        name: row.name,
        note: `${monitorWord(state, row.type)} · ${targetOf(row)}`,
        tone: MONITOR_TONES[state],
      })),
    },
    {
      title: "Incidents",
      icon: "siren",
      results: incidents.map((incident) => ({
        href: incidentPath(incident.id),
        name: incident.name,
        note: [
          incident.isDraft ? "Draft" : incidentWords(incident),
          dayAt(incident.startedAt, timeZone),
          incident.pageName,
        ].join(" · "),
        tone: listedTone({ ...incident, draft: incident.isDraft }),
      })),
    },
    {
      title: "Maintenance",
      icon: "wrench",
      results: maintenances.map((maintenance) => ({
        href: maintenancePath(maintenance.id),
        name: maintenance.name,
        note: [
          MAINTENANCE_WORDS[maintenance.status],
          dayAt(maintenance.scheduledFor, timeZone),
          maintenance.pageName,
        ].join(" · "),
        tone: listedTone(maintenance),
      })),
    },
    {
      title: "Pages",
      icon: "globe",
      results: pages.slice(0, RESULTS_MAX).map(({ id, name, slug, visibility }) => ({
        href: pagePath(id),
        name,
        note: `/status/${slug}${visibility === "private" ? " · Private" : ""}`,
      })),
    },
  ];
  if (roleAllows(role, "admin")) {
    const keys = yield* keysWith(reader, search, now);
    const webhooks = listAllWebhooks(reader, {}).filter((webhook) =>
      containsWords(`${webhookName(webhook)} ${webhook.ref} ${webhook.id}`, search),
    );
    groups.push(
      {
        title: "API Keys",
        icon: "key-round",
        results: keys.map(({ id, name, start, state }) => ({
          href: keyPath(id),
          name,
          note: `${start}…${state === "live" ? "" : ` · ${state === "revoked" ? "Revoked" : "Expired"}`}`,
        })),
      },
      {
        title: "Webhooks",
        icon: "webhook",
        results: webhooks.slice(0, RESULTS_MAX).map((webhook) => ({
          href: webhookPath(webhook.id),
          name: webhookName(webhook),
          note: webhook.enabled ? "Enabled" : "Disabled",
        })),
      },
    );
  }
  if (roleAllows(role, "owner")) {
    const users = listUsers(reader).filter(({ name, email }) =>
      containsWords(`${name} ${email}`, search),
    );
    groups.push({
      title: "Users",
      icon: "users",
      results: users
        .slice(0, RESULTS_MAX)
        .map(({ id, name, email }) => ({ href: userPath(id), name, note: email })),
    });
  }
  return groups;
}

/** Keys whose names are compared with a search of several words. */
const KEYS_COMPARED = 200;

/** Lists the keys that their own list finds, else the newest whose names contain all the words. */
function* keysWith(reader: Reader, search: string, now: number): Generator<number, KeyListing[]> {
  const query = { search, filter: "all", limit: RESULTS_MAX, now } as const;
  const { keys } = yield* listKeyPage(reader, query);
  const { words, longest } = wordsOf(search);
  if (keys.length > 0 || words === JSON.stringify([longest])) return keys;
  const broader = { ...query, search: longest, limit: KEYS_COMPARED };
  const compared = yield* listKeyPage(reader, broader);
  return compared.keys.filter(({ name }) => containsWords(name, search)).slice(0, RESULTS_MAX);
}

const ACTIONS: readonly { href: string; name: string; role: Role }[] = [
  { href: REPORT_PATH, name: "Report incident", role: "editor" },
  { href: PLAN_PATH, name: "Plan maintenance", role: "editor" },
  { href: NEW_MONITOR_PATH, name: "Create monitor", role: "admin" },
  { href: `${PAGES_PATH}/new`, name: "Create page", role: "admin" },
  { href: `${KEYS_PATH}/new`, name: "Create API Key", role: "admin" },
  { href: NEW_WEBHOOK_PATH, name: "Create webhook", role: "admin" },
  { href: `${USERS_PATH}/new`, name: "Invite user", role: "owner" },
  { href: IMPORT_PATH, name: "Import and export subscribers", role: "owner" },
];

function screensFor(search: string, { role, places }: Searcher): ResultGroup[] {
  const nameOf = (path: string | undefined) => places.find(({ href }) => href === path)?.label;
  const screens = [
    ...places.map(({ href, label, above }) => ({ href, name: label, note: nameOf(above) })),
    { href: ACCOUNT_PATH, name: "Account" },
    { href: "/docs", name: "Documentation" },
  ];
  const matching = (items: readonly { href: string; name: string; note?: string | undefined }[]) =>
    items
      .map(({ href, name, note = "" }) => ({ href, name, note }))
      .filter(({ name, note }) => containsWords(`${note} ${name}`, search));
  const actions = ACTIONS.filter((action) => roleAllows(role, action.role));
  return [
    { title: "Actions", icon: "arrow-up-right", results: matching(actions) },
    { title: "Screens", icon: "layout-dashboard", results: matching(screens) },
  ];
}

/** True if a text contains each word of a search, in any order and case. */
function containsWords(text: string, search: string): boolean {
  const folded = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => folded.includes(word));
}
