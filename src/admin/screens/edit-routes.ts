import type { Actor } from "../../domain/actor";
import type { Role } from "../../domain/role";
import type { Reader, Tx } from "../../db";
import { invalidFields } from "../../errors";
import { actorOf } from "../../http";
import {
  type FormDefinition,
  type FormState,
  type ValuesOf,
  versionInput,
  withErrors,
} from "../forms/form";
import { createPreview, type Previewed } from "../preview";
import type { Screen } from "../render";
import { addPreview } from "./preview-routes";
import { rejectionOf, StaleForm } from "./rejection";
import type { AreaRoutes, At, Done, RouteOptions, SentAt } from "./routes";

/** Object that a form edits, and the data of its screen. */
interface Loaded<Context, Fields> {
  /** Stored values, by field. */
  resource: { readonly [Name in keyof Fields]: unknown };
  /** Version of the object. Null if the last of two edits wins. */
  version: number | null;
  context: Context;
}

/** Form that changes an object. */
export interface EditForm<
  Path extends string,
  Body,
  Context,
  View extends Context,
  Fields,
> extends RouteOptions {
  /** Summaries of the two routes. */
  ask: string;
  summary: string;
  /** Role that the screen requires, if it is open to lower roles than the change. */
  readRole?: Role;
  form: FormDefinition<Body, Context, Fields>;
  /** Path of the screen that holds the form, to which GET redirects; by default the form's own. */
  back?: (at: At<Path>) => string;
  /** Reads the object. Throws `not_found`, or `ShowInstead` if it cannot be edited now. */
  load: (reader: Reader, at: At<Path>) => Loaded<View, Fields>;
  show: (state: FormState<ValuesOf<Fields>, View>, at: At<Path>) => Screen;
  /** Input at which a conflict is shown; by default it is shown above the form. */
  conflictField?: string;
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
  preview?: {
    ask: string;
    summary: string;
    show: (tx: Tx, at: SentAt<Path>, context: View) => Previewed;
  };
}

/** Adds a form that changes an object: its screen, its action and, if declared, its preview. */
export function addEditForm<Path extends string, Body, Context, View extends Context, Fields>(
  routes: AreaRoutes,
  path: Path,
  declared: EditForm<Path, Body, Context, View, Fields>,
): void {
  const { ctx, writeAs } = routes.deps;
  const { form, preview, back, role, readRole = role } = declared;

  function show(at: At<Path>, typed?: Partial<FormState<ValuesOf<Fields>, View>>): Screen {
    const { resource, version, context } = declared.load(ctx.db, at);
    const hidden = version === null ? undefined : versionInput(version);
    const values = typed?.values ?? form.stored(resource);
    return declared.show({ ...form.state(values, context, hidden), ...typed }, at);
  }

  /** Returns false if the form changes nothing, which is no conflict even if the form is stale. */
  function change(tx: Tx, at: SentAt<Path>): { isChanged: boolean; context: View } {
    const { resource, version, context } = declared.load(tx, at);
    const { body, errors } = form.changes(form.read(at.sent), resource, context);
    if (errors.length === 0 && Object.keys(body).length === 0) return { isChanged: false, context };
    // Field errors of a stale form may concern outdated values, so the conflict comes first.
    if (version !== null && at.sent.text("version") !== String(version)) throw new StaleForm();
    // All changed inputs are invalid, so the service has nothing to validate.
    if (Object.keys(body).length === 0) throw invalidFields([...errors]);
    const update = () => declared.update(tx, body, actorOf(at.requestContext), at, context);
    return { isChanged: withErrors(errors, update) !== false, context };
  }

  /** Runs the action of a submitted form, or shows the form again. */
  async function handle(at: SentAt<Path>, act: () => Promise<Response>): Promise<Response> {
    try {
      return await act();
    } catch (error) {
      const values = form.read(at.sent);
      const { status, ...rejection } = rejectionOf(error, form, values, declared.conflictField);
      return routes.answer(at, { ...show(at, { values, ...rejection }), status });
    }
  }

  routes.get(path, declared.ask, (at) => (back ? { path: back(at) } : show(at)), {
    role: readRole,
  });
  routes.post(
    path,
    declared.summary,
    (at) =>
      handle(at, async () => {
        const { isChanged } = await writeAs(at.requestContext, (tx) => change(tx, at));
        const done = declared.done(at, form.read(at.sent));
        return routes.redirect(at, isChanged ? done : { ...done, text: undefined });
      }),
    { role },
  );
  if (!preview) return;
  const showPreview = createPreview(routes.deps);
  addPreview(routes, path, { ...preview, back, role }, (at) =>
    handle(at, () => showPreview(at, (tx) => preview.show(tx, at, change(tx, at).context))),
  );
}
