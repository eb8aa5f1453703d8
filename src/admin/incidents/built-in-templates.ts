import type { IncidentStatus } from "../../domain/incident-status";

/** Template of a message that is part of the program. */
export interface BuiltInTemplate {
  id: string;
  label: string;
  status: IncidentStatus;
  /** Message in Markdown. */
  body: string;
}

/** Templates for the first update of an incident. */
export const REPORT_TEMPLATES: readonly BuiltInTemplate[] = [
  {
    id: "errors",
    label: "Investigating an error",
    status: "investigating",
    body: "We are seeing errors and are looking into the cause. We will post an update as soon as we know more.",
  },
  {
    id: "slow",
    label: "Slow responses",
    status: "investigating",
    body: "Requests take longer than usual. We are looking into the cause and will post an update as soon as we know more.",
  },
  {
    id: "third-party",
    label: "Third-party provider",
    status: "identified",
    body: "A provider that we depend on has a problem, which affects us. We are following its progress and will post an update when something changes.",
  },
  {
    id: "unknown",
    label: "Cause unknown",
    status: "investigating",
    body: "Something is not working as it should. We are finding out what it is and will post an update as soon as we know more.",
  },
];

/** Message of the update that resolves an incident. */
export const RESOLVED_TEXT = "This incident is resolved. Everything works as usual again.";

/** Templates for further updates. */
export const UPDATE_TEMPLATES: readonly BuiltInTemplate[] = [
  {
    id: "identified",
    label: "Cause found",
    status: "identified",
    body: "We have found the cause and are working on a fix.",
  },
  {
    id: "monitoring",
    label: "Fix in place",
    status: "monitoring",
    body: "A fix is in place. We are watching whether everything recovers.",
  },
  {
    id: "resolved",
    label: "Resolved",
    status: "resolved",
    body: RESOLVED_TEXT,
  },
];
