/**
 * What is set in the dashboard rather than by flags and environment: the public address, from which
 * links are built. The option `--base-url` wins over it, and the listen address stands in for both.
 */
export {
  followPublicAddress,
  validatePublicAddress,
  readPublicAddress,
  setPublicAddress,
} from "./service";
