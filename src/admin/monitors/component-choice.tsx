import type { Reader } from "../../db";
import { listComponentsOfPage, listGroups } from "../../features/components";
import { CheckRows } from "../../ui";
import { readPages } from "../read-pages";

/** Components above which parts start folded. */
const SHOWN_AT_ONCE = 12;

/** Components of one group of a page, or of none. */
export interface ComponentPart {
  key: string;
  /** Heading; undefined for ungrouped components of the only page. */
  title: string | undefined;
  components: readonly { id: string; name: string }[];
}

/** Reads all components, by page and group. */
export function readComponentParts(reader: Reader): ComponentPart[] {
  const pages = readPages(reader);
  return pages.flatMap(({ id: pageId, name: pageName }) => {
    const byGroup = Map.groupBy(
      listComponentsOfPage(reader, { pageId }),
      ({ groupId }) => groupId ?? "",
    );
    const groups = [{ id: "", name: "" }, ...listGroups(reader, { pageId })];
    return groups.flatMap(({ id, name }) => {
      const components = byGroup.get(id) ?? [];
      const title = [pages.length > 1 ? pageName : "", name].filter(Boolean).join(" · ");
      return components.length === 0
        ? []
        : [{ key: `${pageId} ${id}`, title: title || undefined, components }];
    });
  });
}

interface ComponentChoiceProps {
  legend: string;
  parts: readonly ComponentPart[];
  /** Ids of components. */
  chosen: readonly string[];
  error?: string | undefined;
}

/**
 * Selects the components whose status a monitor sets. Renders nothing if there are no components.
 */
export function ComponentChoice({ legend, parts, chosen, error }: ComponentChoiceProps) {
  const count = parts.reduce((sum, { components }) => sum + components.length, 0);
  if (count === 0 && error === undefined) return null;
  const isChosen = new Set(chosen);
  return (
    <CheckRows
      legend={legend}
      name="component_ids"
      hint="Components whose status changes while the monitor is down. Without any, no status changes."
      error={error}
      parts={parts.map(({ key, title, components }) => ({
        key,
        ...(title === undefined ? {} : { title }),
        options: components.map(({ id, name }) => ({
          value: id,
          label: name,
          isChecked: isChosen.has(id),
        })),
      }))}
      isFolded={count > SHOWN_AT_ONCE}
    />
  );
}
