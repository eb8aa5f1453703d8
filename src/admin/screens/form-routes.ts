import type { Actor } from "../../domain/actor";
import type { Reader, Tx } from "../../db";
import { actorOf, type Form as SentForm } from "../../http";
import { newFormToken } from "../form-token";
import { type FormDefinition, type FormState, type ValuesOf, withErrors } from "../forms/form";
import { createPreview, type Previewed } from "../preview";
import type { Screen } from "../render";
import { addPreview } from "./preview-routes";
import { rejectionOf } from "./rejection";
import type { AreaRoutes, At, Done, RouteOptions, SentAt } from "./routes";

/** Form that takes effect once, however often one rendering of it is submitted. */
export interface OnceForm<
  Path extends string,
  Body,
  Context,
  View extends Context,
  Fields,
> extends RouteOptions {
  /** Summaries of the two routes. */
  ask: string;
  summary: string;
  form: FormDefinition<Body, Context, Fields>;
  /** Path of the screen that holds the form, to which GET redirects; by default the form's own. */
  back?: (at: At<Path>) => string;
  /** Values that differ from the declared ones, such as those of a preset. */
  initial?: (at: At<Path>, context: View) => Partial<ValuesOf<Fields>>;
  /** Reads the screen data. Throws `ShowInstead` if the form is not possible now. */
  load: (reader: Reader, at: At<Path>) => View;
  show: (state: FormState<ValuesOf<Fields>, View>, at: At<Path>) => Screen;
  /**
   * Returns the values with which the form is shown again, if another button than the main one was
   * pressed, such as that of a template. Undefined submits the form.
   */
  redisplay?: (values: ValuesOf<Fields>, sent: SentForm) => ValuesOf<Fields> | undefined;
  /** Runs the action, in the transaction. Returns the id of the object that it is about. */
  submit: (tx: Tx, body: Body, actor: Actor, at: SentAt<Path>, context: View) => string;
  /** Input at which a conflict is shown; by default it is shown above the form. */
  conflictField?: string;
  done: (subjectId: string, at: SentAt<Path>, values: ValuesOf<Fields>) => Done;
  /** Shows the public page as it would be after the action, which is rolled back. */
  preview?: {
    ask: string;
    summary: string;
    show: (tx: Tx, subjectId: string, at: SentAt<Path>, context: View) => Previewed;
  };
}

/** Adds a form that takes effect once: its screen, its action and, if declared, its preview. */
export function addOnceForm<Path extends string, Body, Context, View extends Context, Fields>(
  routes: AreaRoutes,
  path: Path,
  declared: OnceForm<Path, Body, Context, View, Fields>,
): void {
  const { ctx, writeOnceAs } = routes.deps;
  const { form, load, submit, preview, back } = declared;

  function state(at: At<Path>, context: View, values: ValuesOf<Fields>) {
    return form.state(values, context, { form: newFormToken(ctx) });
  }

  function ask(at: At<Path>) {
    if (back) return { path: back(at) };
    const context = load(ctx.db, at);
    const initial = form.initial(declared.initial?.(at, context));
    return declared.show(state(at, context, initial), at);
  }

  /** Runs the action of a submitted form, or shows the form again. */
  async function handle(
    at: SentAt<Path>,
    act: (run: (tx: Tx) => { subjectId: string; context: View }) => Promise<Response>,
  ): Promise<Response> {
    const values = form.read(at.sent);
    const other = declared.redisplay?.(values, at.sent);
    if (other !== undefined) {
      return routes.answer(at, declared.show(state(at, load(ctx.db, at), other), at));
    }
    try {
      return await act((tx) => {
        // Read and parsed in the transaction, after a repeated submission was found.
        const context = load(tx, at);
        const { body, errors } = form.parse(values, context);
        const run = () => submit(tx, body, actorOf(at.requestContext), at, context);
        return { subjectId: withErrors(errors, run), context };
      });
    } catch (error) {
      const { status, ...rejection } = rejectionOf(error, form, values, declared.conflictField);
      const shown = { ...state(at, load(ctx.db, at), values), ...rejection };
      return routes.answer(at, { ...declared.show(shown, at), status });
    }
  }

  routes.get(path, declared.ask, ask, declared);
  routes.post(
    path,
    declared.summary,
    (at) =>
      handle(at, async (run) => {
        const { subjectId } = await writeOnceAs(at.requestContext, at.sent, (tx) => ({
          made: true,
          subjectId: run(tx).subjectId,
        }));
        return routes.redirect(at, declared.done(subjectId, at, form.read(at.sent)));
      }),
    declared,
  );
  if (!preview) return;

  const showPreview = createPreview(routes.deps);
  addPreview(routes, path, { ...preview, back, role: declared.role }, (at) =>
    handle(at, (run) =>
      showPreview(at, (tx) => {
        const { subjectId, context } = run(tx);
        return preview.show(tx, subjectId, at, context);
      }),
    ),
  );
}
