import { ANY_MONITOR } from "../../base/webhook";
import type { ApplyFile } from "./model";
import { componentsIn, monitorsIn, withMonitors, withPointers } from "./pointers";
import { refOf } from "./semantics";

/** A file that can be applied to any server, and its difference from the file before. */
interface SelfContained {
  file: ApplyFile;
  /** Descriptions of the omitted references, one for each field. */
  omitted: string[];
}

/**
 * Omits references to monitors and components that a file does not contain, such as one of a single page. A
 * webhook for such monitors alone is then for none, since without the field it would be for all.
 */
export function omitForeignRefs(file: ApplyFile): SelfContained {
  const monitors = new Set(monitorsIn(file).map(({ item }) => refOf(item)));
  const components = new Set(
    withPointers(file.pages, "#/pages").flatMap((page) =>
      componentsIn(page).map(({ item }) => `${page.item.slug}/${refOf(item)}`),
    ),
  );
  const omitted: string[] = [];
  const keep = (names: readonly string[], known: ReadonlySet<string>, field: string) => {
    const foreign = names.filter((name) => !known.has(name));
    if (foreign.length > 0) omitted.push(`${field} ${foreign.join(", ")}`);
    return names.filter((name) => known.has(name));
  };
  const { webhooks, ...others } = withMonitors(file, ({ item }) => {
    const { components: watched = [], depends_on: parents = [], ...rest } = item;
    const owner = `monitor ${refOf(item)}:`;
    const keptComponents = keep(watched, components, `${owner} components`);
    const keptParents = keep(parents, monitors, `${owner} depends_on`);
    return {
      ...rest,
      ...(keptComponents.length > 0 && { components: keptComponents }),
      ...(keptParents.length > 0 && { depends_on: keptParents }),
    };
  });
  const kept = webhooks?.map((webhook) => {
    const { monitors: selected } = webhook;
    if (!selected || selected.includes(ANY_MONITOR)) return webhook;
    return {
      ...webhook,
      monitors: keep(selected, monitors, `webhook ${refOf(webhook)}: monitors`),
    };
  });
  return { file: { ...others, ...(kept && { webhooks: kept }) }, omitted };
}
