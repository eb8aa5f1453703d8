import { declareRoutes } from "../../http/elysia";
import type { Role } from "../../base/actor";
import { Problem } from "../../base/errors";
import type { Tone } from "../../base/status";
import { seeOther } from "../../http/answers";
import { type Form as SentForm, formBody } from "../../http/form-body";
import { type Operation, operation, session } from "../../http/operation";
import { sessionOf } from "../../http/request-context";
import type { AdminDependencies } from "../frame/dependencies";
import { createPreview } from "../frame/changes";
import type { Screen, ScreenRequest } from "../frame/render";

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
  /** Submitted form; undefined for a GET request. */
  sent: SentForm | undefined;
}

/** Request of a submitted form. */
export interface SentAt<Path extends string> extends At<Path> {
  sent: SentForm;
}

/** Screen, or a path to redirect to. */
export type ScreenOrPath = Screen | { path: string };

/** Path to redirect to after an action, and its confirmation; undefined if nothing changed. */
export interface Done {
  path: string;
  text: string | undefined;
  /** Tone of the confirmation; that of success by default. */
  tone?: Tone;
  /** Link after the confirmation. */
  link?: { href: string; label: string } | undefined;
}

/** Thrown to answer a request with another screen, or to redirect, before anything is written. */
export class ShowInstead extends Error {
  readonly shown: ScreenOrPath;

  constructor(shown: ScreenOrPath) {
    super("another screen is shown");
    this.shown = shown;
  }
}

/** Differences of a route from the others of its area. */
export interface RouteOptions {
  /** Role that the route requires; the role of the area by default. */
  role?: Role | undefined;
  /** True if the form may send files. */
  takesFiles?: boolean | undefined;
  /** Limit of a form with files, in bytes, if it is more than usual. */
  maxBytes?: number;
  /** True for a form that `KEPT_FIELD` shows again as it was typed. */
  keepsTyped?: true;
}

export type AreaRoutes = ReturnType<typeof createAreaRoutes>;

/** Creates the routes of an area, open to `role` and higher roles, with their answers. */
export function createAreaRoutes(deps: AdminDependencies, prefix: string, role: Role) {
  const { render, flashes } = deps;
  const elysia = declareRoutes(prefix);
  const declare = (options: RouteOptions) =>
    screenOperation(session(options.role ?? role), options.keepsTyped ? KEEPS_TYPED : {});

  async function answer(at: ScreenRequest, shown: ScreenOrPath): Promise<Response> {
    return "path" in shown ? seeOther(shown.path) : render.screen(at, shown);
  }

  /**
   * Runs `respond`. An error is answered with the screen that `screenFor` returns, or thrown if it
   * returns none.
   */
  async function attempt(
    at: ScreenRequest,
    respond: () => Promise<Response>,
    screenFor: (error: unknown) => ScreenOrPath | undefined,
  ): Promise<Response> {
    try {
      return await respond();
    } catch (error) {
      const shown = screenFor(error);
      if (!shown) throw error;
      return answer(at, shown);
    }
  }

  return {
    deps,
    elysia,
    answer,
    attempt,
    showPreview: createPreview(deps.ctx, deps.writeAs),

    /** Returns the address of one of the paths of the area; the area's own by default. */
    addressOf: (path = "", params: object = {}): string =>
      prefix +
      path.replace(/:(\w+)/g, (_, name: string) =>
        encodeURIComponent(String(params[name as keyof typeof params])),
      ),

    /** Redirects after an action. */
    redirect: ({ requestContext }: ScreenRequest, { path, text, ...more }: Done): Response =>
      flashes.redirect(sessionOf(requestContext).id, path, text, more),

    get<Path extends string>(
      path: Path,
      show: (at: At<Path>) => ScreenOrPath | Promise<ScreenOrPath>,
      options: RouteOptions = {},
    ): void {
      elysia.get(
        path as string,
        async ({ request, requestContext, params, query }) => {
          const about = { params: params as ParamsOf<Path>, query, sent: undefined };
          const at = { request, requestContext, ...about };
          return attempt(at, async () => answer(at, await show(at)), insteadOf);
        },
        declare(options),
      );
    },

    post<Path extends string>(
      path: Path,
      handle: (at: SentAt<Path>) => Promise<Response>,
      options: RouteOptions = {},
    ): void {
      elysia.post(
        path as string,
        async ({ request, requestContext, params, query, body: sent }) => {
          const about = { params: params as ParamsOf<Path>, query, sent };
          const at = { request, requestContext, ...about };
          return attempt(at, () => handle(at), insteadOf);
        },
        {
          ...formBody({
            files: options.takesFiles ?? false,
            ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
          }),
          ...declare(options),
        },
      );
    },
  };
}

/** Returns the message of a conflict with the state of an object; undefined for other errors. */
export function conflictMessage(error: unknown): string | undefined {
  return error instanceof Problem && error.code === "conflict" ? error.message : undefined;
}

function insteadOf(error: unknown): ScreenOrPath | undefined {
  return error instanceof ShowInstead ? error.shown : undefined;
}

/** Option of a form that `keptNotice` shows again as it was typed, before anything else is done. */
export const KEEPS_TYPED = { keepsTyped: true } as const;

/**
 * Declares a screen or a form's action, which is not in the OpenAPI document and whose errors are
 * HTML pages.
 */
export function screenOperation(
  access: Operation["access"],
  more: Pick<Operation, "beforeBody" | "keepsTyped"> = {},
) {
  return operation({
    summary: "Screen of the dashboard",
    tag: "Dashboard",
    access,
    answers: {
      200: { description: "HTML." },
      303: { description: "Redirect to the next screen." },
    },
    errors: ["not_found", "conflict"],
    ...more,
  });
}
