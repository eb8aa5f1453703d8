import { FilterDate, FilterSelect, ListToolbar } from "../../ui/list";
import { ACTIVITY_PATH } from "../../ui/frame/paths";
import { type ActivityFilter, type ActivityListing, hasFilter } from "./listing";

const ACTORS = [
  { value: "", label: "Every actor" },
  { value: "user", label: "Users" },
  { value: "key", label: "API keys" },
  { value: "cli", label: "Command line" },
  { value: "system", label: "Automatic changes" },
];

/** Options of the filter by changed object: first parts of actions such as `incident.create`. */
const ACTIONS = [
  { value: "", label: "Every object" },
  { value: "incident", label: "Incidents" },
  { value: "maintenance", label: "Maintenance" },
  { value: "component", label: "Components" },
  { value: "group", label: "Groups" },
  { value: "page", label: "Pages" },
  { value: "monitor", label: "Monitors" },
  { value: "webhook", label: "Webhooks" },
  { value: "key", label: "API keys" },
  { value: "user", label: "Users" },
  { value: "session", label: "Sessions" },
  { value: "settings", label: "Settings" },
];

/** Filters of the audit log: search text, actor, changed object and days. */
export function ActivityFilters({ list }: { list: ActivityListing }) {
  const { filter, entries } = list;
  const { search, actor, action, target, from, to } = filter;
  // The name of a filtered actor, whose id is in the address, is known from the entries.
  const [newest] = entries;
  const actorLabel = newest?.actorId === actor ? newest.actorLabel : actor;
  return (
    <ListToolbar
      action={ACTIVITY_PATH}
      search={{
        value: search,
        label: "Search by summary, actor, action, id or address",
        placeholder: "Summary, actor or id",
      }}
      clearHref={hasFilter(filter) ? ACTIVITY_PATH : undefined}
      hasDates
    >
      <FilterSelect
        label="Actor"
        name="actor"
        options={withSelected(ACTORS, actor, actorLabel)}
        value={actor}
      />
      <FilterSelect
        label="Object"
        name="action"
        options={withSelected(ACTIONS, action, action)}
        value={action}
      />
      {target === "" ? null : (
        <FilterSelect
          label="Object id"
          name="target"
          options={withSelected([{ value: "", label: "Any object" }], target, `Object ${target}`)}
          value={target}
        />
      )}
      <FilterDate label="From" name="from" value={from} />
      <FilterDate label="To" name="to" value={to} />
    </ListToolbar>
  );
}

interface Option {
  value: string;
  label: string;
}

/** Returns the options, with an additional one if the selected value is not among them. */
function withSelected(
  options: readonly Option[],
  selected: ActivityFilter[keyof ActivityFilter],
  label: string,
): readonly Option[] {
  return options.some(({ value }) => value === selected)
    ? options
    : [...options, { value: selected, label }];
}
