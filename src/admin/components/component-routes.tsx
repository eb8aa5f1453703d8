import {
  type ComponentRow,
  listComponentsOfPage,
  listGroups,
} from "../../features/components/store";
import {
  createComponent,
  deleteComponent,
  getComponentRow,
  updateComponent,
} from "../../features/components/service";
import { listChanges } from "../../features/components/cause-store";
import { nextPosition } from "../../features/components/order";
import { presentChange, UpdateComponentBody } from "../../features/components/model";
import { setManualStatuses } from "../../features/components/set-status";
import { validate } from "../../base/validation";
import { getPage } from "../../features/pages/service";
import { sessionOf } from "../../http/request-context";
import { Button } from "../../ui/buttons";
import { STATUS_WORDS } from "../../ui/blocks";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { componentPath, COMPONENTS_PATH, componentsOfPagePath } from "../../ui/frame/paths";
import { deletedText } from "../../ui/screens/action-routes";
import type { Area } from "../../ui/screens/area";
import { FormScreen } from "../../ui/screens/form-screen";
import { effectiveCauses, type NamedCause, describeCause } from "./cause-list";
import { componentCrumbs, listPathOf } from "./component-paths";
import { readComponentView } from "./component-view";
import { DeleteComponent, SetStatus } from "./component-screens";
import { ComponentDetail } from "./detail";
import { addSeveral } from "./several";
import {
  COMPONENT_FORM,
  componentResource,
  NEW_COMPONENT_FORM,
  requireRef,
  STATUS_FORM,
} from "./forms";
import { readCauses, readPageOfNew } from "./read";

const CHANGES_SHOWN = 10;

/** Adds the routes of one component: its creation, settings, status and deletion. */
export function addComponentRoutes(area: Area, { ctx }: AdminDependencies): void {
  const slugOf = (componentId: string) =>
    getPage(ctx.db, getComponentRow(ctx.db, componentId).pageId).slug;

  area.form("/new", {
    showSummary: "Show the form for a new component",
    summary: "Add a component",
    role: "admin",
    form: NEW_COMPONENT_FORM,
    initial: ({ query }) => ({ group_id: query["group"] ?? "" }),
    load(reader, at) {
      const { page } = readPageOfNew(reader, at);
      return { page, groups: listGroups(reader, { pageId: page.id }) };
    },
    show(state) {
      const { page } = state.context;
      return {
        title: "Add component",
        children: (
          <FormScreen
            title="Add component"
            crumbs={componentCrumbs(page)}
            form={NEW_COMPONENT_FORM}
            state={{ ...state, hidden: { ...state.hidden, page: page.id } }}
            action={`${COMPONENTS_PATH}/new`}
          >
            <Button kind="primary">Add component</Button>
          </FormScreen>
        ),
      };
    },
    submit(tx, { group_id: groupId = null, ...input }, actor, _, { page }) {
      requireRef(input, "checkout-api");
      const position = nextPosition(listComponentsOfPage(tx, { pageId: page.id }));
      const placement = { position, groupId, managedBy: null };
      return createComponent(ctx, tx, page, input, placement, actor).id;
    },
    done: (id, at, { name }) => ({
      path: listPathOf(readPageOfNew(ctx.db, at).page.slug, id),
      text: `“${name.trim()}” was added.`,
    }),
  });

  addSeveral(area, ctx);

  area.editForm("/:id", {
    showSummary: "Show a component",
    summary: "Change a component",
    role: "admin",
    readRole: "viewer",
    form: COMPONENT_FORM,
    load(reader, { params }) {
      const component = getComponentRow(reader, params.id);
      const groups = listGroups(reader, { pageId: component.pageId });
      const resource = componentResource(component);
      return { resource, version: component.version, context: { component, groups } };
    },
    show(state, { requestContext }) {
      const { component } = state.context;
      const newest = { componentId: component.id, before: Number.MAX_SAFE_INTEGER };
      const changes = listChanges(ctx.db, { ...newest, limit: CHANGES_SHOWN }).map(presentChange);
      const page = getPage(ctx.db, component.pageId);
      const now = ctx.clock.now();
      const detail = {
        component,
        page,
        view: readComponentView(ctx.db, component, page, now),
        causes: readCauses(ctx.db, component),
        changes,
        state,
        role: sessionOf(requestContext).user.role,
        now,
      };
      return { title: component.name, children: <ComponentDetail {...detail} /> };
    },
    update(tx, { group_id: groupId, ...changes }, actor, { params }, { component }) {
      // A component that changes its group becomes the last one there.
      const siblings = () => listComponentsOfPage(tx, { pageId: component.pageId });
      const place = groupId === undefined ? {} : { groupId, position: nextPosition(siblings()) };
      updateComponent(ctx, tx, params.id, { ...changes, ...place }, actor);
    },
    done: ({ params }) => ({ path: componentPath(params.id), text: "The component was changed." }),
  });

  area.editForm("/:id/status", {
    showSummary: "Show the form for a component's status",
    summary: "Set a component's status",
    role: "editor",
    form: STATUS_FORM,
    load(reader, { params }) {
      const component = getComponentRow(reader, params.id);
      const resource = { status: component.baselineStatus, reason: null };
      return { resource, version: null, context: { component } };
    },
    show(state) {
      const { component } = state.context;
      const title = `Set status of “${component.name}”`;
      const form = {
        title,
        component,
        page: getPage(ctx.db, component.pageId),
        causes: readCauses(ctx.db, component),
        state,
      };
      return { title, children: <SetStatus {...form} /> };
    },
    update(tx, changes, actor, { params }, { component }) {
      const { baselineStatus: before } = component;
      const { status, reason = null } = validate(UpdateComponentBody, {
        status: before,
        ...changes,
      });
      const changeReason = { source: "manual" as const, actor, reason };
      setManualStatuses(ctx, tx, new Map([[params.id, status]]), changeReason);
      return status !== before;
    },
    done({ params: { id } }) {
      const after = getComponentRow(ctx.db, id);
      return { path: listPathOf(slugOf(id), id), text: textOf(after, readCauses(ctx.db, after)) };
    },
  });

  area.deletion("/:id/delete", {
    showSummary: "Show the confirmation for deleting a component",
    summary: "Delete a component",
    role: "admin",
    show({ params }) {
      const component = getComponentRow(ctx.db, params.id);
      getPage(ctx.db, component.pageId); // Throws `not_found` for a deleted page.
      const title = `Delete “${component.name}”`;
      return { title, children: <DeleteComponent component={component} /> };
    },
    remove(tx, { params }, actor) {
      const { name, pageId } = getComponentRow(tx, params.id);
      deleteComponent(ctx, tx, params.id, actor);
      return { name, subjectId: pageId };
    },
    done: (pageId, name) => ({
      path: componentsOfPagePath(getPage(ctx.db, pageId).slug),
      text: deletedText("component", name),
    }),
  });
}

/** Returns the confirmation, which names the cause if a worse status is shown instead. */
function textOf(row: ComponentRow, causes: readonly NamedCause[]): string {
  const set = inSentence(STATUS_WORDS[row.baselineStatus]);
  if (row.status === row.baselineStatus) return `The status of “${row.name}” is now ${set}.`;
  const [effective] = effectiveCauses(row, causes);
  const causeText = effective ? ` ${describeCause(effective)}` : "";
  const shown = inSentence(STATUS_WORDS[row.status]);
  return `The status of “${row.name}” was set to ${set}. The page still shows ${shown}${causeText}.`;
}

function inSentence(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1);
}
