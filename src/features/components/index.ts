/**
 * Components and their groups: what they are, what marks them and since when, and so what they show.
 * A status is never set directly; baselines and causes are, and the worst of them shows.
 */
export {
  Component,
  ComponentGroup,
  ComponentInput,
  GroupInput,
  presentComponent,
  presentGroup,
} from "./model";
export { type CauseInterval, knownSpan, uptime } from "./rules";
export {
  createComponent,
  createGroup,
  deleteComponent,
  deleteGroup,
  updateComponent,
  updateGroup,
} from "./service";
export { setBaselines } from "./set-status";
export {
  type ComponentRow,
  type GroupRow,
  listCausesOfPage,
  listComponentsOfPage,
  listGroups,
} from "./store";
