import { Elysia } from "elysia";
import {
  deleteMonitor,
  getMonitorRecord,
  pauseMonitor,
  resumeMonitor,
  rotateToken,
} from "../../features/monitors";
import { actorOf, type RequestContext, formBody, seeOther, session } from "../../http";
import { createDeleteOnce, deletedSentence } from "../delete-once";
import { createDone } from "../done";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { MONITORS_PATH, monitorPath } from "../paths";
import { screenOperation } from "../screen-operation";
import { DeleteMonitor, RotateToken } from "./confirm";
import { createTokenReveal } from "./show-token";

/** Routes that pause, resume and delete a monitor or rotate its token, below `/admin/monitors`. */
export function monitorVerbRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, reveals, writeAs } = deps;
  const done = createDone(deps.flashes);
  const deleteOnce = createDeleteOnce(deps);
  const showToken = createTokenReveal(deps);
  const MAY_WRITE = session("admin");

  /** Pauses or resumes a monitor. Returns true if that changed anything. */
  function switchTo(verb: typeof pauseMonitor, requestContext: RequestContext, id: string) {
    return writeAs(requestContext, (tx) => {
      const { version } = getMonitorRecord(tx, id).row;
      return verb(ctx, tx, id, actorOf(requestContext)).row.version !== version;
    });
  }

  return new Elysia({ prefix: MONITORS_PATH })
    .use(requestContexts.plugin)
    .post(
      "/:id/pause",
      async ({ requestContext, params: { id } }) => {
        const isChanged = await switchTo(pauseMonitor, requestContext, id);
        const text = isChanged
          ? "The monitor is paused. Statuses set by the monitor have ended."
          : undefined;
        return done(requestContext, monitorPath(id), text);
      },
      { ...formBody(), ...screenOperation("Pause a monitor", MAY_WRITE) },
    )
    .post(
      "/:id/resume",
      async ({ requestContext, params: { id } }) => {
        const isChanged = await switchTo(resumeMonitor, requestContext, id);
        const text = isChanged ? "The monitor is watching again." : undefined;
        return done(requestContext, monitorPath(id), text);
      },
      { ...formBody(), ...screenOperation("Resume a monitor", MAY_WRITE) },
    )
    .get(
      "/:id/delete",
      async ({ request, requestContext, params }) => {
        const record = getMonitorRecord(ctx.db, params.id);
        const title = `Delete “${record.row.name}”`;
        return render.screen(
          { request, requestContext },
          { title, children: <DeleteMonitor title={title} record={record} /> },
        );
      },
      screenOperation("Asks before a monitor is deleted", MAY_WRITE),
    )
    .post(
      "/:id/delete",
      async ({ requestContext, params: { id }, body: form }) => {
        const deletion = { path: MONITORS_PATH, sentence: deletedSentence("monitor") };
        return deleteOnce(requestContext, form, deletion, (tx) => {
          const { row } = getMonitorRecord(tx, id);
          deleteMonitor(ctx, tx, id, actorOf(requestContext));
          return { made: row.name, subjectId: id };
        });
      },
      { ...formBody(), ...screenOperation("Delete a monitor", MAY_WRITE) },
    )
    .get(
      "/:id/rotate",
      async ({ request, requestContext, params }) => {
        const record = getMonitorRecord(ctx.db, params.id);
        if (record.row.type !== "push") return seeOther(monitorPath(record.row.id));
        const title = `Rotate the token of “${record.row.name}”`;
        const page = { title, record, formToken: newFormToken(ctx) };
        return render.screen(
          { request, requestContext },
          { title, children: <RotateToken {...page} /> },
        );
      },
      screenOperation("Asks before a push monitor gets another token", MAY_WRITE),
    )
    .post(
      "/:id/rotate",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const reveal = await reveals.reveal(requestContext, form, (tx) => {
          const made = rotateToken(ctx, tx, id, actorOf(requestContext));
          return { made, subjectId: id };
        });
        return showToken({ request, requestContext }, reveal, "Copy the new address now");
      },
      { ...formBody(), ...screenOperation("Give a push monitor another token", MAY_WRITE) },
    );
}
