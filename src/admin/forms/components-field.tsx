import type { Reader } from "../../db/statements";
import {
  type ComponentRow,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
} from "../../features/components/store";
import { CheckRows } from "../../ui/choices";
import type { Field } from "./field";

/** Number of components above which forms fold their groups. */
const UNFOLDED_MAX = 12;

/** Components of a page that a form lists, in page order, and their groups. */
export interface PageComponents {
  components: readonly Pick<ComponentRow, "id" | "name" | "groupId" | "status">[];
  groups: readonly Pick<GroupRow, "id" | "name">[];
}

export function readPageComponents(reader: Reader, pageId: string): PageComponents {
  return {
    components: listComponentsOfPage(reader, { pageId }),
    groups: listGroups(reader, { pageId }),
  };
}

/** Rows of a form that belong together. */
interface Part<Row> {
  key: string;
  title?: string;
  rows: readonly Row[];
}

/**
 * Returns a form's rows of components by group: those without a group first, without empty groups.
 * `isFolded` is true if there are so many that groups start folded.
 */
export function rowsByGroup<Row>(
  { components, groups }: PageComponents,
  toRow: (component: PageComponents["components"][number]) => Row,
): { parts: Part<Row>[]; isFolded: boolean } {
  const byGroup = Map.groupBy(components, ({ groupId }) => groupId);
  const rowsOf = (groupId: string | null) => (byGroup.get(groupId) ?? []).map(toRow);
  const parts = [
    { key: "", rows: rowsOf(null) },
    ...groups.map(({ id, name }) => ({ key: id, title: name, rows: rowsOf(id) })),
  ];
  return {
    parts: parts.filter(({ rows }) => rows.length > 0),
    isFolded: components.length > UNFOLDED_MAX,
  };
}

/** Field for the ids of components, with a checkbox for each; hidden if there are none. */
export function componentsField<Context>(options: {
  hint: string;
  /** Error of an id that names none of the components. */
  unknown: string;
  partsOf(context: Context): readonly Part<{ id: string; name: string }>[];
}): Field<readonly string[], string[], Context> {
  const { hint, unknown, partsOf } = options;
  const label = "Components";
  return {
    label,
    initial: [],
    read: (sent, name) => sent.all(name),
    toBody: (ids) => [...ids],
    fromStored: (ids) => ids,
    // The pointer of one id has its index.
    showError: ({ pointer, detail }) => ({
      detail: pointer.split("/").length > 2 ? unknown : detail,
    }),
    Input({ name, value, errors, context }) {
      const selected = new Set(value);
      const parts = partsOf(context).map(({ rows, ...part }) => ({
        ...part,
        options: rows.map((row) => ({
          value: row.id,
          label: row.name,
          isChecked: selected.has(row.id),
        })),
      }));
      const count = parts.flatMap((part) => part.options).length;
      if (count === 0 && errors[name] === undefined) return null;
      const isFolded = count > UNFOLDED_MAX;
      return <CheckRows legend={label} error={errors[name]} {...{ name, hint, parts, isFolded }} />;
    },
  };
}
