import type { ImportedToken } from "../../../src/features/monitors/tokens";
import { giveImportedTokens } from "../imported-jobs";
import type { Verb, Verbs } from "./verb";

const UUID = "5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278";
const PUSH: ImportedToken = { kind: "kuma", value: "abc" };
const PING: ImportedToken = { kind: "healthchecks", value: UUID };
const SLUG: ImportedToken = { kind: "healthchecks", value: "key/slug" };

/** Paths by their routes, each with a token that they need. */
const PATHS: readonly [route: string, path: string, token: ImportedToken][] = [
  ["/api/push/:push", "/api/push/abc", PUSH],
  ["/compat/kuma/api/push/:push", "/compat/kuma/api/push/abc", PUSH],
  ["/ping/:id", `/ping/${UUID}`, PING],
  ["/ping/:id/:rest", `/ping/${UUID}/start`, PING],
  ["/ping/:id/:rest/:signal", "/ping/key/slug/start", SLUG],
];

const RESULT: ImportedToken = { kind: "gatus", value: "core_api\0abc" };
const RESULT_PATH = "/api/v1/endpoints/core_api/external?success=true";

function heartbeat(method: string, path: string, token: ImportedToken, headers = {}): Verb {
  return {
    leaves: [],
    because: "A job reports what it found out; nobody decided it.",
    async prepare({ app, monitor }) {
      const id = await monitor({ type: "push", config: {} });
      await giveImportedTokens(app.ctx, id, [token]);
      return { path, options: { method, headers } };
    },
  };
}

/** Heartbeats at the addresses of other products. */
export const IMPORTED_HEARTBEAT_VERBS: Verbs = {
  ...Object.fromEntries(
    ["", "/compat/gatus", "/compat/gatus/:slug"].map((base) => [
      `POST ${base}/api/v1/endpoints/:key/external`,
      heartbeat("POST", base.replace(":slug", "acme") + RESULT_PATH, RESULT, {
        authorization: "Bearer abc",
      }),
    ]),
  ),
  ...Object.fromEntries(
    PATHS.flatMap(([route, path, token]) =>
      ["POST", "PUT", "PATCH", "DELETE"].map((method) => [
        `${method} ${route}`,
        heartbeat(method, path, token),
      ]),
    ),
  ),
};
