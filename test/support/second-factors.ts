import { expect } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { userActor } from "../../src/base/actor";
import { selectMany } from "../../src/db/statements";
import { recoveryCodes, secondFactors } from "../../src/db/tables/second-factors";
import { createSecret } from "../../src/features/auth/totp";
import { turnOnSecondFactor } from "../../src/features/users/second-factors";
import type { SignedIn } from "../../src/features/users/sign-in";
import { getUser } from "../../src/features/users/users";
import type { Answer, CallOptions, TestApp } from "./app";
import { sessionIn, trySignIn } from "./dashboard";

export const CODE = "/admin/sign-in/code";
export const SECOND_FACTOR = "/admin/settings/account/second-factor";

/** Time for which an app shows a code. */
export const PERIOD_MS = 30_000;

/** Returns the code that an app with a secret shows at a time (unix ms). */
export function codeAt(secret: string, timestamp: number): string {
  return TOTP.generate({ secret: Secret.fromBase32(secret), timestamp });
}

/** Returns six digits that are no code of a secret near a time. */
export function wrongCode(secret: string, timestamp: number): string {
  const right = [-1, 0, 1].map((periods) => codeAt(secret, timestamp + periods * PERIOD_MS));
  return ["000000", "111111", "222222", "333333"].find((code) => !right.includes(code)) ?? "";
}

/** A user's app and recovery codes. */
export interface Authenticator {
  secret: string;
  recoveryCodes: string[];
  /** Returns the code of now, which was perhaps used. */
  code(): string;
  /** Waits for the next code and returns it. */
  nextCode(): Promise<string>;
  wrongCode(): string;
}

/** Turns on the second factor of a user. The code of now is used up by it. */
export async function enrol(app: TestApp, userId: string): Promise<Authenticator> {
  const { ctx, clock } = app;
  const secret = createSecret(ctx.random);
  const change = { userId, secret, code: codeAt(secret, clock.now()) };
  const made = await ctx.db.write((tx) =>
    turnOnSecondFactor(ctx, tx, change, userActor(getUser(tx, userId)), -1),
  );
  if ("rejection" in made) throw new Error("the code was wrong");
  return {
    secret,
    recoveryCodes: made,
    code: () => codeAt(secret, clock.now()),
    async nextCode() {
      await clock.advance(PERIOD_MS);
      return codeAt(secret, clock.now());
    },
    wrongCode: () => wrongCode(secret, clock.now()),
  };
}

/** Returns the session token of a user who signed in without a code. */
export function sessionTokenOf(signedIn: SignedIn): string {
  if (!("sessionToken" in signedIn)) throw new Error("a code is asked for");
  return signedIn.sessionToken;
}

/** Returns the cookie of a step that an answer sets, as a browser sends it. */
export function stepIn(answer: Answer): string {
  const [, cookie] =
    /^((?:__Host-)?allclear_step=[0-9A-Za-z]{43});/.exec(answer.headers.get("set-cookie") ?? "") ??
    [];
  expect(cookie).toBeDefined();
  return cookie ?? "";
}

/** Sends the right password of a user with a second factor, and returns the cookie of the step. */
export async function passwordStep(
  app: TestApp,
  email: string,
  more: CallOptions & { next?: string } = {},
): Promise<string> {
  const answer = await trySignIn(app, email, undefined, more);
  expect(answer.status).toBe(303);
  expect(answer.headers.get("location")).toStartWith(CODE);
  return stepIn(answer);
}

/** Sends a code in a step. */
export function sendCode(
  app: TestApp,
  cookie: string,
  fields: { code?: string; recovery_code?: string; next?: string },
  more: CallOptions = {},
): Promise<Answer> {
  return app.call(CODE, { headers: { cookie }, form: { next: "/admin", ...fields }, ...more });
}

/** Signs a user with a second factor in, and returns the session token. */
export async function signInByCode(
  app: TestApp,
  email: string,
  authenticator: Authenticator,
): Promise<string> {
  const cookie = await passwordStep(app, email);
  return sessionIn(await sendCode(app, cookie, { code: await authenticator.nextCode() }));
}

/** Everything stored about second factors. */
export const listFactors = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(secondFactors),
);

export const listRecoveryCodes = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(recoveryCodes),
);
