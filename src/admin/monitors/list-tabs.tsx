import { WORST_FIRST } from "../../features/monitors/overview-store";
import { MONITOR_TONES, MONITOR_TYPES, type MonitorState } from "../../base/status";
import { plural } from "../../base/text";
import { FilterSelect, ListToolbar } from "../../ui/list";
import { MONITOR_WORDS, Shape } from "../../ui/blocks";
import { Tabs } from "../../ui/navigation";
import { labelAmong } from "../../ui/frame/page-choice";
import { MONITORS_PATH } from "../../ui/frame/paths";
import { listPath } from "../../features/timeline/screens/list";
import { countOf, type MonitorListing } from "./listing";
import { typeLabel } from "./words";

/** Tabs by state with counts. States without a monitor are left out. */
export function StateTabs({ list }: { list: MonitorListing }) {
  const shown = WORST_FIRST.filter((state) => list.counts.has(state) || list.state === state);
  return (
    <div id="monitor-states" data-live="">
      <Tabs
        label="State"
        items={[
          {
            href: filteredPath(list, { state: undefined }),
            label: "All",
            count: countOf(list, undefined),
            isCurrent: list.state === undefined,
          },
          ...shown.map((state) => ({
            href: filteredPath(list, { state }),
            label: MONITOR_WORDS[state],
            shape: <StateShape state={state} />,
            count: countOf(list, state),
            isCurrent: list.state === state,
          })),
        ]}
      />
    </div>
  );
}

/** Shape of a monitor's state. The caller also shows the state as text. */
export function StateShape({ state }: { state: MonitorState }) {
  return <Shape tone={MONITOR_TONES[state]} isPaused={state === "paused"} />;
}

/** Search and filters of the list. */
export function MonitorToolbar({ list }: { list: MonitorListing }) {
  const { pages, page, state, type, tag, group, search, order } = list;
  const folded = tag?.toLowerCase();
  const offered = list.tags.find((each) => each.toLowerCase() === folded);
  const tags = tag === undefined || offered !== undefined ? list.tags : [tag, ...list.tags];
  const groups =
    group === undefined || list.groups.includes(group) ? list.groups : [group, ...list.groups];
  const isFiltered =
    search !== "" || [page, type, tag, group].some((filter) => filter !== undefined);
  return (
    <ListToolbar
      action={MONITORS_PATH}
      search={{
        value: search,
        label: "Search by name, address or component",
        placeholder: "Name, address or component",
      }}
      hidden={{
        ...(state === undefined ? {} : { state }),
        ...(order === "name" ? { sort: order } : {}),
      }}
      clearHref={
        isFiltered
          ? filteredPath(list, {
              q: undefined,
              page: undefined,
              type: undefined,
              tag: undefined,
              group: undefined,
            })
          : undefined
      }
      count={plural(countOf(list, state), "monitor")}
    >
      <FilterSelect
        label="Type"
        name="type"
        options={[
          { value: "", label: "Every type" },
          ...MONITOR_TYPES.map((value) => ({ value, label: typeLabel(value) })),
        ]}
        value={type ?? ""}
      />
      {groups.length === 0 ? null : (
        <FilterSelect
          label="Group"
          name="group"
          options={[
            { value: "", label: "Every group" },
            ...groups.map((value) => ({ value, label: value })),
          ]}
          value={group ?? ""}
        />
      )}
      {tags.length === 0 ? null : (
        <FilterSelect
          label="Tag"
          name="tag"
          options={[
            { value: "", label: "Every tag" },
            ...tags.map((value) => ({ value, label: value })),
          ]}
          value={offered ?? tag ?? ""}
        />
      )}
      {pages.length < 2 ? null : (
        <FilterSelect
          label="Page"
          name="page"
          options={[
            { value: "", label: "Every page" },
            ...pages.map((each) => ({ value: each.slug, label: labelAmong(pages, each) })),
          ]}
          value={page?.slug ?? ""}
        />
      )}
    </ListToolbar>
  );
}

/**
 * Returns the path of the list with the same filters, except changed ones. Without `before` it
 * starts with the first monitor.
 */
export function filteredPath(
  { search, page, state, type, tag, group, order }: MonitorListing,
  changed: Parameters<typeof listPath>[1] = {},
): string {
  const sort = order === "name" ? order : undefined;
  return listPath(MONITORS_PATH, {
    q: search,
    page: page?.slug,
    state,
    type,
    tag,
    group,
    sort,
    ...changed,
  });
}
