/**
 * Settings of the dashboard: the public address, from which links are built. The option
 * `--base-url` has precedence; the listen address is the default.
 */
export {
  followPublicAddress,
  validatePublicAddress,
  readPublicAddress,
  setPublicAddress,
} from "./service";
