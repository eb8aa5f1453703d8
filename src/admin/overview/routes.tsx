import { Elysia } from "elysia";
import type { Reader } from "../../db";
import { type Role, roleAllows } from "../../domain/role";
import { searchAudit } from "../../events";
import { hideFirstSteps } from "../../features/settings";
import type { Snapshots } from "../../features/status";
import { actorOf, formBody, session, sessionOf } from "../../http";
import { linksOf } from "../activity/target-links";
import type { AdminDependencies } from "../dependencies";
import { HOME_PATH } from "../paths";
import { screenOperation } from "../screen-operation";
import { readAttention } from "./attention";
import { readCurrentState } from "./current-state";
import { HIDE_STEPS_PATH, readFirstSteps } from "./first-steps";
import { createHealthReader } from "./health";
import { readLastDay } from "./last-day";
import { Overview, type OverviewData } from "./overview";

/** Changes that the overview shows. */
const CHANGES_SHOWN = 6;

/** Routes of `/admin`. */
export function overviewAdminRoutes(
  { ctx, requestContexts, render, flashes, writeAs }: AdminDependencies,
  snapshots: Snapshots,
) {
  const readHealth = createHealthReader();

  async function read(reader: Reader, role: Role, now: number): Promise<OverviewData> {
    const state = readCurrentState(reader, snapshots, now);
    const health = await readHealth(reader, state, now);
    return {
      state,
      attention: readAttention(reader, state, { role, now }),
      health,
      steps: readFirstSteps(reader, { pages: state.pages, health, role, now }),
      day: readLastDay(reader, state, now),
      changes: roleAllows(role, "admin") ? readChanges(reader, role) : undefined,
    };
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      HOME_PATH,
      async ({ request, requestContext }) => {
        const { now } = requestContext;
        const { role } = sessionOf(requestContext).user;
        const data = await read(ctx.db, role, now);
        return render.screen(
          { request, requestContext },
          {
            title: "Overview",
            children: <Overview data={data} storage={ctx.db.storage()} role={role} now={now} />,
          },
        );
      },
      screenOperation("Show open incidents, maintenance and status pages", session("viewer")),
    )
    .post(
      HIDE_STEPS_PATH,
      async ({ requestContext }) => {
        await writeAs(requestContext, (tx) => hideFirstSteps(ctx, tx, actorOf(requestContext)));
        const { id } = sessionOf(requestContext);
        return flashes.redirect(id, HOME_PATH, "The first steps are hidden.");
      },
      { ...formBody(), ...screenOperation("Hide the first steps", session("admin")) },
    );
}

function readChanges(reader: Reader, role: Role): OverviewData["changes"] {
  const entries = searchAudit(reader, { limit: CHANGES_SHOWN });
  const ids = entries.map(({ targetId }) => targetId);
  return { entries, links: linksOf(reader, ids, role) };
}
