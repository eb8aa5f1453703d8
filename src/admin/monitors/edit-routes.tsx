import { Elysia } from "elysia";
import {
  getMonitorRecord,
  type Monitor,
  presentMonitor,
  updateMonitor,
} from "../../features/monitors";
import { actorOf, formBody, session, sessionOf } from "../../http";
import { createDone } from "../done";
import { type Complaints, NO_COMPLAINTS, statusOf } from "../field-errors";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { MONITORS_PATH, monitorPath } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { STALE_MESSAGE } from "../screens/rejection";
import { requireSameVersion, isStale } from "../stale";
import { requireActiveCheck } from "./asked";
import { monitorComplaintsOrThrow } from "./complaints";
import { readComponentParts } from "./component-choice";
import { EditMonitor } from "./edit-monitor";
import { CHECK_NOW } from "./new-monitor";
import { MORE_ROWS } from "./request-inputs";
import {
  EMPTY_ROWS,
  MORE_EMPTY_ROWS,
  requestComplaints,
  shownAgain,
  typedSecrets,
} from "./request-values";
import type { Trial } from "./trial";
import { createTryOut } from "./try-out";
import type { TypedSecrets } from "./typed-secrets";
import { type MonitorValues, readMonitor, storedMonitor, toChange } from "./values";

/** Content of the form when it is shown again. */
interface Answer {
  values: MonitorValues;
  complaints?: Complaints;
  stale?: string;
  trial?: Trial;
  emptyRows?: number;
}

/** Routes that edit a monitor, below `/admin/monitors`. */
export function editMonitorRoutes(deps: AdminDependencies, secrets: TypedSecrets) {
  const { ctx, requestContexts, render, writeAs } = deps;
  const done = createDone(deps.flashes);
  const tryOut = createTryOut(deps);
  const MAY_WRITE = session("admin");

  function showEdit(at: ScreenRequest, id: string, draft: string, answer?: Answer) {
    const record = getMonitorRecord(ctx.db, id);
    const monitor = presentMonitor(record);
    const held = secrets.find(sessionOf(at.requestContext).id, draft);
    const { complaints = NO_COMPLAINTS, stale, emptyRows = EMPTY_ROWS } = answer ?? {};
    const values = answer?.values ?? storedMonitor(monitor);
    const form = {
      monitor,
      isFromFile: record.row.managedBy === "apply",
      values: { ...values, request: shownAgain(values.request, held, monitor.config, emptyRows) },
      parts: readComponentParts(ctx.db),
      complaints,
      stale,
      trial: answer?.trial,
      draft,
    };
    return render.screen(at, {
      title: "Edit monitor",
      status: stale === undefined ? statusOf(complaints) : 409,
      children: <EditMonitor {...form} />,
    });
  }

  return new Elysia({ prefix: MONITORS_PATH })
    .use(requestContexts.plugin)
    .get(
      "/:id/edit",
      async ({ request, requestContext, params }) =>
        showEdit({ request, requestContext }, params.id, newFormToken(ctx)),
      screenOperation("The form that edits a monitor", MAY_WRITE),
    )
    .post(
      "/:id/edit",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const at = { request, requestContext };
        const sessionId = sessionOf(requestContext).id;
        const before: Monitor = presentMonitor(getMonitorRecord(ctx.db, id));
        const values = readMonitor(form, before.type);
        const draft = form.text("draft");
        const typed = typedSecrets(values.request, secrets.find(sessionId, draft));
        secrets.hold(sessionId, draft, typed);
        const intent = form.text("intent");
        if (intent === MORE_ROWS) {
          return showEdit(at, id, draft, { values, emptyRows: MORE_EMPTY_ROWS });
        }
        const lost = requestComplaints(values.request, typed, before.config);
        if (statusOf(lost) !== 200) return showEdit(at, id, draft, { values, complaints: lost });
        /** Updates the monitor, computing the change from the row as stored in the transaction. */
        const save = (tx: Parameters<typeof updateMonitor>[1]) => {
          const stored = getMonitorRecord(tx, id);
          const change = toChange(values, typed, presentMonitor(stored));
          const after = updateMonitor(ctx, tx, id, change, actorOf(requestContext));
          return { after, isChanged: after.row.version !== stored.row.version, stored };
        };
        try {
          if (intent === CHECK_NOW) {
            requireActiveCheck(before.type);
            const trial = await tryOut(requestContext, (tx) => save(tx).after.row);
            return await showEdit(at, id, draft, { values, trial });
          }
          const isChanged = await writeAs(requestContext, (tx) => {
            const saved = save(tx);
            if (saved.isChanged) requireSameVersion(form, saved.stored.row);
            return saved.isChanged;
          });
          secrets.forget(sessionId, draft);
          return done(
            requestContext,
            monitorPath(id),
            isChanged ? "The monitor was changed." : undefined,
          );
        } catch (error) {
          if (isStale(error)) return showEdit(at, id, draft, { values, stale: STALE_MESSAGE });
          const complaints = monitorComplaintsOrThrow(error, before.type);
          return showEdit(at, id, draft, { values, complaints });
        }
      },
      { ...formBody(), ...screenOperation("Edit a monitor, or try it out", MAY_WRITE) },
    );
}
