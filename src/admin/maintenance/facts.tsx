import { isEnded, type Maintenance } from "../../features/maintenance";
import { MaintenanceState } from "../../public/state";
import { Names } from "../../public/text";
import { lasting } from "../../public/words";
import { timeFacts, TimelineFacts } from "../timeline/timeline-facts";
import type { MaintenanceView } from "./maintenance-view";
import { describeReminder } from "./schedule-fields";
import { When } from "./when";

/** Properties of a maintenance. */
export function MaintenanceFacts({ view, now }: { view: MaintenanceView; now: number }) {
  const { maintenance, page } = view;
  const { scheduled_for: from, scheduled_until: until, components, status } = maintenance;
  const times = { Started: maintenance.started_at, Completed: maintenance.completed_at };
  const facts = [
    { label: "Status", value: <MaintenanceState maintenance={maintenance} /> },
    { label: "Planned time", value: <When from={from} until={until} timeZone={page.timeZone} /> },
    { label: "Planned duration", value: lasting(from, until) },
    ...timeFacts(times, now),
    {
      label: "Components",
      value:
        components.length > 0 ? (
          <Names names={components.map(({ name }) => name)} max={100} />
        ) : (
          <span class="quiet-text">None</span>
        ),
    },
    ...(isEnded(status)
      ? []
      : [{ label: "Automatic steps", value: describeAutomation(maintenance) }]),
    ...(status === "scheduled"
      ? [{ label: "Reminder", value: describeReminder(maintenance.remind_minutes_before) }]
      : []),
  ];
  return <TimelineFacts facts={facts} page={page} id={maintenance.id} />;
}

function describeAutomation({ auto_start: starts, auto_complete: completes }: Maintenance): string {
  if (starts && completes) return "Start and completion";
  if (starts) return "Start";
  return completes ? "Completion" : "None";
}
