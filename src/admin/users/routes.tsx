import { Elysia } from "elysia";
import { Problem } from "../../errors";
import {
  disableUser,
  enableUser,
  getUser,
  inviteUser,
  isLastOwner,
  issuePasswordLink,
  linkPath,
  listLiveKeysOf,
  listUsers,
  type PasswordLink,
  setRole,
} from "../../features/users";
import { actorOf, formBody, seeOther, session, sessionOf } from "../../http";
import type { Role } from "../../kernel/role";
import { describeDuration } from "../../kernel/time";
import { redirectGetById } from "../redirect-get";
import { createDone } from "../done";
import { complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../field-errors";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { HOME_PATH, userPath, USERS_PATH } from "../paths";
import type { ScreenRequest } from "../render";
import type { Reveal } from "../reveals";
import { screenOperation } from "../screen-operation";
import { UserDetail } from "./detail";
import { DisableUser } from "./disable";
import { InviteForm } from "./invite";
import { LinkShownBefore, RevealedLink } from "./link";
import { UserList } from "./list";

/** Settings → Users: for owners. */
export function userAdminRoutes({
  ctx,
  requestContexts,
  render,
  flashes,
  writeAs,
  reveals,
}: AdminDependencies) {
  const done = createDone(flashes);
  const MAY_MANAGE = session("owner");

  function showInvitation(
    at: ScreenRequest,
    values: { email: string; name: string; role: string },
    complaints = NO_COMPLAINTS,
  ) {
    const page = { values, complaints, formToken: newFormToken(ctx) };
    return render.screen(at, {
      title: "Invite user",
      status: statusOf(complaints),
      children: <InviteForm {...page} />,
    });
  }

  function showUser(at: ScreenRequest, id: string, complaints = NO_COMPLAINTS) {
    const user = getUser(ctx.db, id);
    const isSelf = sessionOf(at.requestContext).user.id === id;
    const formToken = newFormToken(ctx);
    const isLast = isLastOwner(ctx.db, id);
    const page = { user, isSelf, isLast, complaints, formToken, now: ctx.clock.now() };
    return render.screen(at, {
      title: user.name,
      status: statusOf(complaints),
      children: <UserDetail {...page} />,
    });
  }

  function showLink(at: ScreenRequest, reveal: Reveal<PasswordLink>) {
    if ("shownBefore" in reveal) {
      const page = { title: "This link was already shown", userId: reveal.shownBefore };
      return render.screen(at, { title: page.title, children: <LinkShownBefore {...page} /> });
    }
    const { user, purpose, token, expiresAt } = reveal.revealed;
    const isReset = purpose === "reset";
    const title = isReset ? "Copy the password reset link" : "Copy the invitation link";
    const url = ctx.baseUrl + linkPath(purpose, token);
    const lasts = describeDuration(expiresAt - ctx.clock.now());
    return render.screen(at, {
      title,
      isSecret: true,
      children: <RevealedLink title={title} user={user} url={url} lasts={lasts} />,
    });
  }

  /** A change that the installation's last owner is not open to is told where it was asked for. */
  async function unlessLastOwner(
    at: ScreenRequest,
    id: string,
    change: () => Promise<Response>,
  ): Promise<Response> {
    try {
      return await change();
    } catch (error) {
      if (error instanceof Problem && error.code === "conflict") {
        return showUser(at, id, { user: error.message });
      }
      throw error;
    }
  }

  return new Elysia({ prefix: USERS_PATH })
    .use(requestContexts.plugin)
    .get(
      "",
      async ({ request, requestContext }) =>
        render.screen(
          { request, requestContext },
          {
            title: "Users",
            children: <UserList users={listUsers(ctx.db)} now={ctx.clock.now()} />,
          },
        ),
      screenOperation("The list of users", MAY_MANAGE),
    )
    .get(
      "/new",
      async ({ request, requestContext }) =>
        showInvitation({ request, requestContext }, { email: "", name: "", role: "editor" }),
      screenOperation("The form to invite a user", MAY_MANAGE),
    )
    .post(
      "/new",
      async ({ request, requestContext, body: form }) => {
        const at = { request, requestContext };
        const values = {
          email: form.text("email").trim(),
          name: form.text("name"),
          role: form.text("role"),
        };
        const input = { ...values, name: values.name.trim(), role: values.role as Role };
        const actor = actorOf(requestContext);
        try {
          const reveal = await reveals.reveal(requestContext, form, (tx) => {
            const made = inviteUser(ctx, tx, input, actor);
            return { made, subjectId: made.user.id };
          });
          return await showLink(at, reveal);
        } catch (error) {
          return showInvitation(at, values, complaintsOrThrow(error));
        }
      },
      { ...formBody(), ...screenOperation("Invite a user", MAY_MANAGE) },
    )
    .get(
      "/:id",
      async ({ request, requestContext, params }) =>
        showUser({ request, requestContext }, params.id),
      screenOperation("One user", MAY_MANAGE),
    )
    .post(
      "/:id/role",
      async ({ request, requestContext, params, body: form }) => {
        const at = { request, requestContext };
        return unlessLastOwner(at, params.id, async () => {
          const role = form.text("role") as Role;
          let isChanged: boolean;
          try {
            isChanged = await writeAs(requestContext, (tx) => {
              const before = getUser(tx, params.id).role;
              return setRole(ctx, tx, params.id, role, actorOf(requestContext)).role !== before;
            });
          } catch (error) {
            return showUser(at, params.id, complaintsOrThrow(error));
          }
          const isSelf = sessionOf(requestContext).user.id === params.id;
          // Whoever gives up being an owner may not open this screen any more.
          const next = isSelf && role !== "owner" ? HOME_PATH : userPath(params.id);
          return done(requestContext, next, isChanged ? "The role was changed." : undefined);
        });
      },
      { ...formBody(), ...screenOperation("Change a user's role", MAY_MANAGE) },
    )
    .get(
      "/:id/link",
      redirectGetById(userPath),
      screenOperation("The user whose link was shown", MAY_MANAGE),
    )
    .post(
      "/:id/link",
      async ({ request, requestContext, params, body: form }) => {
        const actor = actorOf(requestContext);
        const reveal = await reveals.reveal(requestContext, form, (tx) => {
          const made = issuePasswordLink(ctx, tx, params.id, actor);
          return { made, subjectId: made.user.id };
        });
        return showLink({ request, requestContext }, reveal);
      },
      { ...formBody(), ...screenOperation("Make a link to choose a password", MAY_MANAGE) },
    )
    .get(
      "/:id/disable",
      async ({ request, requestContext, params }) => {
        const user = getUser(ctx.db, params.id);
        if (isLastOwner(ctx.db, user.id)) return seeOther(userPath(user.id));
        const keys = listLiveKeysOf(ctx.db, params.id, ctx.clock.now());
        const title = `Disable “${user.name}”`;
        return render.screen(
          { request, requestContext },
          { title, children: <DisableUser title={title} user={user} keys={keys} /> },
        );
      },
      screenOperation("Asks before a user is disabled", MAY_MANAGE),
    )
    .post(
      "/:id/disable",
      async ({ request, requestContext, params }) =>
        unlessLastOwner({ request, requestContext }, params.id, async () => {
          await writeAs(requestContext, (tx) =>
            disableUser(ctx, tx, params.id, actorOf(requestContext)),
          );
          const text = "The user is disabled. All of their sessions have ended.";
          return done(requestContext, userPath(params.id), text);
        }),
      { ...formBody(), ...screenOperation("Disable a user", MAY_MANAGE) },
    )
    .post(
      "/:id/enable",
      async ({ requestContext, params }) => {
        const user = await writeAs(requestContext, (tx) =>
          enableUser(ctx, tx, params.id, actorOf(requestContext)),
        );
        const text = user.has_password
          ? "The user is enabled and can sign in again."
          : "The user is enabled. To sign in, they need a link to choose a password.";
        return done(requestContext, userPath(params.id), text);
      },
      { ...formBody(), ...screenOperation("Enable a user", MAY_MANAGE) },
    );
}
