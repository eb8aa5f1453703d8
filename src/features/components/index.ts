/**
 * Components and their groups: what they are, what marks them and since when, and so what they show.
 * A status is never set directly; baselines and causes are, and the worst of them shows.
 */
export {
  ComponentFilter,
  ComponentReference,
  existenceProblem,
  pathInList,
  readComponentFilter,
  REFERENCE_MAX,
  resolveComponentId,
  resolveComponents,
  type ResolvedComponent,
} from "./component-reference";
export {
  createComponent,
  createGroup,
  deleteComponent,
  deleteComponentsOfPage,
  deleteGroup,
  getComponentRow,
  getGroupRow,
  updateComponent,
  updateGroup,
} from "./service";
export { type ComponentCause, endCauses, openCauses, replaceCauses } from "./causes";
export { type ComponentOrder, nextPosition, orderComponents } from "./order";
export {
  COLLAPSE,
  Component,
  type ComponentChange,
  ComponentGroup,
  ComponentInput,
  GroupInput,
  presentChange,
  presentComponent,
  presentGroup,
  Status,
  UpdateComponentBody,
} from "./model";
export {
  addTimes as addStatusTimes,
  type CauseInterval,
  type DayOf,
  foldDays,
  type Folded,
  foldSpans,
  type Interval,
  type Span,
} from "./history";
export {
  countedTime,
  downTime,
  knownFrom,
  knownSpan,
  uptime,
  uptimeOfDays,
  uptimeOfTime,
} from "./rules";
export { setManualStatuses } from "./set-status";
export {
  type CauseRow,
  listChanges,
  listEndedCausesOf,
  listNamedCausesOfPage,
  listOpenCausesOfPage,
  listOpenCausesOfSource,
} from "./cause-store";
export {
  type ComponentRow,
  findComponent,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
} from "./store";
