import { Fragment } from "preact";
import { Button, ButtonLink, safeHref } from "../../ui/buttons";
import { Icon } from "../../ui/icons";
import { Shape } from "../../ui/blocks";
import { HOME_PATH, SEARCH_PATH, SHORTCUTS_PATH } from "../../ui/frame/paths";
import type { ResultGroup } from "./results";

interface SearchProps {
  search: string;
  groups: readonly ResultGroup[];
}

/**
 * `/admin/search`: form and results of a search. Links to it open the form in a dialog, where a script
 * shows the results while a person types.
 */
export function Search({ search, groups }: SearchProps) {
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
export function Shortcuts({ shortcuts }: { shortcuts: readonly Shortcut[] }) {
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
