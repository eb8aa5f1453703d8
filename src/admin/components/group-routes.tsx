import {
  createGroup,
  deleteGroup,
  getGroupRow,
  updateGroup,
} from "../../features/components/service";
import { listGroups } from "../../features/components/store";
import { nextPosition } from "../../features/components/order";
import { getPage } from "../../features/pages/service";
import { Button, ButtonLink } from "../../ui/buttons";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { COMPONENTS_PATH, componentsOfPagePath, groupPath } from "../../ui/frame/paths";
import { createArea } from "../../ui/screens/area";
import { FormScreen } from "../../ui/screens/form-screen";
import { componentCrumbs, listPathOf } from "./component-paths";
import { DeleteGroup } from "./component-screens";
import { GROUP_FORM, NEW_GROUP_FORM, requireRef } from "./forms";
import { ManagedByFile } from "./managed";
import { readPageOfNew } from "./read";

/** Routes of groups of components, for admins. */
export function groupAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, "/groups", "admin");

  const slugOf = (groupId: string) => getPage(ctx.db, getGroupRow(ctx.db, groupId).pageId).slug;

  area.form("/new", {
    showSummary: "Show the form for a new group",
    summary: "Add a group",
    form: NEW_GROUP_FORM,
    load: readPageOfNew,
    show(state) {
      const { page } = state.context;
      return {
        title: "Add group",
        children: (
          <FormScreen
            title="Add group"
            crumbs={componentCrumbs(page)}
            form={NEW_GROUP_FORM}
            state={{ ...state, hidden: { ...state.hidden, page: page.id } }}
            action={`${COMPONENTS_PATH}/groups/new`}
          >
            <Button kind="primary">Add group</Button>
          </FormScreen>
        ),
      };
    },
    submit(tx, body, actor, _, { page }) {
      requireRef(body, "payments");
      const position = nextPosition(listGroups(tx, { pageId: page.id }));
      return createGroup(ctx, tx, page, body, { position, managedBy: null }, actor).id;
    },
    done: (id, at, { name }) => ({
      path: listPathOf(readPageOfNew(ctx.db, at).page.slug, id),
      text: `The group “${name.trim()}” was added.`,
    }),
  });

  area.editForm("/:id", {
    showSummary: "Show a group",
    summary: "Change a group",
    form: GROUP_FORM,
    load(reader, { params }) {
      const group = getGroupRow(reader, params.id);
      const context = { group, page: getPage(reader, group.pageId) };
      return { resource: group, version: group.version, context };
    },
    show(state) {
      const { group, page } = state.context;
      return {
        title: group.name,
        children: (
          <FormScreen
            title={group.name}
            crumbs={componentCrumbs(page)}
            actions={
              <ButtonLink href={`${groupPath(group.id)}/delete`} kind="danger" dialog>
                Delete
              </ButtonLink>
            }
            above={group.managedBy === "apply" ? <ManagedByFile what="group" /> : null}
            form={GROUP_FORM}
            state={state}
            action={groupPath(group.id)}
          >
            <Button kind="primary">Save changes</Button>
          </FormScreen>
        ),
      };
    },
    update(tx, changes, actor, { params }) {
      updateGroup(ctx, tx, params.id, changes, actor);
    },
    done: ({ params }) => ({
      path: listPathOf(slugOf(params.id), params.id),
      text: "The group was changed.",
    }),
  });

  area.deletion("/:id/delete", {
    showSummary: "Show the confirmation for deleting a group",
    summary: "Delete a group",
    show({ params }) {
      const group = getGroupRow(ctx.db, params.id);
      getPage(ctx.db, group.pageId); // Throws `not_found` for a deleted page.
      return { title: `Delete “${group.name}”`, children: <DeleteGroup group={group} /> };
    },
    remove(tx, { params }, actor) {
      const { name, pageId } = getGroupRow(tx, params.id);
      deleteGroup(ctx, tx, params.id, actor);
      return { name, subjectId: pageId };
    },
    done: (pageId, name) => ({
      path: componentsOfPagePath(getPage(ctx.db, pageId).slug),
      text: `${name === null ? "The group" : `The group “${name}”`} was deleted. Its components are now without a group.`,
    }),
  });

  return area.routes;
}
