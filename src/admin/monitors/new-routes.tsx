import { Elysia } from "elysia";
import { createMonitor } from "../../features/monitors";
import { makeOnce } from "../../features/submissions";
import { actorOf, type RequestContext, type Form, formBody, session, sessionOf } from "../../http";
import { MONITOR_TYPES, type MonitorType } from "../../domain/monitor-state";
import { createDone } from "../done";
import { type Complaints, NO_COMPLAINTS, statusOf } from "../field-errors";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { MONITORS_PATH, monitorPath } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { requireActiveCheck } from "./asked";
import { monitorComplaintsOrThrow } from "./complaints";
import { readComponentParts } from "./component-choice";
import { CHECK_NOW, NewMonitor } from "./new-monitor";
import { MORE_ROWS } from "./request-inputs";
import {
  EMPTY_ROWS,
  MORE_EMPTY_ROWS,
  requestComplaints,
  shownAgain,
  typedSecrets,
} from "./request-values";
import { createTokenReveal } from "./show-token";
import type { Trial } from "./trial";
import { createTryOut } from "./try-out";
import type { TypedSecrets } from "./typed-secrets";
import { TYPE_FORMS } from "./types";
import { emptyMonitor, type MonitorValues, readMonitor, toCreation } from "./values";

/** Content of the form when it is shown again. */
interface Answer {
  complaints?: Complaints;
  trial?: Trial;
  emptyRows?: number;
}

/** Routes that create a monitor, below `/admin/monitors`. */
export function newMonitorRoutes(deps: AdminDependencies, secrets: TypedSecrets) {
  const { ctx, requestContexts, render, writeAs } = deps;
  const done = createDone(deps.flashes);
  const tryOut = createTryOut(deps);
  const showToken = createTokenReveal(deps);
  const MAY_WRITE = session("admin");

  function showForm(at: ScreenRequest, values: MonitorValues, draft: string, answer: Answer = {}) {
    const { complaints = NO_COMPLAINTS, trial, emptyRows = EMPTY_ROWS } = answer;
    const held = secrets.find(sessionOf(at.requestContext).id, draft);
    const form = {
      values: { ...values, request: shownAgain(values.request, held, undefined, emptyRows) },
      parts: readComponentParts(ctx.db),
      complaints,
      trial,
      hidden: { form: newFormToken(ctx), draft },
    };
    return render.screen(at, {
      title: "Create monitor",
      status: statusOf(complaints),
      children: <NewMonitor {...form} />,
    });
  }

  /**
   * Creates the monitor of a form, once per form token, and redirects to it. The token of a push
   * monitor is shown first.
   */
  async function create(at: ScreenRequest, form: Form, make: MakeMonitor): Promise<Response> {
    const { requestContext } = at;
    if (TYPE_FORMS[readType(form.text("type"))].isPush) {
      const reveal = await deps.reveals.reveal(requestContext, form, (tx) => {
        const { record, token } = make(tx, requestContext);
        return { made: { record, token: token ?? "" }, subjectId: record.row.id };
      });
      return showToken(at, reveal, "Copy the address now");
    }
    const sent = { sessionId: sessionOf(requestContext).id, digest: form.digest };
    const { subjectId } = await writeAs(requestContext, (tx) =>
      makeOnce(ctx, tx, sent, () => {
        const made = make(tx, requestContext);
        return { made, subjectId: made.record.row.id };
      }),
    );
    return done(
      requestContext,
      monitorPath(subjectId),
      "The monitor was created. The first check runs at once.",
    );
  }

  return new Elysia({ prefix: MONITORS_PATH })
    .use(requestContexts.plugin)
    .get(
      "/new",
      async ({ request, requestContext, query }) => {
        const component = query["component"];
        const values = emptyMonitor(readType(query["type"]), component ? [component] : []);
        return showForm({ request, requestContext }, values, newFormToken(ctx));
      },
      screenOperation("The form for a new monitor", MAY_WRITE),
    )
    .post(
      "/new",
      async ({ request, requestContext, body: form }) => {
        const at = { request, requestContext };
        const sessionId = sessionOf(requestContext).id;
        const values = readMonitor(form, readType(form.text("type")));
        const draft = form.text("draft");
        const typed = typedSecrets(values.request, secrets.find(sessionId, draft));
        secrets.hold(sessionId, draft, typed);
        const intent = form.text("intent");
        if (intent === MORE_ROWS) {
          return showForm(at, values, draft, { emptyRows: MORE_EMPTY_ROWS });
        }
        const lost = requestComplaints(values.request, typed, undefined);
        if (statusOf(lost) !== 200) return showForm(at, values, draft, { complaints: lost });
        const input = toCreation(values, typed);
        try {
          if (intent === CHECK_NOW) {
            requireActiveCheck(values.type);
            // What it is called is nothing that a check needs.
            const named = { ...input, name: input.name || "Trial" };
            const trial = await tryOut(requestContext, (tx) => {
              return createMonitor(ctx, tx, named, actorOf(requestContext)).record.row;
            });
            return await showForm(at, values, draft, { trial });
          }
          const response = await create(at, form, (tx, by) =>
            createMonitor(ctx, tx, input, actorOf(by)),
          );
          secrets.forget(sessionId, draft);
          return response;
        } catch (error) {
          const complaints = monitorComplaintsOrThrow(error, values.type);
          return showForm(at, values, draft, { complaints });
        }
      },
      { ...formBody(), ...screenOperation("Create a monitor, or try it out", MAY_WRITE) },
    );
}

type MakeMonitor = (
  tx: Parameters<typeof createMonitor>[1],
  requestContext: RequestContext,
) => ReturnType<typeof createMonitor>;

function readType(text: string | undefined): MonitorType {
  return MONITOR_TYPES.find((type) => type === text) ?? "http";
}
