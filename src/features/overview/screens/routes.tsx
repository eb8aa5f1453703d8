import { declareRoutes } from "../../../http/elysia";
import { type Role, roleAllows } from "../../../base/actor";
import type { Reader } from "../../../db/statements";
import { searchAudit } from "../../../events/audit-search";
import { formBody } from "../../../http/form-body";
import { session } from "../../../http/operation";
import { actorOf, type RequestContext, sessionOf } from "../../../http/request-context";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { HOME_PATH } from "../../../ui/frame/paths";
import { shareRead } from "../../../ui/frame/shared-read";
import { screenOperation } from "../../../ui/screens/routes";
import { linksOf } from "../../activity/screens/target-links";
import type { Alarm } from "../../alarms/alarms";
import { createIncidentCache } from "../../incidents/records";
import { setFirstStepsHidden } from "../../settings/settings";
import { readAttention } from "./attention";
import { readLastDay } from "./blocks";
import { readCurrentState } from "./current-state";
import { HIDE_STEPS_PATH, readFirstSteps, SHOW_STEPS_PATH } from "./first-steps";
import { createHealthReader } from "./health";
import { Overview, type OverviewData, readMailTroubles } from "./overview";

/** Changes that the overview shows. */
const CHANGES_SHOWN = 6;

/** Routes of `/admin`. */
export function overviewAdminRoutes(deps: AdminDependencies) {
  const { ctx, render, flashes, writeAs, fleet, monitoring } = deps;
  const readHealth = createHealthReader();
  const readIncidents = createIncidentCache();

  async function read(reader: Reader, role: Role, now: number): Promise<OverviewData> {
    const state = readCurrentState(reader, readIncidents, now);
    const health = await readHealth(reader, state, now);
    return {
      state,
      attention: readAttention(reader, state, { role, now }),
      health,
      firstSteps: readFirstSteps(reader, { ...state, health, role, now }),
      day: readLastDay(reader, state, now),
      mail: readMailTroubles(ctx, state, { role, now }),
      changes: roleAllows(role, "admin") ? readChanges(reader, role) : undefined,
    };
  }

  const readAs = (role: Role) => shareRead(ctx.db, (now) => read(ctx.db, role, now));
  const readers: Record<Role, (now: number) => Promise<OverviewData>> = {
    owner: readAs("owner"),
    admin: readAs("admin"),
    editor: readAs("editor"),
    viewer: readAs("viewer"),
  };

  async function setHidden(requestContext: RequestContext, isHidden: boolean): Promise<Response> {
    await writeAs(requestContext, (tx) =>
      setFirstStepsHidden(ctx, tx, isHidden, actorOf(requestContext)),
    );
    const text = isHidden
      ? "The first steps are hidden. A button at the end of this screen shows them again."
      : "The first steps are shown again.";
    return flashes.redirect(sessionOf(requestContext).id, HOME_PATH, text);
  }

  return declareRoutes()
    .get(
      HOME_PATH,
      async ({ request, requestContext }) => {
        const { now } = requestContext;
        const { role } = sessionOf(requestContext).user;
        const data = await readers[role](now);
        const isForRole = ({ kind }: Alarm) => kind === "network_lost" || roleAllows(role, "admin");
        const alarms = (fleet?.alarms.list() ?? []).filter(isForRole);
        const storage = ctx.db.storage();
        const isTooBusy = monitoring.isTooBusy();
        return render.screen(
          { request, requestContext },
          {
            title: "Overview",
            children: <Overview {...{ data, storage, isTooBusy, alarms, role, now }} />,
          },
        );
      },
      screenOperation(session("viewer")),
    )
    .post(HIDE_STEPS_PATH, async ({ requestContext }) => setHidden(requestContext, true), {
      ...formBody(),
      ...screenOperation(session("admin")),
    })
    .post(SHOW_STEPS_PATH, async ({ requestContext }) => setHidden(requestContext, false), {
      ...formBody(),
      ...screenOperation(session("admin")),
    });
}

function readChanges(reader: Reader, role: Role): OverviewData["changes"] {
  const entries = searchAudit(reader, { limit: CHANGES_SHOWN });
  const ids = entries.map(({ targetId }) => targetId);
  return { entries, links: linksOf(reader, ids, role) };
}
