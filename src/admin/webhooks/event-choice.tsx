import { EVENTS, type EventType } from "../../events";
import { CheckRows, ChoiceField } from "../../ui";
import type { Wording } from "../field-errors";

/** Selectable event types. `webhook.test` is always sent. */
export const EVENT_TYPES = (Object.keys(EVENTS) as EventType[]).filter(
  (type) => type !== "webhook.test",
);

const PARTS = [
  { key: "component", title: "Components" },
  { key: "incident", title: "Incidents" },
  { key: "maintenance", title: "Maintenance" },
  { key: "monitor", title: "Monitors" },
];

interface EventChoiceProps {
  isForAllEvents: boolean;
  events: readonly string[];
  wrong: Wording;
}

/** Selects the events that are sent: all, or the checked ones. */
export function EventChoice({ isForAllEvents, events, wrong }: EventChoiceProps) {
  return (
    <ChoiceField
      legend="What is sent"
      name="which"
      options={[
        { value: "all", label: "Everything" },
        { value: "some", label: "Only some events" },
      ]}
      value={isForAllEvents ? "all" : "some"}
    >
      <CheckRows
        legend="Events"
        name="events"
        error={wrong.about("events")}
        parts={PARTS.map(({ key, title }) => ({
          key,
          title,
          options: EVENT_TYPES.filter((type) => type.startsWith(`${key}.`)).map((type) => ({
            value: type,
            label: type,
            hint: EVENTS[type],
            isChecked: events.includes(type),
          })),
        }))}
      />
    </ChoiceField>
  );
}
