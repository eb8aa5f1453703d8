import type { OpenIncident } from "../../domain/monitor-state";
import { SECOND_MS, toIso } from "../../kernel/time";
import { plural } from "../../kernel/text";
import { Card, Facts, RelativeTime, Section, STATUS_WORDS, StatusLabel } from "../../ui";
import { componentPath } from "../paths";
import type { MonitorView, MonitoredComponent } from "./monitor-view";
import { TYPE_FORMS } from "./types";
import { latencyInWords, targetOf, timeInWords, typeLabel } from "./words";

const INCIDENTS: Readonly<Record<OpenIncident, string>> = {
  never: "Opens no incident",
  draft: "Writes a draft",
  automatic: "Publishes an incident",
};

/** Configuration of a monitor, without secrets. */
export function MonitorFacts({ view, now }: { view: MonitorView; now: number }) {
  const { row, state } = view.record;
  const { isPush } = TYPE_FORMS[row.type];
  const every = timeInWords(row.intervalSeconds * SECOND_MS);
  return (
    <Section title="Configuration">
      <Card>
        <Facts
          items={[
            { label: typeLabel(row.type), value: targetOf(row), isWide: true },
            { label: isPush ? "Expected every" : "Checked every", value: every },
            ...(isPush
              ? [
                  {
                    label: "Last heartbeat",
                    value:
                      state.heartbeatAt === null ? (
                        <span class="quiet-text">None yet</span>
                      ) : (
                        <RelativeTime at={toIso(state.heartbeatAt)} now={now} />
                      ),
                  },
                ]
              : [
                  { label: "Timeout", value: latencyInWords(row.timeoutMs) },
                  {
                    label: "Checked again after",
                    value: timeInWords(row.retryIntervalSeconds * SECOND_MS),
                  },
                ]),
            { label: "Down after", value: `${plural(row.failureThreshold, "failure")} in a row` },
            {
              label: "Up after",
              value:
                row.successThreshold === 1
                  ? "1 success"
                  : `${row.successThreshold} successes in a row`,
            },
            ...(row.degradedAfterMs === null
              ? []
              : [{ label: "Degraded above", value: latencyInWords(row.degradedAfterMs) }]),
            { label: "Incidents", value: INCIDENTS[row.openIncident] },
            { label: "Component status while down", value: STATUS_WORDS[row.onDown] },
            { label: "Components", value: <Components of={view.components} />, isWide: true },
            { label: "Created", value: <RelativeTime at={toIso(row.createdAt)} now={now} /> },
            { label: "Reference", value: <code>{row.ref}</code> },
            { label: "Id", value: <code>{row.id}</code>, isWide: true },
          ]}
        />
      </Card>
    </Section>
  );
}

function Components({ of: components }: { of: readonly MonitoredComponent[] }) {
  if (components.length === 0) return <span class="quiet-text">None</span>;
  return (
    <ul class="named">
      {components.map(({ id, name, status, ownStatus }) => (
        <li key={id}>
          <a href={componentPath(id)}>{name}</a> <StatusLabel status={status} />
          {ownStatus === undefined ? null : (
            <span class="quiet-text"> set by this monitor: {STATUS_WORDS[ownStatus]}</span>
          )}
        </li>
      ))}
    </ul>
  );
}
