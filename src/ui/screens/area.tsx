/*
 * The dashboard's kit. A noun's screens are declared in its `screens/list.tsx` or `routes.tsx`, mounted in `dashboard.ts`:
 *
 *     const area = createArea(deps, THINGS_PATH, "editor"); // GET for viewers: { role: "viewer" }
 *     area.screen("", ({ query }) => ({ title: "Things", children: <ThingList list={readThings(ctx.db, query)} /> }));
 *     area.form("/new", {
 *       form: THING_FORM, // defineForm<CreateThingBody>()({ name: nameField() }), see ui/forms/form.ts
 *       load: () => undefined, // what the form shows besides its values
 *       show: () => ({ title: "Create thing", crumbs: CRUMBS, button: "Create thing" }),
 *       submit: (tx, body, actor) => createThing(ctx, tx, body, actor).id,
 *       done: (id) => ({ path: thingPath(id), text: "The thing was created." }),
 *     });
 *     area.deletion({
 *       noun: "thing", // at "/:id/delete"
 *       find: getThing, // (reader, id)
 *       nameOf: ({ name }) => name,
 *       consequences: () => <p>Its parts are deleted too. This cannot be undone.</p>,
 *       remove: (tx, { id }, actor) => deleteThing(ctx, tx, id, actor),
 *     });
 *
 * A new screen takes two files: the noun's routes, and a file with its view. A list is a `ListScreen` (`list.tsx`) of
 * columns, filters and views; a detail is a `PageHead` with `DetailCard`s, of which `Facts` show its properties. Paths are
 * in `ui/frame/paths.ts`. `thingPath(id, "delete")` is the address of the route "/:id/delete".
 */
import type { ComponentChildren } from "preact";
import type { Actor, Role } from "../../base/actor";
import type { Db } from "../../db/database";
import type { Reader, Tx } from "../../db/statements";
import { actorOf } from "../../http/request-context";
import { type DialogTexts, dialogScreen } from "./form-screen";
import type { AdminDependencies } from "../frame/dependencies";
import type { Previewed, Reveal } from "../frame/changes";
import type { Screen } from "../frame/render";
import {
  addEditForm,
  addOnceForm,
  addSecretForm,
  type EditForm,
  type OnceForm,
  type SecretForm,
} from "./form-routes";
import {
  type At,
  conflictMessage,
  createAreaRoutes,
  type Done,
  type RouteOptions,
  type ScreenOrPath,
  type SentAt,
} from "./routes";

export type Area = ReturnType<typeof createArea>;

/**
 * Creates a builder for the screens, forms and actions of one part of the dashboard, open to `role`
 * and higher roles unless a route says otherwise. `prefix` is the address of its list.
 */
export function createArea(deps: AdminDependencies, prefix: string, role: Role) {
  const routes = createAreaRoutes(deps, prefix, role);
  const { writeAs, writeOnceAs, reveals } = deps;

  /** Adds the action of a button that takes several transactions. Each checks session and role again. */
  function longAction<Path extends string, Result>(
    path: Path,
    declared: LongAction<Path, Result>,
  ): void {
    const { run, done, showConflict } = declared;
    routes.post(
      path,
      (at) => {
        const { requestContext } = at;
        const act = async () => {
          const write: Db["write"] = (change) => writeAs(requestContext, change);
          const result = await run(write, at, actorOf(requestContext));
          return routes.redirect(at, await done(result, at));
        };
        return routes.attempt(at, act, (error) => {
          const message = conflictMessage(error);
          if (message === undefined || !showConflict) return undefined;
          return { ...showConflict(message, at), status: 409 };
        });
      },
      declared,
    );
  }

  /** Adds a button's action. */
  function action<Path extends string, Result>(path: Path, declared: Action<Path, Result>): void {
    longAction<Path, Result>(path, {
      ...declared,
      run: (write, at, actor) => write((tx) => declared.run(tx, at, actor)),
    });
  }

  return {
    ...routes,

    /** Routes to mount. Routes that fit no helper are added to them. */
    routes: routes.elysia,

    /** Adds a screen. */
    screen: <Path extends string>(
      path: Path,
      show: (at: At<Path>) => ScreenOrPath | Promise<ScreenOrPath>,
      options: RouteOptions = {},
    ): void => routes.get(path, show, options),

    /** Adds a form that takes effect once, such as one that creates an object. */
    form: <Path extends string, Body, View, Fields>(
      path: Path,
      declared: OnceForm<Path, Body, View, Fields>,
    ): void => addOnceForm(routes, path, declared),

    /** Adds a form that changes an object. */
    editForm: <Path extends string, Body, View, Fields>(
      path: Path,
      declared: EditForm<Path, Body, View, Fields>,
    ): void => addEditForm(routes, path, declared),

    /** Adds a form that creates an object with a secret, which is shown once. */
    secretForm: <Path extends string, Body, View, Fields, Made>(
      path: Path,
      declared: SecretForm<Path, Body, View, Fields, Made>,
    ): void => addSecretForm(routes, path, declared),

    action,
    longAction,

    /** Adds an action and the screen that asks before it, shown as a dialog where scripts run. */
    confirmation<Path extends string, Result>(
      path: Path,
      declared: Action<Path, Result> & { show: (at: At<Path>) => DialogTexts | ScreenOrPath },
    ): void {
      const show = (at: At<Path>) => {
        const shown = declared.show(at);
        if (!("dialog" in shown)) return shown;
        return dialogScreen(shown, { action: routes.addressOf(path, at.params) });
      };
      routes.get(path, show, declared);
      action(path, declared);
    },

    /**
     * Adds the deletion of an object, at `/:id/delete`, and the screen that asks before it. One form that is
     * submitted twice is answered alike; a different form for a deleted object is `not_found`.
     */
    deletion<Found>(declared: Deletion<Found>): void {
      const { noun, find, nameOf, consequences, remove } = declared;
      const { subjectOf, listOf = () => routes.addressOf(), textOf = deletedText } = declared;
      routes.get(
        DELETION,
        ({ params }) => {
          const found = find(deps.ctx.db, params.id);
          const texts = {
            title: `Delete “${nameOf(found)}”`,
            button: `Delete ${noun}`,
            isDanger: true,
            dialog: consequences(found),
          };
          return dialogScreen(texts, { action: routes.addressOf(DELETION, params) });
        },
        declared,
      );
      routes.post(
        DELETION,
        async (at) => {
          const { requestContext, sent, params } = at;
          const { made, subjectId } = await writeOnceAs(requestContext, sent, (tx) => {
            const found = find(tx, params.id);
            remove(tx, found, actorOf(requestContext));
            return { made: nameOf(found), subjectId: subjectOf?.(found) ?? params.id };
          });
          return routes.redirect(at, { path: listOf(subjectId), text: textOf(noun, made) });
        },
        declared,
      );
    },

    /** Adds a button that creates a secret, which is shown once. A GET request redirects to `back`. */
    secretAction<Path extends string, Made>(path: Path, declared: SecretAction<Path, Made>): void {
      routes.get(path, (at) => ({ path: declared.back(at) }), declared);
      routes.post(
        path,
        async (at) => {
          const { requestContext, sent } = at;
          const reveal = await reveals.reveal(requestContext, sent, (tx) =>
            declared.create(tx, actorOf(requestContext), at),
          );
          return routes.answer(at, declared.reveal(reveal));
        },
        declared,
      );
    },

    /** Adds a preview of an action: the public page as it would be after a change, which is rolled back. */
    preview<Path extends string>(
      path: Path,
      declared: {
        /** Address to which a GET request redirects. */
        back: (at: At<Path>) => string;
        change: (tx: Tx, at: SentAt<Path>) => Previewed;
      },
    ): void {
      routes.get(path, (at) => ({ path: declared.back(at) }));
      routes.post(path, (at) => routes.showPreview(at, (tx) => declared.change(tx, at)));
    },
  };
}

/** Action of a button. */
interface Action<Path extends string, Result> extends RouteOptions {
  run: (tx: Tx, at: SentAt<Path>, actor: Actor) => Result;
  done: (result: Result, at: SentAt<Path>) => Done | Promise<Done>;
  /** Renders the reason of a conflict; without it the error page is shown. */
  showConflict?: (message: string, at: SentAt<Path>) => Screen;
}

/** Action of a button that changes so much that it takes several transactions. */
interface LongAction<Path extends string, Result> extends Omit<Action<Path, Result>, "run"> {
  run: (write: Db["write"], at: SentAt<Path>, actor: Actor) => Promise<Result>;
}

const DELETION = "/:id/delete";

/** Deletion of an object, with a screen that asks before it. */
interface Deletion<Found> extends RouteOptions {
  /** Kind of object, such as "template". */
  noun: string;
  /** Reads the object. Throws `not_found`. */
  find: (reader: Reader, id: string) => Found;
  nameOf: (found: Found) => string;
  /** Paragraphs about the data that is lost. */
  consequences: (found: Found) => ComponentChildren;
  /** Deletes the object, in the transaction. */
  remove: (tx: Tx, found: Found, actor: Actor) => void;
  /** Id that `listOf` gets, such as that of the page of a component; by default that of the object. */
  subjectOf?: (found: Found) => string;
  /** Address of the next screen; by default the list of the area. */
  listOf?: (subjectId: string) => string;
  /** Confirmation. The name is null if the form was submitted before. */
  textOf?: (noun: string, name: string | null) => string;
}

/** Button that creates a secret. */
interface SecretAction<Path extends string, Made> extends RouteOptions {
  /** Address to which a GET request redirects. */
  back: (at: At<Path>) => string;
  create: (tx: Tx, actor: Actor, at: SentAt<Path>) => { made: Made; subjectId: string };
  reveal: (reveal: Reveal<Made>) => Screen;
}

/** Returns a confirmation that names the deleted object, or only its kind if it has no name now. */
function deletedText(noun: string, name: string | null): string {
  return `${name === null ? `The ${noun}` : `“${name}”`} was deleted.`;
}
