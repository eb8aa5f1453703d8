import type { ApplyFile, FileComponent, FileMonitor, FilePage } from "./model";

/** An item of the file with its JSON pointer, such as `#/pages/0`. */
export interface WithPointer<Item> {
  item: Item;
  pointer: string;
}

/** Returns the items of a list with their pointers. */
export function withPointers<Item>(
  items: readonly Item[] | undefined,
  pointer: string,
): WithPointer<Item>[] {
  return (items ?? []).map((item, index) => ({ item, pointer: `${pointer}/${index}` }));
}

/** Returns the components of a page, including those of its groups. */
export function componentsIn({
  item: page,
  pointer,
}: WithPointer<FilePage>): WithPointer<FileComponent>[] {
  return [
    ...withPointers(page.components, `${pointer}/components`),
    ...withPointers(page.groups, `${pointer}/groups`).flatMap((group) =>
      withPointers(group.item.components, `${group.pointer}/components`),
    ),
  ];
}

/** Returns the monitors of a file: those of its components, then those without components. */
export function monitorsIn(file: ApplyFile): WithPointer<FileMonitor>[] {
  const components = withPointers(file.pages, "#/pages").flatMap(componentsIn);
  return [
    ...components.flatMap(({ item, pointer }) =>
      withPointers(item.monitors, `${pointer}/monitors`),
    ),
    ...withPointers(file.monitors, "#/monitors"),
  ];
}

/** Returns the file with each monitor replaced by what `change` returns. */
export function withMonitors(
  file: ApplyFile,
  change: (monitor: WithPointer<FileMonitor>) => FileMonitor,
): ApplyFile {
  const changed = new Map(monitorsIn(file).map((one) => [one.pointer, change(one)]));
  const monitorsOf = <Owner extends { monitors?: FileMonitor[] }>({
    item,
    pointer,
  }: WithPointer<Owner>) => {
    const own = withPointers(item.monitors, `${pointer}/monitors`);
    if (own.length === 0) return item;
    return { ...item, monitors: own.map((one) => changed.get(one.pointer) ?? one.item) };
  };
  const componentsOf = <Owner extends { components?: FileComponent[] }>(
    owner: WithPointer<Owner>,
  ) => {
    const own = withPointers(owner.item.components, `${owner.pointer}/components`);
    return own.length === 0 ? owner.item : { ...owner.item, components: own.map(monitorsOf) };
  };
  const pages = withPointers(file.pages, "#/pages").map((page) => {
    const groups = withPointers(page.item.groups, `${page.pointer}/groups`);
    const item = componentsOf(page);
    return groups.length === 0 ? item : { ...item, groups: groups.map(componentsOf) };
  });
  return monitorsOf({ item: { ...file, pages }, pointer: "#" });
}
