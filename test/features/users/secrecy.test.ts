import { expect, test } from "bun:test";
import { join } from "node:path";
import { createLoginThrottle } from "../../../src/features/auth/throttle";
import { createPasswords } from "../../../src/features/auth/passwords";
import {
  acceptLink,
  inviteUser,
  issuePasswordLink,
  issueSetUpLink,
  setUpOwner,
} from "../../../src/features/users/invitations";
import { authenticate, changePassword, signIn } from "../../../src/features/users/sign-in";
import { disableUser } from "../../../src/features/users/users";
import { sha256 } from "../../../src/base/hash";
import { client } from "../../support/auth-installation";
import { userActor } from "../../../src/base/actor";
import { sessionTokenOf } from "../../support/second-factors";
import { FROM, openPeopleInstallation } from "../../support/user-installation";
import { bytesIn, temporaryFolder } from "../../support/temporary-folder";

const PASSWORDS = ["correct horse battery", "a wrong guess at it", "staple of another kind"];

test("passwords, tokens and hashes are in no audit entry, log line or error, and only hashes are stored", async () => {
  using folder = temporaryFolder();
  await using installation = openPeopleInstallation(join(folder.path, "allclear.db"));
  const { ctx } = installation;
  const [right = "", wrong = "", later = ""] = PASSWORDS;
  const passwords = createPasswords();
  const throttle = createLoginThrottle(ctx);
  const [first, second] = [await passwords.hash(right), await passwords.hash(later)];
  const rejections: unknown[] = [];
  const rejectionFrom = async (change: Parameters<typeof installation.rejectionFrom>[0]) => {
    const { message, fields, headers, stack, cause } = await installation.rejectionFrom(change);
    rejections.push({ message, fields, headers, stack, cause });
  };

  const ada = { email: "ada@acme.test", name: "Ada", passwordHash: first };
  const setUp = (await installation.write((tx) => issueSetUpLink(ctx, tx))) ?? "none";
  await rejectionFrom((tx) => setUpOwner(ctx, tx, setUp, { ...ada, email: "ada" }, FROM));
  const owner = await installation.write((tx) => setUpOwner(ctx, tx, setUp, ada, FROM));
  await rejectionFrom((tx) => setUpOwner(ctx, tx, setUp, ada, FROM));

  const actor = userActor(owner.user, FROM.ip);
  const bob = { email: "bob@acme.test", name: "Bob", role: "admin" } as const;
  const invited = await installation.write((tx) => inviteUser(ctx, tx, bob, actor));
  const chosen = { passwordHash: second };
  const joined = await installation.write((tx) => acceptLink(ctx, tx, invited.token, chosen, FROM));
  await rejectionFrom((tx) => acceptLink(ctx, tx, invited.token, chosen, FROM));
  const reset = await installation.write((tx) => issuePasswordLink(ctx, tx, joined.user.id, actor));

  const knock = (password: string) =>
    authenticate(ctx, { passwords, throttle }, { email: ada.email, password }, client(FROM.ip));
  expect(await knock(wrong)).toEqual({ rejection: "wrong" });
  const outcome = await knock(right);
  if (!("user" in outcome)) throw new Error(outcome.rejection);
  const session = sessionTokenOf(
    await installation.write((tx) => signIn(ctx, tx, outcome.user, FROM)),
  );
  await installation.write((tx) =>
    changePassword(ctx, tx, { userId: owner.user.id, passwordHash: second }, actor),
  );
  await rejectionFrom((tx) => signIn(ctx, tx, outcome.user, FROM));
  await installation.write((tx) => disableUser(ctx, tx, joined.user.id, actor));

  const tokens = [
    setUp,
    owner.sessionToken,
    invited.token,
    sessionTokenOf(joined),
    reset.token,
    session,
  ];
  const hashes = [first, second, ...tokens.map((token) => sha256(token).toString("hex"))];
  const output = JSON.stringify([installation.audit(), installation.logged, rejections]);
  expect(installation.audit().map(({ action }) => action)).toEqual([
    "user.set_up",
    "user.invite",
    "user.accept",
    "user.password_link",
    "user.sign_in",
    "user.password",
    "user.disable",
  ]);
  expect(installation.logged.map(({ msg }) => msg)).toEqual(["a sign-in was refused"]);
  expect(rejections).toHaveLength(4);
  for (const secret of [...PASSWORDS, ...tokens, ...hashes]) expect(output).not.toContain(secret);

  const disk = bytesIn(folder.path);
  expect(disk.includes("ada@acme.test")).toBe(true);
  for (const secret of [...PASSWORDS, ...tokens]) expect(disk.includes(secret)).toBe(false);
});
