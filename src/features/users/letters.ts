/*
 * Texts of the mails to users, and their templates, which write a mail at each try.
 */
import { type Role, ROLE_SENTENCES, roleAllows } from "../../base/actor";
import { plural } from "../../base/text";
import { DAY_MS, HOUR_MS } from "../../base/time";
import { knownZone } from "../../base/zones";
import { addLink } from "../auth/links";
import { providerName } from "../auth/provider";
import {
  composeMail,
  type MailTemplate,
  type TemplateEnvironment,
  type Templates,
} from "../mail/compose";
import {
  button,
  momentsOf,
  type Letter,
  link,
  muted,
  ownLetter,
  paragraph,
  renderLetter,
  title,
} from "../mail/letter";
import type { MailRow } from "../mail/store";
import {
  canResetByMail,
  FORGOT_PATH,
  listMailsTo,
  type PasswordChange,
  readWarnedKeys,
  type SecondFactorChange,
  type UserMail,
} from "./mails";
import { listIdentities } from "./identities";
import { INVITE_MS, linkPath } from "./invitations";
import { canUsePassword, hasJoinedSince, isLive, issuersInForce } from "./rules";
import { findUser, listIdentitiesOf, type UserRow } from "./store";

/** Maximum length of a subject, in code points. */
const SUBJECT_MAX = 150;

const momentsIn = (timeZone: string) => momentsOf({ locale: "en", timeZone: knownZone(timeZone) });

/** A letter with its subject. */
interface UserLetter {
  subject: string;
  letter: Letter;
}

function letterOf(text: string, content: Parameters<typeof ownLetter>[0]): UserLetter {
  const points = Array.from(text);
  const isLong = points.length > SUBJECT_MAX;
  const subject = isLong ? `${points.slice(0, SUBJECT_MAX - 1).join("")}…` : text;
  return { subject, letter: ownLetter(content) };
}

/** Returns the invitation to the dashboard. `by` is the name of the inviting user; empty for the command line. */
export function invitationLetter(facts: {
  by: string;
  email: string;
  role: Role;
  publicAddress: string;
  url: string;
  /** Name of the provider with which the invitation can be accepted. */
  provider?: string | undefined;
  /** False if the user may have no password. */
  canChoosePassword?: boolean;
}): UserLetter {
  const { by, email, role, publicAddress, url, provider, canChoosePassword = true } = facts;
  const ways = [
    ...(canChoosePassword ? ["with a password that you choose"] : []),
    ...(provider === undefined ? [] : [`with ${provider}`]),
  ];
  return letterOf("Your invitation to Allclear", {
    preheader: "Open the link within 7 days to join.",
    blocks: [
      title("You are invited to Allclear"),
      paragraph(
        ...(by === "" ? ["You were invited"] : [{ name: by }, " invites you"]),
        ` to the dashboard at ${publicAddress}. You sign in as `,
        { name: email },
        ways.length === 0 ? "." : ` ${ways.join(", or ")}.`,
      ),
      paragraph(`Role: ${role}. ${ROLE_SENTENCES[role]}`),
      button("Accept the invitation", url),
      muted(
        "The link works once, for 7 days. If you do not know who invites you, do nothing: until the link is used, no one can sign in as you.",
      ),
    ],
  });
}

/** Returns the mail with the link by which a user chooses a new password. */
export function resetLetter(facts: {
  email: string;
  publicAddress: string;
  url: string;
}): UserLetter {
  const { email, publicAddress, url } = facts;
  return letterOf("Choose a new password for Allclear", {
    preheader: "Open the link within an hour.",
    blocks: [
      title("Choose a new password"),
      paragraph(
        "Someone, probably you, asked for a new password for ",
        { name: email },
        ` at ${publicAddress}. Open the link within an hour and choose one. All of your sessions end then.`,
      ),
      button("Choose a new password", url),
      muted("If you did not ask for this, do nothing. Your password stays as it is."),
    ],
  });
}

const PLACES: Record<PasswordChange, string> = {
  account: "in the settings of the account. All other sessions have ended",
  link: "by a link for choosing a password. All earlier sessions have ended",
  command: "on the server’s command line. All sessions have ended",
};

/** Returns the mail about a changed password. `resetUrl` is null if the user cannot ask for a new one by mail. */
export function passwordChangedLetter(facts: {
  email: string;
  publicAddress: string;
  by: PasswordChange;
  at: number;
  /** Time zone of the user. */
  timeZone: string;
  resetUrl: string | null;
}): UserLetter {
  const { email, publicAddress, by, at, timeZone, resetUrl } = facts;
  const { moment } = momentsIn(timeZone);
  return letterOf("Your Allclear password was changed", {
    preheader: "If it was not you, act now.",
    tone: "degraded",
    blocks: [
      title("Your password was changed"),
      paragraph(
        "The password for ",
        { name: email },
        ` at ${publicAddress} was changed on ${moment(at)}, ${PLACES[by]}.`,
      ),
      paragraph("If it was you, there is nothing to do."),
      paragraph(
        resetUrl === null
          ? "If it was not you, tell an owner of Allclear at once."
          : "If it was not you, choose a new password at once, and tell an owner of Allclear.",
      ),
      ...(resetUrl === null ? [] : [link("Choose a new password", resetUrl)]),
    ],
  });
}

/** Returns the mail about an account that was recovered on the server. */
export function recoveredLetter(facts: {
  email: string;
  publicAddress: string;
  role: Role;
  at: number;
  /** Time zone of the user. */
  timeZone: string;
  /** Identities that still sign in as the user. */
  identities: readonly { label: string; system: string }[];
}): UserLetter {
  const { email, publicAddress, role, at, timeZone, identities } = facts;
  const { moment } = momentsIn(timeZone);
  return letterOf("Your Allclear account was recovered", {
    preheader: "If you did not expect this, act now.",
    tone: "degraded",
    blocks: [
      title("Your account was recovered"),
      paragraph(
        "The account of ",
        { name: email },
        ` at ${publicAddress} was recovered on ${moment(at)} on the server’s command line. All sessions have ended, a second factor was removed if there was one, and the server gave out a new password or a link for choosing one.`,
      ),
      paragraph(`Role: ${role}. ${ROLE_SENTENCES[role]}`),
      ...(identities.length === 0
        ? []
        : [
            paragraph("These still sign in as you. Disconnect those that are not yours."),
            ...identities.map(({ label, system }) =>
              paragraph({ name: label }, " at ", { name: system }, "."),
            ),
            link("Open your account", publicAddress + ACCOUNT_PATH),
          ]),
      paragraph("If you did not ask for this, tell an owner of Allclear at once."),
    ],
  });
}

/** Returns the mail about an identity with which the user can sign in from now on. */
export function connectedLetter(facts: {
  email: string;
  publicAddress: string;
  system: string;
  label: string;
  at: number;
  /** Time zone of the user. */
  timeZone: string;
  accountUrl: string;
  /** True if the user can also sign in with a password. */
  hasPassword: boolean;
}): UserLetter {
  const { email, publicAddress, system, label, at, timeZone, accountUrl, hasPassword } = facts;
  const { moment } = momentsIn(timeZone);
  return letterOf("Your Allclear account was connected", {
    preheader: "If it was not you, act now.",
    tone: "degraded",
    blocks: [
      title("Your account was connected"),
      paragraph(
        "The account of ",
        { name: email },
        ` at ${publicAddress} was connected with `,
        { name: system },
        ` on ${moment(at)}. `,
        { name: label },
        " there is signed in as you from now on.",
      ),
      paragraph("If it was you, there is nothing to do."),
      paragraph(
        hasPassword
          ? "If it was not you, disconnect it in your account, choose a new password, and tell an owner of Allclear at once."
          : "If it was not you, tell an owner of Allclear at once.",
      ),
      link("Open your account", accountUrl),
    ],
  });
}

/** Returns the mail about a change of a second factor. `resetUrl` is null if the user cannot ask for a new password by mail. */
export function secondFactorLetter(
  facts: SecondFactorChange & {
    email: string;
    publicAddress: string;
    at: number;
    /** Time zone of the user. */
    timeZone: string;
    accountUrl: string;
    resetUrl: string | null;
  },
): UserLetter {
  const { email, publicAddress, at, timeZone, accountUrl, resetUrl } = facts;
  const { moment } = momentsIn(timeZone);
  const { subject, heading, text } = secondFactorTexts(facts, moment);
  // An owner or someone on the server does it, for the user.
  const isOfOthers = facts.change === "reset";
  const unexpected = isOfOthers ? "If you did not ask for this" : "If it was not you";
  return letterOf(subject, {
    preheader: `${unexpected}, act now.`,
    tone: "degraded",
    blocks: [
      title(heading),
      paragraph(
        "On ",
        moment(at),
        ", ",
        text,
        " This is about ",
        { name: email },
        ` at ${publicAddress}.`,
      ),
      ...(isOfOthers ? [] : [paragraph("If it was you, there is nothing to do.")]),
      paragraph(
        resetUrl === null
          ? `${unexpected}, tell an owner of Allclear at once.`
          : `${unexpected}, choose a new password at once, and tell an owner of Allclear.`,
      ),
      link("Open your account", accountUrl),
      ...(resetUrl === null ? [] : [link("Choose a new password", resetUrl)]),
    ],
  });
}

/** Returns the subject, the heading, and the sentences after the time. */
function secondFactorTexts(facts: SecondFactorChange, moment: (at: number) => string) {
  switch (facts.change) {
    case "on":
      return {
        subject: "Your second factor for Allclear was turned on",
        heading: "Your second factor is on",
        text: "your second factor was turned on. Signing in with your password needs a code from now on.",
      };
    case "off":
      return {
        subject: "Your second factor for Allclear was turned off",
        heading: "Your second factor is off",
        text: "your second factor was turned off. You sign in with your password alone.",
      };
    case "reset": {
      const place = facts.by === "owner" ? "by an owner" : "on the server’s command line";
      return {
        subject: "Your second factor for Allclear was reset",
        heading: "Your second factor was reset",
        text: `your second factor was removed ${place}. All sessions have ended. You sign in with your password, and can set up a new one.`,
      };
    }
    case "recovery_codes_created":
      return {
        subject: "New recovery codes for Allclear",
        heading: "You have new recovery codes",
        text: "new recovery codes were made. Earlier ones work no longer.",
      };
    case "recovery_code_used":
      return {
        subject: "A recovery code for Allclear was used",
        heading: "A recovery code was used",
        text: `a recovery code was used after your password. You have ${plural(facts.left, "other")} left.`,
      };
    case "codes_refused":
      return {
        subject: "Wrong codes after your Allclear password",
        heading: "Wrong codes were typed",
        text: `ten wrong codes were typed after your password within an hour. The person who typed them knows your password. Codes are refused until ${moment(facts.until)}. Recovery codes still work.`,
      };
  }
}

/** Maximum number of keys that a mail names. */
const KEYS_LISTED = 20;

/** API key as a mail names it. */
interface ExpiringKey {
  name: string;
  expiresAt: number;
}

/** Returns the mail about keys that expire soon. `isCreator` is false for an owner who did not create them. */
export function expiringKeysLetter(facts: {
  keys: readonly ExpiringKey[];
  now: number;
  /** Time zone of the user. */
  timeZone: string;
  isCreator: boolean;
  /** Null for a user who may not open the list of keys. */
  keysUrl: string | null;
  accountUrl: string;
}): UserLetter {
  const { keys, now, timeZone, isCreator, keysUrl, accountUrl } = facts;
  const { moment } = momentsIn(timeZone);
  const isOne = keys.length === 1;
  const days = (key: ExpiringKey) =>
    plural(Math.max(1, Math.ceil((key.expiresAt - now) / DAY_MS)), "day");
  const [first] = keys;
  const subject =
    isOne && first
      ? `An API key expires in ${days(first)}: ${first.name}`
      : `${keys.length} API keys expire soon`;
  return letterOf(subject, {
    preheader: isOne ? "Replace it before it stops working." : "Replace them before they stop.",
    tone: "degraded",
    blocks: [
      title(isOne ? "An API key expires soon" : "API keys expire soon"),
      ...keys
        .slice(0, KEYS_LISTED)
        .map((key) =>
          paragraph({ name: key.name }, ` expires in ${days(key)}, on ${moment(key.expiresAt)}.`),
        ),
      ...(keys.length > KEYS_LISTED ? [paragraph(`And ${keys.length - KEYS_LISTED} more.`)] : []),
      paragraph(
        `Programs that use ${isOne ? "this key" : "these keys"} are refused from then on, so create ${isOne ? "a new key" : "new keys"} in time.`,
      ),
      ...(keysUrl === null ? [] : [button("Open the API keys", keysUrl)]),
    ],
    footer: [
      muted(
        isCreator
          ? `You get this mail because you created ${isOne ? "the key" : "the keys"}.`
          : "You get this mail because you are an owner, and the creator of a key is no user who can sign in.",
      ),
      link("Turn these mails off in your account", accountUrl),
    ],
  });
}

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
  async invitation({ id, createdAt, params: { by } }, user, ctx) {
    const [newest] = listMailsTo(ctx.db, user.id, "invitation", { since: 0, limit: 1 });
    // A later invitation has ended the links of this one.
    if (user.passwordHash !== null || newest?.id !== id) return undefined;
    if (hasJoinedSince(user, listIdentitiesOf(ctx.db, { userId: user.id }), createdAt)) {
      return undefined;
    }
    const { email, role } = user;
    const url = await createLink(ctx, user, "invite", INVITE_MS);
    const provider = providerName(ctx.config);
    const canChoosePassword = canUsePassword(ctx.config, user);
    const ways = { provider, canChoosePassword };
    return invitationLetter({ by, email, role, publicAddress: ctx.baseUrl, url, ...ways });
  },

  async password_reset({ createdAt }, user, ctx) {
    const wasChanged = user.passwordChangedAt !== null && user.passwordChangedAt >= createdAt;
    if (wasChanged || user.passwordHash === null || !canResetByMail(ctx)) return undefined;
    if (!canUsePassword(ctx.config, user)) return undefined;
    const url = await createLink(ctx, user, "reset", RESET_LINK_MS);
    return resetLetter({ email: user.email, publicAddress: ctx.baseUrl, url });
  },

  password_changed({ params }, user, ctx) {
    const { email, timeZone } = user;
    const urls = { publicAddress: ctx.baseUrl, resetUrl: resetUrlOf(ctx, user) };
    return passwordChangedLetter({ ...params, ...urls, email, timeZone });
  },

  recovered({ params }, { id, email, timeZone }, ctx) {
    const issuers = issuersInForce(ctx.config);
    const all = listIdentities(ctx.db, id, ctx.config);
    const identities = all.filter(({ issuer }) => issuers.includes(issuer));
    return recoveredLetter({ ...params, email, publicAddress: ctx.baseUrl, timeZone, identities });
  },

  connected({ params }, user, ctx) {
    const { email, timeZone } = user;
    const hasPassword = user.passwordHash !== null && canUsePassword(ctx.config, user);
    const publicAddress = ctx.baseUrl;
    const accountUrl = publicAddress + ACCOUNT_PATH;
    const urls = { publicAddress, accountUrl };
    return connectedLetter({ ...params, ...urls, email, timeZone, hasPassword });
  },

  second_factor({ params }, user, ctx) {
    const { email, timeZone } = user;
    const publicAddress = ctx.baseUrl;
    const accountUrl = publicAddress + ACCOUNT_PATH;
    const urls = { publicAddress, accountUrl, resetUrl: resetUrlOf(ctx, user) };
    return secondFactorLetter({ ...params, ...urls, email, timeZone });
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
      timeZone: user.timeZone,
      isCreator,
      keysUrl: isAdmin ? `${ctx.baseUrl}${KEYS_PATH}?show=expiring` : null,
      accountUrl: ctx.baseUrl + ACCOUNT_PATH,
    });
  },
};

/** Returns the address at which a user can ask for a new password; null if that leads to none. */
function resetUrlOf(ctx: TemplateEnvironment["ctx"], user: UserRow): string | null {
  return canResetByMail(ctx) && canUsePassword(ctx.config, user) ? ctx.baseUrl + FORGOT_PATH : null;
}

/** Mails to users. The tokens of their links are made when they are written, and only their hashes are stored. */
export const USER_TEMPLATES: Templates = {
  invitation: templateOf(WRITERS.invitation),
  password_reset: templateOf(WRITERS.password_reset),
  password_changed: templateOf(WRITERS.password_changed),
  recovered: templateOf(WRITERS.recovered),
  connected: templateOf(WRITERS.connected),
  second_factor: templateOf(WRITERS.second_factor),
  expiring_keys: templateOf(WRITERS.expiring_keys),
};

function templateOf<Params>(write: Write<Params>): MailTemplate {
  return async (mail, env) => {
    const user = findUser(env.ctx.db, { id: mail.subjectId });
    if (!user || !isLive(user)) return "unwanted";
    const written = await write(mail as MailRow & { params: Params }, user, env.ctx);
    if (!written) return "unwanted";
    const { subject, letter } = written;
    const fromName = env.settings.from.name ?? letter.sender;
    return composeMail(mail, env, { fromName, subject, ...renderLetter(letter) });
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
