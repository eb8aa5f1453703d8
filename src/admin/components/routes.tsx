import type { Tx } from "../../db/statements";
import { conflict, invalidFields } from "../../base/errors";
import { getComponentRow, getGroupRow } from "../../features/components/service";
import { orderComponents } from "../../features/components/order";
import { getPage } from "../../features/pages/service";
import type { Form as SentForm } from "../../http/form-body";
import { sessionOf } from "../../http/request-context";
import type { Actor } from "../../base/actor";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { NoPageYet, readPages } from "../../ui/frame/page-choice";
import { COMPONENTS_PATH, componentsOfPagePath } from "../../ui/frame/paths";
import type { Screen, ScreenRequest } from "../../ui/frame/render";
import { createArea } from "../../ui/screens/area";
import { listPathOf } from "./component-paths";
import { addComponentRoutes } from "./component-routes";
import { groupAdminRoutes } from "./group-routes";
import { ComponentList } from "./list";
import { readListing, readPage, readSequence } from "./read";
import { type Direction, moved, orderOf } from "./sequence";

const OUTDATED =
  "The order was not saved, because components were added or removed since you opened this page. The list below is up to date.";

/** `/admin/components`: every role may read, editors set statuses, admins change the list. */
export function componentAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, COMPONENTS_PATH, "viewer");

  function list(
    at: ScreenRequest,
    slugOrId: string | undefined,
    { search = "", rejection }: { search?: string | undefined; rejection?: string } = {},
  ): Screen {
    const { role } = sessionOf(at.requestContext).user;
    const title = "Components";
    const page = readPage(ctx.db, slugOrId);
    if (!page) return { title, children: <NoPageYet {...{ title, role }} /> };
    const pages = readPages(ctx.db);
    const listing = readListing(ctx.db, page.id);
    return {
      title,
      children: <ComponentList {...{ page, pages, listing, role, search, rejection }} />,
    };
  }

  /** Moves a component or group within the stored order, even if the user saw an older one. */
  function move(tx: Tx, sent: SentForm, row: Movable, actor: Actor): Moved {
    const direction = readDirection(sent);
    const sequence = moved(readSequence(tx, row.pageId), row.id, direction);
    const isChanged = orderComponents(ctx, tx, row.pageId, orderOf(sequence), actor);
    return { row, direction, isChanged };
  }

  function movedTo({ row, direction, isChanged }: Moved) {
    const path = listPathOf(getPage(ctx.db, row.pageId).slug, row.id);
    return { path, text: isChanged ? `“${row.name}” was moved ${direction}.` : undefined };
  }

  area.screen("", "List the components of a page", (at) =>
    list(at, at.query["page"], { search: at.query["q"]?.trim() }),
  );

  area.screen("/order", "Redirect to the list of components", () => ({ path: COMPONENTS_PATH }));

  area.action("/order", {
    summary: "Change the order of components",
    role: "admin",
    run(tx, { sent }, actor) {
      const page = readPage(tx, sent.text("page"));
      if (!page) return { path: COMPONENTS_PATH, isChanged: false };
      const sequence = sent.all("item");
      const stored = new Set(readSequence(tx, page.id));
      if (sequence.length !== stored.size || sequence.some((id) => !stored.has(id))) {
        throw conflict(OUTDATED);
      }
      const isChanged = orderComponents(ctx, tx, page.id, orderOf(sequence), actor);
      return { path: componentsOfPagePath(page.slug), isChanged };
    },
    done: ({ path, isChanged }) => ({
      path,
      text: isChanged ? "The order was changed." : undefined,
    }),
    showConflict: (message, at) => list(at, at.sent.text("page"), { rejection: message }),
  });

  area.action("/:id/move", {
    summary: "Move a component up or down",
    role: "admin",
    run: (tx, { params, sent }, actor) => move(tx, sent, getComponentRow(tx, params.id), actor),
    done: movedTo,
  });

  area.action("/groups/:id/move", {
    summary: "Move a group up or down",
    role: "admin",
    run: (tx, { params, sent }, actor) => move(tx, sent, getGroupRow(tx, params.id), actor),
    done: movedTo,
  });

  addComponentRoutes(area, deps);
  return area.routes.use(groupAdminRoutes(deps));
}

interface Movable {
  id: string;
  name: string;
  pageId: string;
}

interface Moved {
  row: Movable;
  direction: Direction;
  isChanged: boolean;
}

function readDirection(sent: SentForm): Direction {
  const text = sent.text("direction");
  if (text === "up" || text === "down") return text;
  throw invalidFields([{ pointer: "#/direction", detail: "must be up or down" }]);
}
