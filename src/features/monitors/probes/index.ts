import type { MonitorType } from "../../../domain/monitor-state";
import type { Probe } from "../probe";
import { dnsProbe } from "./dns";
import { httpProbe } from "./http";
import { pingProbe } from "./ping";
import { pushProbe } from "./push";
import { tcpProbe } from "./tcp";
import { tlsProbe } from "./tls";

export { graceSecondsOf } from "./push";

/** Every type of monitor. The bodies of requests and answers, the OpenAPI document and forms follow from it. */
const PROBES = {
  http: httpProbe,
  tcp: tcpProbe,
  tls: tlsProbe,
  dns: dnsProbe,
  ping: pingProbe,
  push: pushProbe,
} satisfies { [Type in MonitorType]: { type: Type } };

/** The config of a monitor, of whatever type: what its probe made of it. */
export type MonitorConfig = Readonly<Record<string, unknown>>;

/**
 * Returns the probe of a type. It receives only configs of its type that passed its schema and its
 * `validate`.
 */
export function probeOf(type: MonitorType): Probe<MonitorType, MonitorConfig> {
  return PROBES[type] as unknown as Probe<MonitorType, MonitorConfig>;
}
