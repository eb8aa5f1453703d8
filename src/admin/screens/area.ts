import type { Role } from "../../base/actor";
import type { AdminDependencies } from "../dependencies";
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
import { addEditForm, type EditForm } from "./edit-routes";
import { addOnceForm, addSecretForm, type OnceForm, type SecretForm } from "./form-routes";
import { type At, createAreaRoutes, type RouteOptions, type ScreenOrPath } from "./routes";

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
