import { describe, expect, test } from "bun:test";
import { expectProblem } from "../support/app";
import { readHtml } from "../support/html";
import { VERBS } from "../support/verbs";
import { createActionInstallation } from "../support/verbs/verb";

const named = (pattern: RegExp) =>
  Object.entries(VERBS).flatMap(([name, verb]) =>
    pattern.test(name) ? [[name, verb] as const] : [],
  );

const OPERATIONS = named(/^DELETE \/api\/v1\//);
const FORMS = named(/^POST \/admin\/.*\/:id\/delete$/);

test("these tests cover every operation and form that deletes something", () => {
  expect([OPERATIONS.length, FORMS.length]).toEqual([3, 9]);
});

describe("deleting something by API a second time", () => {
  test.each(OPERATIONS)(
    "a second deletion by API is not_found and writes nothing: %s",
    async (_, { prepare }) => {
      await using installation = await createActionInstallation();
      const { path, options } = await prepare(installation);
      expect((await installation.app.call(path, options)).status).toBe(204);
      const written = [installation.app.audit(), installation.app.events()];
      expectProblem(await installation.app.call(path, options), "not_found");
      expect([installation.app.audit(), installation.app.events()]).toEqual(written);
    },
  );
});

describe("a form that deletes something", () => {
  test.each(FORMS)(
    "a deletion form submitted twice redirects to the same screen and deletes once: %s",
    async (name, { prepare, leaves }) => {
      await using installation = await createActionInstallation();
      const { app } = installation;
      const { path, options } = await prepare(installation);
      const flash = async (location: string) =>
        readHtml((await app.call(location, { session: installation.session })).text).texts(
          ".flash",
        )[0];
      const [first, second] = await Promise.all([app.call(path, options), app.call(path, options)]);
      const location = first.headers.get("location") ?? "";
      expect([first.status, second.status, second.headers.get("location")]).toEqual([
        303,
        303,
        location,
      ]);
      expect(await flash(location)).toContain("was deleted.");
      const events = app.events();
      const third = await app.call(path, options);
      expect([third.status, third.headers.get("location")]).toEqual([303, location]);
      const noun = /(\w+)s?\/:id\/delete$/.exec(name)?.[1]?.replace(/s$/, "") ?? "";
      expect(await flash(location)).toStartWith(`The ${noun} was deleted.`);
      const [action = ""] = leaves;
      expect(app.audit().filter((entry) => entry.action === action)).toHaveLength(1);
      expect(app.events()).toEqual(events);
    },
  );

  test.each(FORMS)(
    "a deletion form submitted again in another session is not_found: %s",
    async (_, { prepare }) => {
      await using installation = await createActionInstallation();
      const { app } = installation;
      const { path, options } = await prepare(installation);
      expect((await app.call(path, options)).status).toBe(303);
      const written = [app.audit().length, app.events()];
      const session = await app.signedIn("admin");
      const sessionsAudited = app.audit().length - Number(written[0]);
      expect((await app.call(path, { ...options, session })).status).toBe(404);
      expect([app.audit().length - sessionsAudited, app.events()]).toEqual(written);
    },
  );
});
