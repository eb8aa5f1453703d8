import { cutName } from "../options";
import { given, list, type MonitorRow, number, readConnection, text } from "./database";

/** Maximum length of a target, in characters. */
const TARGET_MAX = 200;

/** Returns the short form of the address of a monitor, without credentials and query; its type without one. */
export function targetOf(monitor: MonitorRow): string {
  return cutName(addressOf(monitor) ?? text(monitor.type), "unknown", TARGET_MAX);
}

function addressOf(monitor: MonitorRow): string | undefined {
  switch (text(monitor.type)) {
    case "kafka-producer":
      return hostsOf(list(monitor.kafka_producer_brokers));
    case "rabbitmq":
      return hostsOf(list(monitor.rabbitmq_nodes));
    case "grpc-keyword":
      return hostsOf([text(monitor.grpc_url)]);
    case "docker":
      return given(monitor.docker_container);
    case "system-service":
    case "pm2":
      return given(monitor.system_service_name);
  }
  const port = number(monitor.port, 0);
  const hostname = given(monitor.hostname);
  if (hostname !== undefined) {
    const host = hostsOf([hostname]) ?? withoutUser(hostname);
    return port > 0 && !/:\d+$/.test(host) ? `${host}:${port}` : host;
  }
  const connection = text(monitor.database_connection_string);
  if (connection !== "") return databaseOf(connection);
  const url = URL.parse(text(monitor.url));
  return url?.host ? `${url.host}${url.pathname === "/" ? "" : url.pathname}` : undefined;
}

/** Returns an address that is no URL without its user name and password. */
function withoutUser(address: string): string {
  return address.replace(/^.*@/s, "").replace(/^\w+:\/\//, "");
}

/** Returns the hosts of addresses with or without a scheme. */
function hostsOf(addresses: readonly string[]): string | undefined {
  const hosts = addresses.flatMap((address) => {
    const url = URL.parse(/^\w+:\/\//.test(address) ? address : `tcp://${address}`);
    return url?.host ? [url.host] : [];
  });
  return hosts.join(", ") || undefined;
}

/** Returns the host of a connection string, which may be a URL or a list of words of Microsoft SQL Server. */
function databaseOf(text: string): string | undefined {
  const connection = readConnection(text);
  if (connection) {
    const { host, port } = connection;
    return port === undefined ? host : `${host}:${port}`;
  }
  const [, server] = /(?:^|;)\s*(?:server|data source)\s*=\s*([\w.,:\\-]+)/i.exec(text) ?? [];
  if (server !== undefined) return server;
  return /^[\w.-]+(?::\d+)?(?:\/[\w.-]+)?$/.test(text) ? text : undefined;
}
