import type { Actor } from "../../base/actor";
import type { Reader, Tx } from "../../db/statements";
import { invalidFields, Problem } from "../../base/errors";
import { actorOf } from "../../http/request-context";
import { type ValuesOf, versionInput, withErrors } from "../forms/form";
import type { Previewed } from "../preview";
import {
  addAreaForm,
  type AreaForm,
  formAt,
  type PreviewSummaries,
  runTrial,
  type Trial,
} from "./area-form";
import { StaleForm } from "./rejection";
import type { AreaRoutes, At, Done, SentAt } from "./routes";

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
export function addEditForm<Path extends string, Body, Context, View extends Context, Fields>(
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
