import { Elysia } from "elysia";
import type { Reader } from "../../db/statements";
import type { FieldError } from "../../base/errors";
import { findLink, type OneTimeLink } from "../../features/auth/links";
import { passwordError } from "../../features/auth/passwords";
import { setPublicAddress, validatePublicAddress } from "../../features/settings/service";
import { acceptLink, linkPath, setUpOwner } from "../../features/users/invitations";
import { canResetByMail } from "../../features/users/forgot";
import { getUser, validateNewUser } from "../../features/users/service";
import type { UserResource } from "../../features/users/model";
import { findCurrentSession, sessionCookie } from "../../http/cookies";
import { formBody } from "../../http/form-body";
import { seeOther } from "../../http/answers";
import { userActor } from "../../base/actor";
import { browserOrigin, sessionOriginOf } from "../../ui/frame/browser";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import type { StateOf } from "../../ui/forms/form";
import { HOME_PATH } from "../../ui/frame/paths";
import { screenOperation } from "../../ui/screens/routes";
import { DeadLink, Join, JOIN_FORM, type LinkKind, SET_UP_FORM, SetUp } from "./one-time-links";

const PUBLIC = { kind: "public" } as const;

/** Routes of one-time links: `/admin/setup/{token}` and `/admin/join/{token}`. */
export function oneTimeLinkAdminRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, sessions, passwords } = deps;
  const setUpContext = { hasFixedAddress: ctx.config.baseUrl !== undefined };

  function findLinkOf(reader: Reader, token: string, kind: LinkKind): OneTimeLink | undefined {
    const link = findLink(reader, token, ctx.clock.now());
    return link && (link.purpose === "setup") === (kind === "setup") ? link : undefined;
  }

  /** Returns the user who chooses a password by a link; undefined if the link is dead. */
  function findUserOf(token: string): UserResource | undefined {
    const link = findLinkOf(ctx.db, token, "join");
    return link?.userId ? getUser(ctx.db, link.userId) : undefined;
  }

  function showDeadLink(request: Request, kind: LinkKind) {
    const children = <DeadLink kind={kind} canReset={canResetByMail(ctx)} />;
    return render.plain(request, { title: "This link no longer works", status: 404, children });
  }

  function showSetUp(request: Request, token: string, state: StateOf<typeof SET_UP_FORM>) {
    return render.plain(request, {
      title: "Set up Allclear",
      status: statusOf(state),
      children: <SetUp action={linkPath("setup", token)} state={state} />,
    });
  }

  function showJoin(
    request: Request,
    token: string,
    user: UserResource,
    state: StateOf<typeof JOIN_FORM>,
  ) {
    const isInvitation = !user.has_password;
    const page = { action: linkPath("invite", token), email: user.email, isInvitation, state };
    return render.plain(request, {
      title: isInvitation ? "Welcome to Allclear" : "Choose a new password",
      status: statusOf(state),
      children: <Join {...page} />,
    });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/admin/setup/:token",
      async ({ request, params: { token } }) => {
        if (!findLinkOf(ctx.db, token, "setup")) return showDeadLink(request, "setup");
        const proposed = browserOrigin(request)?.origin ?? ctx.baseUrl;
        const values = SET_UP_FORM.initial({ public_address: proposed });
        return showSetUp(request, token, SET_UP_FORM.state(values, setUpContext));
      },
      screenOperation("Show the form for the first user", PUBLIC),
    )
    .post(
      "/admin/setup/:token",
      async ({ request, requestContext, params: { token }, body: sent }) => {
        if (!findLinkOf(ctx.db, token, "setup")) return showDeadLink(request, "setup");
        const { hasFixedAddress } = setUpContext;
        const values = SET_UP_FORM.read(sent);
        const { name, email, password, public_address } = SET_UP_FORM.parse(
          values,
          setUpContext,
        ).body;
        const errors = [
          ...validateNewUser({ name, email }),
          ...passwordErrors(password, email),
          ...(hasFixedAddress ? [] : validatePublicAddress(public_address)),
        ];
        if (errors.length > 0) {
          return showSetUp(request, token, SET_UP_FORM.rejected(values, errors, setUpContext));
        }
        const owner = { name, email, passwordHash: await passwords.hash(password) };
        const origin = sessionOriginOf(request, requestContext);
        const before = findCurrentSession(ctx, sessions, request, ctx.clock.now());
        // Sessions are valid only while the public address has the scheme that they started with.
        const baseUrl = hasFixedAddress ? ctx.baseUrl : new URL(public_address).origin;
        const session = await ctx.db.write((tx) => {
          // Another request may have used the link while the password was hashed.
          if (!findLinkOf(tx, token, "setup")) return undefined;
          const { user, sessionToken } = setUpOwner(
            { ...ctx, baseUrl },
            tx,
            token,
            owner,
            origin,
            before,
          );
          if (!hasFixedAddress) {
            setPublicAddress(ctx, tx, public_address, userActor(user, origin.ip));
          }
          return sessionToken;
        });
        if (session === undefined) return showDeadLink(request, "setup");
        return seeOther(HOME_PATH, { "Set-Cookie": sessionCookie(ctx, session) });
      },
      { ...formBody(), ...screenOperation("Create the first user", PUBLIC) },
    )
    .get(
      "/admin/join/:token",
      async ({ request, params: { token } }) => {
        const user = findUserOf(token);
        if (!user) return showDeadLink(request, "join");
        const values = JOIN_FORM.initial({ name: user.name });
        return showJoin(request, token, user, JOIN_FORM.state(values, {}));
      },
      screenOperation("Show the form for a new password", PUBLIC),
    )
    .post(
      "/admin/join/:token",
      async ({ request, requestContext, params: { token }, body: sent }) => {
        const user = findUserOf(token);
        if (!user) return showDeadLink(request, "join");
        const { email, role } = user;
        const values = JOIN_FORM.read(sent);
        const { name: chosenName, password } = JOIN_FORM.parse(values, {}).body;
        const name = user.has_password ? user.name : chosenName;
        const errors = [
          ...validateNewUser({ name, email, role }),
          ...passwordErrors(password, email),
        ];
        if (errors.length > 0) {
          return showJoin(request, token, user, JOIN_FORM.rejected(values, errors, {}));
        }
        const chosen = { name, passwordHash: await passwords.hash(password) };
        const origin = sessionOriginOf(request, requestContext);
        const before = findCurrentSession(ctx, sessions, request, ctx.clock.now());
        const session = await ctx.db.write((tx) => {
          // Another request may have used the link while the password was hashed.
          if (!findLinkOf(tx, token, "join")) return undefined;
          return acceptLink(ctx, tx, token, chosen, origin, before).sessionToken;
        });
        if (session === undefined) return showDeadLink(request, "join");
        return seeOther(HOME_PATH, { "Set-Cookie": sessionCookie(ctx, session) });
      },
      { ...formBody(), ...screenOperation("Choose a password", PUBLIC) },
    );
}

function passwordErrors(password: string, email: string): FieldError[] {
  const detail = passwordError(password, email);
  return detail === undefined ? [] : [{ pointer: "#/password", detail }];
}

function statusOf({ errors }: { errors: object }): number {
  return Object.keys(errors).length > 0 ? 422 : 200;
}
