import { Elysia } from "elysia";
import type { Snapshots } from "../../features/status";
import { session, sessionOf } from "../../http";
import type { AdminParts } from "../parts";
import { HOME_PATH } from "../paths";
import { screenOperation } from "../screen-operation";
import { readNow } from "./now";
import { Overview } from "./overview";

/** `/admin`. */
export function overviewAdminRoutes({ ctx, admissions, render }: AdminParts, snapshots: Snapshots) {
  return new Elysia().use(admissions.plugin).get(
    HOME_PATH,
    async ({ request, admission }) => {
      const state = readNow(ctx.db, snapshots, admission.now);
      const { role } = sessionOf(admission).user;
      return render.screen(
        { request, admission },
        {
          title: "Overview",
          children: (
            <Overview state={state} storage={ctx.db.storage()} role={role} now={admission.now} />
          ),
        },
      );
    },
    screenOperation("What is open now, and every status page", session("viewer")),
  );
}
