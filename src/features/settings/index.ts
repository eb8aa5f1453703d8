/**
 * Settings of the dashboard: the public address, from which links are built, the networks that webhooks may
 * reach, and the visibility of the first steps and of the built-in incident templates. The options `--base-url` and `--outbound-allow` have precedence.
 */
export {
  readAllowedNetworks,
  setAllowedNetworks,
  validateAllowedNetworks,
} from "./allowed-networks";
export {
  followSettings,
  readPublicAddress,
  setPublicAddress,
  validatePublicAddress,
} from "./service";
export { deleteSetting, findSetting, putSetting } from "./store";
export {
  areBuiltInTemplatesHidden,
  areFirstStepsHidden,
  declareSwitch,
  setBuiltInTemplatesHidden,
  setFirstStepsHidden,
} from "./switches";
