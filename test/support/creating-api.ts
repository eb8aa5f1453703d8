import { Type } from "@sinclair/typebox";
import { CLI_ACTOR } from "../../src/base/actor";
import { conflict } from "../../src/base/errors";
import { Nullable } from "../../src/base/schema";
import { NameText } from "../../src/base/texts";
import type { Ctx } from "../../src/context";
import { createSessions } from "../../src/features/auth/sessions";
import { createKeyDirectory } from "../../src/features/keys/directory";
import { listAllKeys } from "../../src/features/keys/records";
import { createLocationDirectory } from "../../src/features/locations/tokens";
import { createHeartbeatDirectory } from "../../src/features/monitors/tokens";
import { createDomains } from "../../src/features/pages/addresses";
import { createCredentials } from "../../src/http/caller";
import { createOnce } from "../../src/http/changes";
import { createClientAddresses } from "../../src/http/client-address";
import { createBearerReader, declareRoutes, routesOf } from "../../src/http/elysia";
import { createGateway, type GatewayDependencies } from "../../src/http/gateway";
import { jsonBody } from "../../src/http/json-body";
import { operation, scope } from "../../src/http/operation";
import { createRouteTable } from "../../src/http/route-table";
import { type Answer, type CallOptions, createTestApp, type TestApp } from "./app";
import { createKey } from "./examined";

const ThingBody = Type.Object({ name: NameText }, { additionalProperties: false });
const Part = Type.Object({ id: Type.String(), name: Type.String() });
const Thing = Type.Composite([
  Part,
  Type.Object({ version: Type.Integer(), secret: Nullable(Type.String()) }),
]);

/** Name that is rejected after the thing was written. */
export const TAKEN = "Taken";

/**
 * An API with test routes behind the real gateway that create things with secrets and parts of
 * things.
 */
interface CreatingApi extends AsyncDisposable {
  app: TestApp;
  /** Id and value of the key that `post` uses. */
  key: { id: string; value: string };
  /** Sends a POST, by default to `/api/v1/things`. */
  post(
    sent: { name?: string; idempotencyKey?: string; path?: string } & CallOptions,
  ): Promise<Answer>;
  /** Returns the names of created things in order. */
  made(): string[];
}

export async function createCreatingApi({
  loadRoutes = () => undefined,
}: Partial<Pick<GatewayDependencies, "loadRoutes">> = {}): Promise<CreatingApi> {
  const app = await createTestApp();
  const { key, value } = await app.createKey({ name: "caller", scopes: ["write:incidents"] });
  putBehindGateway(app, loadRoutes);
  return {
    app,
    key: { id: key.id, value },
    post: ({ name = "Thing", idempotencyKey, path = "/api/v1/things", headers, ...more }) =>
      app.call(path, {
        key: value,
        method: "POST",
        ...(more.raw === undefined ? { json: { name } } : {}),
        ...more,
        headers: {
          "content-type": "application/json",
          ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
          ...headers,
        },
      }),
    made: () =>
      listAllKeys(app.ctx.db)
        .filter(({ scopes }) => scopes.includes("read:analytics"))
        .map(({ id, name }) => ({ id, name }))
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .map(({ name }) => name),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/**
 * Returns routes that create a thing. A thing is an API key, since it has a secret and an audit
 * entry.
 */
function thingRoutes(ctx: Ctx) {
  const make = (tx: Parameters<typeof createKey>[1], name: string) =>
    createKey(ctx, tx, { name, scopes: ["read:analytics"] }, CLI_ACTOR);
  const declared = { summary: "Make one", tag: "Things", access: scope("write:incidents") };
  return declareRoutes("/api/v1")
    .post(
      "/things",
      ({ body, request, requestContext }) =>
        createOnce(ctx, { request, requestContext, tag: "version" }, (tx) => {
          const { key, value } = make(tx, body.name);
          if (body.name === TAKEN) throw conflict("The name is taken.");
          const resource = { id: key.id, name: key.name, version: 7, secret: value };
          const location = `/api/v1/things/${key.id}`;
          return { resource, location, replay: { ...resource, secret: null } };
        }),
      {
        ...jsonBody(ThingBody),
        ...operation({
          ...declared,
          id: "createThing",
          answers: { 201: { description: "The thing.", schema: Thing } },
          errors: ["conflict"],
          idempotent: true,
        }),
      },
    )
    .post(
      "/things/:id/parts",
      ({ params, body, request, requestContext }) =>
        createOnce(ctx, { request, requestContext, tag: "version" }, (tx) => {
          const { key } = make(tx, body.name);
          const location = `/api/v1/things/${params.id}/parts/${key.id}`;
          return { resource: { id: key.id, name: key.name }, location };
        }),
      {
        ...jsonBody(ThingBody),
        ...operation({
          ...declared,
          id: "createPart",
          answers: { 201: { description: "The part.", schema: Part } },
          idempotent: true,
        }),
      },
    )
    .post(
      "/undeclared",
      ({ body, request, requestContext }) =>
        createOnce(ctx, { request, requestContext, tag: "version" }, (tx) => ({
          resource: make(tx, body.name),
          location: "/api/v1/undeclared",
        })),
      {
        ...jsonBody(ThingBody),
        ...operation({ ...declared, answers: { 201: { description: "It." } } }),
      },
    );
}

/** Replaces the application's routes by these. */
function putBehindGateway(app: TestApp, loadRoutes: GatewayDependencies["loadRoutes"]): void {
  const { ctx } = app;
  app.app.routes = createRouteTable();
  app.app.routes.add(routesOf(thingRoutes(ctx)));
  const sources = {
    credentials: createCredentials(createKeyDirectory(ctx), createBearerReader()),
    sessions: createSessions(ctx),
    heartbeats: createHeartbeatDirectory(ctx),
    locations: createLocationDirectory(ctx),
  };
  app.app.handle = createGateway({
    ctx,
    routes: app.app.routes,
    domains: createDomains(ctx),
    sources: () => sources,
    identityHeaders: () => undefined,
    usage: app.app.usage,
    limiter: app.app.limiter,
    addresses: createClientAddresses(ctx),
    loadRoutes,
    failurePage: () => undefined,
  });
}
