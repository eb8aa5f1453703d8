import type { ComponentChildren } from "preact";
import type { CauseRow, ComponentRow } from "../../features/components";
import { incidentPath, maintenancePath, monitorPath } from "../paths";

/** What marks a component now, with the name of the incident, maintenance or monitor that does. */
export interface NamedCause {
  cause: CauseRow;
  name: string | null;
}

/** More reasons than these are counted. */
const REASONS_MAX = 3;

/** The causes that make a component show what it shows: those that are as bad as that. */
export function effectiveCauses(
  { status }: Pick<ComponentRow, "status">,
  causes: readonly NamedCause[],
): NamedCause[] {
  return causes.filter(({ cause }) => cause.status === status);
}

/** What marks it besides what somebody set by hand or by API. */
export function otherCauses(causes: readonly NamedCause[]): NamedCause[] {
  return causes.filter(({ cause }) => !["manual", "api"].includes(cause.source));
}

/** "because of the incident “Errors”", led to; for the eye and the ear, after the status. */
export function CauseList({ causes }: { causes: readonly NamedCause[] }) {
  const shown = causes.slice(0, REASONS_MAX);
  const more = causes.length - shown.length;
  return (
    <>
      {shown.map((each, index) => (
        <span key={each.cause.id}>
          {index > 0 ? ", " : ""}
          <Reason of={each} />
        </span>
      ))}
      {more > 0 ? ` and ${more} more` : ""}
    </>
  );
}

function Reason({ of: { cause, name } }: { of: NamedCause }): ComponentChildren {
  switch (cause.source) {
    case "incident":
      return (
        <>
          because of the incident{" "}
          <a href={incidentPath(cause.sourceId)}>{name ?? "without name"}</a>
        </>
      );
    case "maintenance":
      return (
        <>
          because of the maintenance{" "}
          <a href={maintenancePath(cause.sourceId)}>{name ?? "without name"}</a>
        </>
      );
    case "monitor":
      return (
        <>
          because of the monitor <a href={monitorPath(cause.sourceId)}>{name ?? "without name"}</a>
        </>
      );
    default:
      return PLAIN_REASONS[cause.source];
  }
}

const PLAIN_REASONS = {
  manual: "set by hand",
  api: "set by the API",
  import: "taken over from elsewhere",
} as const;

/** The same as one sentence's end, without links. */
export function whyInWords({ cause, name }: NamedCause): string {
  const { source } = cause;
  return source === "incident" || source === "maintenance" || source === "monitor"
    ? `because of the ${source} “${name ?? "without name"}”`
    : PLAIN_REASONS[source];
}
