/**
 * Settings of the dashboard: the public address, from which links are built, and if the first steps
 * are hidden. The option `--base-url` has precedence; the listen address is the default.
 */
export { areFirstStepsHidden, setFirstStepsHidden } from "./first-steps";
export {
  followPublicAddress,
  validatePublicAddress,
  readPublicAddress,
  setPublicAddress,
} from "./service";
