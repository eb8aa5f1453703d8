import { Fragment } from "preact";
import { roleAllows } from "../../../base/actor";
import { runInSlices } from "../../../base/in-slices";
import { sessionOf } from "../../../http/request-context";
import { Shape } from "../../../ui/blocks";
import { Button, ButtonLink, safeHref } from "../../../ui/buttons";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { HOME_PATH, SEARCH_PATH, SHORTCUTS_PATH } from "../../../ui/frame/paths";
import { navigationFor } from "../../../ui/frame/shell";
import { Icon } from "../../../ui/icons";
import { createArea } from "../../../ui/screens/area";
import { readSearch } from "../../../ui/screens/list";
import { type ResultGroup, searchEverything } from "./results";

/** `/admin/search` and `/admin/shortcuts`, for every role. A search finds only what the role may open. */
export function searchAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, "/admin", "viewer");

  area.screen(SEARCH_PATH.slice("/admin".length), async (at) => {
    const search = readSearch(at.query);
    const { role } = sessionOf(at.requestContext).user;
    const searcher = { role, now: ctx.clock.now(), signal: at.request.signal };
    const groups = await runInSlices(searchEverything(ctx.db, search, searcher));
    return { title: "Search", isStill: true, children: <Search search={search} groups={groups} /> };
  });

  area.screen(SHORTCUTS_PATH.slice("/admin".length), (at) => {
    const { role } = sessionOf(at.requestContext).user;
    const links = navigationFor(role, "", {}).flatMap((group) => group.links);
    const shortcuts = [
      { keys: ["/"], name: "Search" },
      ...(roleAllows(role, "editor") ? [{ keys: ["c"], name: "Report incident" }] : []),
      { keys: ["?"], name: "Keyboard shortcuts" },
      ...links.map(({ letter, label }) => ({ keys: ["g", letter], name: label })),
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
