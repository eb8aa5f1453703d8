import type { Actor } from "../../base/actor";
import type { Reader, Tx } from "../../db/statements";
import { actorOf } from "../../http/request-context";
import { newFormToken } from "../write-as";
import { type ValuesOf, withErrors } from "../forms/form";
import type { Previewed } from "../preview";
import type { Screen } from "../render";
import type { Reveal } from "../reveals";
import {
  addAreaForm,
  type AreaForm,
  formAt,
  type PreviewSummaries,
  runTrial,
  type Trial,
} from "./area-form";
import type { AreaRoutes, At, Done, SentAt } from "./routes";

/** Form with a token, so that one rendering of it takes effect once, however often it is sent. */
interface TokenForm<
  Path extends string,
  Body,
  Context,
  View extends Context,
  Fields,
> extends AreaForm<Path, Body, Context, View, Fields> {
  /** Values that differ from the declared ones, such as those of a preset. */
  initial?: (at: At<Path>, context: View) => Partial<ValuesOf<Fields>>;
  /** Reads the screen data. Throws `ShowInstead` if the form is not possible now. */
  load: (reader: Reader, at: At<Path>) => View;
  trial?: Trial<Path, Body, View>;
}

/** Form that takes effect once, such as one that creates an object. */
export interface OnceForm<
  Path extends string,
  Body,
  Context,
  View extends Context,
  Fields,
> extends TokenForm<Path, Body, Context, View, Fields> {
  /** Runs the action, in the transaction. Returns the id of the object that it is about. */
  submit: (tx: Tx, body: Body, actor: Actor, at: SentAt<Path>, context: View) => string;
  done: (subjectId: string, at: SentAt<Path>, values: ValuesOf<Fields>) => Done;
  /** Shows the public page as it would be after the action, which is rolled back. */
  preview?: PreviewSummaries & {
    show: (tx: Tx, subjectId: string, at: SentAt<Path>, context: View) => Previewed;
  };
}

/** Form that creates a secret. */
export interface SecretForm<
  Path extends string,
  Body,
  Context,
  View extends Context,
  Fields,
  Made,
> extends TokenForm<Path, Body, Context, View, Fields> {
  /** Creates the secret, in the transaction. */
  create: (
    tx: Tx,
    body: Body,
    actor: Actor,
    at: SentAt<Path>,
    context: View,
  ) => { made: Made; subjectId: string };
  /** Shows the secret that was created, or redirects if the object has none. */
  reveal: (reveal: Reveal<Made>, at: SentAt<Path>) => Screen | Done;
}

/** Adds a form that takes effect once: its screen, its action and, if declared, its preview. */
export function addOnceForm<Path extends string, Body, Context, View extends Context, Fields>(
  routes: AreaRoutes,
  path: Path,
  declared: OnceForm<Path, Body, Context, View, Fields>,
): void {
  const { preview } = declared;
  const { run, addSubmission, addPreview } = addTokenForm(routes, path, declared, declared.submit);
  addSubmission(async (at, values) => {
    const { requestContext, sent } = at;
    const { subjectId } = await routes.deps.writeOnceAs(requestContext, sent, (tx) => ({
      made: true,
      subjectId: run(tx, at, values).result,
    }));
    return routes.redirect(at, declared.done(subjectId, at, values));
  });
  if (!preview) return;
  addPreview(preview, (tx, at, values) => {
    const { result, context } = run(tx, at, values);
    return preview.show(tx, result, at, context);
  });
}

/** Adds a form that creates an object with a secret. The secret is shown once. */
export function addSecretForm<
  Path extends string,
  Body,
  Context,
  View extends Context,
  Fields,
  Made,
>(
  routes: AreaRoutes,
  path: Path,
  declared: SecretForm<Path, Body, Context, View, Fields, Made>,
): void {
  const { run, addSubmission } = addTokenForm(routes, path, declared, declared.create);
  addSubmission(async (at, values) => {
    const { requestContext, sent } = at;
    const { reveals } = routes.deps;
    const reveal = await reveals.reveal(requestContext, sent, (tx) => run(tx, at, values).result);
    const shown = declared.reveal(reveal, at);
    return "path" in shown ? routes.redirect(at, shown) : routes.answer(at, shown);
  });
}

/** Adds the screen of a form with a token. Returns `run`, which runs the submitted form. */
function addTokenForm<Path extends string, Body, Context, View extends Context, Fields, Result>(
  routes: AreaRoutes,
  path: Path,
  declared: TokenForm<Path, Body, Context, View, Fields>,
  submit: (tx: Tx, body: Body, actor: Actor, at: SentAt<Path>, context: View) => Result,
) {
  const { ctx } = routes.deps;
  const { load, initial, trial } = declared;

  function stateOf(at: At<Path>) {
    const form = formAt(declared, at);
    const context = load(ctx.db, at);
    const values = form.initial(initial?.(at, context));
    return form.state(values, context, { form: newFormToken(ctx) });
  }

  function parse(reader: Reader, at: SentAt<Path>, values: ValuesOf<Fields>) {
    const context = load(reader, at);
    return { ...formAt(declared, at).parse(values, context), context };
  }

  const submissions = addAreaForm(routes, path, declared, stateOf, (at, values) =>
    runTrial(trial, at, () => parse(ctx.db, at, values)),
  );
  return {
    ...submissions,

    /** Parses the form in the transaction, after a repeated submission was found. */
    run(tx: Tx, at: SentAt<Path>, values: ValuesOf<Fields>): { result: Result; context: View } {
      const { body, errors, context } = parse(tx, at, values);
      const change = () => submit(tx, body, actorOf(at.requestContext), at, context);
      return { result: withErrors(errors, change), context };
    },
  };
}
