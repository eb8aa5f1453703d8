import type { Clock } from "../../base/clock";
import { conflict, unavailable } from "../../base/errors";
import { SECOND_MS } from "../../base/time";
import { examine } from "../../base/validation";
import type { Ctx } from "../../context";
import { readSteps } from "../../egress/steps";
import { sendUntagged } from "../../http/answers";
import { declareRoutes } from "../../http/elysia";
import { jsonBody } from "../../http/json-body";
import { operation } from "../../http/operation";
import { NO_STORE } from "../../http/representation";
import type { RequestContext } from "../../http/request-context";
import { VERSION } from "../../version";
import type { Monitoring } from "./monitoring";
import {
  AGENT_VERSION,
  AgentResult,
  isAgentVersion,
  isCompatible,
  type FailedCheckRequest,
  ResultsAnswer,
  ResultsBody,
  Work,
} from "../locations/agent-wire";
import type { CheckRequests } from "../locations/check-requests";
import { setAgentVersion } from "../locations/store";
import { AgentWork } from "./agent-work";

const DECLARED = { tag: "Monitors", access: { kind: "location" }, errors: ["conflict"] } as const;

/**
 * `/api/v1/probe`: the two routes of the agents of locations, between programs of Allclear. A server that runs no checks has
 * no requests for some.
 */
export function agentRoutes(
  ctx: Ctx,
  monitoring: Monitoring,
  checkRequests: CheckRequests | undefined,
) {
  const budget = new ResultBudget(ctx.clock);
  const engine = checkRequests && {
    requests: checkRequests,
    work: new AgentWork(ctx, checkRequests),
  };

  /** Returns the location of an agent that calls, and notes the call. Throws for a version that does not fit. */
  async function requireCompatibleAgent(
    request: Request,
    requestContext: RequestContext,
  ): Promise<string> {
    const locationId = locationOf(requestContext);
    const agentVersion = request.headers.get(AGENT_VERSION) ?? "";
    if (isCompatible(agentVersion, VERSION)) {
      monitoring.noteCall(locationId, agentVersion);
      return locationId;
    }
    if (isAgentVersion(agentVersion)) {
      await ctx.db.write((tx) => setAgentVersion(tx, { id: locationId, agentVersion }));
    }
    throw conflict(
      `The agent has version ${isAgentVersion(agentVersion) ? agentVersion : "none"}, and this server ${VERSION}. They must be at most one minor version apart: install that of the server.`,
    );
  }

  function requireEngine(): NonNullable<typeof engine> {
    if (!engine) throw unavailable("This server runs no checks. Try again.", 5);
    return engine;
  }

  return declareRoutes("/api/v1/probe")
    .get(
      "/work",
      async ({ request, requestContext }) => {
        const { work } = requireEngine();
        const locationId = await requireCompatibleAgent(request, requestContext);
        const poll = {
          locationId,
          etag: request.headers.get("if-none-match"),
          // A request that another node passes on takes one of its few places.
          canWait: requestContext.peer !== undefined,
          signal: request.signal,
        };
        await work.waitForChange(poll);
        requestContext.confirm();
        const { body, etag } = await work.answer(poll);
        const headers = { "Content-Type": "application/json", "Cache-Control": NO_STORE };
        return new Response(body, { headers: { ...headers, ETag: etag } });
      },
      {
        ...operation({
          ...DECLARED,
          summary: "Read the work of an agent",
          answers: { 200: { description: "The work.", schema: Work } },
        }),
      },
    )
    .post(
      "/results",
      async ({ body, request, requestContext }) => {
        const { requests } = requireEngine();
        const locationId = await requireCompatibleAgent(request, requestContext);
        if (!budget.takes(locationId, body.results.length)) {
          throw unavailable("The location sends too many results. Send them again.", 1);
        }
        const results = body.results.filter(isResult);
        const now = ctx.clock.now();
        await monitoring.takeResults(locationId, body.process, results);
        for (const result of results) answerRequest(requests, locationId, result, now);
        for (const failed of body.failed_requests ?? []) failRequest(requests, locationId, failed);
        const invalid = body.results.length - results.length;
        if (invalid > 0) {
          ctx.log.warn({ location: locationId, invalid }, "results of an agent were not valid");
        }
        return sendUntagged({ taken: results.length, invalid });
      },
      {
        ...jsonBody(ResultsBody),
        ...operation({
          ...DECLARED,
          summary: "Send results of an agent",
          answers: { 200: { description: "The results were stored.", schema: ResultsAnswer } },
        }),
      },
    );
}

/** Results that a location may send in a second, and at once after a time without contact. */
const RESULTS_PER_SECOND = 1_000;
const RESULTS_AT_ONCE = 20_000;

/** Results that locations may send, so that no agent takes up the server. */
class ResultBudget {
  readonly #clock: Clock;
  /** Results that are left, at a time on the monotonic clock, by location. */
  readonly #left = new Map<string, { count: number; at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a batch into account. Returns false if it is to be sent later. */
  takes(locationId: string, results: number): boolean {
    const now = this.#clock.monotonic();
    const { count, at } = this.#left.get(locationId) ?? { count: RESULTS_AT_ONCE, at: now };
    const grown = count + ((now - at) / SECOND_MS) * RESULTS_PER_SECOND;
    const left = Math.min(RESULTS_AT_ONCE, grown) - results;
    if (left < 0) return false;
    this.#left.set(locationId, { count: left, at: now });
    return true;
  }
}

function isResult(value: unknown): value is AgentResult {
  return examine(AgentResult, value, 1).errors.isEmpty;
}

/** Answers the user who asked for a check. `now` is its arrival in unix ms. */
function answerRequest(
  requests: CheckRequests,
  locationId: string,
  result: AgentResult,
  now: number,
): void {
  const { request_ids: ids, monitor_id: monitorId, outcome, message } = result;
  if (ids === undefined) return;
  const latencyMs = result.latency_ms === null ? null : Math.round(result.latency_ms);
  const at = now - Math.round(result.age_ms);
  const steps = readSteps(result.steps ?? []);
  const check = { at, outcome, latencyMs, message };
  for (const id of ids) requests.settle(locationId, id, { monitorId, check, steps });
}

function failRequest(
  requests: CheckRequests,
  locationId: string,
  { request_id: id, detail }: FailedCheckRequest,
): void {
  requests.settle(locationId, id, unavailable(detail, 5));
}

/** Returns the id of the location whose agent calls. Throws for other routes. */
function locationOf({ caller }: RequestContext): string {
  if (caller.kind !== "location") throw new Error("the route is not one of agents");
  return caller.locationId;
}
