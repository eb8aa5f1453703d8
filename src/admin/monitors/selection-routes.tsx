import { Type } from "@sinclair/typebox";
import { TagText } from "../../base/tags";
import { examine } from "../../base/validation";
import { listWebhooksOnlyFor } from "../../features/webhooks/monitors";
import { OneOf } from "../../base/schema";
import { actorOf, sessionOf } from "../../http/request-context";
import { type Form as SentForm, formBody } from "../../http/form-body";
import { seeOther } from "../../http/answers";
import { session } from "../../http/operation";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { keptNotice, type StateOf } from "../../ui/forms/form";
import { MONITORS_PATH } from "../../ui/frame/paths";
import type { Screen, ScreenRequest } from "../../ui/frame/render";
import { KEEPS_TYPED, screenOperation } from "../../ui/screens/routes";
import type { Area } from "../../ui/screens/area";
import { filteredPath } from "./list-tabs";
import { listMatchingIds, readMonitorList } from "./listing";
import {
  CHANGES,
  changeMonitors,
  checkMonitors,
  selectedMonitors,
  type Message,
  rejectionOf,
  SELECTION_MAX,
  type SelectionChange,
  tagChange,
} from "./selection";
import { DeleteSelected, TAG_FORM, TagSelected } from "./selection-screens";

type Query = Readonly<Record<string, string | undefined>>;
type SentAt = ScreenRequest & { query: Query; body: SentForm };

const TagBody = Type.Object({ tag: TagText, action: OneOf(["add", "remove"] as const) });

/** Adds the routes that act on the monitors that were selected in the list. */
export function addSelectionRoutes(area: Area, deps: AdminDependencies) {
  const { ctx, flashes, monitoring, render } = deps;

  /** Returns the place in the list from which monitors were selected. */
  function backOf(query: Query): string {
    const list = readMonitorList(ctx.db, query, ctx.clock.now());
    return filteredPath(list, { before: list.before });
  }

  function back({ requestContext, query }: SentAt, message: Message): Response {
    flashes.put(sessionOf(requestContext).id, message);
    return seeOther(backOf(query));
  }

  async function change(at: SentAt, ids: readonly string[], what: SelectionChange) {
    const { requestContext } = at;
    const message = await changeMonitors(ctx, ids, what, actorOf(requestContext), (run) =>
      deps.writeAs(requestContext, run),
    );
    return back(at, message);
  }

  /** Runs `act` with the selected ids, or goes back with the reason to reject them. */
  async function withSelected(at: SentAt, act: (ids: string[]) => Promise<Response>) {
    const ids =
      at.body.text("all") === "1"
        ? listMatchingIds(ctx.db, at.query, SELECTION_MAX + 1)
        : [...new Set(at.body.all("id"))];
    const rejection = rejectionOf(ids);
    return rejection === undefined ? act(ids) : back(at, { tone: "major", text: rejection });
  }

  /** Asks before something is done with the selected monitors that exist. */
  async function ask(
    at: SentAt,
    ids: readonly string[],
    screen: (monitors: ReturnType<typeof selectedMonitors>, backPath: string) => Screen,
  ): Promise<Response> {
    const monitors = selectedMonitors(ctx.db, ids);
    if (monitors.length === 0) {
      return back(at, { tone: "major", text: "The selected monitors no longer exist." });
    }
    return render.screen(at, screen(monitors, backOf(at.query)));
  }

  const webhooksOf = (monitors: ReturnType<typeof selectedMonitors>) =>
    listWebhooksOnlyFor(ctx.db, new Set(monitors.map((row) => row.id)));

  function askForTag(
    at: SentAt,
    ids: readonly string[],
    state: StateOf<typeof TAG_FORM>,
    status = 200,
  ): Promise<Response> {
    return ask(at, ids, (monitors, backPath) => ({
      title: "Tag monitors",
      status,
      children: <TagSelected {...{ monitors, backPath, state }} />,
    }));
  }

  // A browser can open these addresses with GET, such as after signing in again.
  for (const path of ["/selected", "/selected/delete", "/selected/tag"] as const) {
    area.screen(path, "Redirect to the list of monitors", () => ({ path: MONITORS_PATH }));
  }

  return area.routes
    .post(
      "/selected",
      ({ request, requestContext, query, body }) => {
        const at = { request, requestContext, query, body };
        return withSelected(at, async (ids) => {
          const intent = body.text("intent");
          switch (intent) {
            case "check":
              return back(at, checkMonitors(ctx, monitoring, ids));
            case "pause":
            case "resume":
              return change(at, ids, CHANGES[intent]);
            case "delete":
              return ask(at, ids, (monitors, backPath) => ({
                title: "Delete monitors",
                children: (
                  <DeleteSelected {...{ monitors, webhooks: webhooksOf(monitors), backPath }} />
                ),
              }));
            case "tag":
              return askForTag(at, ids, TAG_FORM.state(TAG_FORM.initial(), {}));
            default:
              return back(at, { tone: "major", text: "Select an action for the monitors." });
          }
        });
      },
      { ...formBody(), ...screenOperation("Act on selected monitors", session("admin")) },
    )
    .post(
      "/selected/delete",
      ({ request, requestContext, query, body }) => {
        const at = { request, requestContext, query, body };
        return withSelected(at, (ids) => change(at, ids, CHANGES.delete));
      },
      { ...formBody(), ...screenOperation("Delete selected monitors", session("admin")) },
    )
    .post(
      "/selected/tag",
      ({ request, requestContext, query, body }) => {
        const at = { request, requestContext, query, body };
        return withSelected(at, async (ids) => {
          const values = TAG_FORM.read(body);
          const kept = keptNotice(body);
          if (kept !== undefined)
            return askForTag(at, ids, { ...TAG_FORM.state(values, {}), kept });
          const { tag, action } = TAG_FORM.parse(values, {}).body;
          const { errors } = examine(TagBody, { tag, action });
          return errors.isEmpty
            ? change(at, ids, tagChange(action, tag))
            : askForTag(at, ids, TAG_FORM.rejected(values, errors.all, {}), 422);
        });
      },
      {
        ...formBody(),
        ...screenOperation("Tag selected monitors", session("admin"), KEEPS_TYPED),
      },
    );
}
