import type { MonitorType } from "../../../../base/status";
import { domainForm } from "./domain";
import { httpForm } from "./http";
import type { TypeForm } from "./type-form";
import {
  dnsForm,
  dockerForm,
  grpcForm,
  mqttForm,
  mysqlForm,
  pingForm,
  postgresForm,
  pushForm,
  redisForm,
  smtpForm,
  sshForm,
  tcpForm,
  tlsForm,
  websocketForm,
} from "./types";
import { unsupportedForm } from "./unsupported";

/** Forms by monitor type. */
export const TYPE_FORMS: Readonly<Record<MonitorType, TypeForm>> = {
  http: httpForm,
  tcp: tcpForm,
  tls: tlsForm,
  dns: dnsForm,
  ping: pingForm,
  push: pushForm,
  websocket: websocketForm,
  grpc: grpcForm,
  postgres: postgresForm,
  mysql: mysqlForm,
  redis: redisForm,
  mqtt: mqttForm,
  smtp: smtpForm,
  ssh: sshForm,
  docker: dockerForm,
  domain: domainForm,
  unsupported: unsupportedForm,
};
