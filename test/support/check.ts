import type { ProbeContext, ProbeResult } from "../../src/features/monitors/monitoring";
import type { MonitorConfig } from "../../src/features/monitors/probes";
import type { MonitorType } from "../../src/base/status";
import { probe } from "./probe";

/** Name of which the tests' certificate `other` is not. All names resolve to this machine. */
export const NAMES = { localhost: [["127.0.0.1"]], "shop.test": [["127.0.0.1"]] };

/** Runs a check of a server on loopback, of which the config names only what differs. */
export function checkOf(type: MonitorType, defaults: MonitorConfig = {}) {
  return (
    { port }: { port: number },
    config: MonitorConfig = {},
    context: Partial<ProbeContext> = {},
  ): Promise<ProbeResult> =>
    probe(type, { host: "localhost", port, ...defaults, ...config }, { names: NAMES, context });
}
