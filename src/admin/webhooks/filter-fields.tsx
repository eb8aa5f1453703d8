import { ANY_EVENT, ANY_MONITOR } from "../../base/webhook";
import { EVENTS, type EventType } from "../../events/outbox";
import type { PageRow } from "../../features/pages/store";
import type { CreateWebhookBody } from "../../features/webhooks/bodies";
import { CheckRows, ChoiceField, SelectField } from "../../ui/choices";
import type { Field } from "../../ui/forms/form";
import { type MonitorChoice, MonitorRows } from "../../ui/forms/object-fields";
import { labelAmong } from "../../ui/frame/page-choice";

/** Screen data of the fields that select the events of an endpoint. */
export interface FilterContext {
  pages: readonly PageRow[];
  /** Monitors whose events can be selected. */
  monitors: readonly MonitorChoice[];
}

/** Selectable event types. `webhook.test` is always sent. */
const EVENT_TYPES = (Object.keys(EVENTS) as EventType[]).filter((type) => type !== "webhook.test");

const EVENT_PARTS = [
  { key: "component", title: "Components" },
  { key: "incident", title: "Incidents" },
  { key: "maintenance", title: "Maintenance" },
  { key: "monitor", title: "Monitors" },
];

interface TypedEvents {
  isForAll: boolean;
  types: readonly string[];
}

type EventFilter = NonNullable<CreateWebhookBody["events"]>;

/** Field for the events that are sent with two inputs: `which` is `all` or `some` of `events`. */
export function eventsField(): Field<TypedEvents, EventFilter> {
  return {
    label: "Events",
    initial: { isForAll: true, types: [] },
    showError: () => ({ detail: "Select at least one event." }),
    read: (sent, name) => ({ isForAll: sent.text("which") !== "some", types: sent.all(name) }),
    // More than all types hold an unknown or repeated one; thousands would be slow to report.
    toBody: ({ isForAll, types }) =>
      isForAll ? [ANY_EVENT] : (types.slice(0, EVENT_TYPES.length + 1) as EventFilter),
    // In the order of the form, so that an unedited form changes nothing.
    fromStored: (events) => ({
      isForAll: events.includes(ANY_EVENT),
      types: EVENT_TYPES.filter((type) => events.includes(type)),
    }),
    Input: ({ name, value: { isForAll, types }, errors }) => (
      <ChoiceField
        legend="Events to send"
        name="which"
        options={[
          { value: "all", label: "All events" },
          { value: "some", label: "Selected events" },
        ]}
        value={isForAll ? "all" : "some"}
      >
        <CheckRows
          legend="Events"
          name={name}
          error={errors[name]}
          parts={EVENT_PARTS.map(({ key, title }) => ({
            key,
            title,
            options: EVENT_TYPES.filter((type) => type.startsWith(`${key}.`)).map((type) => ({
              value: type,
              label: type,
              hint: EVENTS[type],
              isChecked: types.includes(type),
            })),
          }))}
        />
      </ChoiceField>
    ),
  };
}

interface TypedMonitors {
  isForAll: boolean;
  ids: readonly string[];
}

/** Field for the monitors whose events are sent with two inputs: `of` is `all` or `some` of `monitors`. */
export function monitorFilterField(): Field<TypedMonitors, string[], FilterContext> {
  return {
    label: "Monitors",
    initial: { isForAll: true, ids: [] },
    // The pointer of one monitor has its index.
    showError: ({ pointer, detail }) => ({
      detail: pointer.split("/").length > 2 ? "Select monitors that exist." : detail,
    }),
    read: (sent, name) => ({ isForAll: sent.text("of") !== "some", ids: sent.all(name) }),
    // Sorted, so that a form with the same monitors changes nothing.
    toBody: ({ isForAll, ids }) => (isForAll ? [ANY_MONITOR] : ids.toSorted()),
    fromStored: (monitors) => {
      const isForAll = monitors.includes(ANY_MONITOR);
      return { isForAll, ids: isForAll ? [] : monitors };
    },
    Input({ name, value: { isForAll, ids }, errors, context: { monitors } }) {
      if (monitors.length === 0 && isForAll) return null;
      return (
        <ChoiceField
          legend="Monitors"
          name="of"
          hint="Only for events that begin with “monitor.”."
          options={[
            { value: "all", label: "All monitors" },
            { value: "some", label: "Selected monitors" },
          ]}
          value={isForAll ? "all" : "some"}
        >
          <MonitorRows
            legend="Selected monitors"
            name={name}
            error={errors[name]}
            choices={monitors}
            selected={ids}
          />
        </ChoiceField>
      );
    },
  };
}

/** Field for the page whose events are sent; empty for all pages. */
export function pageFilterField(): Field<string, string, FilterContext> {
  return {
    label: "Page",
    initial: "",
    read: (sent, name) => sent.text(name),
    toBody: (typed) => typed,
    fromStored: (id) => id,
    Input({ name, value, errors, context: { pages } }) {
      // The sample page is removed with the creation of the first page, so it cannot be selected.
      const real = pages.filter(({ isSample }) => !isSample);
      const isGone = value !== "" && !pages.some(({ id }) => id === value);
      return (
        <SelectField
          label="Page"
          name={name}
          hint="Only events of this page are sent."
          options={[
            { value: "", label: "All pages" },
            ...real.map((page) => ({ value: page.id, label: labelAmong(real, page) })),
            ...(isGone ? [{ value, label: "Deleted page" }] : []),
          ]}
          value={value}
          error={errors[name]}
        />
      );
    },
  };
}
