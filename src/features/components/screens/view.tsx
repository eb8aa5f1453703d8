/* Parts of the screens of components: breadcrumbs, the causes of a status, and tags. */
import type { ComponentChildren } from "preact";
import type { CauseSource } from "../../../base/status";
import type { Reader } from "../../../db/statements";
import { Chip } from "../../../ui/blocks";
import {
  componentsOfPagePath,
  incidentPath,
  maintenancePath,
  monitorPath,
} from "../../../ui/frame/paths";
import type { PageRow } from "../../pages/store";
import { type CauseRow, listNamedCausesOfPage } from "../cause-store";
import type { ComponentRow } from "../store";

/** Returns the breadcrumbs of a screen about the components of a page. */
export function componentCrumbs({ slug, name }: Pick<PageRow, "slug" | "name">) {
  return [{ href: componentsOfPagePath(slug), label: "Components" }, { label: name }];
}

/** Open cause of a component's status, with the name of its incident, maintenance or monitor. */
export interface NamedCause {
  cause: CauseRow;
  name: string | null;
}

/** Returns the open causes of one component. */
export function readCauses(reader: Reader, row: { id: string; pageId: string }): NamedCause[] {
  const causes = listNamedCausesOfPage(reader, { pageId: row.pageId });
  return causes.filter(({ cause }) => cause.componentId === row.id);
}

/** Number of causes listed by name. Further ones are only counted. */
const LISTED_CAUSES_MAX = 3;

/** Returns the causes that have the component's status, which is the worst of all. */
export function effectiveCauses(
  { status }: Pick<ComponentRow, "status">,
  causes: readonly NamedCause[],
): NamedCause[] {
  return causes.filter(({ cause }) => cause.status === status);
}

/** Returns the causes other than the manual status. */
export function otherCauses(causes: readonly NamedCause[]): NamedCause[] {
  return causes.filter(({ cause }) => !["manual", "api"].includes(cause.source));
}

/** Causes with links, to follow a status: "because of the incident “Errors” and 2 more". */
export function CauseList({ causes }: { causes: readonly NamedCause[] }) {
  const shown = causes.slice(0, LISTED_CAUSES_MAX);
  const more = causes.length - shown.length;
  return (
    <>
      {shown.map((each, index) => (
        <span key={each.cause.id}>
          {index > 0 ? ", " : ""}
          <LinkedCause of={each} />
        </span>
      ))}
      {more > 0 ? ` and ${more} more` : ""}
    </>
  );
}

function LinkedCause({ of: { cause, name } }: { of: NamedCause }): ComponentChildren {
  const { source, sourceId } = cause;
  if (!isLinked(source)) return UNLINKED_CAUSES[source];
  return (
    <>
      because of the {source} <a href={PATHS[source](sourceId)}>{name ?? "without a name"}</a>
    </>
  );
}

/** Returns a cause as the end of a sentence: "because of the incident “Errors”". */
export function describeCause({ cause: { source }, name }: NamedCause): string {
  if (!isLinked(source)) return UNLINKED_CAUSES[source];
  return `because of the ${source} “${name ?? "without a name"}”`;
}

const PATHS = { incident: incidentPath, maintenance: maintenancePath, monitor: monitorPath };

function isLinked(source: CauseSource): source is keyof typeof PATHS {
  return source in PATHS;
}

const UNLINKED_CAUSES = {
  manual: "set manually",
  api: "set by the API",
  import: "imported",
} as const;

/** Tags of a component. Renders nothing without tags. */
export function ComponentTags({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return null;
  return (
    <span class="tags">
      {tags.map((tag) => (
        <Chip key={tag} tone="none">
          {tag}
        </Chip>
      ))}
    </span>
  );
}
