import { describe, expect, test } from "bun:test";
import { createTestApp } from "../../../support/app";
import {
  invite,
  isSignedIn,
  makeLink,
  PASSWORD,
  sessionIn,
  userWithPassword,
} from "../../../support/dashboard";

const GRACE = "grace@example.com";
const CHOSEN = { name: "Grace", password: PASSWORD };

describe("the earlier session of a browser", () => {
  test("accepting an invitation ends the earlier session of the browser", async () => {
    await using app = await createTestApp();
    const [owner, elsewhere] = [await app.signedIn(), await app.signedIn()];
    const { path } = await invite(app, owner, GRACE);
    const rejected = await app.call(path, {
      session: owner,
      form: { ...CHOSEN, password: "short" },
    });
    expect(rejected.status).toBe(422);
    expect(await isSignedIn(app, owner)).toBe(true);
    const answer = await app.call(path, { session: owner, form: CHOSEN });
    expect(answer.status).toBe(303);
    expect(await isSignedIn(app, sessionIn(answer))).toBe(true);
    expect(await isSignedIn(app, owner)).toBe(false);
    expect(await isSignedIn(app, elsewhere)).toBe(true);
  });

  test("choosing a new password by a link ends the earlier session of the browser", async () => {
    await using app = await createTestApp();
    const owner = await app.signedIn();
    const { id } = await userWithPassword(app, GRACE, "editor");
    const path = await makeLink(app, owner, id);
    const answer = await app.call(path, { session: owner, form: CHOSEN });
    expect(answer.status).toBe(303);
    expect(await isSignedIn(app, sessionIn(answer))).toBe(true);
    expect(await isSignedIn(app, owner)).toBe(false);
  });
});
