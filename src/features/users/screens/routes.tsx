import { describeDuration } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { sessionOf } from "../../../http/request-context";
import { Button } from "../../../ui/buttons";
import { type StateOf, versionInput } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { HOME_PATH, userPath, USERS_PATH } from "../../../ui/frame/paths";
import type { Screen, ScreenRequest } from "../../../ui/frame/render";
import { newFormToken, type Reveal } from "../../../ui/frame/changes";
import { createArea } from "../../../ui/screens/area";
import { FormScreen, shownBefore } from "../../../ui/screens/form-screen";
import { mailReadiness } from "../../mail/settings";
import { areResetMailsOn, setResetMails } from "../forgot";
import { inviteUser, issuePasswordLink, linkPath, type PasswordLink } from "../invitations";
import { findMailTrouble } from "../mails";
import {
  disableUser,
  enableUser,
  getUser,
  isLastOwner,
  listLiveKeysOf,
  listUsers,
  setRole,
} from "../users";
import { DisableUser, ResetMailsCard, RevealedLink, UserDetail } from "./detail";
import { INVITE_FORM, ROLE_FORM, UserList } from "./list";

interface AtUser extends ScreenRequest {
  params: { id: string };
}

/** Settings → Users: for owners. */
export function userAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, USERS_PATH, "owner");

  const isSelf = ({ requestContext, params }: AtUser) =>
    sessionOf(requestContext).user.id === params.id;

  const isMailReady = () => mailReadiness(ctx).ready;

  function loadRole(reader: Reader, { params }: AtUser) {
    const context = { isLastOwner: isLastOwner(reader, params.id) };
    const resource = getUser(reader, params.id);
    return { resource, version: resource.version, context };
  }

  function detail(at: AtUser, changed: Partial<StateOf<typeof ROLE_FORM>> = {}): Screen {
    const { resource: user, version, context } = loadRole(ctx.db, at);
    const stored = ROLE_FORM.state(ROLE_FORM.stored(user), context, versionInput(version));
    const role = { ...stored, ...changed };
    const formToken = newFormToken(ctx);
    const mail = { isMailReady: isMailReady(), trouble: findMailTrouble(ctx.db, user.id) };
    const page = { user, role, isSelf: isSelf(at), formToken, ...mail, now: ctx.clock.now() };
    return { title: user.name, children: <UserDetail {...page} /> };
  }

  function showLink(reveal: Reveal<PasswordLink>): Screen {
    if ("shownBefore" in reveal) {
      return shownBefore({
        secret: "link",
        ifLost: "create a new one",
        object: { href: userPath(reveal.shownBefore), label: "Open user" },
        list: { href: USERS_PATH, label: "Users" },
      });
    }
    const { user, purpose, token, expiresAt, isMailed } = reveal.revealed;
    const title = purpose === "reset" ? "Password reset link" : "Invitation link";
    const url = ctx.baseUrl + linkPath(purpose, token);
    const lasts = describeDuration(expiresAt - ctx.clock.now());
    return {
      title,
      isSecret: true,
      children: <RevealedLink {...{ title, user, url, lasts, isMailed }} />,
    };
  }

  area.screen("", () => ({
    title: "Users",
    children: (
      <UserList
        users={listUsers(ctx.db)}
        hasTrouble={(id) => findMailTrouble(ctx.db, id) !== undefined}
        resetMails={
          <ResetMailsCard isOn={areResetMailsOn(ctx.db)} readiness={mailReadiness(ctx)} />
        }
        now={ctx.clock.now()}
      />
    ),
  }));

  area.screen("/reset-mails", () => ({ path: USERS_PATH }));

  area.action("/reset-mails", {
    run(tx, { sent }, actor) {
      const isOn = sent.text("turn") === "on";
      return { isOn, isChanged: setResetMails(ctx, tx, isOn, actor) };
    },
    done: ({ isOn, isChanged }) => ({
      path: USERS_PATH,
      text: isChanged ? `Password resets by e-mail were turned ${isOn ? "on" : "off"}.` : undefined,
    }),
  });

  area.secretForm("/new", {
    form: INVITE_FORM,
    load: () => ({ isMailed: isMailReady() }),
    show: (state) => ({
      title: "Invite user",
      children: (
        <FormScreen
          title="Invite user"
          crumbs={[{ href: USERS_PATH, label: "Users" }]}
          form={INVITE_FORM}
          state={state}
          action={`${USERS_PATH}/new`}
        >
          <Button kind="primary">
            {state.context.isMailed ? "Send invitation" : "Create invitation link"}
          </Button>
        </FormScreen>
      ),
    }),
    create(tx, body, actor) {
      const made = inviteUser(ctx, tx, body, actor);
      return { made, subjectId: made.user.id };
    },
    reveal: showLink,
  });

  area.screen("/:id", (at) => detail(at));

  area.editForm("/:id/role", {
    form: ROLE_FORM,
    back: ({ params }) => userPath(params.id),
    load: loadRole,
    show: (state, at) => detail(at, state),
    update(tx, { role }, actor, { params }) {
      if (role !== undefined) setRole(ctx, tx, params.id, role, actor);
    },
    done(at, { role }) {
      // Former owners may not open this screen any more.
      const isClosed = isSelf(at) && role !== "owner";
      return { path: isClosed ? HOME_PATH : userPath(at.params.id), text: "The role was changed." };
    },
  });

  area.secretAction("/:id/link", {
    back: ({ params }) => userPath(params.id),
    create(tx, actor, { params }) {
      const made = issuePasswordLink(ctx, tx, params.id, actor);
      return { made, subjectId: made.user.id };
    },
    reveal: showLink,
  });

  area.confirmation("/:id/disable", {
    show({ params }) {
      const user = getUser(ctx.db, params.id);
      if (isLastOwner(ctx.db, user.id)) return { path: userPath(user.id) };
      const keys = listLiveKeysOf(ctx.db, user.id, ctx.clock.now());
      const title = `Disable “${user.name}”`;
      return { title, children: <DisableUser title={title} user={user} keys={keys} /> };
    },
    run: (tx, { params }, actor) => disableUser(ctx, tx, params.id, actor),
    done: ({ id }) => ({
      path: userPath(id),
      text: "The user was disabled. All sessions of the user have ended.",
    }),
    showConflict: (notice, at) => detail(at, { notice }),
  });

  area.action("/:id/enable", {
    run: (tx, { params }, actor) => enableUser(ctx, tx, params.id, actor),
    done: ({ id, has_password }) => ({
      path: userPath(id),
      text: has_password
        ? "The user was enabled and can sign in again."
        : "The user was enabled. To sign in, the user needs an invitation link.",
    }),
  });

  return area.routes;
}
