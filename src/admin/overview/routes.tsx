import { Elysia } from "elysia";
import type { Reader } from "../../db";
import { type Role, roleAllows } from "../../domain/role";
import { searchAudit } from "../../events";
import type { Snapshots } from "../../features/status";
import { session, sessionOf } from "../../http";
import { linksOf } from "../activity/target-links";
import type { AdminDependencies } from "../dependencies";
import { HOME_PATH } from "../paths";
import { screenOperation } from "../screen-operation";
import { readAttention } from "./attention";
import { readCurrentState } from "./current-state";
import { createHealthReader } from "./health";
import { readLastDay } from "./last-day";
import { Overview, type OverviewData } from "./overview";

/** Changes that the overview shows. */
const CHANGES_SHOWN = 6;

/** Routes of `/admin`. */
export function overviewAdminRoutes(
  { ctx, requestContexts, render }: AdminDependencies,
  snapshots: Snapshots,
) {
  const readHealth = createHealthReader();

  function read(reader: Reader, role: Role, now: number): OverviewData {
    const state = readCurrentState(reader, snapshots, now);
    return {
      state,
      attention: readAttention(reader, state, { role, now }),
      health: readHealth(reader, state, now),
      day: readLastDay(reader, state, now),
      changes: roleAllows(role, "admin") ? readChanges(reader, role) : undefined,
    };
  }

  return new Elysia().use(requestContexts.plugin).get(
    HOME_PATH,
    async ({ request, requestContext }) => {
      const { now } = requestContext;
      const { role } = sessionOf(requestContext).user;
      return render.screen(
        { request, requestContext },
        {
          title: "Overview",
          children: (
            <Overview
              data={read(ctx.db, role, now)}
              storage={ctx.db.storage()}
              role={role}
              now={now}
            />
          ),
        },
      );
    },
    screenOperation("Show open incidents, maintenance and status pages", session("viewer")),
  );
}

function readChanges(reader: Reader, role: Role): OverviewData["changes"] {
  const entries = searchAudit(reader, { limit: CHANGES_SHOWN });
  const ids = entries.map(({ targetId }) => targetId);
  return { entries, links: linksOf(reader, ids, role) };
}
