import { roleAllows } from "../../domain/role";
import { IMPACT_TONES } from "../../domain/tone";
import type { OpenIncident } from "../../features/incidents";
import { INCIDENT_WORDS } from "../../public/words";
import { pathsOfIncident } from "../incidents/incident-paths";
import { incidentPath, monitorPath } from "../paths";
import type { AttentionEntry, AttentionSource, MonitorIncident } from "./attention-source";
import { updateOf } from "./attention-components";
import { Elapsed, LastUpdate } from "./parts";

/**
 * Finds the monitor that opened an incident and is up again. Undefined while another monitor of the
 * incident is not up.
 */
function findRecoveredMonitor(
  { incidentsOfMonitors }: AttentionSource,
  id: string,
): MonitorIncident | undefined {
  const own = incidentsOfMonitors.filter(({ incidentId }) => incidentId === id);
  return own.every(({ monitorState }) => monitorState === "up")
    ? own.toSorted((a, b) => b.monitorSince - a.monitorSince)[0]
    : undefined;
}

/**
 * Entries of published open incidents that no other row names. If the monitor that opened an
 * incident is up again, the entry offers to resolve it.
 */
export function incidentRows(source: AttentionSource): AttentionEntry[] {
  const { incidents, named, now, role, pageNames } = source;
  const canWrite = roleAllows(role, "editor");
  return [...incidents.values()].flatMap((incident): AttentionEntry[] => {
    const { id, name, status, startedAt, impact, pageId, updateAt } = incident;
    if (incident.isDraft || named.has(id)) return [];
    const monitor = findRecoveredMonitor(source, id);
    const pageName = pageNames?.get(pageId);
    return [
      {
        kind: "incident",
        tone: IMPACT_TONES[impact],
        since: startedAt,
        read: () => ({
          name,
          href: incidentPath(id),
          state: (
            <>
              {INCIDENT_WORDS[status]} for <Elapsed since={startedAt} now={now} />
            </>
          ),
          note: (
            <>
              Incident{pageName === undefined ? "" : ` of ${pageName}`} ·{" "}
              {monitor ? <Recovered monitor={monitor} now={now} /> : "Open"}
              <LastUpdate at={updateAt} now={now} />.
            </>
          ),
          action: !canWrite
            ? undefined
            : monitor
              ? { href: pathsOfIncident(id).resolve, label: "Resolve" }
              : updateOf(incident),
        }),
      },
    ];
  });
}

function Recovered({ monitor, now }: { monitor: MonitorIncident; now: number }) {
  const { monitorId, monitorName, monitorSince } = monitor;
  return (
    <>
      <a href={monitorPath(monitorId)}>{monitorName}</a> has been up for{" "}
      <Elapsed since={monitorSince} now={now} />
    </>
  );
}

/** Entries of drafts that no other row names. */
export function draftRows(source: AttentionSource): AttentionEntry[] {
  const { incidents, named, now, pageNames, role } = source;
  return [...incidents.values()].flatMap((incident: OpenIncident): AttentionEntry[] => {
    const { id, name, createdAt, pageId } = incident;
    if (!incident.isDraft || named.has(id)) return [];
    const monitor = findRecoveredMonitor(source, id);
    const pageName = pageNames?.get(pageId);
    return [
      {
        kind: "draft",
        tone: "none",
        since: createdAt,
        read: () => ({
          name,
          href: incidentPath(id),
          state: (
            <>
              Draft for <Elapsed since={createdAt} now={now} />
            </>
          ),
          note: (
            <>
              Incident{pageName === undefined ? "" : ` of ${pageName}`} · Private until published.
              {monitor ? (
                <>
                  {" "}
                  <Recovered monitor={monitor} now={now} />.
                </>
              ) : null}
            </>
          ),
          action: roleAllows(role, "editor")
            ? { href: incidentPath(id), label: "Review draft" }
            : undefined,
        }),
      },
    ];
  });
}
