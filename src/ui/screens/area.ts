import type { Actor, Role } from "../../base/actor";
import { invalidFields, Problem } from "../../base/errors";
import type { Reader, Tx } from "../../db/statements";
import type { Form as SentForm } from "../../http/form-body";
import { actorOf } from "../../http/request-context";
import {
  type FormDefinition,
  type FormState,
  keptNotice,
  type Parsed,
  type ValuesOf,
  versionInput,
  withErrors,
} from "../forms/form";
import type { AdminDependencies } from "../frame/dependencies";
import { createPreview, type Previewed } from "../frame/preview";
import type { Screen } from "../frame/render";
import type { Reveal } from "../frame/reveals";
import { newFormToken } from "../frame/write-as";
import {
  type Action,
  addAction,
  addConfirmation,
  addDeletion,
  addLongAction,
  addSecretAction,
  type Confirmation,
  type Deletion,
  type LongAction,
  type SecretAction,
} from "./action-routes";
import { rejectionOf, StaleForm } from "./rejection";
import {
  type AreaRoutes,
  type At,
  createAreaRoutes,
  type Done,
  type RouteOptions,
  type ScreenOrPath,
  type SentAt,
} from "./routes";

export type Area = ReturnType<typeof createArea>;

/**
 * Creates a builder for the screens, forms and actions of one part of the dashboard, open to `role`
 * and higher roles unless a route says otherwise.
 */
export function createArea(deps: AdminDependencies, prefix: string, role: Role) {
  const routes = createAreaRoutes(deps, prefix, role);
  return {
    /** Routes to mount. Routes that fit no helper are added to them. */
    routes: routes.elysia,

    /** Adds a screen. */
    screen<Path extends string>(
      path: Path,
      summary: string,
      show: (at: At<Path>) => ScreenOrPath | Promise<ScreenOrPath>,
      options: RouteOptions = {},
    ): void {
      routes.get(path, summary, show, options);
    },

    /** Adds a form that takes effect once, such as one that creates an object. */
    form<Path extends string, Body, Context, View extends Context, Fields>(
      path: Path,
      declared: OnceForm<Path, Body, Context, View, Fields>,
    ): void {
      addOnceForm(routes, path, declared);
    },

    /** Adds a form that changes an object. */
    editForm<Path extends string, Body, Context, View extends Context, Fields>(
      path: Path,
      declared: EditForm<Path, Body, Context, View, Fields>,
    ): void {
      addEditForm(routes, path, declared);
    },

    /** Adds a form that creates an object with a secret, which is shown once. */
    secretForm<Path extends string, Body, Context, View extends Context, Fields, Made>(
      path: Path,
      declared: SecretForm<Path, Body, Context, View, Fields, Made>,
    ): void {
      addSecretForm(routes, path, declared);
    },

    /** Adds a button that creates a secret, which is shown once. */
    secretAction<Path extends string, Made>(path: Path, declared: SecretAction<Path, Made>): void {
      addSecretAction(routes, path, declared);
    },

    /** Adds a button's action. */
    action<Path extends string, Result>(path: Path, declared: Action<Path, Result>): void {
      addAction(routes, path, declared);
    },

    /** Adds a button's action that takes several transactions. */
    longAction<Path extends string, Result>(path: Path, declared: LongAction<Path, Result>): void {
      addLongAction(routes, path, declared);
    },

    /** Adds an action and the screen that asks before it. */
    confirmation<Path extends string, Result>(
      path: Path,
      declared: Confirmation<Path, Result>,
    ): void {
      addConfirmation(routes, path, declared);
    },

    /** Adds a deletion and the screen that asks before it. */
    deletion<Path extends string>(path: Path, declared: Deletion<Path>): void {
      addDeletion(routes, path, declared);
    },
  };
}

/** Form of a route, or a function for one that depends on the request. */
type FormOf<Path extends string, Body, Context, Fields> =
  FormDefinition<Body, Context, Fields> | ((at: At<Path>) => FormDefinition<Body, Context, Fields>);

/** Returns the form of a request. */
function formAt<Path extends string, Body, Context, Fields>(
  { form }: { form: FormOf<Path, Body, Context, Fields> },
  at: At<Path>,
): FormDefinition<Body, Context, Fields> {
  return typeof form === "function" ? form(at) : form;
}

/** Button of a form that shows the form again with a result, without saving. */
interface Trial<Path extends string, Body, View> {
  /** Value of the field `intent` that the button sends. */
  intent: string;
  /** Validates the body and tries it out. Returns the screen data with the result. */
  run: (body: Body, at: SentAt<Path>, context: View) => Promise<View>;
}

/** Runs the trial of a form, if its button was pressed. Throws `validation_failed`. */
async function runTrial<Path extends string, Body, View>(
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
interface AreaForm<
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
interface PreviewSummaries {
  showSummary: string;
  summary: string;
}

/**
 * Adds the screen of a form. `stateOf` returns the state of a form that was not submitted yet;
 * `tryOut` runs its trial. Returns functions that add the routes to which the form is submitted.
 */
function addAreaForm<Path extends string, Body, Context, View extends Context, Fields>(
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
interface OnceForm<
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
interface SecretForm<
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
function addOnceForm<Path extends string, Body, Context, View extends Context, Fields>(
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
function addSecretForm<Path extends string, Body, Context, View extends Context, Fields, Made>(
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

/** Object that a form edits, and the data of its screen. */
interface Loaded<Context, Fields> {
  /** Stored values, by field. */
  resource: { readonly [Name in keyof Fields]: unknown };
  /** Version of the object. Null if the last of two edits wins. */
  version: number | null;
  context: Context;
}

/** Form that changes an object. */
interface EditForm<
  Path extends string,
  Body,
  Context,
  View extends Context,
  Fields,
> extends AreaForm<Path, Body, Context, View, Fields> {
  /** Reads the object. Throws `not_found`, or `ShowInstead` if it cannot be edited now. */
  load: (reader: Reader, at: At<Path>) => Loaded<View, Fields>;
  trial?: Trial<Path, Partial<Body>, View>;
  /** Runs the change, in the transaction. Returns false if it changed nothing after all. */
  update: (
    tx: Tx,
    changes: Partial<Body>,
    actor: Actor,
    at: SentAt<Path>,
    context: View,
    // oxlint-disable-next-line typescript/no-invalid-void-type
  ) => boolean | void;
  done: (at: SentAt<Path>, values: ValuesOf<Fields>) => Done;
  /** Shows the public page as it would be after the change, which is rolled back. */
  preview?: PreviewSummaries & {
    show: (tx: Tx, at: SentAt<Path>, context: View) => Previewed;
  };
}

/** Adds a form that changes an object: its screen, its action and, if declared, its preview. */
function addEditForm<Path extends string, Body, Context, View extends Context, Fields>(
  routes: AreaRoutes,
  path: Path,
  declared: EditForm<Path, Body, Context, View, Fields>,
): void {
  const { ctx, writeAs } = routes.deps;
  const { load, preview, trial } = declared;

  function stateOf(at: At<Path>) {
    const form = formAt(declared, at);
    const { resource, version, context } = load(ctx.db, at);
    const hidden = version === null ? undefined : versionInput(version);
    return form.state(form.stored(resource), context, hidden);
  }

  function parseChanges(reader: Reader, at: SentAt<Path>, values: ValuesOf<Fields>) {
    const loaded = load(reader, at);
    const { resource, context } = loaded;
    return { ...loaded, ...formAt(declared, at).changes(values, resource, context) };
  }

  const { addSubmission, addPreview } = addAreaForm(routes, path, declared, stateOf, (at, values) =>
    runTrial(trial, at, () => parseChanges(ctx.db, at, values)),
  );

  /**
   * Changes the object. A form with the stored values changes nothing, which is no conflict even if
   * the form is stale: the same form may have been submitted before.
   */
  function change(
    tx: Tx,
    at: SentAt<Path>,
    values: ValuesOf<Fields>,
  ): { isChanged: boolean; context: View } {
    const { version, context, body, errors } = parseChanges(tx, at, values);
    const isUnchanged = Object.keys(body).length === 0;
    if (isUnchanged && errors.length === 0) return { isChanged: false, context };
    const update = () =>
      declared.update(tx, body, actorOf(at.requestContext), at, context) !== false;
    if (version !== null && at.sent.text("version") !== String(version)) {
      // Field errors of a stale form may concern outdated values, so the conflict comes first.
      if (errors.length > 0 || hasEffect(update)) throw new StaleForm();
      return { isChanged: false, context };
    }
    // All changed inputs are invalid, so the service has nothing to validate.
    if (isUnchanged) throw invalidFields([...errors]);
    return { isChanged: withErrors(errors, update), context };
  }

  addSubmission(async (at, values) => {
    const { isChanged } = await writeAs(at.requestContext, (tx) => change(tx, at, values));
    const done = declared.done(at, values);
    return routes.redirect(at, isChanged ? done : { ...done, text: undefined });
  });
  if (preview) {
    addPreview(preview, (tx, at, values) => preview.show(tx, at, change(tx, at, values).context));
  }
}

/** Returns true if an update changes something or is rejected. The caller rolls it back. */
function hasEffect(update: () => boolean): boolean {
  try {
    return update();
  } catch (error) {
    if (error instanceof Problem) return true;
    throw error;
  }
}
