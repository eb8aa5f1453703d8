/* Forms of groups of components. */
import { validate } from "../../../base/validation";
import { ButtonLink } from "../../../ui/buttons";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { COMPONENTS_PATH, componentsOfPagePath, groupPath } from "../../../ui/frame/paths";
import { createArea } from "../../../ui/screens/area";
import { ManagedByFile } from "../../../ui/screens/form-screen";
import { getPage } from "../../pages/pages";
import { createGroup, deleteGroup, getGroupRow, nextPosition, updateGroup } from "../components";
import { listGroups } from "../store";
import { GroupInput, PartialGroupInput } from "../wire";
import { GROUP_FORM, NEW_GROUP_FORM, requireRef } from "./forms";
import { listPathOf, readPageOfNew } from "./list";
import { componentCrumbs } from "./view";

/** Routes of groups of components, for admins. */
export function groupAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, `${COMPONENTS_PATH}/groups`, "admin");

  const slugOf = (groupId: string) => getPage(ctx.db, getGroupRow(ctx.db, groupId).pageId).slug;

  area.form("/new", {
    form: NEW_GROUP_FORM,
    load: readPageOfNew,
    show(state) {
      const { page } = state.context;
      const crumbs = componentCrumbs(page);
      return { title: "Add group", crumbs, hidden: { page: page.id }, button: "Add group" };
    },
    submit(tx, body, actor, _, { page }) {
      requireRef(body, "payments");
      const position = nextPosition(listGroups(tx, { pageId: page.id }));
      return createGroup(
        ctx,
        tx,
        page,
        validate(GroupInput, body),
        { position, managedBy: null },
        actor,
      ).id;
    },
    done: (id, at, { name }) => ({
      path: listPathOf(readPageOfNew(ctx.db, at).page.slug, id),
      text: `The group “${name.trim()}” was added.`,
    }),
  });

  area.editForm("/:id", {
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
        crumbs: componentCrumbs(page),
        actions: (
          <ButtonLink href={groupPath(group.id, "delete")} kind="danger" dialog>
            Delete
          </ButtonLink>
        ),
        above: group.managedBy === "apply" ? <ManagedByFile what="group" /> : null,
        button: "Save changes",
      };
    },
    update(tx, changes, actor, { params }) {
      updateGroup(ctx, tx, params.id, validate(PartialGroupInput, changes), actor);
    },
    done: ({ params }) => ({
      path: listPathOf(slugOf(params.id), params.id),
      text: "The group was changed.",
    }),
  });

  area.deletion({
    noun: "group",
    find(reader, id) {
      const group = getGroupRow(reader, id);
      getPage(reader, group.pageId); // Throws `not_found` for a deleted page.
      return group;
    },
    nameOf: ({ name }) => name,
    consequences: () => (
      <p>The group's components stay on the page, without a group. This cannot be undone.</p>
    ),
    remove: (tx, { id }, actor) => deleteGroup(ctx, tx, id, actor),
    subjectOf: ({ pageId }) => pageId,
    listOf: (pageId) => componentsOfPagePath(getPage(ctx.db, pageId).slug),
    textOf: (_, name) =>
      `${name === null ? "The group" : `The group “${name}”`} was deleted. Its components are now without a group.`,
  });

  return area.routes;
}
