import type { TSchema } from "@sinclair/typebox";
import type { Operation } from "../operation";
import type { Route } from "../route-table";
import { type Json, toPlain } from "./components";

const text = { type: "string" };

/** Prefixes of ids in paths, by the preceding segment. */
const ID_PREFIXES: Record<string, string> = {
  components: "cmp",
  incidents: "inc",
  maintenance: "mnt",
  monitors: "mon",
  updates: "upd",
  webhooks: "whk",
};

/** Descriptions of ids in paths that also take a ref, by the preceding segment. */
const ID_DESCRIPTIONS: Record<string, string> = {
  badge: "The component's id, or `<page slug>:<ref>`.",
  components: "The component's id, or its page's slug and its `ref`, such as `acme:checkout-api`.",
  monitors: "The monitor's id or `ref`.",
  webhooks: "The webhook's id or `ref`.",
};

/** The parameters of a route: of its path, its query and the headers that it hears. */
export function parametersOf(route: Route): Json[] {
  return [
    ...pathParameters(route),
    ...queryParameters(route),
    ...headerParameters(route.operation),
  ];
}

function pathParameters(route: Route): Json[] {
  return [...route.path.matchAll(/([a-z]*)\/:([a-z_]+)/g)].map(([, before = "", name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: text,
    ...explain(name, before),
  }));
}

function explain(name: string, before: string): Json {
  if (name === "slug") return { description: "A page's slug.", example: "acme" };
  if (!/(^|_)id$/.test(name)) return {};
  const description = ID_DESCRIPTIONS[before] ?? "The resource's id.";
  const idPrefix = ID_PREFIXES[before];
  return idPrefix === undefined
    ? { description }
    : { description, example: `${idPrefix}_01kah2v9w0e0rs6x0h3ye0a1bc` };
}

function queryParameters(route: Route): Json[] {
  const properties = (route.query?.["properties"] ?? {}) as Record<string, TSchema>;
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = toPlain(schema);
    return {
      name,
      in: "query",
      required: false,
      schema: rest,
      ...(description ? { description } : {}),
    };
  });
}

function headerParameters({ conditional, idempotent }: Operation): Json[] {
  const parameter = (name: string, description: string, schema: Json = text) => ({
    name,
    in: "header",
    required: false,
    schema,
    description,
  });
  const parameters: Json[] = [];
  if (conditional === "etag") {
    parameters.push(
      parameter("If-None-Match", "An ETag that the caller has; 304 if it is still the same."),
    );
  }
  if (conditional === "if-match") {
    parameters.push(
      parameter(
        "If-Match",
        "Change it only if the version of this ETag is still its version; else 412.",
      ),
    );
  }
  if (idempotent) {
    parameters.push(
      parameter(
        "Idempotency-Key",
        "A name that the caller gives this request, such as a UUID. Sent again by the same API key to the same path within 24 hours, it makes nothing new and gets the same answer. A request that was refused may be mended and sent again under the same name.",
        { type: "string", minLength: 1, maxLength: 128, pattern: "^[ -~]+$" },
      ),
    );
  }
  return parameters;
}
