import type { AdminDependencies } from "../dependencies";
import { FLEET_PATH } from "../paths";
import { createArea } from "../screens/area";
import { FleetScreen } from "./fleet";

/** Settings → Fleet: for admins. */
export function fleetAdminRoutes(deps: AdminDependencies) {
  const area = createArea(deps, FLEET_PATH, "admin");
  area.screen("", "Show the mirror, the CDN, the nodes and their alarms", ({ requestContext }) => ({
    title: "Fleet",
    children: <FleetScreen fleet={deps.fleet} now={requestContext.now} />,
  }));
  return area.routes;
}
