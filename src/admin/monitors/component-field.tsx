import type { Reader } from "../../db";
import { listComponentsOfPage, listGroups } from "../../features/components";
import { CheckRows } from "../../ui";
import type { Field } from "../forms/field";
import { readPages } from "../page-choice";

/** Components above which parts start folded. */
const SHOWN_AT_ONCE = 12;

/** Ids read from a form: one more than the limit, so that the service rejects longer lists. */
const COMPONENTS_MAX = 101;

/** Components of one group of a page, or of none. */
interface ComponentPart {
  key: string;
  /** Heading; undefined for ungrouped components of the only page. */
  title: string | undefined;
  components: readonly { id: string; name: string }[];
}

/** Screen data of the field for components: all components, by page and group. */
export interface ComponentsContext {
  parts: readonly ComponentPart[];
}

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

/**
 * Field for the components whose status a monitor sets. Hidden while there are no components.
 */
export function componentsField(): Field<readonly string[], string[], ComponentsContext> {
  const label = "Components";
  return {
    label,
    initial: [],
    read: (sent, name) => sent.all(name).slice(0, COMPONENTS_MAX),
    toBody: (ids) => [...ids],
    fromStored: (ids) => ids,
    showError: ({ pointer, detail }) => ({
      detail: pointer.split("/").length > 2 ? "Choose components that are still there." : detail,
    }),
    Input({ name, value, errors, context: { parts } }) {
      const count = parts.reduce((sum, { components }) => sum + components.length, 0);
      if (count === 0 && errors[name] === undefined) return null;
      const isChosen = new Set(value);
      return (
        <CheckRows
          legend={label}
          name={name}
          hint="Components whose status changes while the monitor is down. Without any, no status changes."
          error={errors[name]}
          parts={parts.map(({ key, title, components }) => ({
            key,
            ...(title === undefined ? {} : { title }),
            options: components.map(({ id, name: component }) => ({
              value: id,
              label: component,
              isChecked: isChosen.has(id),
            })),
          }))}
          isFolded={count > SHOWN_AT_ONCE}
        />
      );
    },
  };
}
