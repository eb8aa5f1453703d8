import { describe, expect, test } from "bun:test";
import { listNewestAudits } from "../../../../src/events/audit-search";
import { type Answer, createTestApp, type TestApp } from "../../../support/app";
import { NO_BASE_URL, setUpPath } from "../../../support/dashboard";
import { readHtml } from "../../../support/html";
import { VERBS } from "../../../support/verbs";
import {
  createActionInstallation,
  OWNER_PASSWORD,
  type ActionInstallation,
} from "../../../support/verbs/verb";

/** Needs an installation without a user, so it has a test of its own. */
const SET_UP = "POST /admin/setup/:token";

const CHANGING = new Set(["POST", "PUT", "PATCH", "DELETE"]);
const ADDRESS = "203.0.113.7";
const SECRET = /allclear_\w{20}|whsec_|horse battery/;

/** The newest entries first. */
const entriesOf = ({ ctx }: TestApp) => listNewestAudits(ctx.db, { limit: 1_000 });

/** Does a verb, and answers what it left in the log, the first entry first. */
async function entriesAfter(installation: ActionInstallation, name: string) {
  const { path, options } = await (VERBS[name] ?? fail(name)).prepare(installation);
  const known = new Set(entriesOf(installation.app).map(({ id }) => id));
  const answer = await installation.app.call(path, { from: ADDRESS, ...options });
  expectDone(answer);
  return entriesOf(installation.app)
    .filter(({ id }) => !known.has(id))
    .toReversed();
}

function expectDone({ status, text }: Answer): void {
  // Where it was not, the text says why.
  const why = readHtml(text).texts(".field-error").join(" ") || text;
  expect(status < 400 ? "done" : why).toBe("done");
}

function fail(name: string): never {
  throw new Error(`${name} is no verb`);
}

describe("the audit log of routes", () => {
  test("every route that may change something is listed in VERBS", async () => {
    await using app = await createTestApp({ dashboard: true });
    const declared = app.app.routes.routes
      .filter(({ method }) => CHANGING.has(method))
      .map(({ method, path }) => `${method} ${path}`);
    expect([...Object.keys(VERBS), SET_UP].sort()).toEqual(declared.sort());
  });

  test.each(Object.entries(VERBS).filter(([, { leaves }]) => leaves.length > 0))(
    "a change is audited with its action, actor and client address: %s",
    async (name, { leaves, bySystem }) => {
      await using installation = await createActionInstallation();
      const entries = await entriesAfter(installation, name);
      expect(entries.map(({ action }) => action)).toEqual([...leaves]);
      for (const entry of entries) {
        if (entry.action === bySystem) {
          expect([entry.actorKind, entry.ip]).toEqual(["system", null]);
          continue;
        }
        const isByKey = /\/api\/|\/mcp$/.test(name);
        expect([entry.actorKind, entry.ip]).toEqual([isByKey ? "key" : "user", ADDRESS]);
        if (isByKey) expect(entry.actorId).toBe(installation.keyId);
        // Whoever joins is somebody else.
        else if (!name.includes("join")) expect(entry.actorId).toBe(installation.ownerId);
        expect(entry.targetId).toMatch(
          /^([a-z]{3,4}_[0-9a-z]{26}|public_address|allowed_networks|database|mail|subscribers|mail_holds|first_steps_hidden|built_in_templates_hidden|reset_mails|fleet_orphans)$/,
        );
        expect(entry.summary).not.toBe("");
        expect(JSON.stringify(entry)).not.toMatch(SECRET);
      }
    },
  );

  test.each(
    Object.entries(VERBS)
      .filter(([, { because }]) => because !== undefined)
      .map(([name, { because = "" }]) => [name, because] as const),
  )("a request that needs no audit entry writes none: %s, since %s", async (name) => {
    await using installation = await createActionInstallation();
    expect(await entriesAfter(installation, name)).toEqual([]);
  });

  test("every route without an audit entry has a reason", () => {
    const silent = Object.values(VERBS).filter(({ leaves }) => leaves.length === 0);
    expect(silent.filter(({ because }) => because === undefined)).toEqual([]);
  });
});

describe("the history of a component", () => {
  test.each([
    "PATCH /api/v1/components",
    "PATCH /api/v1/components/:id",
    "POST /admin/components/:id/status",
  ])("the history of a component contains who set its status: %s", async (name) => {
    await using installation = await createActionInstallation();
    await entriesAfter(installation, name);
    const path = `/api/v1/components/${installation.components["API"]}/history`;
    const { body } = await installation.app.call(path, { key: installation.key });
    const id = name.includes("/api/") ? installation.keyId : installation.ownerId;
    expect(body.data[0]).toMatchObject({ to: "major_outage", actor: { id } });
  });
});

describe("the audit log of the set-up", () => {
  test("the set-up audits the first user and the public address", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const form = {
      name: "Ada",
      email: "ada@example.com",
      password: OWNER_PASSWORD,
      public_address: "https://status.example.com",
    };
    expectDone(await app.call(await setUpPath(app), { form }));
    const actions = entriesOf(app).map(({ action }) => action);
    expect(actions.toSorted()).toEqual(["settings.public_address", "user.set_up"]);
  });
});
