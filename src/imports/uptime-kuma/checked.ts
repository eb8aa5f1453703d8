import type { CreateMonitorBody } from "../../features/monitors/wire";
import type { MonitorRow, Row } from "./database";
import type { Notes } from "./notes";

/** Objects of Uptime Kuma on which monitors depend. */
export interface MonitorContext {
  proxies: ReadonlyMap<number, Row>;
  /** Names of Docker hosts here, by their ids there. */
  dockerHosts: ReadonlyMap<number, string>;
  /** Returns true for the name of a Docker host that is defined here. */
  isDefined(name: string): boolean;
  /** Days before the expiry of a certificate from which checks warn. */
  warningDays: number;
}

/** Type of a monitor here, with its config. `settings` take the place of those of all types. */
export interface Checked extends Pick<CreateMonitorBody, "type" | "config"> {
  settings?: Partial<Omit<CreateMonitorBody, "name" | "type" | "config">>;
}

/** Reason, in one sentence, for which a monitor is kept and not checked. */
export class Held {
  constructor(readonly reason: string) {}
}

/** Reads the type and the config of a monitor. Differences go into the notes. */
export type ReadType = (
  monitor: MonitorRow,
  notes: Notes,
  context: MonitorContext,
) => Checked | Held;
