import { roleAllows } from "../../base/actor";
import { HOUR_MS } from "../../base/time";
import { addLink } from "../auth/links";
import type { ComposedMail } from "../mail/compose";
import type { MailRow } from "../mail/queue-store";
import type { MailTemplate, TemplateEnvironment, Templates } from "../mail/templates";
import { renderLetter } from "../mail/letter/render";
import { canResetByMail, FORGOT_PATH } from "./forgot";
import { INVITE_MS, linkPath } from "./invitations";
import { readWarnedKeys } from "./key-warnings";
import {
  expiringKeysLetter,
  invitationLetter,
  passwordChangedLetter,
  resetLetter,
  type UserLetter,
} from "./letters";
import { listMailsTo, type UserMail } from "./mails";
import { isLive } from "./rules";
import { findUser, type UserRow } from "./store";

const KEYS_PATH = "/admin/settings/keys";
const ACCOUNT_PATH = "/admin/settings/account";

/** Time for which a link in a mail lets a user choose a new password. */
const RESET_LINK_MS = HOUR_MS;

/** Returns the letter to an enabled user, or a promise for it; undefined if it is not wanted any more. */
type Write<Params> = (
  mail: MailRow & { params: Params },
  user: UserRow,
  ctx: TemplateEnvironment["ctx"],
) => UserLetter | undefined | Promise<UserLetter | undefined>;

type ParamsOf<Name extends UserMail["template"]> = Extract<UserMail, { template: Name }>["params"];

const WRITERS: { [Name in UserMail["template"]]: Write<ParamsOf<Name>> } = {
  async invitation({ id, params: { by } }, user, ctx) {
    const [newest] = listMailsTo(ctx.db, user.id, "invitation", { since: 0, limit: 1 });
    // A later invitation has ended the links of this one.
    if (user.passwordHash !== null || newest?.id !== id) return undefined;
    const { email, role } = user;
    const url = await createLink(ctx, user, "invite", INVITE_MS);
    return invitationLetter({ by, email, role, publicAddress: ctx.baseUrl, url });
  },

  async password_reset({ createdAt }, user, ctx) {
    const wasChanged = user.passwordChangedAt !== null && user.passwordChangedAt >= createdAt;
    if (wasChanged || user.passwordHash === null || !canResetByMail(ctx)) return undefined;
    const url = await createLink(ctx, user, "reset", RESET_LINK_MS);
    return resetLetter({ email: user.email, publicAddress: ctx.baseUrl, url });
  },

  password_changed({ params }, { email }, ctx) {
    const publicAddress = ctx.baseUrl;
    const resetUrl = canResetByMail(ctx) ? publicAddress + FORGOT_PATH : null;
    return passwordChangedLetter({ ...params, email, publicAddress, resetUrl });
  },

  expiring_keys({ params }, user, ctx) {
    const now = ctx.clock.now();
    const keys = readWarnedKeys(ctx.db, params.keys, now);
    if (keys.length === 0 || !user.warnsOfKeys) return undefined;
    const isCreator = keys.every(({ createdById }) => createdById === user.id);
    const isAdmin = roleAllows(user.role, "admin");
    return expiringKeysLetter({
      keys,
      now,
      isCreator,
      keysUrl: isAdmin ? `${ctx.baseUrl}${KEYS_PATH}?show=expiring` : null,
      accountUrl: ctx.baseUrl + ACCOUNT_PATH,
    });
  },
};

/** Mails to users. The tokens of their links are made when they are written, and only their hashes are stored. */
export const USER_TEMPLATES: Templates = {
  invitation: templateOf(WRITERS.invitation),
  password_reset: templateOf(WRITERS.password_reset),
  password_changed: templateOf(WRITERS.password_changed),
  expiring_keys: templateOf(WRITERS.expiring_keys),
};

function templateOf<Params>(write: Write<Params>): MailTemplate {
  return async (mail, env) => {
    const user = findUser(env.ctx.db, { id: mail.subjectId });
    if (!user || !isLive(user)) return "unwanted";
    const letter = await write(mail as MailRow & { params: Params }, user, env.ctx);
    return letter ? compose(mail, env, letter) : "unwanted";
  };
}

/**
 * Stores a link beside the earlier ones and returns its address. Each try of a mail has a link of its own, and
 * all work until one is used.
 */
async function createLink(
  ctx: TemplateEnvironment["ctx"],
  { id }: UserRow,
  purpose: "invite" | "reset",
  lastsMs: number,
): Promise<string> {
  const { token } = await ctx.db.write((tx) => addLink(ctx, tx, { purpose, userId: id, lastsMs }));
  return ctx.baseUrl + linkPath(purpose, token);
}

function compose(
  { id, recipient }: MailRow,
  { ctx, settings }: TemplateEnvironment,
  { subject, letter }: UserLetter,
): ComposedMail {
  const { name, address } = settings.from;
  return {
    from: { name: name ?? letter.sender, address },
    replyTo: settings.replyTo,
    to: recipient,
    subject,
    ...renderLetter(letter),
    headers: {},
    messageId: `<${id}@${address.slice(address.lastIndexOf("@") + 1)}>`,
    date: ctx.clock.now(),
  };
}
