/**
 * Components and their groups: what they are, what marks them and since when, and so what they show.
 * A status is never set directly; baselines and causes are, and the worst of them shows.
 */
export {
  Component,
  ComponentChange,
  ComponentGroup,
  ComponentInput,
  GroupInput,
  presentChange,
  presentComponent,
  presentGroup,
  UpdateComponentBody,
  UpdateComponentsBody,
} from "./model";
export { type CauseInterval, knownSpan, uptime } from "./rules";
export {
  createComponent,
  createGroup,
  deleteComponent,
  deleteGroup,
  getComponent,
  getComponentRow,
  updateComponent,
  updateGroup,
} from "./service";
export { type ChangeReason, setBaselines } from "./set-status";
export {
  type CauseRow,
  type ComponentRow,
  type GroupRow,
  listCausesOfPage,
  listChanges,
  listComponentsBefore,
  listComponentsOfPage,
  listGroups,
  listOpenCauses,
  listPageComponentsBefore,
} from "./store";
