import type { Actor } from "../../base/actor";
import type { Db } from "../../db/database";
import type { Tx } from "../../db/statements";
import { actorOf } from "../../http/request-context";
import type { Screen } from "../frame/render";
import type { Reveal } from "../frame/reveals";
import { conflictMessage } from "./rejection";
import type { AreaRoutes, At, Done, RouteOptions, ScreenOrPath, SentAt } from "./routes";

/** Action of a button. */
export interface Action<Path extends string, Result> extends RouteOptions {
  summary: string;
  run: (tx: Tx, at: SentAt<Path>, actor: Actor) => Result;
  done: (result: Result, at: SentAt<Path>) => Done | Promise<Done>;
  /** Renders the reason of a conflict; without it the error page is shown. */
  showConflict?: (message: string, at: SentAt<Path>) => Screen;
}

/** Action of a button that changes so much that it takes several transactions. */
export interface LongAction<Path extends string, Result> extends Omit<Action<Path, Result>, "run"> {
  run: (write: Db["write"], at: SentAt<Path>, actor: Actor) => Promise<Result>;
}

/** Action with a screen that asks before it, shown as a dialog where scripts run. */
export interface Confirmation<Path extends string, Result> extends Action<Path, Result> {
  /** Summary of the route that shows the screen (GET); `summary` is that of the submission. */
  showSummary: string;
  show: (at: At<Path>) => ScreenOrPath;
}

/** Deletion of an object, with a screen that asks before it. */
export interface Deletion<Path extends string> extends RouteOptions {
  /** Summary of the route that shows the screen (GET). */
  showSummary: string;
  /** Summary of the route that submits it (POST). */
  summary: string;
  show: (at: At<Path>) => ScreenOrPath;
  /** Deletes the object, in the transaction. Returns its name, and an id for `done`. */
  remove: (tx: Tx, at: SentAt<Path>, actor: Actor) => { name: string; subjectId: string };
  /** Returns the next screen. The name is null if the form was submitted before. */
  done: (subjectId: string, name: string | null, at: SentAt<Path>) => Done;
}

/** Button that creates a secret. */
export interface SecretAction<Path extends string, Made> extends RouteOptions {
  /** Summary of the route that shows the screen (GET). */
  showSummary: string;
  /** Summary of the route that submits it (POST). */
  summary: string;
  /** Path to which a GET request redirects. */
  back: (at: At<Path>) => string;
  create: (tx: Tx, actor: Actor, at: SentAt<Path>) => { made: Made; subjectId: string };
  reveal: (reveal: Reveal<Made>) => Screen;
}

/** Adds a button's action. */
export function addAction<Path extends string, Result>(
  routes: AreaRoutes,
  path: Path,
  declared: Action<Path, Result>,
): void {
  addLongAction<Path, Result>(routes, path, {
    ...declared,
    run: (write, at, actor) => write((tx) => declared.run(tx, at, actor)),
  });
}

/** Adds the action of a button that takes several transactions. Each checks session and role again. */
export function addLongAction<Path extends string, Result>(
  routes: AreaRoutes,
  path: Path,
  declared: LongAction<Path, Result>,
): void {
  routes.post(
    path,
    declared.summary,
    (at) => {
      const { requestContext } = at;
      const act = async () => {
        const result = await declared.run(
          (change) => routes.deps.writeAs(requestContext, change),
          at,
          actorOf(requestContext),
        );
        return routes.redirect(at, await declared.done(result, at));
      };
      return routes.attempt(at, act, (error) => {
        const message = conflictMessage(error);
        if (message === undefined || !declared.showConflict) return undefined;
        return { ...declared.showConflict(message, at), status: 409 };
      });
    },
    declared,
  );
}

/** Adds an action and the screen that asks before it. */
export function addConfirmation<Path extends string, Result>(
  routes: AreaRoutes,
  path: Path,
  declared: Confirmation<Path, Result>,
): void {
  routes.get(path, declared.showSummary, declared.show, declared);
  addAction(routes, path, declared);
}

/**
 * Adds a deletion and the screen that asks before it. One form that is submitted twice is answered
 * alike; a different form for a deleted object is `not_found`.
 */
export function addDeletion<Path extends string>(
  routes: AreaRoutes,
  path: Path,
  declared: Deletion<Path>,
): void {
  routes.get(path, declared.showSummary, declared.show, declared);
  routes.post(
    path,
    declared.summary,
    async (at) => {
      const { requestContext, sent } = at;
      const { made, subjectId } = await routes.deps.writeOnceAs(requestContext, sent, (tx) => {
        const { name, subjectId: id } = declared.remove(tx, at, actorOf(requestContext));
        return { made: name, subjectId: id };
      });
      return routes.redirect(at, declared.done(subjectId, made, at));
    },
    declared,
  );
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
  routes.get(path, declared.showSummary, (at) => ({ path: declared.back(at) }), declared);
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

/** Returns a confirmation that names the deleted object, or only its kind if it has no name now. */
export function deletedText(noun: string, name: string | null): string {
  return `${name === null ? `The ${noun}` : `“${name}”`} was deleted.`;
}
