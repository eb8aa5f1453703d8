/**
 * References: what requests may name a component, a monitor or a webhook by besides its id. A component
 * is also `<page slug>:<ref>`, a monitor or a webhook its `ref`.
 */
export {
  componentIdOf,
  componentIdsOf,
  ComponentReference,
  monitorIdOf,
  REFERENCE_MAX,
  webhookIdOf,
} from "./resolve";
