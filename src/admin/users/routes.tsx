import { Elysia } from "elysia";
import { Problem } from "../../errors";
import {
  disableUser,
  enableUser,
  getUser,
  inviteUser,
  issuePasswordLink,
  listLiveKeysOf,
  listUsers,
  setRole,
  type UserResource,
} from "../../features/users";
import {
  type Admission,
  actorOf,
  formBody,
  operation,
  seeOther,
  session,
  sessionOf,
} from "../../http";
import type { Role } from "../../kernel/role";
import { complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../form-errors";
import { newFormToken } from "../form-token";
import { type AdminParts, screen } from "../parts";
import type { Reveal } from "../reveals";
import type { ScreenRequest } from "../screens";
import {
  DisableUser,
  InviteForm,
  LinkShownBefore,
  RevealedLink,
  UserDetail,
  UserList,
  userPath,
  USERS_PATH,
} from "./screens";

/** Settings → Users: for owners. */
export function userScreens({ ctx, admissions, screens, flashes, reveals }: AdminParts) {
  const MAY_MANAGE = session("owner");

  function showInvitation(
    at: ScreenRequest,
    values: { email: string; name: string; role: string },
    complaints = NO_COMPLAINTS,
  ) {
    const page = { values, complaints, formToken: newFormToken(ctx) };
    return screens.show(at, {
      title: "Invite user",
      status: statusOf(complaints),
      children: <InviteForm {...page} />,
    });
  }

  function showUser(at: ScreenRequest, id: string, roleComplaint?: string) {
    const user = getUser(ctx.db, id);
    const isSelf = sessionOf(at.admission).user.id === id;
    const page = { user, isSelf, formToken: newFormToken(ctx), now: ctx.clock.now() };
    return screens.show(at, {
      title: user.name,
      status: roleComplaint === undefined ? 200 : 422,
      children: <UserDetail {...page} roleComplaint={roleComplaint} />,
    });
  }

  function showLink(at: ScreenRequest, reveal: Reveal<{ user: UserResource; token: string }>) {
    if ("shownBefore" in reveal) {
      const children = <LinkShownBefore userId={reveal.shownBefore} />;
      return screens.show(at, { title: "The link was shown", children });
    }
    const { user, token } = reveal.revealed;
    const link = `${ctx.baseUrl}/admin/join/${token}`;
    const lasts = user.has_password ? "24 hours" : "7 days";
    return screens.show(at, {
      title: "Copy the link now",
      isSecret: true,
      children: <RevealedLink user={user} link={link} lasts={lasts} />,
    });
  }

  function done(admission: Admission, id: string, text: string, next = userPath(id)): Response {
    flashes.put(sessionOf(admission).id, { tone: "success", text });
    return seeOther(next);
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
        return showUser(at, id, error.message);
      }
      throw error;
    }
  }

  return new Elysia({ prefix: USERS_PATH })
    .use(admissions.plugin)
    .get(
      "",
      async ({ request, admission }) =>
        screens.show(
          { request, admission },
          {
            title: "Users",
            children: <UserList users={listUsers(ctx.db)} now={ctx.clock.now()} />,
          },
        ),
      operation(screen("The list of users", MAY_MANAGE)),
    )
    .get(
      "/new",
      async ({ request, admission }) =>
        showInvitation({ request, admission }, { email: "", name: "", role: "editor" }),
      operation(screen("The form to invite a user", MAY_MANAGE)),
    )
    .post(
      "/new",
      async ({ request, admission, body: form }) => {
        const at = { request, admission };
        const values = {
          email: form.text("email").trim(),
          name: form.text("name"),
          role: form.text("role"),
        };
        const input = { ...values, role: values.role as Role };
        const actor = actorOf(admission);
        try {
          const reveal = await reveals.reveal(sessionOf(admission).id, form, (tx) => {
            const made = inviteUser(ctx, tx, input, actor);
            return { made, subjectId: made.user.id };
          });
          return await showLink(at, reveal);
        } catch (error) {
          return showInvitation(at, values, complaintsOrThrow(error));
        }
      },
      { ...formBody(), ...operation(screen("Invite a user", MAY_MANAGE)) },
    )
    .get(
      "/:id",
      async ({ request, admission, params }) => showUser({ request, admission }, params.id),
      operation(screen("One user", MAY_MANAGE)),
    )
    .post(
      "/:id/role",
      async ({ request, admission, params, body: form }) => {
        const at = { request, admission };
        return unlessLastOwner(at, params.id, async () => {
          const role = form.text("role") as Role;
          try {
            await ctx.db.write((tx) => setRole(ctx, tx, params.id, role, actorOf(admission)));
          } catch (error) {
            return showUser(at, params.id, `The role ${complaintsOrThrow(error)["role"]}.`);
          }
          const isSelf = sessionOf(admission).user.id === params.id;
          // Whoever gives up being an owner may not open this screen any more.
          const next = isSelf && role !== "owner" ? "/admin" : userPath(params.id);
          return done(admission, params.id, "The role was changed.", next);
        });
      },
      { ...formBody(), ...operation(screen("Change a user's role", MAY_MANAGE)) },
    )
    .get(
      "/:id/link",
      // Where a browser goes that comes back to the page of a link that was shown.
      async ({ params }) => seeOther(userPath(params.id)),
      operation(screen("The user whose link was shown", MAY_MANAGE)),
    )
    .post(
      "/:id/link",
      async ({ request, admission, params, body: form }) => {
        const actor = actorOf(admission);
        const reveal = await reveals.reveal(sessionOf(admission).id, form, (tx) => {
          const made = issuePasswordLink(ctx, tx, params.id, actor);
          return { made, subjectId: made.user.id };
        });
        return showLink({ request, admission }, reveal);
      },
      { ...formBody(), ...operation(screen("Make a link to choose a password", MAY_MANAGE)) },
    )
    .get(
      "/:id/disable",
      async ({ request, admission, params }) => {
        const user = getUser(ctx.db, params.id);
        const keys = listLiveKeysOf(ctx.db, params.id, ctx.clock.now());
        return screens.show(
          { request, admission },
          { title: "Disable user", children: <DisableUser user={user} keys={keys} /> },
        );
      },
      operation(screen("Asks before a user is disabled", MAY_MANAGE)),
    )
    .post(
      "/:id/disable",
      async ({ request, admission, params }) =>
        unlessLastOwner({ request, admission }, params.id, async () => {
          await ctx.db.write((tx) => disableUser(ctx, tx, params.id, actorOf(admission)));
          return done(
            admission,
            params.id,
            "The user is disabled. All of their sessions have ended.",
          );
        }),
      { ...formBody(), ...operation(screen("Disable a user", MAY_MANAGE)) },
    )
    .post(
      "/:id/enable",
      async ({ admission, params }) => {
        await ctx.db.write((tx) => enableUser(ctx, tx, params.id, actorOf(admission)));
        return done(admission, params.id, "The user is enabled and can sign in again.");
      },
      { ...formBody(), ...operation(screen("Enable a user", MAY_MANAGE)) },
    );
}
