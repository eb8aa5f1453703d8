/*
 * Routes of forms: each form is shown (GET), submitted (POST) and, if declared, previewed. Read `AreaForm` first,
 * then the three kinds of forms: `OnceForm` takes effect once, `SecretForm` creates a secret, `EditForm` changes an object.
 */
import type { Actor, Role } from "../../base/actor";
import { invalidFields, Problem } from "../../base/errors";
import type { Reader, Tx } from "../../db/statements";
import type { Form as SentForm } from "../../http/form-body";
import { actorOf } from "../../http/request-context";
import {
  entriesOf,
  type FormDefinition,
  type FormErrors,
  type FormState,
  keptNotice,
  NO_ERRORS,
  type Parsed,
  type ValuesOf,
  versionInput,
  withErrors,
} from "../forms/form";
import { newFormToken, type Previewed, type Reveal } from "../frame/changes";
import type { Screen } from "../frame/render";
import { type DialogTexts, formScreen, type FormScreenTexts } from "./form-screen";
import {
  type AreaRoutes,
  type At,
  conflictMessage,
  type Done,
  type RouteOptions,
  type SentAt,
} from "./routes";

/** Form of a route, or a function for one that depends on the request. */
type FormOf<Path extends string, Body, View, Fields> =
  | FormDefinition<Body, NoInfer<View>, Fields>
  | ((at: At<Path>) => FormDefinition<Body, NoInfer<View>, Fields>);

/** Returns the form of a request. */
function formAt<Path extends string, Body, View, Fields>(
  { form }: { form: FormOf<Path, Body, View, Fields> },
  at: At<Path>,
): FormDefinition<Body, View, Fields> {
  return typeof form === "function" ? form(at) : form;
}

/** Button of a form that shows the form again with a result, without saving. */
interface Trial<Path extends string, Body, View> {
  /** Value of the field `intent` that the button sends. */
  intent: string;
  /** Validates the body. Returns a function that tries it out, for the screen data with the result. */
  prepare: (body: Body, at: SentAt<Path>, context: View) => () => Promise<View>;
}

/** Runs the trial of a form, if its button was pressed. Throws `validation_failed`. */
async function runTrial<Path extends string, Body, View>(
  trial: Trial<Path, Body, View> | undefined,
  at: SentAt<Path>,
  parse: () => Parsed<Body> & { context: View },
): Promise<{ context: View } | undefined> {
  if (trial === undefined || at.sent.text("intent") !== trial.intent) return undefined;
  const { body, errors, context } = parse();
  const run = withErrors(errors, () => trial.prepare(body, at, context));
  return { context: await run() };
}

/** Form of an area: its screen, and the routes to which it is submitted. */
interface AreaForm<Path extends string, Body, View, Fields> extends RouteOptions {
  /** Role that the screen requires, if it is open to lower roles than the action. */
  readRole?: Role | undefined;
  form: FormOf<Path, Body, View, Fields>;
  /** Address of the screen that holds the form, to which GET redirects; by default the form's own. */
  back?: ((at: At<Path>) => string) | undefined;
  /** Returns the texts of a screen or a dialog with this form alone, or the screen that has the form. */
  show: (
    state: FormState<ValuesOf<Fields>, View>,
    at: At<Path>,
  ) => FormScreenTexts | DialogTexts | Screen;
  /**
   * Returns the values with which the form is shown again, if another button than the main one was
   * pressed, such as that of a template. Undefined submits the form.
   */
  redisplay?: (values: ValuesOf<Fields>, sent: SentForm) => ValuesOf<Fields> | undefined;
  /** Input at which a conflict is shown; by default it is shown above the form. */
  conflictField?: string | undefined;
  /** Shows the public page as it would be after the action, which is rolled back. */
  preview?: unknown;
}

/**
 * Adds the screen of a form. `stateOf` returns the state of a form that was not submitted yet;
 * `tryOut` runs its trial. Returns functions that add the routes to which the form is submitted.
 */
function addAreaForm<Path extends string, Body, View, Fields>(
  routes: AreaRoutes,
  path: Path,
  declared: AreaForm<Path, Body, View, Fields>,
  stateOf: (at: At<Path>) => FormState<ValuesOf<Fields>, View>,
  tryOut: (at: SentAt<Path>, values: ValuesOf<Fields>) => Promise<{ context: View } | undefined>,
) {
  const { role, readRole = role } = declared;
  const ownAddress = ({ params }: At<Path>) => routes.addressOf(path, params);
  const back = declared.back ?? ownAddress;

  function show(at: At<Path>, typed?: Partial<FormState<ValuesOf<Fields>, View>>): Screen {
    const state = { ...stateOf(at), ...typed };
    const shown = declared.show(state, at);
    return "button" in shown
      ? formScreen(shown, {
          form: formAt(declared, at),
          state,
          action: ownAddress(at),
          hasPreview: declared.preview !== undefined,
        })
      : shown;
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
    const other =
      declared.redisplay?.(values, at.sent) ?? (isFieldButton(form, at.sent) ? values : undefined);
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

  routes.get(path, (at) => (declared.back ? { path: declared.back(at) } : show(at)), {
    role: readRole,
  });

  return {
    /** Adds the route that runs the form's action. */
    addSubmission(act: (at: SentAt<Path>, values: ValuesOf<Fields>) => Promise<Response>): void {
      const submit = (at: SentAt<Path>) => respond(at, (values) => act(at, values));
      routes.post(path, submit, { ...declared, keepsTyped: true });
    },

    /** Adds the preview of the form's action, at `preview` below its path. */
    addPreview(change: (tx: Tx, at: SentAt<Path>, values: ValuesOf<Fields>) => Previewed): void {
      const preview = (at: SentAt<Path>) =>
        respond(at, (values) => routes.showPreview(at, (tx) => change(tx, at, values)));
      // A GET request, such as after "Back", is for the form.
      routes.get(`${path}/preview`, (at) => ({ path: back(at as At<Path>) }), { role });
      routes.post(`${path}/preview`, (at) => preview(at as SentAt<Path>), {
        role,
        keepsTyped: true,
      });
    },
  };
}

/** Returns true if a button was pressed that belongs to a field. */
function isFieldButton(form: { fields: unknown }, sent: SentForm): boolean {
  return entriesOf(form).some(([, field]) => field.isPressed?.(sent));
}

/** Form with a token, so that one rendering of it takes effect once, however often it is sent. */
interface TokenForm<Path extends string, Body, View, Fields> extends AreaForm<
  Path,
  Body,
  View,
  Fields
> {
  /** Values that differ from the declared ones, such as those of a preset. */
  initial?: (at: At<Path>, context: View) => Partial<ValuesOf<Fields>>;
  /** Reads the screen data. Throws `ShowInstead` if the form is not possible now. */
  load: (reader: Reader, at: At<Path>) => View;
  trial?: Trial<Path, Body, View>;
}

/** Form that takes effect once, such as one that creates an object. */
export interface OnceForm<Path extends string, Body, View, Fields> extends TokenForm<
  Path,
  Body,
  View,
  Fields
> {
  /** Runs the action, in the transaction. Returns the id of the object that it is about. */
  submit: (tx: Tx, body: Body, actor: Actor, at: SentAt<Path>, context: View) => string;
  done: (subjectId: string, at: SentAt<Path>, values: ValuesOf<Fields>) => Done;
  /** Shows the public page as it would be after the action, which is rolled back. */
  preview?: (tx: Tx, subjectId: string, at: SentAt<Path>, context: View) => Previewed;
}

/** Form that creates a secret. */
export interface SecretForm<Path extends string, Body, View, Fields, Made> extends TokenForm<
  Path,
  Body,
  View,
  Fields
> {
  /** Creates the secret, in the transaction. */
  create: (
    tx: Tx,
    body: Body,
    actor: Actor,
    at: SentAt<Path>,
    context: View,
  ) => { made: Made; subjectId: string };
  /** Shows the secret that was created, or redirects if the object has none. */
  reveal: (reveal: Reveal<Made>, at: SentAt<Path>) => Screen | Done | Promise<Screen | Done>;
}

/** Adds a form that takes effect once: its screen, its action and, if declared, its preview. */
export function addOnceForm<Path extends string, Body, View, Fields>(
  routes: AreaRoutes,
  path: Path,
  declared: OnceForm<Path, Body, View, Fields>,
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
  addPreview((tx, at, values) => {
    const { result, context } = run(tx, at, values);
    return preview(tx, result, at, context);
  });
}

/** Adds a form that creates an object with a secret. The secret is shown once. */
export function addSecretForm<Path extends string, Body, View, Fields, Made>(
  routes: AreaRoutes,
  path: Path,
  declared: SecretForm<Path, Body, View, Fields, Made>,
): void {
  const { run, addSubmission } = addTokenForm(routes, path, declared, declared.create);
  addSubmission(async (at, values) => {
    const { requestContext, sent } = at;
    const { reveals } = routes.deps;
    const reveal = await reveals.reveal(requestContext, sent, (tx) => run(tx, at, values).result);
    const shown = await declared.reveal(reveal, at);
    return "path" in shown ? routes.redirect(at, shown) : routes.answer(at, shown);
  });
}

/** Adds the screen of a form with a token. Returns `run`, which runs the submitted form. */
function addTokenForm<Path extends string, Body, View, Fields, Result>(
  routes: AreaRoutes,
  path: Path,
  declared: TokenForm<Path, Body, View, Fields>,
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
export interface EditForm<Path extends string, Body, View, Fields> extends AreaForm<
  Path,
  Body,
  View,
  Fields
> {
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
  done: (at: SentAt<Path>, values: ValuesOf<Fields>, isChanged: boolean) => Done | Promise<Done>;
  /** Shows the public page as it would be after the change, which is rolled back. */
  preview?: (tx: Tx, at: SentAt<Path>, context: View) => Previewed;
}

/** Adds a form that changes an object: its screen, its action and, if declared, its preview. */
export function addEditForm<Path extends string, Body, View, Fields>(
  routes: AreaRoutes,
  path: Path,
  declared: EditForm<Path, Body, View, Fields>,
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
    const done = await declared.done(at, values, isChanged);
    return routes.redirect(at, isChanged ? done : { ...done, text: undefined });
  });
  if (preview) {
    addPreview((tx, at, values) => preview(tx, at, change(tx, at, values).context));
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

/** Rejected form: its errors by input, or a message about the whole form. */
interface Rejection {
  status: 409 | 422;
  errors: FormErrors;
  notice: string | undefined;
}

/** Message of a form whose object changed after the form was rendered. */
const STALE_MESSAGE =
  "Someone changed this while you were editing, so nothing was saved. Your input is kept below. Save again to overwrite the other change.";

class StaleForm extends Problem {
  constructor() {
    super("conflict", STALE_MESSAGE);
  }
}

/**
 * Returns the rejection with which a form is shown again; undefined for errors of other kinds. A
 * conflict is shown at the input `conflictField` if there is one, otherwise above the form.
 */
export function rejectionOf<Fields>(
  error: unknown,
  form: Pick<FormDefinition<unknown, unknown, Fields>, "errorsByInput">,
  values: ValuesOf<Fields>,
  conflictField: string | undefined,
): Rejection | undefined {
  if (error instanceof Problem && error.code === "validation_failed") {
    return { status: 422, errors: form.errorsByInput(error.fields, values), notice: undefined };
  }
  const message = conflictMessage(error);
  if (message === undefined) return undefined;
  if (conflictField === undefined || error instanceof StaleForm) {
    return { status: 409, errors: NO_ERRORS, notice: message };
  }
  return { status: 409, errors: { [conflictField]: message }, notice: undefined };
}
