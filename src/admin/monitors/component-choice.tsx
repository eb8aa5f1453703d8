import type { Reader } from "../../db";
import { listComponentsOfPage, listGroups } from "../../features/components";
import { CheckRows } from "../../ui";
import { readPages } from "../read-pages";

/** More components than these are folded by their parts. */
const SHOWN_AT_ONCE = 12;

/** Components that stand together on a page. */
export interface ComponentPart {
  key: string;
  /** Undefined where they need no heading: on the only page, in no group. */
  title: string | undefined;
  components: readonly { id: string; name: string }[];
}

/** All components, by page and group. */
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
  /** Ids. */
  chosen: readonly string[];
  error?: string | undefined;
}

/** The components that a monitor speaks for. Nothing where there are none at all. */
export function ComponentChoice({ legend, parts, chosen, error }: ComponentChoiceProps) {
  const count = parts.reduce((sum, { components }) => sum + components.length, 0);
  if (count === 0 && error === undefined) return null;
  const isChosen = new Set(chosen);
  return (
    <CheckRows
      legend={legend}
      name="component_ids"
      hint="What it marks while it is down. Without any it watches, and marks nothing."
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
