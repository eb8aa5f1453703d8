import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ERROR_CODES, type ErrorCode, ERRORS } from "../../src/base/errors";
import { revokeKey } from "../../src/features/keys/keys";
import { errorsOf } from "../../src/http/openapi";
import { CLI_ACTOR } from "../../src/base/actor";
import { anotherProcess } from "../support/second-connection";
import { type Answer, createTestApp, expectProblem, type TestApp } from "../support/app";
import { temporaryFolder } from "../support/temporary-folder";

interface Site {
  app: TestApp;
  databasePath: string;
  component: string;
  writer: string;
  reader: string;
}

async function createSite(): Promise<Site & AsyncDisposable> {
  const folder = temporaryFolder();
  const databasePath = join(folder.path, "allclear.db");
  const app = await createTestApp({ databasePath });
  const { components } = await app.page({ slug: "acme" }, ["API"]);
  return {
    app,
    databasePath,
    component: `/api/v1/components/${components["API"]}`,
    writer: await app.keyWith("write:components"),
    reader: await app.keyWith("read:status"),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

const CHALLENGE = 'Bearer realm="allclear"';
const JSON_TYPE = { "content-type": "application/json" };

interface Case {
  provoke: (site: Site) => Promise<Answer>;
  /** Headers that belong to this error. */
  headers?: Record<string, string>;
  /** The pointers of the broken fields. */
  pointers?: string[];
}

const CASES: Partial<Record<ErrorCode, Case>> = {
  invalid_request: {
    provoke: ({ app, component, writer }) =>
      app.call(component, { key: writer, method: "PATCH", raw: "{", headers: JSON_TYPE }),
  },
  missing_key: {
    provoke: ({ app }) => app.call("/api/v1/key"),
    headers: { "www-authenticate": CHALLENGE },
  },
  invalid_key: {
    provoke: ({ app }) => app.call("/api/v1/key", { key: "nonsense" }),
    headers: {
      "www-authenticate": `${CHALLENGE}, error="invalid_token", error_description="The API key is not one of this server's."`,
    },
  },
  expired_key: {
    async provoke({ app }) {
      const { value } = await app.createKey({ expires: "2026-03-10T12:00:00.001Z" });
      await app.clock.advance(1);
      return app.call("/api/v1/key", { key: value });
    },
    headers: {
      "www-authenticate": `${CHALLENGE}, error="invalid_token", error_description="The API key expired at 2026-03-10T12:00:00.001Z."`,
    },
  },
  revoked_key: {
    async provoke({ app }) {
      const { key, value } = await app.createKey();
      await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
      return app.call("/api/v1/key", { key: value });
    },
    headers: {
      "www-authenticate": `${CHALLENGE}, error="invalid_token", error_description="The API key was revoked at 2026-03-10T12:00:00.000Z."`,
    },
  },
  insufficient_scope: {
    provoke: ({ app, component, reader }) =>
      app.call(component, { key: reader, method: "PATCH", json: { status: "operational" } }),
    headers: {
      "www-authenticate": `${CHALLENGE}, error="insufficient_scope", scope="write:components"`,
    },
  },
  not_found: { provoke: ({ app, reader }) => app.call("/api/v1/status/none", { key: reader }) },
  method_not_allowed: {
    provoke: ({ app, component }) => app.call(component, { method: "DELETE" }),
    headers: { allow: "GET, HEAD, PATCH" },
  },
  precondition_failed: {
    provoke: ({ app, component, writer }) =>
      app.call(component, {
        key: writer,
        method: "PATCH",
        json: { status: "operational" },
        headers: { "if-match": '"7"' },
      }),
    headers: { etag: '"1"' },
  },
  payload_too_large: {
    provoke: ({ app, component, writer }) =>
      app.call(component, {
        key: writer,
        method: "PATCH",
        raw: `"${" ".repeat(256 * 1024)}"`,
        headers: JSON_TYPE,
      }),
  },
  unsupported_media_type: {
    provoke: ({ app, component, writer }) =>
      app.call(component, { key: writer, method: "PATCH", raw: "status=operational" }),
  },
  validation_failed: {
    provoke: ({ app, component, writer }) =>
      app.call(component, { key: writer, method: "PATCH", json: { status: "fine", note: 1 } }),
    pointers: ["#/note", "#/status"],
  },
  idempotency_mismatch: {
    async provoke({ app }) {
      const key = await app.keyWith("write:incidents");
      const headers = { "idempotency-key": "a" };
      // A draft has no event.
      const json = { page: "acme", name: "Slow", body: "We look into it.", draft: true };
      await app.call("/api/v1/incidents", { key, method: "POST", headers, json });
      const other = { ...json, name: "Slower" };
      return app.call("/api/v1/incidents", { key, method: "POST", headers, json: other });
    },
  },
  rate_limited: {
    async provoke({ app }) {
      const { value: key } = await app.createKey({ rate_limit: 1 });
      await app.call("/api/v1/key", { key });
      return app.call("/api/v1/key", { key });
    },
    headers: { "retry-after": "60" },
  },
  internal_error: {
    async provoke({ app, databasePath, component, reader }) {
      await using other = anotherProcess(app, databasePath);
      other.sqlite.run("DROP TABLE component_changes");
      return app.call(`${component}/history`, { key: reader });
    },
  },
  unavailable: {
    async provoke({ app }) {
      app.app.readiness.isDraining = true;
      return app.call("/readyz");
    },
    headers: { "retry-after": "5" },
  },
  conflict: {
    provoke: async ({ app }) => {
      const key = await app.keyWith("write:incidents");
      const json = {
        page: "acme",
        name: "Slow",
        body: "Slow.",
        external_ref: "OPS-1",
        draft: true,
      };
      const report = () => app.call("/api/v1/incidents", { method: "POST", key, json });
      await report();
      return report();
    },
  },
  sign_in_required: {
    provoke: ({ app }) => app.call("/admin"),
    headers: { "www-authenticate": 'Cookie realm="allclear", form-action="/admin/sign-in"' },
  },
  insufficient_role: {
    provoke: async ({ app }) =>
      app.call("/admin/settings/keys", { session: await app.signedIn("viewer") }),
  },
  second_factor_required: {
    async provoke() {
      await using app = await createTestApp({ env: { ALLCLEAR_SECOND_FACTOR: "viewer" } });
      return app.call("/admin", { session: await app.signedIn("viewer") });
    },
  },
  cross_site_request: {
    provoke: ({ app }) =>
      app.call("/admin/sign-in", { form: {}, headers: { origin: "https://evil.test" } }),
  },
};

const REACHABLE = Object.keys(CASES) as ErrorCode[];

describe("error codes", () => {
  test.each(REACHABLE)(
    "the error %s is a problem with the headers of every answer",
    async (code) => {
      await using site = await createSite();
      const { provoke, headers = {}, pointers } = CASES[code] as Case;
      const answer = await provoke(site);
      const problem = expectProblem(answer, code);
      expect(problem).toEqual({
        type: `/docs/errors#${code}`,
        title: ERRORS[code].title,
        status: ERRORS[code].status,
        code,
        detail: expect.stringMatching(/^[A-Z0-9].+\.$/),
        instance: `urn:request:${answer.headers.get("x-request-id")}`,
        ...(pointers ? { errors: expect.anything() } : {}),
      });
      const broken = (problem.errors ?? []) as { pointer: string }[];
      expect(broken.map(({ pointer }) => pointer).sort()).toEqual(pointers ?? []);
      for (const [name, value] of Object.entries(headers)) {
        expect([name, answer.headers.get(name)]).toEqual([name, value]);
      }
      const isChallenged = answer.status === 401 || code === "insufficient_scope";
      expect(answer.headers.has("www-authenticate")).toBe(isChallenged);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      expect(answer.headers.get("ratelimit-policy")).toMatch(
        /^"(key|session|public|health)";q=\d+;w=60$/,
      );
      expect(site.app.events()).toEqual([]);
    },
  );
});

test("every error code that a route declares is tested", async () => {
  await using app = await createTestApp({ dashboard: true });
  const declared = new Set(app.app.routes.routes.flatMap((route) => errorsOf(route)));
  const untested = ERROR_CODES.filter((code) => !REACHABLE.includes(code));
  expect(untested.filter((code) => declared.has(code))).toEqual([]);
});

test("every request has a unique id", async () => {
  await using app = await createTestApp();
  const answers = await Promise.all(Array.from({ length: 50 }, () => app.call("/nothing")));
  expect(new Set(answers.map((answer) => answer.headers.get("x-request-id"))).size).toBe(50);
});
