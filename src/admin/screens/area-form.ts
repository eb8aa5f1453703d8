import type { Role } from "../../base/actor";
import type { Tx } from "../../db/statements";
import type { Form as SentForm } from "../../http/form-body";
import { invalidFields } from "../../base/errors";
import type { FormDefinition, FormState, Parsed, ValuesOf } from "../forms/form";
import { keptNotice } from "../forms/kept";
import { createPreview, type Previewed } from "../preview";
import type { Screen } from "../render";
import { rejectionOf, StaleForm } from "./rejection";
import type { AreaRoutes, At, RouteOptions, SentAt } from "./routes";

/** Form of a route, or a function for one that depends on the request. */
type FormOf<Path extends string, Body, Context, Fields> =
  FormDefinition<Body, Context, Fields> | ((at: At<Path>) => FormDefinition<Body, Context, Fields>);

/** Returns the form of a request. */
export function formAt<Path extends string, Body, Context, Fields>(
  { form }: { form: FormOf<Path, Body, Context, Fields> },
  at: At<Path>,
): FormDefinition<Body, Context, Fields> {
  return typeof form === "function" ? form(at) : form;
}

/** Button of a form that shows the form again with a result, without saving. */
export interface Trial<Path extends string, Body, View> {
  /** Value of the field `intent` that the button sends. */
  intent: string;
  /** Validates the body and tries it out. Returns the screen data with the result. */
  run: (body: Body, at: SentAt<Path>, context: View) => Promise<View>;
}

/** Runs the trial of a form, if its button was pressed. Throws `validation_failed`. */
export async function runTrial<Path extends string, Body, View>(
  trial: Trial<Path, Body, View> | undefined,
  at: SentAt<Path>,
  parse: () => Parsed<Body> & { context: View },
): Promise<{ context: View } | undefined> {
  if (trial === undefined || at.sent.text("intent") !== trial.intent) return undefined;
  const { body, errors, context } = parse();
  if (errors.length > 0) throw invalidFields([...errors]);
  return { context: await trial.run(body, at, context) };
}

/** Form of an area: its screen, and the routes to which it is submitted. */
export interface AreaForm<
  Path extends string,
  Body,
  Context,
  View extends Context,
  Fields,
> extends RouteOptions {
  /** Summary of the route that shows the screen (GET). */
  showSummary: string;
  /** Summary of the route that submits it (POST). */
  summary: string;
  /** Role that the screen requires, if it is open to lower roles than the action. */
  readRole?: Role | undefined;
  form: FormOf<Path, Body, Context, Fields>;
  /** Path of the screen that holds the form, to which GET redirects; by default the form's own. */
  back?: ((at: At<Path>) => string) | undefined;
  show: (state: FormState<ValuesOf<Fields>, View>, at: At<Path>) => Screen;
  /**
   * Returns the values with which the form is shown again, if another button than the main one was
   * pressed, such as that of a template. Undefined submits the form.
   */
  redisplay?: (values: ValuesOf<Fields>, sent: SentForm) => ValuesOf<Fields> | undefined;
  /** Input at which a conflict is shown; by default it is shown above the form. */
  conflictField?: string | undefined;
}

/** Summaries of the two routes of a preview: GET redirects to the form, POST shows the preview. */
export interface PreviewSummaries {
  showSummary: string;
  summary: string;
}

/**
 * Adds the screen of a form. `stateOf` returns the state of a form that was not submitted yet;
 * `tryOut` runs its trial. Returns functions that add the routes to which the form is submitted.
 */
export function addAreaForm<Path extends string, Body, Context, View extends Context, Fields>(
  routes: AreaRoutes,
  path: Path,
  declared: AreaForm<Path, Body, Context, View, Fields>,
  stateOf: (at: At<Path>) => FormState<ValuesOf<Fields>, View>,
  tryOut: (at: SentAt<Path>, values: ValuesOf<Fields>) => Promise<{ context: View } | undefined>,
) {
  const { back, role, readRole = role } = declared;

  function show(at: At<Path>, typed?: Partial<FormState<ValuesOf<Fields>, View>>): Screen {
    return declared.show({ ...stateOf(at), ...typed }, at);
  }

  /** Shows a submitted form again. A form for an outdated version stays outdated. */
  function showAgain(at: SentAt<Path>, typed: Partial<FormState<ValuesOf<Fields>, View>>): Screen {
    const version = at.sent.text("version");
    return show(at, version === "" ? typed : { ...typed, hidden: { version } });
  }

  /** Runs the action of a submitted form. A rejected form is shown again with the typed values. */
  async function respond(
    at: SentAt<Path>,
    act: (values: ValuesOf<Fields>) => Promise<Response>,
  ): Promise<Response> {
    const form = formAt(declared, at);
    const values = form.read(at.sent);
    const kept = keptNotice(at.sent);
    if (kept !== undefined) return routes.answer(at, showAgain(at, { values, kept }));
    const other = declared.redisplay?.(values, at.sent);
    if (other !== undefined) return routes.answer(at, showAgain(at, { values: other }));
    const tryOrAct = async () => {
      const tried = await tryOut(at, values);
      return tried ? routes.answer(at, showAgain(at, { values, ...tried })) : act(values);
    };
    return routes.attempt(at, tryOrAct, (error) => {
      const rejection = rejectionOf(error, form, values, declared.conflictField);
      if (!rejection) return undefined;
      const { status, ...shown } = rejection;
      // Only after the message about another change does the form get the current version.
      const showRejected = error instanceof StaleForm ? show : showAgain;
      return { ...showRejected(at, { values, ...shown }), status };
    });
  }

  routes.get(path, declared.showSummary, (at) => (back ? { path: back(at) } : show(at)), {
    role: readRole,
  });

  return {
    /** Adds the route that runs the form's action. */
    addSubmission(act: (at: SentAt<Path>, values: ValuesOf<Fields>) => Promise<Response>): void {
      const submit = (at: SentAt<Path>) => respond(at, (values) => act(at, values));
      routes.post(path, declared.summary, submit, { ...declared, keepsTyped: true });
    },

    /**
     * Adds the preview of the form, at `preview` below the form's path. A GET request for it, such
     * as after "Back", redirects to the form.
     */
    addPreview(
      summaries: PreviewSummaries,
      change: (tx: Tx, at: SentAt<Path>, values: ValuesOf<Fields>) => Previewed,
    ): void {
      const showPreview = createPreview(routes.deps);
      const previewPath = `${path}/preview` as Path;
      routes.get(previewPath, summaries.showSummary, (at) => ({ path: (back ?? pathOfForm)(at) }), {
        role,
      });
      routes.post(
        previewPath,
        summaries.summary,
        (at) => respond(at, (values) => showPreview(at, (tx) => change(tx, at, values))),
        { role, keepsTyped: true },
      );
    },
  };
}

/** Returns the path of the form of a requested preview. */
function pathOfForm({ request }: Pick<At<string>, "request">): string {
  return new URL(request.url).pathname.replace(/\/preview$/, "");
}
