/** Settings: the table of options, and the loader that reads flags and environment variables. */
export {
  type Config,
  type GivenFlags,
  loadConfig,
  type OptionName,
  optionNames,
  OPTIONS,
} from "./options";
export { formatHost, type ListenAddress, listenUrl, type Network, parseBaseUrl } from "./parse";
