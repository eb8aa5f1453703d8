import { Elysia } from "elysia";
import type { Reader, Tx } from "../../db";
import { Problem } from "../../errors";
import { actorOf, type Form as SentForm, formBody, seeOther, session } from "../../http";
import type { Actor } from "../../domain/actor";
import type { Role } from "../../domain/role";
import type { AdminDependencies } from "../dependencies";
import { createDone } from "../done";
import { newFormToken } from "../form-token";
import { type FormErrors, NO_ERRORS } from "../forms/field";
import { type FormDefinition, type FormState, type ValuesOf, withErrors } from "../forms/form";
import type { Screen, ScreenRequest } from "../render";
import type { Reveal } from "../reveals";
import { screenOperation } from "../screen-operation";

/** Names of the parameters of a path, such as `id` of `/:id/rotate`. */
type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { [Key in Name]: string } & ParamsOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? { [Key in Name]: string }
    : object;

/** Request of a screen or an action of an area. */
export interface At<Path extends string> extends ScreenRequest {
  params: ParamsOf<Path>;
  query: Readonly<Record<string, string | undefined>>;
}

interface SentAt<Path extends string> extends At<Path> {
  body: SentForm;
}

/** Screen, or a path to redirect to. */
type ScreenOrPath = Screen | { path: string };

/** Path to redirect to after an action, and its confirmation; undefined if nothing changed. */
interface Done {
  path: string;
  text: string | undefined;
}

interface ShownForm<Values, Context> extends FormState<Values, Context> {
  /** Identifies this rendering of the form, so that submitting it twice creates one object. */
  formToken: string;
}

interface CreateForm<Path extends string, Body, Context, Fields, Made> {
  /** Summaries of the two routes. */
  ask: string;
  summary: string;
  form: FormDefinition<Body, Context, Fields>;
  /** Values that differ from the declared ones, such as those of a preset. */
  initial?: (at: At<Path>) => Partial<ValuesOf<Fields>>;
  context: (at: At<Path>) => Context;
  show: (state: ShownForm<ValuesOf<Fields>, Context>, at: At<Path>) => ScreenOrPath;
  /** Creates the object, in the transaction. */
  create: (tx: Tx, body: Body, actor: Actor, at: At<Path>) => { made: Made; subjectId: string };
  /** Shows the secret that was created. */
  reveal: (reveal: Reveal<Made>) => Screen;
}

interface CreateSecret<Path extends string, Made> {
  ask: string;
  summary: string;
  back: (at: At<Path>) => string;
  create: (tx: Tx, actor: Actor, at: At<Path>) => { made: Made; subjectId: string };
  reveal: (reveal: Reveal<Made>) => Screen;
}

interface EditForm<Path extends string, Body, Context, Fields> {
  summary: string;
  form: FormDefinition<Body, Context, Fields>;
  context: (at: At<Path>) => Context;
  load: (reader: Reader, at: At<Path>) => { readonly [Name in keyof Fields]: unknown };
  show: (state: FormState<ValuesOf<Fields>, Context>, at: At<Path>) => Screen;
  update: (tx: Tx, changes: Partial<Body>, actor: Actor, at: At<Path>) => void;
  done: (at: At<Path>, values: ValuesOf<Fields>) => Done & { text: string };
}

interface Action<Path extends string, Result> {
  summary: string;
  run: (tx: Tx, at: At<Path>, actor: Actor) => Result;
  done: (result: Result, at: At<Path>) => Done;
  /** Renders the reason of a conflict; without it the error page is shown. */
  showConflict?: (message: string, at: At<Path>) => Screen;
}

/**
 * Creates a builder for the screens and actions of one part of the dashboard, open to `role` and
 * higher roles.
 */
export function createArea(deps: AdminDependencies, prefix: string, role: Role) {
  const { ctx, render, reveals, writeAs } = deps;
  const access = session(role);
  const redirect = createDone(deps.flashes);
  const routes = new Elysia({ prefix }).use(deps.requestContexts.plugin);

  async function answer(at: ScreenRequest, shown: ScreenOrPath): Promise<Response> {
    return "path" in shown ? seeOther(shown.path) : render.screen(at, shown);
  }

  function get<Path extends string>(
    path: Path,
    summary: string,
    show: (at: At<Path>) => ScreenOrPath,
  ): void {
    routes.get(
      path as string,
      // Elysia reads the names here to learn which parts of a request a handler needs.
      async ({ request, requestContext, params, query }) => {
        const at = { request, requestContext, params: params as ParamsOf<Path>, query };
        return answer(at, show(at));
      },
      screenOperation(summary, access),
    );
  }

  function post<Path extends string>(
    path: Path,
    summary: string,
    handle: (at: SentAt<Path>) => Promise<Response>,
  ): void {
    routes.post(
      path as string,
      async ({ request, requestContext, params, query, body }) =>
        handle({ request, requestContext, params: params as ParamsOf<Path>, query, body }),
      { ...formBody(), ...screenOperation(summary, access) },
    );
  }

  return {
    routes,

    /** Adds a screen. */
    screen: get,

    /** Adds a form that creates an object with a secret. The secret is shown once. */
    createSecretForm<Path extends string, Body, Context, Fields, Made>(
      path: Path,
      declared: CreateForm<Path, Body, Context, Fields, Made>,
    ): void {
      const { form, initial, context, show, create } = declared;

      function shown(at: At<Path>, values: ValuesOf<Fields>, errors: FormErrors): ScreenOrPath {
        const state = { values, errors, context: context(at), formToken: newFormToken(ctx) };
        const screen = show(state, at);
        return errors === NO_ERRORS ? screen : { ...screen, status: 422 };
      }

      get(path, declared.ask, (at) => shown(at, form.initial(initial?.(at)), NO_ERRORS));
      post(path, declared.summary, async (at) => {
        const { requestContext, body: sent } = at;
        const values = form.read(sent);
        try {
          const reveal = await reveals.reveal(requestContext, sent, (tx) => {
            // Parsed here, after a repeated submission was found: a day may have passed since the first.
            const { body, errors } = form.parse(values, context(at));
            return withErrors(errors, () => create(tx, body, actorOf(requestContext), at));
          });
          return await answer(at, declared.reveal(reveal));
        } catch (error) {
          return answer(at, shown(at, values, form.errorsOf(error)));
        }
      });
    },

    /**
     * Adds a button that creates a secret, which is shown once. A GET request for its path
     * redirects back.
     */
    createSecret<Path extends string, Made>(path: Path, declared: CreateSecret<Path, Made>): void {
      get(path, declared.ask, (at) => ({ path: declared.back(at) }));
      post(path, declared.summary, async (at) => {
        const { requestContext, body: sent } = at;
        const reveal = await reveals.reveal(requestContext, sent, (tx) =>
          declared.create(tx, actorOf(requestContext), at),
        );
        return answer(at, declared.reveal(reveal));
      });
    },

    /** Adds the action of a form that changes an object. The screen is a separate route. */
    editForm<Path extends string, Body, Context, Fields>(
      path: Path,
      declared: EditForm<Path, Body, Context, Fields>,
    ): void {
      const { form, context, show } = declared;
      post(path, declared.summary, async (at) => {
        const { requestContext, body: sent } = at;
        const values = form.read(sent);
        try {
          const isChanged = await writeAs(requestContext, (tx) => {
            const { body, errors } = form.changes(values, declared.load(tx, at), context(at));
            if (errors.length === 0 && Object.keys(body).length === 0) return false;
            withErrors(errors, () => declared.update(tx, body, actorOf(requestContext), at));
            return true;
          });
          const { path: next, text } = declared.done(at, values);
          return redirect(requestContext, next, isChanged ? text : undefined);
        } catch (error) {
          const notice = conflictMessage(error);
          const errors = notice === undefined ? form.errorsOf(error) : NO_ERRORS;
          const status = notice === undefined ? 422 : 409;
          return answer(at, {
            ...show({ values, errors, notice, context: context(at) }, at),
            status,
          });
        }
      });
    },

    /** Adds a button's action. */
    action<Path extends string, Result>(path: Path, declared: Action<Path, Result>): void {
      post(path, declared.summary, async (at) => {
        try {
          const { requestContext } = at;
          const result = await writeAs(requestContext, (tx) =>
            declared.run(tx, at, actorOf(requestContext)),
          );
          const { path: next, text } = declared.done(result, at);
          return redirect(requestContext, next, text);
        } catch (error) {
          const message = conflictMessage(error);
          if (message === undefined || !declared.showConflict) throw error;
          return answer(at, { ...declared.showConflict(message, at), status: 409 });
        }
      });
    },
  };
}

/** Returns the message of a conflict with the state of an object; undefined for other errors. */
function conflictMessage(error: unknown): string | undefined {
  return error instanceof Problem && error.code === "conflict" ? error.message : undefined;
}
