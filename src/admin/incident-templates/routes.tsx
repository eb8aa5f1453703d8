import {
  createTemplate,
  deleteTemplate,
  updateTemplate,
} from "../../features/incident-templates/service";
import { findTemplate } from "../../features/incident-templates/store";
import { getTemplate } from "../../features/incident-templates/records";
import { setBuiltInTemplatesHidden } from "../../features/settings/switches";
import { sessionOf } from "../../http/request-context";
import { Button, ButtonLink } from "../../ui/buttons";
import { DialogForm } from "../../ui/form";
import { ManagedByFile } from "../components/managed";
import type { AdminDependencies } from "../dependencies";
import { isChoosingPage } from "../forms/page-field";
import { INCIDENT_TEMPLATES_PATH, INCIDENTS_PATH } from "../paths";
import { deletedText } from "../screens/action-routes";
import { createArea } from "../screens/area";
import { FormScreen } from "../screens/form-screen";
import { nameOfClone, readFormContext, storedValues, TEMPLATE_FORM } from "./forms";
import { readTemplateList, TemplateList } from "./list";
import { NEW_TEMPLATE_PATH, pathsOfTemplate } from "./template-paths";

const CRUMBS = [
  { href: INCIDENTS_PATH, label: "Incidents" },
  { href: INCIDENT_TEMPLATES_PATH, label: "Templates" },
];

/** `/admin/incidents/templates`: for editors; admins hide the built-in templates. */
export function incidentTemplateAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, INCIDENT_TEMPLATES_PATH, "editor");

  area.screen("", "List incident templates", ({ query, requestContext }) => {
    const list = readTemplateList(ctx.db, query);
    const { role } = sessionOf(requestContext).user;
    return { title: "Incident templates", children: <TemplateList list={list} role={role} /> };
  });

  area.form("/new", {
    showSummary: "Show the form for a new incident template",
    summary: "Create an incident template",
    form: TEMPLATE_FORM,
    load(reader, { sent, query }) {
      const id = query["from"];
      const source = id !== undefined && findTemplate(reader, { id }) ? id : undefined;
      const record = source === undefined ? undefined : getTemplate(reader, source);
      const page = sent ? sent.text("page") : (record?.row.pageId ?? query["page"]);
      return { ...readFormContext(reader, page), record };
    },
    initial: (_, { record, page }) =>
      record
        ? { ...TEMPLATE_FORM.stored(storedValues(record)), name: nameOfClone(record.row.name) }
        : { page: { selected: page?.id ?? "", shown: page?.id ?? "" } },
    redisplay: (values, sent) => (isChoosingPage(sent) ? values : undefined),
    show: (state) => ({
      title: "Create template",
      children: (
        <FormScreen
          title="Create template"
          crumbs={CRUMBS}
          form={TEMPLATE_FORM}
          state={state}
          action={NEW_TEMPLATE_PATH}
          enter={{}}
        >
          <Button kind="primary">Create template</Button>
        </FormScreen>
      ),
    }),
    submit: (tx, body, actor) => createTemplate(ctx, tx, body, actor).row.id,
    done: () => ({ path: INCIDENT_TEMPLATES_PATH, text: "The template was created." }),
  });

  area.editForm("/:id", {
    showSummary: "Show the form for an incident template",
    summary: "Change an incident template",
    form: TEMPLATE_FORM,
    load(reader, { params, sent }) {
      const record = getTemplate(reader, params.id);
      const { row } = record;
      return {
        resource: storedValues(record),
        version: row.version,
        context: { ...readFormContext(reader, sent ? sent.text("page") : row.pageId), record },
      };
    },
    redisplay: (values, sent) => (isChoosingPage(sent) ? values : undefined),
    show(state) {
      const { record } = state.context;
      const paths = pathsOfTemplate(record);
      return {
        title: `Edit “${record.row.name}”`,
        children: (
          <FormScreen
            title="Edit template"
            crumbs={[...CRUMBS, { label: record.row.name }]}
            actions={
              <>
                <ButtonLink href={paths.use}>Report incident</ButtonLink>
                <ButtonLink href={paths.clone}>Clone</ButtonLink>
                <ButtonLink href={paths.delete} kind="danger" dialog>
                  Delete
                </ButtonLink>
              </>
            }
            above={record.row.managedBy === null ? null : <ManagedByFile what="template" />}
            form={TEMPLATE_FORM}
            state={state}
            action={paths.home}
            enter={{}}
          >
            <Button kind="primary">Save changes</Button>
          </FormScreen>
        ),
      };
    },
    update(tx, changes, actor, { params }, { record }) {
      const after = updateTemplate(ctx, tx, params.id, changes, actor);
      return after.row.version !== record.row.version;
    },
    done: () => ({ path: INCIDENT_TEMPLATES_PATH, text: "The template was changed." }),
  });

  area.deletion("/:id/delete", {
    showSummary: "Show the confirmation for deleting an incident template",
    summary: "Delete an incident template",
    show({ params }) {
      const record = getTemplate(ctx.db, params.id);
      const paths = pathsOfTemplate(record);
      const title = `Delete “${record.row.name}”`;
      return {
        title,
        children: (
          <DialogForm
            title={title}
            action={paths.delete}
            button="Delete template"
            isDanger
            cancelHref={paths.home}
          >
            <p>
              The form for a new incident no longer offers the template. Incidents that were
              reported with it stay as they are. This cannot be undone.
            </p>
            {record.row.managedBy === null ? null : (
              <p>
                The template is managed by a configuration file. The next{" "}
                <code>allclear apply</code> creates it again unless you remove it from the file.
              </p>
            )}
          </DialogForm>
        ),
      };
    },
    remove(tx, { params: { id } }, actor) {
      const { name } = getTemplate(tx, id).row;
      deleteTemplate(ctx, tx, id, actor);
      return { name, subjectId: id };
    },
    done: (_, name) => ({ path: INCIDENT_TEMPLATES_PATH, text: deletedText("template", name) }),
  });

  for (const [path, isHidden] of [
    ["/built-in/hide", true],
    ["/built-in/show", false],
  ] as const) {
    area.action(path, {
      role: "admin",
      summary: isHidden ? "Hide the built-in templates" : "Offer the built-in templates again",
      run: (tx, _, actor) => setBuiltInTemplatesHidden(ctx, tx, isHidden, actor),
      done: (isChanged) => ({
        path: INCIDENT_TEMPLATES_PATH,
        text: isChanged
          ? `The built-in templates are ${isHidden ? "hidden" : "offered again"}.`
          : undefined,
      }),
    });
  }
  return area.routes;
}
