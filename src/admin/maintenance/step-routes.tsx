import { Elysia } from "elysia";
import { conflict } from "../../errors";
import {
  addMaintenanceUpdate,
  getMaintenanceRecord,
  isEnded,
  type MaintenanceRow,
} from "../../features/maintenance";
import { actorOf, formBody, seeOther, session } from "../../http";
import { MAINTENANCE_WORDS } from "../../public/words";
import { createDone } from "../done";
import { NO_COMPLAINTS } from "../field-errors";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { maintenancePath } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { MaintenanceDetail } from "./detail";
import { readMaintenanceView } from "./maintenance-view";
import { toUpdate, type UpdateRejection, updateRejectionOrThrow } from "./next-update";
import { readStep, StepForm } from "./step-form";
import { type StepName, STEPS } from "./steps";
import type { UpdateValues } from "./update-form";

/** Reason for which a step was rejected, with the typed values. */
interface StepRejection extends UpdateRejection {
  values: UpdateValues;
}

/** Routes that ask before a maintenance is started, finished or cancelled, and do so. */
export function maintenanceStepRoutes(deps: AdminDependencies, name: StepName) {
  const { ctx, requestContexts, render, writeOnceAs } = deps;
  const done = createDone(deps.flashes);
  const MAY_WRITE = session("editor");
  const step = STEPS[name];

  function showStep(at: ScreenRequest, id: string, refused?: StepRejection) {
    const view = readMaintenanceView(ctx, ctx.db, id);
    const { maintenance } = view;
    const formToken = newFormToken(ctx);
    if (refused?.rejection !== undefined) {
      // It went on meanwhile: what can be done to it is another question now.
      const detail = { view, mayWrite: true, refused, formToken, now: ctx.clock.now() };
      const screen = { title: maintenance.name, status: refused.status };
      return render.screen(at, { ...screen, children: <MaintenanceDetail {...detail} /> });
    }
    if (!step.isPossible(maintenance.status)) return seeOther(maintenancePath(id));
    const form = {
      maintenance,
      name,
      values: refused?.values ?? { body: step.body, isNotifying: true },
      complaints: refused?.complaints ?? NO_COMPLAINTS,
      formToken,
    };
    return render.screen(at, {
      title: step.title(maintenance.name),
      status: refused?.status ?? 200,
      children: <StepForm {...form} />,
    });
  }

  /**
   * Throws `conflict` if the step was taken meanwhile. The service refuses steps of ended
   * maintenance.
   */
  function requirePossible({ status }: MaintenanceRow): void {
    if (step.isPossible(status) || isEnded(status)) return;
    throw conflict(`The maintenance is ${MAINTENANCE_WORDS[status].toLowerCase()} by now.`);
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      `/:id/${name}`,
      async ({ request, requestContext, params }) =>
        showStep({ request, requestContext }, params.id),
      screenOperation(`Asks: ${step.summary}`, MAY_WRITE),
    )
    .post(
      `/:id/${name}`,
      async ({ request, requestContext, params: { id }, body: form }) => {
        const values = { ...readStep(form), status: step.status, displayAt: "" };
        try {
          await writeOnceAs(requestContext, form, (tx) => {
            requirePossible(getMaintenanceRecord(tx, id).row);
            const update = toUpdate(values);
            const made = addMaintenanceUpdate(ctx, tx, id, update, actorOf(requestContext));
            return { made, subjectId: made.update.id };
          });
        } catch (error) {
          const rejection = updateRejectionOrThrow(error, values);
          // Where it went on meanwhile, what was written can still be told, without taking it anywhere.
          const kept = { ...values, status: "" };
          return showStep({ request, requestContext }, id, { ...rejection, values: kept });
        }
        return done(requestContext, maintenancePath(id), step.done);
      },
      { ...formBody(), ...screenOperation(step.summary, MAY_WRITE) },
    );
}
