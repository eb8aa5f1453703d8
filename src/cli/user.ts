import { CLI_ACTOR, ROLES } from "../base/actor";
import { type OptionName, optionNames } from "../base/config/options";
import { notFound } from "../base/errors";
import { describeDuration } from "../base/time";
import type { Ctx } from "../context";
import type { Reader } from "../db/statements";
import { createPasswords, passwordError } from "../features/auth/passwords";
import { followSettings } from "../features/settings/settings";
import {
  inviteUser,
  issuePasswordLink,
  linkPath,
  type PasswordLink,
} from "../features/users/invitations";
import { listIdentities } from "../features/users/identities";
import { canUsePassword, stateOfUser } from "../features/users/rules";
import { recoverUser, resetSecondFactor } from "../features/users/recovery";
import { findSecondFactor } from "../features/users/second-factor-store";
import { changePassword, endSessions } from "../features/users/sign-in";
import {
  createUser,
  disableUser,
  findUserByEmail,
  getUser,
  listLiveKeysOf,
  listUsers,
  validateNewUser,
} from "../features/users/users";
import type { NewUser, UserResource } from "../features/users/wire";
import {
  type Command,
  type ExitCode,
  type Flag,
  type Invocation,
  JSON_FLAG,
  UsageError,
} from "./command";
import { printJson, printTable } from "./print";
import { withInstallation, wrongFlags } from "./with-installation";

const FIELDS = { flags: { email: "--email", name: "--name", role: "--role" } };

const PASSWORD_FLAG: Flag = {
  name: "password-stdin",
  help: "Read the password from the first line of standard input, instead of printing a link.",
};

/** Options of commands that set a password or print a link: the relay, for mails to users, and who may have a password. */
const PASSWORD_OPTIONS: readonly OptionName[] = [...optionNames("mail"), "localSignIn"];

const createCommand: Command = {
  name: "user create",
  summary: "Create a user and print a one-time link for choosing a password.",
  flags: [
    { name: "email", placeholder: "E", isRequired: true, help: "E-mail address for signing in." },
    {
      name: "name",
      placeholder: "N",
      help: "Display name; default: the part of the e-mail address before the @.",
    },
    {
      name: "role",
      placeholder: "R",
      help: `Role of the user: ${ROLES.join(", ")}. The first user is owner; required for every later user.`,
    },
    PASSWORD_FLAG,
    { ...JSON_FLAG, help: "Print the user as JSON, with the link in `link`." },
  ],
  options: PASSWORD_OPTIONS,
  async run(invocation) {
    const { input, problems } = readNewUser(invocation);
    const password = await readPassword(invocation);
    if (password !== undefined) problems.push(...passwordProblems(password, input.email));
    if (problems.length > 0) throw new UsageError(problems);
    // With another role, users must exist already: an empty data directory is then probably a wrong path.
    const canCreate = input.role === undefined || input.role === "owner";
    const access = { canCreate, fields: FIELDS };
    return withInstallation(createCommand, invocation, access, async ({ ctx }) => {
      followSettings(ctx);
      if (password === undefined) {
        const link = await ctx.db.write((tx) => inviteUser(ctx, tx, input, CLI_ACTOR));
        printInvited(ctx, invocation, link);
        return;
      }
      const passwordHash = await createPasswords().hash(password);
      const user = await ctx.db.write((tx) =>
        createUser(ctx, tx, { ...input, passwordHash }, CLI_ACTOR),
      );
      if (invocation.isSet("json")) printJson(invocation.output, user);
      else invocation.output.err(`Created ${nameOf(user)}, ${user.role}.`);
    });
  },
};

const listCommand: Command = {
  name: "user list",
  summary: "List all users, including disabled ones.",
  flags: [JSON_FLAG],
  options: optionNames("user"),
  run: (invocation) =>
    withExisting(listCommand, invocation, async (ctx) => {
      const users = listUsers(ctx.db);
      if (invocation.isSet("json")) printJson(invocation.output, users);
      else printUsers(invocation, users);
    }),
};

const disableCommand: Command = {
  name: "user disable",
  summary: "Disable a user and list the API keys of the user that still work.",
  positionals: ["ID_OR_EMAIL"],
  flags: [JSON_FLAG],
  options: optionNames("user"),
  run: (invocation) =>
    withExisting(disableCommand, invocation, async (ctx) => {
      const { output } = invocation;
      const { user, keys } = await ctx.db.write((tx) => {
        const { id } = getNamedUser(tx, invocation);
        const disabled = disableUser(ctx, tx, id, CLI_ACTOR);
        return { user: disabled, keys: listLiveKeysOf(tx, id, ctx.clock.now()) };
      });
      if (invocation.isSet("json")) printJson(output, user);
      else output.err(`Disabled ${nameOf(user)}.`);
      if (keys.length === 0) return;
      output.err("These API keys of the user still work:");
      for (const { id, name } of keys) output.err(`  ${id} (${name})`);
      output.err("To revoke one: allclear key revoke ID");
    }),
};

const resetCommand: Command = {
  name: "user reset-password",
  summary: "End the sessions of a user and print a one-time link for choosing a password.",
  positionals: ["ID_OR_EMAIL"],
  flags: [PASSWORD_FLAG],
  options: PASSWORD_OPTIONS,
  async run(invocation) {
    const password = await readPassword(invocation);
    return withExisting(resetCommand, invocation, async (ctx) => {
      const { output } = invocation;
      followSettings(ctx);
      const { id, email } = getNamedUser(ctx.db, invocation);
      if (password === undefined) {
        const link = await ctx.db.write((tx) => {
          endSessions(ctx, tx, id, CLI_ACTOR);
          return issuePasswordLink(ctx, tx, id, CLI_ACTOR);
        });
        output.err(`Ended all sessions of ${nameOf(link.user)}.`);
        printLink(ctx, invocation, link);
        return;
      }
      const problems = passwordProblems(password, email);
      if (problems.length > 0) throw new UsageError(problems);
      const passwordHash = await createPasswords().hash(password);
      const user = await ctx.db.write((tx) => {
        changePassword(ctx, tx, { userId: id, passwordHash }, CLI_ACTOR);
        return getUser(tx, id);
      });
      output.err(`Changed the password of ${nameOf(user)} and ended all sessions.`);
    });
  },
};

const resetSecondFactorCommand: Command = {
  name: "user reset-second-factor",
  summary: "Remove the second factor of a user who lost it, and end the sessions of the user.",
  positionals: ["ID_OR_EMAIL"],
  // The settings of the relay, since users get mails about it.
  options: optionNames("mail"),
  run: (invocation) =>
    withExisting(resetSecondFactorCommand, invocation, async (ctx) => {
      followSettings(ctx);
      const user = getNamedUser(ctx.db, invocation);
      const hadOne = await ctx.db.write((tx) => resetSecondFactor(ctx, tx, user.id, CLI_ACTOR));
      invocation.output.err(
        hadOne
          ? `Removed the second factor of ${nameOf(user)} and ended all sessions.`
          : `${nameOf(user)} has no second factor.`,
      );
    }),
};

const recoverCommand: Command = {
  name: "user recover",
  summary:
    "End the sessions and the second factor of a user who is locked out, and print a one-time link for choosing a password.",
  positionals: ["ID_OR_EMAIL"],
  flags: [{ name: "owner", help: "Make the user an owner." }, PASSWORD_FLAG],
  options: PASSWORD_OPTIONS,
  async run(invocation) {
    const password = await readPassword(invocation);
    return withExisting(recoverCommand, invocation, async (ctx) => {
      const { output } = invocation;
      followSettings(ctx);
      const { id, email } = getNamedUser(ctx.db, invocation);
      const problems = password === undefined ? [] : passwordProblems(password, email);
      if (problems.length > 0) throw new UsageError(problems);
      const passwordHash =
        password === undefined ? undefined : await createPasswords().hash(password);
      const makesOwner = invocation.isSet("owner");
      const { hadFactor, identities, link, user } = await ctx.db.write((tx) => ({
        hadFactor: findSecondFactor(tx, { userId: id }) !== undefined,
        identities: listIdentities(tx, id, ctx.config),
        link: recoverUser(ctx, tx, id, { makesOwner, passwordHash }, CLI_ACTOR),
        user: getUser(tx, id),
      }));
      const factor = hadFactor ? " The second factor was removed." : "";
      output.err(`Recovered ${nameOf(user)}, ${user.role}. All sessions have ended.${factor}`);
      if (!canUsePassword(ctx.config, user)) {
        output.err(
          "Only owners sign in with a password here (ALLCLEAR_LOCAL_SIGN_IN=owners): a later sign-in needs the provider, the identity proxy or --owner.",
        );
      }
      if (identities.length > 0) {
        output.err(
          "These identities go on signing in as the user, as far as the server uses their issuer:",
        );
        for (const { label, system } of identities) {
          output.err(`  ${label} at ${system}`);
        }
        output.err(
          "To disconnect one, in the dashboard: Account, or as an owner Settings → Users.",
        );
      }
      if (link) printLink(ctx, invocation, link, true);
    });
  },
};

export const userCommands = [
  createCommand,
  listCommand,
  disableCommand,
  resetCommand,
  resetSecondFactorCommand,
  recoverCommand,
];

function withExisting(
  command: Command,
  invocation: Invocation,
  work: (ctx: Ctx) => Promise<void>,
): Promise<ExitCode> {
  const access = { canCreate: false, fields: FIELDS };
  return withInstallation(command, invocation, access, ({ ctx }) => work(ctx));
}

/** Returns the user described by the flags, with the errors that are known without the database. */
function readNewUser(invocation: Invocation): { input: NewUser; problems: string[] } {
  const email = invocation.value("email") ?? "";
  const name = invocation.value("name");
  const role = invocation.value("role");
  const input: NewUser = {
    email,
    name: name ?? email.trim().split("@", 1).join(),
    // Validated together with the other fields.
    ...(role === undefined ? {} : { role: role as never }),
  };
  // A name taken from the email is invalid only if the email is.
  const fields = validateNewUser(input).filter(
    ({ pointer }) => name !== undefined || pointer !== "#/name",
  );
  return { input, problems: [...wrongFlags(fields, FIELDS).problems] };
}

async function readPassword(invocation: Invocation): Promise<string | undefined> {
  return invocation.isSet("password-stdin") ? invocation.input.line() : undefined;
}

function passwordProblems(password: string, email: string): string[] {
  const error = passwordError(password, email);
  return error === undefined ? [] : [`The password ${error}.`];
}

/** Returns the user with the given id or email. Throws `not_found`. */
function getNamedUser(reader: Reader, invocation: Invocation): UserResource {
  const [named = ""] = invocation.positionals;
  if (!named.includes("@")) return getUser(reader, named);
  const user = findUserByEmail(reader, named);
  if (!user) throw notFound(`user as ${named}`);
  return user;
}

function urlOf(ctx: Ctx, { purpose, token }: PasswordLink): string {
  return ctx.baseUrl + linkPath(purpose, token);
}

function printInvited(ctx: Ctx, invocation: Invocation, link: PasswordLink): void {
  const { user } = link;
  if (invocation.isSet("json")) {
    printJson(invocation.output, { ...user, link: urlOf(ctx, link) });
    return;
  }
  invocation.output.err(`Created ${nameOf(user)}, ${user.role}.`);
  printLink(ctx, invocation, link);
}

function printLink(
  ctx: Ctx,
  { output }: Invocation,
  link: PasswordLink,
  canChoosePassword = canUsePassword(ctx.config, link.user),
): void {
  const lasts = describeDuration(link.expiresAt - ctx.clock.now());
  const use = canChoosePassword
    ? "choose a password"
    : "join with the provider or by the identity proxy";
  if (link.isMailed) output.err(`A mail with a link of its own goes to ${link.user.email}.`);
  output.err(`Send this link to the user to ${use}. It works once, for ${lasts}:`);
  output.out(urlOf(ctx, link));
}

function nameOf({ id, name, email }: UserResource): string {
  return `${id} (${name}, ${email})`;
}

function printUsers({ output }: Invocation, users: readonly UserResource[]): void {
  const titles = ["ID", "EMAIL", "NAME", "ROLE", "STATE", "LAST SIGN-IN"];
  const rows = users.map((user) => [
    user.id,
    user.email,
    user.name,
    user.role,
    stateOfUser(user),
    user.last_login_at ?? "never",
  ]);
  printTable(output, titles, rows);
}
