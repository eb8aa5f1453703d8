import type { ComponentChildren } from "preact";
import type { CauseRow } from "../../features/components/cause-store";
import type { ComponentRow } from "../../features/components/store";
import { incidentPath, maintenancePath, monitorPath } from "../../ui/frame/paths";

/** Open cause of a component's status, with the name of its incident, maintenance or monitor. */
export interface NamedCause {
  cause: CauseRow;
  name: string | null;
}

/** Number of causes listed by name. Further ones are only counted. */
const LISTED_CAUSES_MAX = 3;

/** Returns the causes that have the component's status, which is the worst of all. */
export function effectiveCauses(
  { status }: Pick<ComponentRow, "status">,
  causes: readonly NamedCause[],
): NamedCause[] {
  return causes.filter(({ cause }) => cause.status === status);
}

/** Returns the causes other than the manual status. */
export function otherCauses(causes: readonly NamedCause[]): NamedCause[] {
  return causes.filter(({ cause }) => !["manual", "api"].includes(cause.source));
}

/** Causes with links, to follow a status: "because of the incident “Errors” and 2 more". */
export function CauseList({ causes }: { causes: readonly NamedCause[] }) {
  const shown = causes.slice(0, LISTED_CAUSES_MAX);
  const more = causes.length - shown.length;
  return (
    <>
      {shown.map((each, index) => (
        <span key={each.cause.id}>
          {index > 0 ? ", " : ""}
          <LinkedCause of={each} />
        </span>
      ))}
      {more > 0 ? ` and ${more} more` : ""}
    </>
  );
}

function LinkedCause({ of: { cause, name } }: { of: NamedCause }): ComponentChildren {
  switch (cause.source) {
    case "incident":
      return (
        <>
          because of the incident{" "}
          <a href={incidentPath(cause.sourceId)}>{name ?? "without a name"}</a>
        </>
      );
    case "maintenance":
      return (
        <>
          because of the maintenance{" "}
          <a href={maintenancePath(cause.sourceId)}>{name ?? "without a name"}</a>
        </>
      );
    case "monitor":
      return (
        <>
          because of the monitor{" "}
          <a href={monitorPath(cause.sourceId)}>{name ?? "without a name"}</a>
        </>
      );
    default:
      return UNLINKED_CAUSES[cause.source];
  }
}

const UNLINKED_CAUSES = {
  manual: "set manually",
  api: "set by the API",
  import: "imported",
} as const;

/** Returns a cause as the end of a sentence: "because of the incident “Errors”". */
export function describeCause({ cause, name }: NamedCause): string {
  const { source } = cause;
  return source === "incident" || source === "maintenance" || source === "monitor"
    ? `because of the ${source} “${name ?? "without a name"}”`
    : UNLINKED_CAUSES[source];
}
