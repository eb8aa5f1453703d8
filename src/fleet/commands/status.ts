import type { Alarm } from "../../features/alarms/alarms";
import type { FleetState } from "../../features/alarms/fleet";
import type { Clock } from "../../base/clock";
import { bodyOf, describeRefusal, requestNode } from "../node-client";
import { NODES_PATH } from "../wire";

/** State of a fleet as its primary answers `GET /fleet/v1/nodes`. */
export interface FleetStatus extends FleetState {
  alarms: readonly Alarm[];
  /** Id of the primary's process; an earlier version does not send it. */
  run?: string;
}

const DEADLINE_MS = 3_000;

/** Asks the primary for the state of the fleet. Rejects if it does not answer with it in time. */
export async function fetchFleetStatus(
  clock: Clock,
  address: string,
  token: string,
): Promise<FleetStatus> {
  const answer = await requestNode(
    {
      address,
      method: "GET",
      pathAndQuery: NODES_PATH,
      headers: {},
      token,
      deadlineMs: DEADLINE_MS,
    },
    clock,
  );
  const body = await new Response(bodyOf(answer, clock, DEADLINE_MS)).text();
  if (answer.statusCode !== 200) {
    throw new Error(`it answered with ${describeRefusal(answer.statusCode)}`);
  }
  return JSON.parse(body) as FleetStatus;
}
