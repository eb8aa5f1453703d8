import { Type } from "@sinclair/typebox";
import { queryOf } from "../../http/request-url";
import type { Representation } from "../../http/representation";
import type { RequestContext } from "../../http/request-context";
import { RESULTS_CACHE } from "../../http/cdn";
import { represent } from "../page-files";
import type { ResultPage } from "./documents";

export const SVG = "image/svg+xml";
const RESULTS_MAX = 100;
const PAGES_MAX = 100;
const RESULTS = 50;

/** A request for one of Gatus' paths. */
export interface Call {
  /** Undefined for a path without parameters. */
  params?: Record<string, string>;
  request: Request;
  requestContext: RequestContext;
}
/** Query parameters that select results. */
export const ResultQuery = Type.Object({
  page: Type.Optional(
    Type.String({ description: `Number of the part, 1 to ${PAGES_MAX}. Default: 1.` }),
  ),
  pageSize: Type.Optional(
    Type.String({
      description: `Results of a component, 1 to ${RESULTS_MAX}. Default: ${RESULTS}.`,
    }),
  ),
});

/** Reads which results are asked for. Numbers that make no sense have their defaults, as in Gatus. */
export function partOf({ request }: Call): ResultPage {
  const query = queryOf(request);
  const numberOf = (name: string, initial: number, most: number) => {
    const text = query.get(name) ?? "";
    const value = /^[+-]?\d+$/.test(text) ? Number(text) : 0;
    return value < 1 ? initial : Math.min(value, most);
  };
  return {
    page: numberOf("page", 1, PAGES_MAX),
    pageSize: numberOf("pageSize", RESULTS, RESULTS_MAX),
  };
}

export function send({ request, requestContext }: Call, made: Representation): Response {
  return made.respond(request, requestContext);
}

export function plain(text: string): Representation {
  return represent(text, "text/plain", { cacheControl: RESULTS_CACHE });
}

/** Returns a picture with a policy, because browsers open SVG as a document. */
export function picture(svg: string): Representation {
  const headers = { "Content-Security-Policy": "default-src 'none'" };
  return represent(svg, SVG, { headers, cacheControl: RESULTS_CACHE });
}
