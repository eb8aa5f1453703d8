import { parseClientAddress } from "../base/client-address";
import type { Gateway } from "../http/gateway";
import { toProblem } from "../http/answers";
import { identityHeaders } from "../base/config/identity-proxy";
import type { Config } from "../base/config/options";
import type { ListenAddress } from "../base/config/parse";
import type { Ctx } from "../context";
import { listen, type Listener } from "../listening";
import { createUsageHandler } from "./usage";
import {
  CERTAIN_HEADER,
  CLIENT_HEADER,
  fleetToken,
  FORWARD_PATH,
  FORWARDED_HEADER,
  isFleetToken,
  ORIGIN_HEADER,
  STATUS_PATH,
  TOKEN_HEADER,
  USAGE_PATH,
  withoutConnection,
} from "./store";

interface PrivateRoutes {
  /** Token of the fleet. */
  token: string;
  /** Answers forwarded requests; undefined on a node that is not the primary. */
  gateway(): Gateway | undefined;
  /** Headers of clients that a forwarded request must not have, in lower case. */
  droppedHeaders?: readonly string[];
  handlers: NodeHandlers;
}

/** Handlers of requests of other nodes by method and path, such as `POST /fleet/v1/usage`. */
export type NodeHandlers = Readonly<
  Record<string, (request: Request) => Response | Promise<Response>>
>;

/** Headers that a forwarded request carries for this listener alone. */
const BETWEEN_NODES = [
  TOKEN_HEADER,
  ORIGIN_HEADER,
  CLIENT_HEADER,
  CERTAIN_HEADER,
  FORWARDED_HEADER,
  "host",
];

/** Listens for the other nodes. Throws an OperatorError if the address cannot be used. */
export function listenPrivately(address: ListenAddress, routes: PrivateRoutes): Listener {
  return listen({ listen: address }, (request) => answerNode(request, routes), "--fleet-listen");
}

/** Listens for the replicas of this server. Throws an OperatorError if the address cannot be used. */
export function listenForReplicas(
  ctx: Ctx,
  gateway: Gateway,
  handlers: NodeHandlers = {},
): Listener | undefined {
  const { fleetListen, fleetSecret } = ctx.config;
  if (!fleetListen || fleetSecret === undefined) return undefined;
  return listenPrivately(fleetListen, {
    token: fleetToken(fleetSecret),
    gateway: () => (ctx.isPrimary() ? gateway : undefined),
    // No replica says which proxy a request came from, and one with other options passes them on.
    droppedHeaders: identityHeaders(ctx.config),
    handlers: {
      ...handlers,
      [`POST ${USAGE_PATH}`]: createUsageHandler(ctx),
    },
  });
}

/** Listens on a replica, which answers no forwarded requests. */
export function listenOnReplica(
  config: Pick<Config, "fleetListen">,
  token: string,
  status: () => object,
): Listener | undefined {
  if (!config.fleetListen) return undefined;
  return listenPrivately(config.fleetListen, {
    token,
    gateway: () => undefined,
    handlers: { [`GET ${STATUS_PATH}`]: () => Response.json(status()) },
  });
}

/** Answers a request of another node: 401 without the token, 404 for other paths. Exported for tests. */
async function answerNode(request: Request, routes: PrivateRoutes): Promise<Response> {
  if (!isFleetToken(request.headers.get(TOKEN_HEADER), routes.token)) {
    return refuse(401, "The token is not that of this fleet: ALLCLEAR_FLEET_SECRET must be equal.");
  }
  const path = pathOf(request.url);
  const isForwarded = path.startsWith(`${FORWARD_PATH}/`);
  // No path of a client leads to the handlers of nodes.
  if (!isForwarded && request.headers.has(ORIGIN_HEADER))
    return refuse(400, "Not a forwarded path.");
  if (isForwarded) return answerForwarded(request, path, routes);
  const handler = routes.handlers[`${request.method} ${path.replace(/\?.*$/, "")}`];
  if (!handler) return refuse(404, "There is no such path between nodes.");
  try {
    return await handler(request);
  } catch (error) {
    const problem = toProblem(error);
    return refuse(problem.status, problem.message);
  }
}

/**
 * Answers a request as the client sent it to a replica. The replica is believed about the client address, so
 * the headers of proxies are not read again.
 */
async function answerForwarded(
  request: Request,
  path: string,
  { gateway, droppedHeaders = [] }: PrivateRoutes,
): Promise<Response> {
  const handle = gateway();
  if (!handle) return refuse(421, "This node is not the primary.");
  const origin = request.headers.get(ORIGIN_HEADER) ?? "";
  const address = parseClientAddress(request.headers.get(CLIENT_HEADER) ?? "");
  const url = URL.parse(origin);
  // A host such as `a\b` would become a path.
  if (!url || url.href !== `${url.origin}/` || !address) {
    return refuse(400, "A forwarded request needs its origin and client.");
  }
  const headers = withoutConnection(request.headers, [
    ...BETWEEN_NODES,
    ...droppedHeaders,
    "x-forwarded-for",
    "forwarded",
  ]);
  headers.set("host", url.host);
  // Whole in memory: a replica sends at most what the application reads.
  const body = request.body ? await request.arrayBuffer() : undefined;
  const inner = new Request(url.origin + path.slice(FORWARD_PATH.length), {
    method: request.method,
    headers,
    ...(body && { body }),
    signal: request.signal,
  });
  const client = { ...address, isDoubtful: !request.headers.has(CERTAIN_HEADER) };
  const answer = await handle(inner, () => client);
  answer.headers.set(FORWARDED_HEADER, "1");
  return answer;
}

/** Returns path and query as they were sent. */
function pathOf(url: string): string {
  return url.slice(url.indexOf("/", url.indexOf("://") + 3));
}

function refuse(status: number, detail: string): Response {
  return Response.json({ detail }, { status, headers: { "Cache-Control": "no-store" } });
}
