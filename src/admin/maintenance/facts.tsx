import { isEnded } from "../../features/maintenance/rules";
import type { Maintenance } from "../../features/maintenance/model";
import { maintenanceSchedulePath } from "../../ui/frame/paths";
import { timeFacts, TimelineFacts } from "../../features/timeline/screens/updates";
import type { MaintenanceView } from "./maintenance-view";
import { describeReminder } from "./schedule-fields";
import { When } from "./when";

interface MaintenanceFactsProps {
  view: MaintenanceView;
  editPath: string | undefined;
  /** True if the user may open the form for the schedule that made the maintenance. */
  canOpenSchedule: boolean;
  now: number;
}

/** Properties of a maintenance. */
export function MaintenanceFacts(props: MaintenanceFactsProps) {
  const { view, editPath, canOpenSchedule, now } = props;
  const { maintenance, page, schedule } = view;
  const { scheduled_for: from, scheduled_until: until, status } = maintenance;
  const times = { Started: maintenance.started_at, Completed: maintenance.completed_at };
  const facts = [
    ...(schedule === undefined
      ? []
      : [
          {
            label: "Schedule",
            value: canOpenSchedule ? (
              <a href={maintenanceSchedulePath(schedule.id)}>{schedule.name}</a>
            ) : (
              schedule.name
            ),
          },
        ]),
    { label: "Planned time", value: <When from={from} until={until} timeZone={page.timeZone} /> },
    ...timeFacts(times, now),
    ...(isEnded(status)
      ? []
      : [{ label: "Automatic steps", value: describeAutomation(maintenance) }]),
    ...(status === "scheduled"
      ? [{ label: "Reminder", value: describeReminder(maintenance.remind_minutes_before) }]
      : []),
  ];
  return <TimelineFacts facts={facts} id={maintenance.id} editPath={editPath} />;
}

function describeAutomation({ auto_start: starts, auto_complete: completes }: Maintenance): string {
  if (starts && completes) return "Start and completion";
  if (starts) return "Start";
  return completes ? "Completion" : "None";
}
