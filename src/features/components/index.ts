/**
 * Components and their groups, their causes and statuses. The status is never set directly: it is
 * the worst of the manual status and all open causes.
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
export {
  type ComponentCause,
  endCauses,
  openCauses,
  replaceCauses,
  replaceCausesOfComponent,
} from "./causes";
export { ComponentEventData } from "./refresh-statuses";
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
export { addPastCauses, knowEarlier } from "./past";
export { setManualStatuses } from "./set-status";
export {
  type CauseRow,
  listChanges,
  listEndedCausesOf,
  listNamedCausesOfPage,
  listIncidentCausesOf,
  listOpenCausesOf,
  listOpenCausesOfPage,
  listOpenCausesOfSource,
} from "./cause-store";
export { searchComponents } from "./search-store";
export {
  findLastTrouble,
  listCausesBetween,
  listTroubledComponents,
  listWatchedComponents,
} from "./trouble-store";
export {
  countStatuses,
  type ComponentOnPage,
  type ComponentRow,
  findComponent,
  findComponents,
  findGroup,
  type GroupRow,
  findComponentAt,
  listComponentsOfPage,
  listGroups,
} from "./store";
