import { describe, expect, test } from "bun:test";
import { type Answer, type CallOptions, createTestApp, expectProblem } from "../support/app";
import { createMaintenanceSite } from "../support/maintenance-site";
import { createMonitorApi } from "../support/monitor-api";
import { streamOf } from "../support/streamed-body";
import { createWebhookSite } from "../support/webhook-site";
import { shareSite } from "../support/shared-site";

const JSON_TYPE = { "content-type": "application/json" };
const CHUNKED = { "transfer-encoding": "chunked" };

/** Empty bodies, created for each request since a stream can be read once. */
const EMPTY: Record<string, () => CallOptions> = {
  "no body": () => ({}),
  "a body of no bytes": () => ({ raw: "", headers: JSON_TYPE }),
  "a form of no bytes": () => ({
    raw: "",
    headers: { "content-type": "application/x-www-form-urlencoded" },
  }),
  "an empty object": () => ({ json: {} }),
  "white space": () => ({ raw: " \n", headers: JSON_TYPE }),
  "pieces without a byte": () => ({ raw: streamOf("").stream, headers: CHUNKED }),
};

const REFUSED: [what: string, options: () => CallOptions, code: string][] = [
  ["a field", () => ({ json: { body: "Not needed" } }), "validation_failed"],
  ["a list", () => ({ json: [] }), "validation_failed"],
  ["null", () => ({ raw: "null", headers: JSON_TYPE }), "validation_failed"],
  ["broken JSON", () => ({ raw: "{", headers: JSON_TYPE }), "invalid_request"],
  [
    "text",
    () => ({ raw: "why", headers: { "content-type": "text/plain" } }),
    "unsupported_media_type",
  ],
  ["text of no type", () => ({ raw: new TextEncoder().encode("{}") }), "unsupported_media_type"],
  [
    "pieces of no type",
    () => ({ raw: streamOf("{}").stream, headers: CHUNKED }),
    "unsupported_media_type",
  ],
];

/** Each verb without a body, on a new object that it can be done to. */
const VERBS: Record<
  string,
  () => Promise<{
    path: string;
    key: string;
    call(path: string, options: CallOptions): Promise<Answer>;
    /** State that a refused call must not change. */
    written(): unknown;
  }>
> = {};

const sharedMonitors = shareSite(createMonitorApi);
const sharedWebhooks = shareSite(createWebhookSite);

for (const verb of ["pause", "resume", "check", "rotate-token"]) {
  VERBS[`POST /monitors/{id}/${verb}`] = async () => {
    const api = await sharedMonitors();
    const made = verb === "rotate-token" ? { type: "push", config: undefined } : {};
    const { id } = await api.create({ ...made, paused: verb === "resume" });
    return {
      path: `/api/v1/monitors/${id}/${verb}`,
      key: api.key,
      call: api.app.call,
      written: api.written,
    };
  };
}
for (const verb of ["test", "rotate-secret", "redeliver"]) {
  VERBS[`POST /webhooks/{id}/${verb}`] = async () => {
    const site = await sharedWebhooks();
    const { id } = await site.create();
    const at = `/api/v1/webhooks/${id}`;
    const { body: delivery } = await site.app.call(`${at}/test`, { method: "POST", key: site.key });
    const path =
      verb === "redeliver" ? `${at}/deliveries/${delivery.id}/redeliver` : `${at}/${verb}`;
    return {
      path,
      key: site.key,
      call: site.app.call,
      written: () => ({ audit: site.app.audit(), events: site.app.events() }),
    };
  };
}

describe.each(Object.entries(VERBS))("%s", (_verb, prepare) => {
  test("a verb without a body accepts no body and an empty one", async () => {
    for (const options of Object.values(EMPTY)) {
      const { path, key, call } = await prepare();
      const answer = await call(path, { method: "POST", key, ...options() });
      expect(answer.status).toBe(200);
    }
  });

  test("a verb without a body rejects any other body, and nothing is done", async () => {
    const { path, key, call, written } = await prepare();
    const before = written();
    for (const [what, options, code] of REFUSED) {
      const answer = await call(path, { method: "POST", key, ...options() });
      expect(answer.body?.code, what).toBe(code);
    }
    expect(written()).toEqual(before);
  });
});

test("every POST of the API that creates nothing declares the body that it reads or rejects", async () => {
  await using app = await createTestApp({ dashboard: true });
  const unread = app.app.routes.routes.filter(
    ({ method, path, operation, body }) =>
      method === "POST" && path.startsWith("/api/v1/") && operation.id !== undefined && !body,
  );
  // Gatus ignores the body of a result, and so does this server.
  expect(unread.map(({ path }) => path)).toEqual(["/api/v1/endpoints/:key/external"]);
});

describe("POST /maintenance/{id}/cancel", () => {
  test("cancelling a maintenance records the body as the last update, on the page and in the event", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    const answer = await site.call(`/${id}/cancel`, {
      method: "POST",
      json: { body: "Not needed", notify: false },
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: "cancelled", version: 2 });
    expect(answer.body.updates[0]).toMatchObject({ status: "cancelled", body: "Not needed" });
    const [event] = site.app.events().filter(({ type }) => type === "maintenance.cancelled");
    expect(JSON.stringify(event?.data)).toContain("Not needed");
    expect(event?.data).toMatchObject({ notify: false });
    expect((await site.app.call(`/status/acme/maintenance/${id}`)).text).toContain("Not needed");
  });

  test("cancelling a maintenance accepts a body without body or notify", async () => {
    await using site = await createMaintenanceSite();
    for (const [plan, json, notify] of [
      [{}, { body: "Not needed" }, true],
      [{ notify: false }, { body: "Not needed" }, false],
      [{ notify: false }, { notify: true }, true],
    ] as const) {
      const id = await site.plan(plan);
      const { body } = await site.call(`/${id}/cancel`, { method: "POST", json });
      const text = "body" in json ? json.body : "The maintenance has been cancelled.";
      expect(body.updates[0].body).toBe(text);
      const event = site.app.events().findLast(({ type }) => type === "maintenance.cancelled");
      expect(event?.data).toMatchObject({ notify });
    }
  });

  test("cancelling a maintenance without a body writes a default text", async () => {
    await using site = await createMaintenanceSite();
    for (const options of Object.values(EMPTY)) {
      const id = await site.plan();
      const answer = await site.call(`/${id}/cancel`, { method: "POST", ...options() });
      expect(answer.status).toBe(200);
      expect(answer.body.updates[0].body).toBe("The maintenance has been cancelled.");
    }
  });

  test("cancelling a maintenance with an invalid body is rejected and does not cancel it", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    const before = await site.state();
    const cancel = (options: CallOptions) =>
      site.call(`/${id}/cancel`, { method: "POST", ...options });
    for (const json of [
      { body: "" },
      { body: 5 },
      { body: null },
      { body: "x".repeat(10_001) },
      { notify: "no" },
      { reason: "Not needed" },
      { status: "cancelled" },
    ]) {
      expectProblem(await cancel({ json }), "validation_failed");
    }
    const form = {
      raw: "body=x",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    };
    expectProblem(await cancel(form), "unsupported_media_type");
    expect(await site.state()).toEqual(before);
  });
});
