import type { MonitorType } from "../../../base/status";
import type { Probe } from "../monitoring";
import { alertProbe } from "./alert";
import { dnsProbe } from "./dns";
import { dockerProbe } from "./docker";
import { domainProbe } from "./domain";
import { grpcProbe } from "./grpc";
import { httpProbe } from "./http";
import { mqttProbe } from "./mqtt";
import { mysqlProbe } from "./mysql";
import { pingProbe } from "./ping";
import { postgresProbe } from "./postgres";
import { pushProbe } from "./push";
import { redisProbe } from "./redis";
import { smtpProbe } from "./smtp";
import { sshProbe } from "./ssh";
import { tcpProbe } from "./tcp";
import { tlsProbe } from "./tls";
import { unsupportedProbe } from "./unsupported";
import { upstreamProbe } from "./upstream";
import { websocketProbe } from "./websocket";

/**
 * All types of monitors. Bodies, answers, the OpenAPI document and forms are made from this list.
 */
const PROBES = {
  http: httpProbe,
  tcp: tcpProbe,
  tls: tlsProbe,
  dns: dnsProbe,
  ping: pingProbe,
  push: pushProbe,
  alert: alertProbe,
  websocket: websocketProbe,
  grpc: grpcProbe,
  postgres: postgresProbe,
  mysql: mysqlProbe,
  redis: redisProbe,
  mqtt: mqttProbe,
  smtp: smtpProbe,
  ssh: sshProbe,
  docker: dockerProbe,
  domain: domainProbe,
  upstream: upstreamProbe,
  unsupported: unsupportedProbe,
} satisfies { [Type in MonitorType]: { type: Type } };

/** Config of a monitor of any type, as its probe stores it. */
export type MonitorConfig = Readonly<Record<string, unknown>>;

/**
 * Returns the probe of a type. It receives only configs of its type that passed its schema and its
 * `validate`.
 */
export function probeOf(type: MonitorType): Probe<MonitorType, MonitorConfig> {
  return PROBES[type] as unknown as Probe<MonitorType, MonitorConfig>;
}
