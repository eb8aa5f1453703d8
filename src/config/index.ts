/** The settings: one table of options, and the loader that reads flags and environment by it. */
export { type GivenFlags, type LoadedConfig, loadConfig } from "./load";
export { type Config, OPTIONS, type Option, type OptionName, optionNames } from "./options";
export { formatHost, type ListenAddress, listenUrl, type Network, parseBaseUrl } from "./parse";
