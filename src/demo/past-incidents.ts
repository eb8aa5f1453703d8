import type { ComponentStatus } from "../base/status";
import incidents from "./past-incidents.json";

/** An incident of the past year, without its time. */
export interface PastIncident {
  name: string;
  component: string;
  status: ComponentStatus;
  /** Its length; 0 if it is open. */
  minutes: number;
  /** Effect for users, as it was reported. */
  report: string;
  cause: string;
  fix: string;
  /** Missing if it is open. */
  end?: string;
  postmortem?: string;
}

/** The incidents from the oldest to the newest. The last one is open. */
export const PAST_INCIDENTS = incidents as readonly PastIncident[];
