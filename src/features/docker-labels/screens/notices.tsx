import { plural } from "../../../base/text";
import { toIso } from "../../../base/time";
import { Notice } from "../../../ui/blocks";
import { RelativeTime } from "../../../ui/times";
import type { LabelReport } from "../docker-labels";
import type { DockerMonitorRow } from "../store";

/** Number of labels that are listed; further ones are counted. */
const SHOWN = 5;

/** Docker hosts that cannot be read, and labels that are not applied; nothing without one. */
export function LabelNotices({ report, now }: { report: LabelReport; now: number }) {
  const { silent, problems, more, readAt } = report;
  const rest = Math.max(0, problems.length - SHOWN) + more;
  return (
    <div class="alarms" id="label-notices" data-live="">
      {silent.length === 0 ? null : (
        <Notice tone="degraded" title="Labels of containers cannot be read">
          <ul>
            {silent.map(({ host, detail }) => (
              <li key={host}>
                Docker host {host}: {detail}
              </li>
            ))}
          </ul>
          <p>
            Meanwhile, the monitors of their labels stay as they are.{" "}
            <code>ALLCLEAR_DOCKER_LABELS=off</code> ends the reading.
          </p>
        </Notice>
      )}
      {problems.length === 0 ? null : (
        <Notice tone="degraded" title="Some labels of containers are not applied">
          <ul>
            {problems.slice(0, SHOWN).map(({ host, container, detail }) => (
              <li key={`${host} ${container} ${detail}`}>
                <strong>
                  {container} on {host}
                </strong>
                : {detail}
              </li>
            ))}
          </ul>
          <p>
            {rest > 0 ? `And ${plural(rest, "more problem")}. ` : ""}
            {readAt === undefined ? null : (
              <>
                Read <RelativeTime at={toIso(readAt)} now={now} />.
              </>
            )}
          </p>
        </Notice>
      )}
    </div>
  );
}

/** Says above a form that labels declare a monitor, and which of its settings people keep. */
export function ManagedByLabels({ source }: { source: DockerMonitorRow }) {
  return (
    <Notice tone="maint" title="Managed by labels of a container">
      {source.removedAt === null
        ? `The labels of ${source.container} reset this monitor within a minute.`
        : `The container ${source.container} was removed. Once it is made again, its labels reset this monitor.`}{" "}
      To keep a change, make it in the labels. Secrets stay, and so does pausing.
    </Notice>
  );
}

/** Paragraph of a deletion: the labels of a container that is still there create the monitor again. */
export function RecreatedByLabels({ source }: { source: DockerMonitorRow }) {
  if (source.removedAt !== null) return null;
  return (
    <p>
      The monitor is managed by labels of the container {source.container}, which create it again
      unless you remove them. A new monitor has no history.
    </p>
  );
}

/** Container whose labels declare a monitor. */
export function LabelledContainer({ source, now }: { source: DockerMonitorRow; now: number }) {
  return (
    <>
      {source.container} on {source.host}
      {source.removedAt === null ? null : (
        <>
          , removed <RelativeTime at={toIso(source.removedAt)} now={now} />
        </>
      )}
    </>
  );
}
