import type { ReadType } from "./checked";
import { readMqtt, readMysql, readPostgres, readRedis } from "./database-types";
import { readHttp, readRabbitMq } from "./http-types";
import type { Mapping } from "./mapping";
import {
  readDns,
  readDocker,
  readGrpc,
  readPing,
  readPort,
  readPush,
  readSmtp,
  readWebSocket,
} from "./server-types";

interface TypeMapping extends Mapping {
  /** Absent for types without a monitor here. */
  read?: ReadType;
}

const HELD: TypeMapping = {
  to: "unsupported",
  rule: "It is kept with its settings and history, and not checked.",
};

/** Types of monitors. A type that is missing here is kept as those that cannot be checked. */
export const MONITOR_TYPES: Readonly<Record<string, TypeMapping>> = {
  http: { to: "http", rule: "With its statuses as an assertion.", read: readHttp },
  keyword: { to: "http", rule: "With an assertion that the body contains it.", read: readHttp },
  "json-query": {
    to: "http",
    rule: "With an assertion on the JSON. It is switched off with other JSONata than names and indexes.",
    read: readHttp,
  },
  port: {
    to: "tcp",
    rule: "If it warns of certificates: `tls`, or `smtp` with STARTTLS. Kept and not checked if it expects an alert of TLS.",
    read: readPort,
  },
  ping: {
    to: "ping",
    rule: "One request of the usual size. Switched off where this server can send none.",
    read: readPing,
  },
  dns: { to: "dns", rule: "The first resolver is asked.", read: readDns },
  push: {
    to: "push",
    rule: "Jobs go on calling the same path. Retries lengthen the grace period.",
    read: readPush,
  },
  docker: {
    to: "docker",
    rule: "Switched off until ALLCLEAR_DOCKER_HOSTS defines the host.",
    read: readDocker,
  },
  postgres: { to: "postgres", rule: "The query can only read.", read: readPostgres },
  mysql: { to: "mysql", rule: "The query can only read.", read: readMysql },
  redis: {
    to: "redis",
    rule: "A password goes on being sent without verified TLS (`allow_plain_password`), which is reported.",
    read: readRedis,
  },
  mqtt: {
    to: "mqtt",
    rule: "Kept and not checked over a WebSocket. Passwords as for `redis`.",
    read: readMqtt,
  },
  smtp: { to: "smtp", rule: "", read: readSmtp },
  "websocket-upgrade": {
    to: "websocket",
    rule: "Kept and not checked with OAuth 2.0 and client certificates.",
    read: readWebSocket,
  },
  "grpc-keyword": {
    to: "grpc",
    rule: "Only for `grpc.health.v1.Health`. Others are kept and not checked.",
    read: readGrpc,
  },
  group: {
    to: "the group of its members",
    rule: "On a page it becomes a component that all members watch.",
  },
  manual: {
    to: "a component",
    rule: "Its status is that of the component at the first import. Without a page it is kept and not checked.",
  },
  rabbitmq: {
    to: "http",
    rule: "With one node. Several are kept and not checked.",
    read: readRabbitMq,
  },
  gamedig: HELD,
  globalping: HELD,
  "kafka-producer": HELD,
  mongodb: HELD,
  ntp: HELD,
  oracledb: HELD,
  pm2: HELD,
  radius: HELD,
  "real-browser": HELD,
  sftp: HELD,
  "sip-options": HELD,
  snmp: HELD,
  sqlserver: HELD,
  steam: HELD,
  "system-service": HELD,
  "tailscale-ping": HELD,
};

/** Returns the mapping of a type; undefined for one that this version does not know. */
export function typeOf(type: string): TypeMapping | undefined {
  return Object.hasOwn(MONITOR_TYPES, type) ? MONITOR_TYPES[type] : undefined;
}
