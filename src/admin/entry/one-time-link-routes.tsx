import { Elysia } from "elysia";
import { type FieldError, invalidFields, Problem } from "../../errors";
import { findLink, passwordError } from "../../features/auth";
import { validatePublicAddress, setPublicAddress } from "../../features/settings";
import { acceptLink, getUser, validateNewUser, linkPath, setUpOwner } from "../../features/users";
import { findCurrentSession, type Form, formBody, seeOther, sessionCookie } from "../../http";
import { userActor } from "../../domain/actor";
import { browserOrigin } from "../browser-origin";
import { sessionOriginOf } from "../device";
import { type Complaints, complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../field-errors";
import type { AdminDependencies } from "../dependencies";
import { HOME_PATH } from "../paths";
import { screenOperation } from "../screen-operation";
import { DeadLink, Join, SetUp, type Welcome } from "./one-time-links";

const PUBLIC = { kind: "public" } as const;

/** `/admin/setup/{token}` and `/admin/join/{token}`: one-time links. */
export function oneTimeLinkAdminRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, sessions, passwords } = deps;
  const hasFixedAddress = ctx.config.baseUrl !== undefined;

  function linkOf(token: string, welcome: Welcome) {
    const link = findLink(ctx.db, token, ctx.clock.now());
    return link && (link.purpose === "setup") === (welcome === "setup") ? link : undefined;
  }

  function showDeadLink(request: Request, welcome: Welcome) {
    const children = <DeadLink welcome={welcome} />;
    return render.plain(request, {
      title: "This link no longer works",
      status: 404,
      children,
    });
  }

  function showSetUp(
    request: Request,
    token: string,
    values: { name: string; email: string; publicAddress: string },
    complaints = NO_COMPLAINTS,
  ) {
    const page = { action: linkPath("setup", token), values, complaints, hasFixedAddress };
    return render.plain(request, {
      title: "Set up Allclear",
      status: statusOf(complaints),
      children: <SetUp {...page} />,
    });
  }

  function showJoin(
    request: Request,
    token: string,
    userId: string,
    typed: { name?: string; complaints?: Complaints } = {},
  ) {
    const user = getUser(ctx.db, userId);
    const { name = user.name, complaints = NO_COMPLAINTS } = typed;
    const action = linkPath("invite", token);
    const page = { action, email: user.email, name, complaints };
    return render.plain(request, {
      title: user.has_password ? "Choose a new password" : "Welcome to Allclear",
      status: statusOf(complaints),
      children: <Join {...page} isInvitation={!user.has_password} />,
    });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/admin/setup/:token",
      async ({ request, params }) => {
        if (!linkOf(params.token, "setup")) return showDeadLink(request, "setup");
        // A proposal, for its user to mend.
        const publicAddress = browserOrigin(request)?.origin ?? ctx.baseUrl;
        return showSetUp(request, params.token, { name: "", email: "", publicAddress });
      },
      screenOperation("The form that makes the first user", PUBLIC),
    )
    .post(
      "/admin/setup/:token",
      async ({ request, requestContext, params, body: form }) => {
        if (!linkOf(params.token, "setup")) return showDeadLink(request, "setup");
        const values = {
          name: form.text("name").trim(),
          email: form.text("email").trim(),
          publicAddress: form.text("public_address").trim(),
        };
        const origin = sessionOriginOf(request, requestContext);
        try {
          const fields = validateNewUser({ name: values.name, email: values.email });
          if (!hasFixedAddress) fields.push(...validatePublicAddress(values.publicAddress));
          const passwordHash = await hashChosen(form, values.email, fields);
          const before = findCurrentSession(ctx, sessions, request, ctx.clock.now());
          // The session is for the address that is being chosen.
          const baseUrl = hasFixedAddress ? ctx.baseUrl : new URL(values.publicAddress).origin;
          const { sessionToken } = await ctx.db.write((tx) => {
            const owner = { ...values, passwordHash };
            const made = setUpOwner({ ...ctx, baseUrl }, tx, params.token, owner, origin, before);
            if (!hasFixedAddress) {
              setPublicAddress(ctx, tx, values.publicAddress, userActor(made.user, origin.ip));
            }
            return made;
          });
          return seeOther(HOME_PATH, { "Set-Cookie": sessionCookie(ctx, sessionToken) });
        } catch (error) {
          if (isGone(error)) return showDeadLink(request, "setup");
          return showSetUp(request, params.token, values, complaintsOrThrow(error));
        }
      },
      { ...formBody(), ...screenOperation("Make the first user", PUBLIC) },
    )
    .get(
      "/admin/join/:token",
      async ({ request, params }) => {
        const link = linkOf(params.token, "join");
        if (!link?.userId) return showDeadLink(request, "join");
        return showJoin(request, params.token, link.userId);
      },
      screenOperation("The form to choose a password", PUBLIC),
    )
    .post(
      "/admin/join/:token",
      async ({ request, requestContext, params, body: form }) => {
        const link = linkOf(params.token, "join");
        if (!link?.userId) return showDeadLink(request, "join");
        const user = getUser(ctx.db, link.userId);
        const name = user.has_password ? user.name : form.text("name").trim();
        const origin = sessionOriginOf(request, requestContext);
        try {
          const fields = validateNewUser({ name, email: user.email, role: user.role });
          const passwordHash = await hashChosen(form, user.email, fields);
          const before = findCurrentSession(ctx, sessions, request, ctx.clock.now());
          const { sessionToken } = await ctx.db.write((tx) =>
            acceptLink(ctx, tx, params.token, { passwordHash, name }, origin, before),
          );
          return seeOther(HOME_PATH, { "Set-Cookie": sessionCookie(ctx, sessionToken) });
        } catch (error) {
          if (isGone(error)) return showDeadLink(request, "join");
          const complaints = complaintsOrThrow(error);
          return showJoin(request, params.token, user.id, { name, complaints });
        }
      },
      { ...formBody(), ...screenOperation("Choose a password", PUBLIC) },
    );

  /**
   * Returns the hash of the chosen password. Throws all errors of the form first, since hashing is
   * expensive.
   */
  async function hashChosen(form: Form, email: string, fields: FieldError[]): Promise<string> {
    const password = form.text("password");
    const complaint = passwordError(password, email);
    if (complaint !== undefined) fields.push({ pointer: "#/password", detail: complaint });
    if (fields.length > 0) throw invalidFields(fields);
    return passwords.hash(password);
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Problem && (error.code === "not_found" || error.code === "conflict");
}
