import { expect } from "bun:test";
import { listAllKeys } from "../../src/features/keys";
import {
  createUser,
  findUserByEmail,
  issueSetUpLink,
  listUsers,
  type UserResource,
} from "../../src/features/users";
import { CLI_ACTOR } from "../../src/domain/actor";
import type { Role } from "../../src/domain/role";
import type { Answer, CallOptions, TestApp } from "./app";
import { readHtml, typedIn } from "./html";

export const KEYS = "/admin/settings/keys";
export const NEW_KEY = `${KEYS}/new`;
export const USERS = "/admin/settings/users";
export const ACCOUNT = "/admin/settings/account";

/** A browser's headers that say it wants a page. */
export const HTML = { accept: "text/html,application/xhtml+xml" };

export const PASSWORD = "correct horse battery";

export type Fields = Record<string, string | readonly string[]>;

/** Valid fields of the form for a new key. */
export const KEY_FIELDS: Fields = {
  name: "Deploy bot",
  scopes: ["read:status"],
  rate_limit: "500",
  expires: "never",
  expires_date: "",
};

/** Opens a page that shows a form, and answers the random field that makes this showing its own. */
export async function openForm(app: TestApp, path: string, session: string): Promise<string> {
  const answer = await app.call(path, { session });
  expect(answer.status).toBe(200);
  const [token = ""] = typedIn(answer.text, "form");
  expect(token).not.toBe("");
  return token;
}

/** Opens the screen with a form that edits an object, and sends the form with the version that it shows. */
export async function sendEdit(
  app: TestApp,
  path: string,
  { session, form, screen = path }: { session: string; form: Fields; screen?: string },
): Promise<Answer> {
  const [version = ""] = typedIn((await app.call(screen, { session })).text, "version");
  return app.call(path, { session, form: { version, ...form } });
}

/** Opens the form for a new key and sends it filled in. */
export async function sendKeyForm(
  app: TestApp,
  session: string,
  fields: Fields = {},
): Promise<Answer> {
  const form = await openForm(app, NEW_KEY, session);
  return app.call(NEW_KEY, { session, form: { form, ...KEY_FIELDS, ...fields } });
}

/** The value that a page reveals. Throws unless it is one value, and only one. */
export function revealedValue(answer: Answer): string {
  const values = new Set(answer.text.match(/allclear_[0-9A-Za-z]{49}/g));
  expect([...values]).toHaveLength(1);
  return [...values][0] ?? "";
}

/** The token of the link that a page reveals. */
export function revealedLink(answer: Answer): string {
  const links = new Set(answer.text.match(/\/admin\/join\/[0-9A-Za-z]{43}/g));
  expect([...links]).toHaveLength(1);
  return [...links][0] ?? "";
}

/** Creates a key by the form, and answers its value and its id. */
export async function makeKey(
  app: TestApp,
  session: string,
  fields: Fields = {},
): Promise<{ value: string; id: string }> {
  const value = revealedValue(await sendKeyForm(app, session, fields));
  return { value, id: keysOf(app)[0]?.id ?? "" };
}

/** Every key, newest first. */
export function keysOf(app: TestApp) {
  return listAllKeys(app.ctx.db);
}

/** Returns the actions in the audit log. */
export function actionsOf(app: TestApp): string[] {
  return app.audit().map(({ action }) => action);
}

/** The status of a request by a key's value. */
export async function statusWith(app: TestApp, value: string): Promise<number> {
  return (await app.call("/api/v1/key", { key: value })).status;
}

/** Makes a user who signs in with `PASSWORD`. The first one of an installation is its owner. */
export async function userWithPassword(
  app: TestApp,
  email: string,
  role: Role = "owner",
): Promise<UserResource> {
  // As cheap as argon2id can be: verifying takes what the hash itself names.
  const cost = { algorithm: "argon2id", memoryCost: 8, timeCost: 1 } as const;
  const passwordHash = await Bun.password.hash(PASSWORD, cost);
  const [name = ""] = email.split("@");
  return app.ctx.db.write((tx) =>
    createUser(app.ctx, tx, { email, name, role, passwordHash }, CLI_ACTOR),
  );
}

/** Sends the form to sign in. */
export function trySignIn(
  app: TestApp,
  email: string,
  password: string = PASSWORD,
  more: CallOptions & { next?: string } = {},
): Promise<Answer> {
  const { next = "/admin", ...options } = more;
  return app.call("/admin/sign-in", { ...options, form: { email, password, next } });
}

/** Signs in and answers the session's token. */
export async function signIn(app: TestApp, email: string, more?: CallOptions): Promise<string> {
  const answer = await trySignIn(app, email, PASSWORD, more);
  expect(answer.status).toBe(303);
  return sessionIn(answer);
}

/** The session's token that an answer gives to the browser. */
export function sessionIn(answer: Answer): string {
  const token = /^[\w-]+=([0-9A-Za-z]{43});/.exec(answer.headers.get("set-cookie") ?? "")?.[1];
  expect(token).toBeDefined();
  return token ?? "";
}

/** Returns true if a session opens the dashboard. */
export async function isSignedIn(app: TestApp, session: string): Promise<boolean> {
  const { status } = await app.call("/admin", { session });
  expect([200, 401]).toContain(status);
  return status === 200;
}

/** The environment of an installation whose public address is set in the dashboard. */
export const NO_BASE_URL = { ALLCLEAR_BASE_URL: undefined };

/** The path of a new set-up link, as the server prints it at its start. */
export async function setUpPath(app: TestApp): Promise<string> {
  const token = await app.ctx.db.write((tx) => issueSetUpLink(app.ctx, tx));
  expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
  return `/admin/setup/${token}`;
}

/** Invites somebody by the form, and answers the path of the link and the user's id. */
export async function invite(
  app: TestApp,
  session: string,
  email: string,
  role: Role = "editor",
): Promise<{ path: string; id: string }> {
  const form = { form: await openForm(app, `${USERS}/new`, session), email, name: "Grace", role };
  const path = revealedLink(await app.call(`${USERS}/new`, { session, form }));
  return { path, id: findUserByEmail(app.ctx.db, email)?.id ?? "" };
}

/** Makes a link for a user who is there already, by the form, and answers its path. */
export async function makeLink(app: TestApp, session: string, id: string): Promise<string> {
  const form = { form: await openForm(app, `${USERS}/${id}`, session) };
  return revealedLink(await app.call(`${USERS}/${id}/link`, { session, form }));
}

/** Expects a link to open nothing: neither its page nor its form, and nothing to be written. */
export async function expectDead(app: TestApp, path: string, form: Fields): Promise<void> {
  const before = { audit: app.audit(), users: listUsers(app.ctx.db) };
  for (const answer of [await app.call(path), await app.call(path, { form })]) {
    expect(answer.status).toBe(404);
    expect(readHtml(answer.text).texts("h1")).toEqual(["This link no longer works"]);
    expect(answer.headers.get("set-cookie")).toBeNull();
  }
  expect({ audit: app.audit(), users: listUsers(app.ctx.db) }).toEqual(before);
}
