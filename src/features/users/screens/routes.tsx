import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { USERS_PATH } from "../../../ui/frame/paths";
import { createArea } from "../../../ui/screens/area";
import { mailReadiness } from "../../mail/settings";
import { areResetMailsOn, setResetMails } from "../forgot";
import { inviteUser } from "../invitations";
import { findMailTrouble } from "../mails";
import { listUsers } from "../users";
import { addUserRoutes, revealLink } from "./detail";
import { INVITE_FORM } from "./forms";
import { UserList } from "./list";

/** Settings → Users: for owners. */
export function userAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, USERS_PATH, "owner");

  area.screen("", () => ({
    title: "Users",
    children: (
      <UserList
        users={listUsers(ctx.db)}
        hasTrouble={(id) => findMailTrouble(ctx.db, id) !== undefined}
        isResetMailOn={areResetMailsOn(ctx.db)}
        readiness={mailReadiness(ctx)}
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
    load: () => ({ isMailed: mailReadiness(ctx).ready }),
    show: ({ context }) => ({
      title: "Invite user",
      crumbs: [{ href: USERS_PATH, label: "Users" }],
      button: context.isMailed ? "Send invitation" : "Create invitation link",
    }),
    create(tx, body, actor) {
      const made = inviteUser(ctx, tx, body, actor);
      return { made, subjectId: made.user.id };
    },
    reveal: (reveal) => revealLink(ctx, reveal),
  });

  addUserRoutes(area, deps);
  return area.routes;
}
