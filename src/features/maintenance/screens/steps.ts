import type { MaintenanceStatus } from "../../../base/status";
import { isUnderWay } from "../rules";
import type { Maintenance } from "../wire";

/** Steps of a maintenance that are taken with a button and a confirmation. */
export const STEP_NAMES = ["start", "finish", "cancel"] as const;
export type StepName = (typeof STEP_NAMES)[number];

interface Step {
  /** Status after the step. */
  status: MaintenanceStatus;
  /** Returns true if the step is possible in a status. */
  isPossible(status: MaintenanceStatus): boolean;
  /** Label of the button that opens the confirmation. */
  label(maintenance: Maintenance, now: number): string;
  title(name: string): string;
  /** Consequences of the step, shown in the confirmation. */
  text: string;
  /** Default message of the update. */
  body: string;
  button: string;
  /** Label of the button that cancels the confirmation. */
  keep: string;
  isDanger?: boolean;
  done: string;
}

export const STEPS: Record<StepName, Step> = {
  start: {
    status: "in_progress",
    isPossible: (status) => status === "scheduled",
    label: () => "Start now",
    title: (name) => `Start “${name}” now`,
    text: "The maintenance starts now, regardless of the planned time. Its components are shown as under maintenance.",
    body: "The maintenance has begun.",
    button: "Start maintenance",
    keep: "Not yet",
    done: "The maintenance has started.",
  },
  finish: {
    status: "completed",
    isPossible: isUnderWay,
    label: ({ scheduled_until: until }, now) =>
      now < Date.parse(until) ? "Complete early" : "Complete now",
    title: (name) => `Complete “${name}” now`,
    text: "The maintenance ends now, and its components are no longer under maintenance. This cannot be undone.",
    body: "The maintenance has been completed.",
    button: "Complete maintenance",
    keep: "Not yet",
    done: "The maintenance is completed.",
  },
  cancel: {
    status: "cancelled",
    isPossible: (status) => status === "scheduled" || isUnderWay(status),
    label: () => "Cancel maintenance",
    title: (name) => `Cancel “${name}”`,
    text: "The maintenance does not take place or ends now. The page shows it as cancelled. This cannot be undone.",
    body: "The maintenance has been cancelled.",
    button: "Cancel maintenance",
    keep: "Keep maintenance",
    isDanger: true,
    done: "The maintenance is cancelled.",
  },
};
