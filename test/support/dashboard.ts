import { expect } from "bun:test";
import { CLI_ACTOR, type Role } from "../../src/base/actor";
import { listAllKeys } from "../../src/features/keys/records";
import { issueSetUpLink } from "../../src/features/users/invitations";
import { createUser, findUserByEmail, listUsers } from "../../src/features/users/users";
import type { UserResource } from "../../src/features/users/wire";
import type { Answer, CallOptions, TestApp } from "./app";
import { readHtml, typedIn } from "./html";

export const KEYS = "/admin/settings/keys";
export const NEW_KEY = `${KEYS}/new`;
export const USERS = "/admin/settings/users";
export const ACCOUNT = "/admin/settings/account";

/** Headers of a browser that requests a page. */
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

/** Opens a page with a form and returns its form token. */
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

/** Returns the key value that an answer reveals. Throws unless it contains exactly one. */
export function revealedValue(answer: Answer): string {
  const values = new Set(answer.text.match(/allclear_[0-9A-Za-z]{49}/g));
  expect([...values]).toHaveLength(1);
  return [...values][0] ?? "";
}

/** Returns the path of the link that an answer reveals. */
export function revealedLink(answer: Answer): string {
  const links = new Set(answer.text.match(/\/admin\/join\/[0-9A-Za-z]{43}/g));
  expect([...links]).toHaveLength(1);
  return [...links][0] ?? "";
}

/** Creates a key by its form and returns value and id. */
export async function makeKey(
  app: TestApp,
  session: string,
  fields: Fields = {},
): Promise<{ value: string; id: string }> {
  const value = revealedValue(await sendKeyForm(app, session, fields));
  return { value, id: keysOf(app)[0]?.id ?? "" };
}

/** Lists all keys, newest first. */
export function keysOf(app: TestApp) {
  return listAllKeys(app.ctx.db);
}

/** Returns the actions in the audit log. */
export function actionsOf(app: TestApp): string[] {
  return app.audit().map(({ action }) => action);
}

/** Returns the status of a request with a key value. */
export async function statusWith(app: TestApp, value: string): Promise<number> {
  return (await app.call("/api/v1/key", { key: value })).status;
}

/** Creates a user who signs in with `PASSWORD`. The first one is the owner. */
export async function userWithPassword(
  app: TestApp,
  email: string,
  role: Role = "owner",
): Promise<UserResource> {
  // The cheapest argon2id hash; verification takes its cost from the hash.
  const cost = { algorithm: "argon2id", memoryCost: 8, timeCost: 1 } as const;
  const passwordHash = await Bun.password.hash(PASSWORD, cost);
  const [name = ""] = email.split("@");
  return app.ctx.db.write((tx) =>
    createUser(app.ctx, tx, { email, name, role, passwordHash }, CLI_ACTOR),
  );
}

/** Submits the sign-in form. */
export function trySignIn(
  app: TestApp,
  email: string,
  password: string = PASSWORD,
  more: CallOptions & { next?: string } = {},
): Promise<Answer> {
  const { next = "/admin", ...options } = more;
  return app.call("/admin/sign-in", { ...options, form: { email, password, next } });
}

/** Signs in and returns the session token. */
export async function signIn(app: TestApp, email: string, more?: CallOptions): Promise<string> {
  const answer = await trySignIn(app, email, PASSWORD, more);
  expect(answer.status).toBe(303);
  return sessionIn(answer);
}

/** Returns the session token that an answer sets as cookie. */
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

/** Environment of an installation whose public address is set on the dashboard. */
export const NO_BASE_URL = { ALLCLEAR_BASE_URL: undefined };

/** Creates a set-up link and returns its path. */
export async function setUpPath(app: TestApp): Promise<string> {
  const token = await app.ctx.db.write((tx) => issueSetUpLink(app.ctx, tx));
  expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
  return `/admin/setup/${token}`;
}

/** Invites a user by the form and returns the link's path and the user's id. */
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

/** Creates a link for an existing user by the form and returns its path. */
export async function makeLink(app: TestApp, session: string, id: string): Promise<string> {
  const form = { form: await openForm(app, `${USERS}/${id}`, session) };
  return revealedLink(await app.call(`${USERS}/${id}/link`, { session, form }));
}

/** Expects page and form of a link to be not found, and nothing to be written. */
export async function expectDead(app: TestApp, path: string, form: Fields): Promise<void> {
  const before = { audit: app.audit(), users: listUsers(app.ctx.db) };
  for (const answer of [await app.call(path), await app.call(path, { form })]) {
    expect(answer.status).toBe(404);
    expect(readHtml(answer.text).texts("h1")).toEqual(["This link no longer works"]);
    expect(answer.headers.get("set-cookie")).toBeNull();
  }
  expect({ audit: app.audit(), users: listUsers(app.ctx.db) }).toEqual(before);
}
