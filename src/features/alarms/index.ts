/**
 * Alarms: of this server's network, and of the parts for more than one machine, such as mirror, CDN, replicas,
 * fleet store and Valkey.
 */
export { type Alarm, AlarmEventData, type Alarms, createAlarms } from "./alarms";
export type { CdnState, Fleet, FleetNode, FleetState, MirrorState } from "./fleet";
export { dismissOrphans, readUndismissed, type SetAside, setAsideId } from "./orphans";
export { ALARM_KINDS, type AlarmKind, ALARMS } from "./kinds";
