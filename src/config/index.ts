/** Settings: the table of options, and the loader that reads flags and environment variables. */
export {
  type Config,
  type GivenFlags,
  loadConfig,
  type OptionName,
  optionNames,
  OPTIONS,
  type OptionSource,
  setterOf,
} from "./options";
export {
  formatHost,
  formatNetwork,
  type ListenAddress,
  listenUrl,
  type Network,
  parseBaseUrl,
  parseNetworks,
} from "./parse";
