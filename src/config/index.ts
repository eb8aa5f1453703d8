/** Settings: the table of options, and the loader that reads flags and environment variables. */
export { type GivenFlags, loadConfig } from "./load";
export { type Config, type OptionName, optionNames, OPTIONS, setterOf, usesFleet } from "./options";
export type { DockerAddress, DockerHosts } from "./docker-hosts";
export { FLEET_STORE_OPTION_NAMES } from "./fleet-options";
export type { Option } from "./option";
export type { PurgeHeader } from "./cdn-options";
export { certificatesError, trustedAuthorities } from "./certificates";
export { PROXY_OPTION_NAMES } from "./proxy-options";
export {
  CONNECTIONS_MAX,
  DEFAULT_PORTS,
  MAIL_OPTION_NAMES,
  parseAddress,
  parseBounceAddress,
  parseCredential,
  parseSender,
  RATE_MAX,
  relayErrors,
  TLS_MODES,
  type TlsMode,
} from "./mail-options";
export {
  formatHost,
  formatNetwork,
  type ListenAddress,
  listenUrl,
  type Network,
  parseBaseUrl,
  parseHostName,
  parseNetworks,
} from "./parse";
export { readConfig, writeConfig } from "./transfer";
