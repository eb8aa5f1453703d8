import { validate } from "../../../base/validation";
import { actorOf, sessionOf } from "../../../http/request-context";
import { Button, ButtonLink } from "../../../ui/buttons";
import { readPageComponents } from "../../../ui/forms/object-fields";
import { readPageContext } from "../../../ui/forms/page-field";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { choosePage, readPages } from "../../../ui/frame/page-choice";
import { INCIDENT_TEMPLATES_PATH, incidentPath, INCIDENTS_PATH } from "../../../ui/frame/paths";
import { createArea } from "../../../ui/screens/area";
import {
  fillInTemplate,
  readReportTemplates,
  TEMPLATE_BUTTON,
  valuesFrom,
} from "../../incident-templates/screens/offered";
import { AudienceHint, audienceNote, isCounting } from "../../timeline/screens/mail";
import { createIncident } from "../incidents";
import { getIncident } from "../records";
import { CreateIncidentBody } from "../wire";
import { addIncidentRoutes, addPostmortemRoutes } from "./detail";
import { addEditRoutes, affectedIds, presetStatuses, REPORT_FORM } from "./forms";
import { IncidentList, readIncidentList } from "./list";
import { previewIncident } from "./view";

const REPORT_TITLE = "Report incident";

/** `/admin/incidents`: every role may read, editors write. */
export function incidentAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, INCIDENTS_PATH, "editor");

  area.screen(
    "",
    ({ query, requestContext }) => {
      const list = readIncidentList(ctx.db, query);
      const { role } = sessionOf(requestContext).user;
      return {
        title: "Incidents",
        children: <IncidentList list={list} role={role} now={requestContext.now} />,
      };
    },
    { role: "viewer" },
  );

  area.form("/new", {
    form: REPORT_FORM,
    load(reader, at) {
      const context = readPageContext(reader, at, REPORT_TITLE);
      const { id } = context.page;
      return {
        ...context,
        ...readPageComponents(reader, id),
        templates: readReportTemplates(reader, id, {
          isFull: at.query[TEMPLATE_BUTTON] !== undefined,
        }),
      };
    },
    // A link may name a template or components, such as that of a template's or a component's screen.
    initial: ({ query }, { components, templates }) =>
      valuesFrom(
        REPORT_FORM.initial({ components: presetStatuses(query["component"], components) }),
        query[TEMPLATE_BUTTON] ?? "",
        templates,
      ),
    show(state) {
      const audience = audienceNote(ctx, state.context.page, "incidents", affectedIds(state));
      return {
        title: REPORT_TITLE,
        crumbs: [{ href: INCIDENTS_PATH, label: "Incidents" }],
        actions: (
          <ButtonLink href={INCIDENT_TEMPLATES_PATH} opensTab>
            Edit templates
          </ButtonLink>
        ),
        foot: audience && <AudienceHint audience={audience} />,
        button: { text: "Publish incident", name: "intent", value: "publish" },
        more: (
          <Button name="intent" value="draft">
            Save as draft
          </Button>
        ),
      };
    },
    redisplay(values, sent) {
      if (isCounting(sent)) return values;
      const page = choosePage(readPages(ctx.db), values.page.selected);
      return (
        page && fillInTemplate(values, sent, readReportTemplates(ctx.db, page.id, { isFull: true }))
      );
    },
    submit: (tx, body, actor) =>
      createIncident(ctx, tx, validate(CreateIncidentBody, body), "dashboard", actor).row.id,
    conflictField: "external_ref",
    done: (id, _, { draft }) => ({
      path: incidentPath(id),
      text: draft === "draft" ? "The draft was saved." : "The incident was published.",
    }),
    preview(tx, id, { requestContext }, { page }) {
      const { status } = getIncident(tx, id, true).row;
      // The status page may not reach back to a resolved incident.
      if (status !== "resolved") return { pageId: page.id };
      return previewIncident(ctx, tx, id, actorOf(requestContext));
    },
  });

  addIncidentRoutes(area, deps);
  addEditRoutes(area, deps);
  addPostmortemRoutes(area, deps);
  return area.routes;
}
