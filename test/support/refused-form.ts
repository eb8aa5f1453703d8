import { expect } from "bun:test";
import type { Answer, TestApp } from "./app";
import { type Fields, HTML, PASSWORD, sessionIn } from "./dashboard";
import { readHtml } from "./html";
import { formOf } from "./monitor-dashboard";

/** Form that a page after signing in leads back to. */
interface WayBack {
  session: string;
  /** Path that the form is posted to. */
  action: string;
  fields: Fields;
}

/** Submits a form without a session, as a browser does after the session has ended. */
export function sendWithoutSession(
  app: TestApp,
  path: string,
  form: Fields,
  session?: string,
): Promise<Answer> {
  return app.call(path, { form, headers: HTML, session });
}

/** Submits the sign-in form of a page as it was rendered. */
export function signInOn(
  app: TestApp,
  page: Answer,
  email: string,
  password: string = PASSWORD,
): Promise<Answer> {
  const [action = ""] = readHtml(page.text).attributes("form", "action");
  return app.call(action, { form: { ...formOf(page.text), email, password }, headers: HTML });
}

/** Reads the page after signing in. */
export function wayBackOn(answer: Answer): WayBack {
  expect([answer.status, readHtml(answer.text).texts("h1")]).toEqual([200, ["You are signed in"]]);
  const [action = ""] = readHtml(answer.text).attributes("form", "action");
  return { session: sessionIn(answer), action, fields: formOf(answer.text) };
}

/** Sends a form after its session ended, signs in and returns to the form. */
export async function returnTo(
  app: TestApp,
  path: string,
  form: Fields,
  email: string,
): Promise<{ session: string; shown: Answer }> {
  const refused = await sendWithoutSession(app, path, form);
  expect(refused.status).toBe(401);
  const { session, action, fields } = wayBackOn(await signInOn(app, refused, email));
  return { session, shown: await app.call(action, { session, form: fields, headers: HTML }) };
}
