import {
  createSchedule,
  deleteSchedule,
  updateSchedule,
} from "../../../features/maintenance/schedules/service";
import { getSchedule } from "../../../features/maintenance/schedules/records";
import type { Form as SentForm } from "../../../http/form-body";
import { sessionOf } from "../../../http/request-context";
import { Button, ButtonLink } from "../../../ui/buttons";
import { DialogForm } from "../../../ui/form";
import { ManagedByFile } from "../../components/managed";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { readPageComponents } from "../../../ui/forms/object-fields";
import { isChoosingPage, readPageContext } from "../../../ui/forms/page-field";
import { readPages } from "../../../ui/frame/page-choice";
import { MAINTENANCE_PATH, MAINTENANCE_SCHEDULES_PATH } from "../../../ui/frame/paths";
import { deletedText } from "../../../ui/screens/action-routes";
import { createArea } from "../../../ui/screens/area";
import { FormScreen } from "../../../ui/screens/form-screen";
import { NEW_SCHEDULE_PATH, pathsOfSchedule } from "../maintenance-paths";
import {
  NEW_SCHEDULE_FORM,
  nextOccurrences,
  SCHEDULE_FORM,
  SHOW_NEXT,
  storedSchedule,
} from "./forms";
import { readScheduleList, ScheduleList } from "./list";

const CREATE_TITLE = "Create schedule";
const CRUMBS = [
  { href: MAINTENANCE_PATH, label: "Maintenance" },
  { href: MAINTENANCE_SCHEDULES_PATH, label: "Schedules" },
];

const isShowingNext = (sent: SentForm) => sent.text("intent") === SHOW_NEXT;

/** `/admin/maintenance/schedules`: every role may read, editors write. */
export function scheduleAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, MAINTENANCE_SCHEDULES_PATH, "editor");

  area.screen(
    "",
    "List maintenance schedules",
    ({ requestContext }) => {
      const list = readScheduleList(ctx.db, ctx.clock.now());
      const { role } = sessionOf(requestContext).user;
      return { title: "Maintenance schedules", children: <ScheduleList list={list} role={role} /> };
    },
    { role: "viewer" },
  );

  area.form("/new", {
    showSummary: "Show the form for a new maintenance schedule",
    summary: "Create a maintenance schedule",
    form: NEW_SCHEDULE_FORM,
    load(reader, at) {
      const context = readPageContext(reader, at, CREATE_TITLE);
      return { ...context, ...readPageComponents(reader, context.page.id), next: [] };
    },
    initial: (_, { page }) => ({ time_zone: page.timeZone }),
    redisplay: (values, sent) => (isChoosingPage(sent) || isShowingNext(sent) ? values : undefined),
    show(state) {
      const next = nextOccurrences(state.values, state.context, ctx.clock.now());
      return {
        title: CREATE_TITLE,
        children: (
          <FormScreen
            title={CREATE_TITLE}
            crumbs={CRUMBS}
            form={NEW_SCHEDULE_FORM}
            state={{ ...state, context: { ...state.context, next } }}
            action={NEW_SCHEDULE_PATH}
            enter={{}}
          >
            <Button kind="primary">Create schedule</Button>
          </FormScreen>
        ),
      };
    },
    submit: (tx, body, actor) => createSchedule(ctx, tx, body, actor).row.id,
    done: () => ({ path: MAINTENANCE_SCHEDULES_PATH, text: "The schedule was created." }),
  });

  area.editForm("/:id", {
    showSummary: "Show the form for a maintenance schedule",
    summary: "Change a maintenance schedule",
    form: SCHEDULE_FORM,
    load(reader, { params }) {
      const record = getSchedule(reader, params.id);
      const pages = readPages(reader);
      const page = pages.find(({ id }) => id === record.row.pageId);
      if (!page) throw new Error("a schedule belongs to a page");
      const context = { pages, page, ...readPageComponents(reader, page.id), next: [], record };
      return { resource: storedSchedule(record), version: record.row.version, context };
    },
    redisplay: (values, sent) => (isShowingNext(sent) ? values : undefined),
    show(state) {
      const { row } = state.context.record;
      const paths = pathsOfSchedule(row.id);
      const next = nextOccurrences(state.values, state.context, ctx.clock.now());
      return {
        title: `Edit “${row.name}”`,
        children: (
          <FormScreen
            title="Edit schedule"
            crumbs={[...CRUMBS, { label: row.name }]}
            actions={
              <ButtonLink href={paths.delete} kind="danger" dialog>
                Delete
              </ButtonLink>
            }
            intro="A change makes the occurrences to come anew, except those that were edited or cancelled."
            above={row.managedBy === null ? null : <ManagedByFile what="schedule" />}
            form={SCHEDULE_FORM}
            state={{ ...state, context: { ...state.context, next } }}
            action={paths.home}
            enter={{}}
          >
            <Button kind="primary">Save changes</Button>
          </FormScreen>
        ),
      };
    },
    update(tx, changes, actor, { params }, { record }) {
      const after = updateSchedule(ctx, tx, params.id, changes, actor);
      return after.row.version !== record.row.version;
    },
    done: () => ({ path: MAINTENANCE_SCHEDULES_PATH, text: "The schedule was changed." }),
  });

  area.deletion("/:id/delete", {
    showSummary: "Show the confirmation for deleting a maintenance schedule",
    summary: "Delete a maintenance schedule",
    show({ params }) {
      const { row } = getSchedule(ctx.db, params.id);
      const paths = pathsOfSchedule(row.id);
      const title = `Delete “${row.name}”`;
      return {
        title,
        children: (
          <DialogForm
            title={title}
            action={paths.delete}
            button="Delete schedule"
            isDanger
            cancelHref={paths.home}
          >
            <p>
              Its occurrences to come are removed, except those that were edited or cancelled. Past
              ones stay. This cannot be undone.
            </p>
            {row.managedBy === null ? null : (
              <p>
                The schedule is managed by a configuration file. The next{" "}
                <code>allclear apply</code> creates it again unless you remove it from the file.
              </p>
            )}
          </DialogForm>
        ),
      };
    },
    remove(tx, { params: { id } }, actor) {
      const { name } = getSchedule(tx, id).row;
      deleteSchedule(ctx, tx, id, actor);
      return { name, subjectId: id };
    },
    done: (_, name) => ({
      path: MAINTENANCE_SCHEDULES_PATH,
      text: deletedText("schedule", name),
    }),
  });

  return area.routes;
}
