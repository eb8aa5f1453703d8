import type { Actor } from "../../domain/actor";
import type { Reader, Tx } from "../../db";
import { actorOf } from "../../http";
import { newFormToken } from "../form-token";
import { type FormDefinition, type FormState, type ValuesOf, withErrors } from "../forms/form";
import type { Screen } from "../render";
import type { Reveal } from "../reveals";
import { rejectionOf } from "./rejection";
import type { AreaRoutes, At, RouteOptions, SentAt } from "./routes";

/** Form that creates a secret. */
export interface SecretForm<
  Path extends string,
  Body,
  Context,
  View extends Context,
  Fields,
  Made,
> extends RouteOptions {
  /** Summaries of the two routes. */
  ask: string;
  summary: string;
  form: FormDefinition<Body, Context, Fields>;
  /** Values that differ from the declared ones, such as those of a preset. */
  initial?: (at: At<Path>, context: View) => Partial<ValuesOf<Fields>>;
  /** Reads the screen data. Throws `ShowInstead` if the form is not possible now. */
  load: (reader: Reader, at: At<Path>) => View;
  show: (state: FormState<ValuesOf<Fields>, View>, at: At<Path>) => Screen;
  /** Creates the secret, in the transaction. */
  create: (tx: Tx, body: Body, actor: Actor, at: SentAt<Path>) => { made: Made; subjectId: string };
  /** Shows the secret that was created. */
  reveal: (reveal: Reveal<Made>) => Screen;
}

/** Button that creates a secret. */
export interface SecretAction<Path extends string, Made> extends RouteOptions {
  /** Summaries of the two routes. */
  ask: string;
  summary: string;
  /** Path to which a GET request redirects. */
  back: (at: At<Path>) => string;
  create: (tx: Tx, actor: Actor, at: SentAt<Path>) => { made: Made; subjectId: string };
  reveal: (reveal: Reveal<Made>) => Screen;
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
  const { ctx, reveals } = routes.deps;
  const { form, load, show, create } = declared;

  function state(at: At<Path>, context: View, values: ValuesOf<Fields>) {
    return form.state(values, context, { form: newFormToken(ctx) });
  }

  function ask(at: At<Path>): Screen {
    const context = load(ctx.db, at);
    return show(state(at, context, form.initial(declared.initial?.(at, context))), at);
  }

  async function submit(at: SentAt<Path>): Promise<Response> {
    const { requestContext, sent } = at;
    const values = form.read(sent);
    try {
      const reveal = await reveals.reveal(requestContext, sent, (tx) => {
        // Read and parsed in the transaction, after a repeated submission was found.
        const { body, errors } = form.parse(values, load(tx, at));
        return withErrors(errors, () => create(tx, body, actorOf(requestContext), at));
      });
      return await routes.answer(at, declared.reveal(reveal));
    } catch (error) {
      const { status, ...rejection } = rejectionOf(error, form, values);
      const shown = { ...state(at, load(ctx.db, at), values), ...rejection };
      return routes.answer(at, { ...show(shown, at), status });
    }
  }

  routes.get(path, declared.ask, ask, declared);
  routes.post(path, declared.summary, submit, declared);
}

/**
 * Adds a button that creates a secret, which is shown once. A GET request for its path redirects
 * back.
 */
export function addSecretAction<Path extends string, Made>(
  routes: AreaRoutes,
  path: Path,
  declared: SecretAction<Path, Made>,
): void {
  routes.get(path, declared.ask, (at) => ({ path: declared.back(at) }), declared);
  routes.post(
    path,
    declared.summary,
    async (at) => {
      const { requestContext, sent } = at;
      const reveal = await routes.deps.reveals.reveal(requestContext, sent, (tx) =>
        declared.create(tx, actorOf(requestContext), at),
      );
      return routes.answer(at, declared.reveal(reveal));
    },
    declared,
  );
}
