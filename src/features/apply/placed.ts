import type { ApplyFile, FileComponent, FileMonitor, FilePage } from "./model";

/** An item of the file with its pointer. */
export interface Placed<Item> {
  item: Item;
  at: string;
}

/** Returns the items of a list with their pointers. */
export function placed<Item>(items: readonly Item[] | undefined, at: string): Placed<Item>[] {
  return (items ?? []).map((item, index) => ({ item, at: `${at}/${index}` }));
}

/** Returns the components of a page, including those of its groups. */
export function componentsIn({ item: page, at }: Placed<FilePage>): Placed<FileComponent>[] {
  return [
    ...placed(page.components, `${at}/components`),
    ...placed(page.groups, `${at}/groups`).flatMap((group) =>
      placed(group.item.components, `${group.at}/components`),
    ),
  ];
}

/** Returns the monitors of a file: those of its components, then those without components. */
export function monitorsIn(file: ApplyFile): Placed<FileMonitor>[] {
  const components = placed(file.pages, "#/pages").flatMap(componentsIn);
  return [
    ...components.flatMap(({ item, at }) => placed(item.monitors, `${at}/monitors`)),
    ...placed(file.monitors, "#/monitors"),
  ];
}

/** Returns the file with changed monitors. */
export function withMonitors(
  file: ApplyFile,
  change: (monitor: Placed<FileMonitor>) => FileMonitor,
): ApplyFile {
  const changed = new Map(monitorsIn(file).map((one) => [one.at, change(one)]));
  const monitorsOf = <Owner extends { monitors?: FileMonitor[] }>({ item, at }: Placed<Owner>) => {
    const own = placed(item.monitors, `${at}/monitors`);
    if (own.length === 0) return item;
    return { ...item, monitors: own.map((one) => changed.get(one.at) ?? one.item) };
  };
  const componentsOf = <Owner extends { components?: FileComponent[] }>(owner: Placed<Owner>) => {
    const own = placed(owner.item.components, `${owner.at}/components`);
    return own.length === 0 ? owner.item : { ...owner.item, components: own.map(monitorsOf) };
  };
  const pages = placed(file.pages, "#/pages").map((page) => {
    const groups = placed(page.item.groups, `${page.at}/groups`);
    const item = componentsOf(page);
    return groups.length === 0 ? item : { ...item, groups: groups.map(componentsOf) };
  });
  return monitorsOf({ item: { ...file, pages }, at: "#" });
}
