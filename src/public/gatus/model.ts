import { type Static, Type } from "@sinclair/typebox";
import { Instant, OneOf } from "../../base/schema";

/* Schemas of Gatus' public JSON. Optional fields of results that tell about targets are never present. */

const GatusResult = Type.Object(
  {
    duration: Type.Integer({ description: "Nanoseconds; 0 unless the page shows response times." }),
    success: Type.Boolean(),
    timestamp: Instant,
  },
  { title: "GatusResult" },
);

const Endpoint = {
  name: Type.String(),
  group: Type.Optional(Type.String()),
  key: Type.String({ examples: ["core_api"] }),
  results: Type.Array(GatusResult, { description: "Oldest first." }),
};

const GatusEndpoint = Type.Object(Endpoint, { title: "GatusEndpoint" });
export type GatusEndpoint = Static<typeof GatusEndpoint>;

export const GatusEndpoints = Type.Array(GatusEndpoint);

export const GatusEndpointStatus = Type.Object(
  {
    ...Endpoint,
    events: Type.Array(
      Type.Object({
        type: OneOf(["START", "HEALTHY", "UNHEALTHY"]),
        timestamp: Instant,
      }),
      { description: "The 50 newest, oldest first." },
    ),
  },
  { title: "GatusEndpointStatus" },
);
export type GatusEndpointStatus = Static<typeof GatusEndpointStatus>;

export const GatusHistory = Type.Object(
  { timestamps: Type.Array(Type.Integer()), values: Type.Array(Type.Integer()) },
  { title: "GatusHistory" },
);
export type GatusHistory = Static<typeof GatusHistory>;

export const GatusConfig = Type.Object(
  {
    oidc: Type.Literal(false),
    authenticated: Type.Literal(true),
    announcements: Type.Array(
      Type.Object({ timestamp: Instant, type: Type.String(), message: Type.String() }),
    ),
  },
  { title: "GatusConfig" },
);
export type GatusConfig = Static<typeof GatusConfig>;
