/**
 * Alarms of the parts for more than one machine: mirror, CDN, replicas, fleet store, Valkey. Loaded only with one
 * of these parts.
 */
export { type Alarm, AlarmEventData, type Alarms, createAlarms } from "./alarms";
export type { CdnState, Fleet, FleetNode, FleetState, MirrorState } from "./fleet";
export { dismissOrphans, readUndismissed, type SetAside, setAsideId } from "./orphans";
export { ALARM_KINDS, type AlarmKind, ALARMS } from "./kinds";
