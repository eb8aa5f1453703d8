import { isEnded, type Maintenance } from "../../features/maintenance";
import { MaintenanceState } from "../../public/state";
import { Names } from "../../public/text";
import { lasting } from "../../public/words";
import { Card, Facts, RelativeTime } from "../../ui";
import type { MaintenanceView } from "./maintenance-view";
import { describeReminder } from "./reminder";
import { When } from "./when";

/** Properties of a maintenance: status, times and components. */
export function MaintenanceFacts({ view, now }: { view: MaintenanceView; now: number }) {
  const { maintenance, page } = view;
  const { scheduled_for: from, scheduled_until: until, components } = maintenance;
  const { started_at: startedAt, completed_at: completedAt } = maintenance;
  return (
    <Card>
      <Facts
        items={[
          { label: "Status", value: <MaintenanceState maintenance={maintenance} /> },
          {
            label: "Planned",
            value: <When from={from} until={until} timeZone={page.timeZone} />,
          },
          { label: "Planned length", value: lasting(from, until) },
          ...timeFact("Started", startedAt, now),
          ...timeFact("Completed", completedAt, now),
          {
            label: "Components",
            value:
              components.length > 0 ? (
                <Names names={components.map(({ name }) => name)} most={100} />
              ) : (
                <span class="quiet-text">None</span>
              ),
          },
          ...(isEnded(maintenance.status)
            ? []
            : [{ label: "Automatic", value: describeClock(maintenance) }]),
          ...(maintenance.status === "scheduled"
            ? [{ label: "Reminder", value: describeReminder(maintenance.remind_minutes_before) }]
            : []),
          { label: "Page", value: page.name },
          { label: "Id", value: <code>{maintenance.id}</code> },
        ]}
      />
    </Card>
  );
}

function timeFact(label: string, at: string | null, now: number) {
  return at === null ? [] : [{ label, value: <RelativeTime at={at} now={now} /> }];
}

function describeClock({ auto_start: starts, auto_complete: completes }: Maintenance): string {
  if (starts && completes) return "Start and completion";
  if (starts) return "Start";
  return completes ? "Completion" : "Nothing";
}
