import { conflict } from "../../base/errors";
import { addMaintenanceUpdate } from "../../features/maintenance/progress";
import { isEnded } from "../../features/maintenance/rules";
import { updateMaintenance } from "../../features/maintenance/plan";
import { sessionOf } from "../../http/request-context";
import { MAINTENANCE_WORDS } from "../../public/words";
import { Button } from "../../ui/buttons";
import { DialogForm } from "../../ui/form";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import type { StateOf } from "../../ui/forms/form";
import { FormFields } from "../../ui/forms/fields";
import { MAINTENANCE_PATH, maintenancePath } from "../../ui/frame/paths";
import type { Screen } from "../../ui/frame/render";
import type { Area } from "../../ui/screens/area";
import { type At, ShowInstead } from "../../ui/screens/routes";
import { FormScreen } from "../../ui/screens/form-screen";
import { MaintenanceDetail } from "./detail";
import { MAINTENANCE_FORM, STEP_FORM, UPDATE_FORM } from "./forms";
import { pathsOfMaintenance } from "./maintenance-paths";
import { previewMaintenance, readMaintenanceView } from "./maintenance-view";
import { type StepName, STEP_NAMES, STEPS } from "./steps";

/** Adds the screen of one maintenance with its next update, its edit form and its steps. */
export function addMaintenanceRoutes(area: Area, { ctx }: AdminDependencies): void {
  const home = ({ params }: { params: { id: string } }) => maintenancePath(params.id);

  function detail(
    { requestContext, query }: Pick<At<string>, "requestContext" | "query">,
    state: StateOf<typeof UPDATE_FORM>,
  ): Screen {
    const notice = state.notice && `${state.notice} Nothing was published.`;
    const { role } = sessionOf(requestContext).user;
    const page = { role, before: query["before"], now: ctx.clock.now() };
    return {
      title: state.context.maintenance.name,
      children: <MaintenanceDetail nextUpdate={{ ...state, notice }} {...page} />,
    };
  }

  area.form("/:id", {
    showSummary: "Show a maintenance",
    summary: "Publish an update of a maintenance",
    readRole: "viewer",
    form: UPDATE_FORM,
    load: (reader, { params }) => readMaintenanceView(ctx, reader, params.id),
    show: (state, at) => detail(at, state),
    submit: (tx, body, actor, { params }) =>
      addMaintenanceUpdate(ctx, tx, params.id, body, actor).update.id,
    done: (_, at) => ({ path: home(at), text: "The update was published." }),
    preview: {
      showSummary: "Redirect to the maintenance",
      summary: "Preview an update of a maintenance",
      show: (tx, _, { params }) => previewMaintenance(ctx, tx, params.id),
    },
  });

  area.editForm("/:id/edit", {
    showSummary: "Show the form for a maintenance",
    summary: "Edit a maintenance",
    form: MAINTENANCE_FORM,
    load(reader, at) {
      const context = readMaintenanceView(ctx, reader, at.params.id);
      const { maintenance } = context;
      // A submitted form is a conflict instead, so that it is shown again.
      if (at.sent === undefined && isEnded(maintenance.status)) {
        throw new ShowInstead({ path: home(at) });
      }
      const components = maintenance.components.map(({ id }) => id);
      return { resource: { ...maintenance, components }, version: maintenance.version, context };
    },
    show(state) {
      const { id, name, status } = state.context.maintenance;
      const paths = pathsOfMaintenance(id);
      return {
        title: "Edit maintenance",
        children: (
          <FormScreen
            title="Edit maintenance"
            crumbs={[
              { href: MAINTENANCE_PATH, label: "Maintenance" },
              { href: paths.home, label: name },
            ]}
            intro={
              status === "scheduled"
                ? undefined
                : "After the start, the end can only be moved to a later time. Moving it sends no notifications."
            }
            form={MAINTENANCE_FORM}
            state={state}
            action={paths.edit}
          >
            <Button kind="primary">Save changes</Button>
          </FormScreen>
        ),
      };
    },
    update: (tx, changes, actor, { params }, { maintenance }) =>
      updateMaintenance(ctx, tx, params.id, changes, actor).version !== maintenance.version,
    done: (at) => ({ path: home(at), text: "The maintenance was changed." }),
  });

  function addStep(name: StepName): void {
    const step = STEPS[name];
    area.form(`/:id/${name}`, {
      showSummary: `Show the confirmation for the step “${name}”`,
      summary: step.summary,
      form: STEP_FORM,
      initial: () => ({ body: step.body }),
      load(reader, at) {
        const view = readMaintenanceView(ctx, reader, at.params.id);
        // A submitted form is a conflict instead, so that its message is kept.
        if (at.sent === undefined && !step.isPossible(view.maintenance.status)) {
          throw new ShowInstead({ path: home(at) });
        }
        return view;
      },
      show(state, at) {
        const { maintenance, audience } = state.context;
        if (state.notice !== undefined) {
          // The message can still be published as an update without a new status.
          return detail(at, { ...state, values: UPDATE_FORM.initial(state.values) });
        }
        const title = step.title(maintenance.name);
        return {
          title,
          children: (
            <DialogForm
              title={title}
              action={pathsOfMaintenance(maintenance.id).step(name)}
              hidden={state.hidden}
              button={step.button}
              isDanger={step.isDanger ?? false}
              cancelHref={maintenancePath(maintenance.id)}
              cancel={step.keep}
            >
              <FormFields form={STEP_FORM} state={state}>
                <p>{step.text}</p>
              </FormFields>
              {audience === undefined ? null : <p class="hint">{audience}</p>}
            </DialogForm>
          ),
        };
      },
      submit(tx, body, actor, { params }, { maintenance: { status } }) {
        if (!step.isPossible(status)) {
          throw conflict(`The status of the maintenance is now “${MAINTENANCE_WORDS[status]}”.`);
        }
        const update = { ...body, status: step.status };
        return addMaintenanceUpdate(ctx, tx, params.id, update, actor).update.id;
      },
      done: (_, at) => ({ path: home(at), text: step.done }),
    });
  }

  for (const name of STEP_NAMES) addStep(name);
}
