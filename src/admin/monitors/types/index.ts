import type { MonitorType } from "../../../base/status";
import { mysqlForm, postgresForm } from "./databases";
import { dnsForm } from "./dns";
import { dockerForm } from "./docker";
import { domainForm } from "./domain";
import { grpcForm } from "./grpc";
import { httpForm } from "./http";
import { mqttForm } from "./mqtt";
import { pingForm } from "./ping";
import { pushForm } from "./push";
import { redisForm } from "./redis";
import { smtpForm } from "./smtp";
import { sshForm } from "./ssh";
import { tcpForm } from "./tcp";
import { tlsForm } from "./tls";
import { unsupportedForm } from "./unsupported";
import { websocketForm } from "./websocket";
import type { TypeForm } from "./type-form";

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
