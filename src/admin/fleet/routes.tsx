import { roleAllows } from "../../base/actor";
import { dismissOrphans, setAsideId } from "../../features/alarms/orphans";
import { sessionOf } from "../../http/request-context";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { FLEET_PATH } from "../../ui/frame/paths";
import { createArea } from "../../ui/screens/area";
import { FleetScreen } from "./fleet";

/** Settings → Fleet: for admins. Owners dismiss events of earlier primaries. */
export function fleetAdminRoutes(deps: AdminDependencies) {
  const area = createArea(deps, FLEET_PATH, "admin");
  area.screen("", "Show the mirror, the CDN, the nodes and their alarms", ({ requestContext }) => {
    const canDismiss = roleAllows(sessionOf(requestContext).user.role, "owner");
    const { now } = requestContext;
    return {
      title: "Fleet",
      children: <FleetScreen fleet={deps.fleet} canDismiss={canDismiss} now={now} />,
    };
  });

  area.screen("/orphans", "Redirect to the fleet", () => ({ path: FLEET_PATH }));

  area.action("/orphans", {
    role: "owner",
    summary: "Dismiss the events of an earlier primary",
    run(tx, { sent }, actor) {
      const id = sent.text("database");
      const orphans = deps.fleet?.nodes?.().orphans ?? [];
      const setAside = orphans.find((one) => setAsideId(one) === id);
      return setAside !== undefined && dismissOrphans(deps.ctx, tx, setAside, actor);
    },
    done: (isDismissed) => ({
      path: FLEET_PATH,
      text: isDismissed ? "The events were dismissed." : undefined,
    }),
  });
  return area.routes;
}
