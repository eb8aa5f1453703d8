import { IMPACT_TONES, type MonitorState } from "../../base/status";
import { roleAllows } from "../../base/actor";
import type { OpenIncident } from "../../features/incidents/store";
import { INCIDENT_WORDS } from "../../public/words";
import { pathsOfIncident } from "../../features/incidents/screens/paths";
import { incidentPath, monitorPath } from "../../ui/frame/paths";
import type { AttentionEntry, AttentionSource, MonitorIncident } from "./attention-source";
import { updateOf } from "./attention-components";
import { Elapsed, LastUpdate, Links } from "./parts";

/**
 * Returns the monitors of an incident of which all outages have ended, the last one to recover first; undefined while
 * an outage lasts, and for an incident without outages.
 */
function findRecovered(
  { incidentsOfMonitors, outageCounts }: AttentionSource,
  id: string,
): readonly MonitorIncident[] | undefined {
  if (outageCounts.get(id)?.open !== 0) return undefined;
  return incidentsOfMonitors
    .filter(({ incidentId, monitorState }) => incidentId === id && isUp(monitorState))
    .toSorted((a, b) => b.monitorSince - a.monitorSince);
}

const isUp = (state: MonitorState) => state === "up" || state === "degraded";

/**
 * Entries of published open incidents that no other row names. If all outages of an incident have ended, the entry
 * offers to resolve it.
 */
export function incidentRows(source: AttentionSource): AttentionEntry[] {
  const { incidents, named, now, role, pageNames } = source;
  const canWrite = roleAllows(role, "editor");
  return [...incidents.values()].flatMap((incident): AttentionEntry[] => {
    const { id, name, status, startedAt, impact, pageId, updateAt } = incident;
    if (incident.isDraft || named.has(id)) return [];
    const recovered = findRecovered(source, id);
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
              {recovered ? <Recovered monitors={recovered} now={now} /> : "Open"}
              <LastUpdate at={updateAt} now={now} />.
            </>
          ),
          action: !canWrite
            ? undefined
            : recovered
              ? { href: pathsOfIncident(id).resolve, label: "Resolve" }
              : updateOf(incident),
        }),
      },
    ];
  });
}

function Recovered({ monitors, now }: { monitors: readonly MonitorIncident[]; now: number }) {
  const [last] = monitors;
  if (!last) return <>All outages have ended</>;
  return (
    <>
      <Links
        items={monitors.map(({ monitorId, monitorName }) => ({
          href: monitorPath(monitorId),
          name: monitorName,
        }))}
      />{" "}
      {monitors.length === 1 ? "has" : "have"} been up for{" "}
      <Elapsed since={last.monitorSince} now={now} />
    </>
  );
}

/** Entries of drafts that no other row names. */
export function draftRows(source: AttentionSource): AttentionEntry[] {
  const { incidents, named, now, pageNames, role } = source;
  return [...incidents.values()].flatMap((incident: OpenIncident): AttentionEntry[] => {
    const { id, name, createdAt, pageId } = incident;
    if (!incident.isDraft || named.has(id)) return [];
    const recovered = findRecovered(source, id);
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
              {recovered ? (
                <>
                  {" "}
                  <Recovered monitors={recovered} now={now} />.
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
