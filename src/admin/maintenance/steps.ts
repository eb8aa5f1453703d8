import { isUnderWay, type Maintenance } from "../../features/maintenance";
import type { MaintenanceStatus } from "../../kernel/incident-status";

/** What can be done to a maintenance by one click and one question. */
export const STEP_NAMES = ["start", "finish", "cancel"] as const;
export type StepName = (typeof STEP_NAMES)[number];

interface Step {
  /** The status that it leads to. */
  status: MaintenanceStatus;
  /** Whether a maintenance is where the step can be taken. */
  isPossible(status: MaintenanceStatus): boolean;
  /** On the button that asks. */
  label(maintenance: Maintenance, now: number): string;
  title(name: string): string;
  /** What it means, said before it is done. */
  text: string;
  /** What people are told unless something else is written. */
  body: string;
  button: string;
  /** On the way back. */
  keep: string;
  isDanger?: boolean;
  done: string;
  /** What its form does, for the table of routes. */
  summary: string;
}

export const STEPS: Record<StepName, Step> = {
  start: {
    status: "in_progress",
    isPossible: (status) => status === "scheduled",
    label: () => "Start now",
    title: (name) => `Start “${name}” now`,
    text: "It is under way from now on, whatever time was planned, and its components are shown under maintenance.",
    body: "The maintenance has begun.",
    button: "Start maintenance",
    keep: "Not yet",
    done: "The maintenance is under way.",
    summary: "Start a maintenance",
  },
  finish: {
    status: "completed",
    isPossible: isUnderWay,
    label: ({ scheduled_until: until }, now) =>
      now < Date.parse(until) ? "Finish early" : "Finish now",
    title: (name) => `Finish “${name}” now`,
    text: "It is completed, and its components show again what they would without it. This is final.",
    body: "The maintenance has been completed.",
    button: "Finish maintenance",
    keep: "Not yet",
    done: "The maintenance is completed.",
    summary: "Finish a maintenance",
  },
  cancel: {
    status: "cancelled",
    isPossible: (status) => status === "scheduled" || isUnderWay(status),
    label: () => "Cancel maintenance",
    title: (name) => `Cancel “${name}”`,
    text: "It will not take place, or not go on. Its page stays and says so. This is final.",
    body: "The maintenance has been cancelled.",
    button: "Cancel maintenance",
    keep: "Keep it",
    isDanger: true,
    done: "The maintenance is cancelled.",
    summary: "Cancel a maintenance",
  },
};
