/* Parts of the screens of components: breadcrumbs, the causes of a status, and tags. */
import type { CauseSource } from "../../../base/status";
import type { Reader } from "../../../db/statements";
import { Chip } from "../../../ui/blocks";
import {
  componentsOfPagePath,
  incidentPath,
  maintenancePath,
  monitorPath,
} from "../../../ui/frame/paths";
import { Links } from "../../overview/screens/parts";
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

/** Returns the causes that have the component's status, which is the worst of all. */
export function effectiveCauses(
  { status }: Pick<ComponentRow, "status">,
  causes: readonly NamedCause[],
): NamedCause[] {
  return causes.filter(({ cause }) => cause.status === status);
}

/** Returns the causes other than the manual status, and without those of the objects in `named`. */
export function otherCauses(
  causes: readonly NamedCause[],
  named: readonly NamedCause[] = [],
): NamedCause[] {
  const ids = new Set(named.map(({ cause }) => cause.sourceId));
  return causes.filter(
    ({ cause: { source, sourceId } }) =>
      source !== "manual" && source !== "api" && !ids.has(sourceId),
  );
}

/**
 * Causes with links, to follow a status: "because of the monitor API and the incident Errors", "set manually". Each
 * object is named once. One element, since the parts of a line may have gaps between them.
 */
export function CauseList({ causes }: { causes: readonly NamedCause[] }) {
  const unlinked = new Set<string>();
  const linked = new Map<string, { href: string; name: string; kind: string }>();
  for (const { cause, name } of causes) {
    const { source, sourceId } = cause;
    if (!isLinked(source)) unlinked.add(UNLINKED_CAUSES[source]);
    else
      linked.set(sourceId, { href: PATHS[source](sourceId), name: name ?? NAMELESS, kind: source });
  }
  return (
    <span>
      {[...unlinked].join(" and ")}
      {unlinked.size > 0 && linked.size > 0 ? ", and " : ""}
      {linked.size === 0 ? null : (
        <>
          because of <Links items={[...linked.values()]} />
        </>
      )}
    </span>
  );
}

/** Returns a cause as the end of a sentence: "because of the incident “Errors”". */
export function describeCause({ cause: { source }, name }: NamedCause): string {
  if (!isLinked(source)) return UNLINKED_CAUSES[source];
  return `because of the ${source} “${name ?? NAMELESS}”`;
}

const NAMELESS = "without a name";

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
