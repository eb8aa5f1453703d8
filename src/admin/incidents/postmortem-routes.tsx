import { Elysia } from "elysia";
import type { Tx } from "../../db";
import { invalidFields } from "../../errors";
import { getIncident, putPostmortem } from "../../features/incidents";
import { actorOf, type RequestContext, type Form, formBody, session } from "../../http";
import { redirectGetById } from "../redirect-get";
import { createDone } from "../done";
import { NO_COMPLAINTS } from "../field-errors";
import type { AdminDependencies } from "../dependencies";
import { createPreview } from "../preview";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { changeUnlessStale, type FormRejection, rejectionOrThrow } from "../stale";
import { multilineText } from "../multiline-text";
import { pathsOfIncident } from "./incident-paths";
import { readIncidentView } from "./incident-view";
import { OUTLINE, PostmortemEditor, PUBLISH, WITHDRAW } from "./postmortem";
import { previewIncident } from "./preview-incident";

const MAY_WRITE = session("editor");

/** Routes of an incident's post-mortem, mounted below `/admin/incidents`. */
export function postmortemRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, writeAs } = deps;
  const done = createDone(deps.flashes);
  const preview = createPreview(deps);

  function showEditor(
    at: ScreenRequest,
    id: string,
    sent?: { body: string; rejection: FormRejection },
  ) {
    const { incident } = readIncidentView(ctx, ctx.db, id);
    const form = {
      body: sent?.body ?? incident.postmortem?.body ?? OUTLINE,
      complaints: sent?.rejection.complaints ?? NO_COMPLAINTS,
      stale: sent?.rejection.stale,
    };
    return render.screen(at, {
      title: `Post-mortem of ${incident.name}`,
      status: sent?.rejection.status ?? 200,
      children: <PostmortemEditor incident={incident} {...form} />,
    });
  }

  /** Saves the post-mortem and returns the confirmation; undefined if nothing changed. */
  function save(
    tx: Tx,
    requestContext: RequestContext,
    id: string,
    form: Form,
    publish: boolean | undefined,
  ): string | undefined {
    const { row: before } = getIncident(tx, id, true);
    return changeUnlessStale(form, before, () => {
      const input = {
        body: multilineText(form, "body"),
        ...(publish === undefined ? {} : { publish }),
      };
      const { row } = putPostmortem(ctx, tx, id, input, actorOf(requestContext));
      if (row.version === before.version) return undefined;
      const [was, is] = [before.postmortemPublishedAt !== null, row.postmortemPublishedAt !== null];
      if (!was && is) return "The post-mortem was published.";
      return was && !is ? "The post-mortem was withdrawn." : "The post-mortem was saved.";
    });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id/postmortem",
      async ({ request, requestContext, params }) =>
        showEditor({ request, requestContext }, params.id),
      screenOperation("The editor of an incident's post-mortem", MAY_WRITE),
    )
    .post(
      "/:id/postmortem",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const asked = form.text("do");
        const publish = asked === PUBLISH ? true : asked === WITHDRAW ? false : undefined;
        try {
          if (publish) requireNoOutline(form);
          const text = await writeAs(requestContext, (tx) =>
            save(tx, requestContext, id, form, publish),
          );
          return done(requestContext, pathsOfIncident(id).home, text);
        } catch (error) {
          const sent = { body: multilineText(form, "body"), rejection: rejectionOrThrow(error) };
          return showEditor({ request, requestContext }, id, sent);
        }
      },
      { ...formBody(), ...screenOperation("Write an incident's post-mortem", MAY_WRITE) },
    )
    .get(
      "/:id/postmortem/preview",
      redirectGetById((id) => pathsOfIncident(id).postmortem),
      screenOperation("The post-mortem that was previewed", MAY_WRITE),
    )
    .post(
      "/:id/postmortem/preview",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const at = { request, requestContext };
        try {
          return await preview(at, (tx) => {
            save(tx, requestContext, id, form, true);
            return previewIncident(ctx, tx, id, actorOf(requestContext));
          });
        } catch (error) {
          const sent = { body: multilineText(form, "body"), rejection: rejectionOrThrow(error) };
          return showEditor(at, id, sent);
        }
      },
      { ...formBody(), ...screenOperation("Show a post-mortem as the public sees it", MAY_WRITE) },
    );
}

/** Throws `validation_failed` if the text is still the unedited outline. */
function requireNoOutline(form: Form): void {
  if (multilineText(form, "body").trim() !== OUTLINE.trim()) return;
  const detail = "is nothing but its headings: write something below them";
  throw invalidFields([{ pointer: "#/body", detail }]);
}
