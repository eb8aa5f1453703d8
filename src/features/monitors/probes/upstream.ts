import { type Static, Type } from "@sinclair/typebox";
import { LRUCache } from "lru-cache";
import { type FieldError, pointer } from "../../../base/errors";
import { Nullable, OneOf } from "../../../base/schema";
import { COMPONENT_STATUSES, type ComponentStatus, worstStatus } from "../../../base/status";
import { measureJson, parseJson } from "../../../base/text";
import { LineText, NAME_MAX } from "../../../base/texts";
import { readBody } from "../../../egress/body";
import type { Egress } from "../../../egress/egress";
import { Fault } from "../../../egress/model";
import type { Probe, ProbeContext, ProbeResult } from "../monitoring";
import { messageOf } from "../signal-text";
import { statusPart } from "../because";
import { VIA, viaIn } from "../via";
import { failed, mergeFields, parseUrl, Url, urlError, urlTarget } from "./fields";

const SCHEMES = ["http", "https"] as const;
const COMPONENTS_MAX = 50;

const UpstreamConfig = Type.Object(
  {
    url: Url(SCHEMES, "https://status.example.com/"),
    components: Type.Optional(
      Type.Array(LineText({ minLength: 1, maxLength: NAME_MAX }), {
        maxItems: COMPONENTS_MAX,
        uniqueItems: true,
        description:
          "Components of the page, by name or id, the worst of which counts. Without any the status of the whole page counts, which is rarely good at large providers.",
        examples: [["API", "DNS"]],
      }),
    ),
    public_name: Type.Optional(
      LineText({
        minLength: 1,
        maxLength: NAME_MAX,
        description:
          "Name of the provider for visitors, who then see it with a link to the page on components and in automatic incidents. Default: none, which says nothing of it.",
        examples: ["Cloudflare"],
      }),
    ),
    format: Type.Optional(
      OneOf(["auto", "statuspage", "allclear"], {
        description:
          "Software of the page: allclear requires that the page says so. Both have the JSON of Statuspage. Default: auto.",
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ url: "https://www.cloudflarestatus.com/", components: ["Authoritative DNS"] }],
  },
);
type UpstreamConfig = Static<typeof UpstreamConfig>;

const UpstreamConfigShown = Type.Composite([
  Type.Omit(UpstreamConfig, ["public_name"]),
  Type.Object({ public_name: Nullable(Type.String()) }),
]);

/** Reads the status page of a provider. */
export const upstreamProbe = {
  type: "upstream",
  label: "Status page of a provider",
  config: UpstreamConfig,
  shown: UpstreamConfigShown,
  intervals: { default: 60, retry: 60, least: 60 },
  // The provider has waited before it told.
  failureThreshold: 1,
  // Names of providers are published only where someone says so.
  hasPrivateMessages: true,
  validate: validateUpstream,
  present: ({ url, components = [], public_name = null, format = "auto" }) => ({
    url,
    components,
    public_name,
    format,
  }),
  merge: mergeFields,
  targetOf: ({ url, components = [] }) =>
    components.length === 0
      ? urlTarget({ url })
      : `${urlTarget({ url })}: ${components.join(", ")}`,
  run,
} satisfies Probe<"upstream", UpstreamConfig>;

function validateUpstream({ url }: UpstreamConfig): FieldError[] {
  const detail = urlError(url, SCHEMES);
  return detail === undefined ? [] : [{ pointer: pointer("url"), detail }];
}

/** Status page as it was read. */
interface Upstream {
  indicator: string;
  description: string;
  components: readonly { id: string; name: string; status: string }[];
  /** Installations of Allclear behind the page; none for other software. */
  via: readonly string[];
}

async function run(config: UpstreamConfig, context: ProbeContext): Promise<ProbeResult> {
  const page = await readPage(config, context);
  // A page that cannot be read says nothing about the service.
  if (page instanceof Fault) return unknown(`The page cannot be read: ${failed(page).message}`);
  const { via, components } = page;
  const isOwn = context.installation !== undefined && via.includes(context.installation);
  return {
    ...(isOwn ? unknown(OF_ITSELF) : resultOf(config, page)),
    via,
    offered: components.map(({ name }) => name),
  };
}

const OF_ITSELF = "The page follows from what this Allclear shows, so it says nothing new.";

/** Result of a status by Statuspage's name of it. */
type Level = "ok" | "degraded" | "failed";

const STATES: Readonly<Record<ComponentStatus, Level>> = {
  operational: "ok",
  under_maintenance: "ok",
  degraded_performance: "degraded",
  partial_outage: "failed",
  major_outage: "failed",
};

const INDICATORS: Readonly<Partial<Record<string, Level>>> = {
  none: "ok",
  maintenance: "ok",
  minor: "degraded",
  major: "failed",
  critical: "failed",
};

/** Returns the result of a page that was read. */
function resultOf({ components, format }: UpstreamConfig, page: Upstream): ProbeResult {
  if (format === "allclear" && page.via.length === 0) {
    return unknown("The page is not one of Allclear.");
  }
  if (!components?.length) {
    const { indicator, description } = page;
    const level = Object.hasOwn(INDICATORS, indicator) ? INDICATORS[indicator] : undefined;
    if (!level) return unknown("The page has a status that is not known.");
    return resultAt(level, indicator === "none" ? null : description);
  }
  const found: { name: string; status: ComponentStatus }[] = [];
  for (const wanted of components) {
    const named = page.components.filter(
      ({ id, name }) => id === wanted || name.toLowerCase() === wanted.trim().toLowerCase(),
    );
    if (named.length === 0) return unknown(`The page has no component “${wanted}”.`);
    for (const { name, status } of named) {
      const known = COMPONENT_STATUSES.find((each) => each === status);
      if (!known) return unknown(`The component “${name}” has a status that is not known.`);
      found.push({ name, status: known });
    }
  }
  const worst = worstStatus(found.map(({ status }) => status));
  const names = found.filter(({ status }) => status === worst).map(({ name }) => name);
  const message = `${names.join(", ")}${statusPart(worst)}`;
  return resultAt(STATES[worst], worst === "operational" ? null : message);
}

/** Longest message, in characters. */
const MESSAGE_MAX = 300;

function resultAt(level: Level, message: string | null): ProbeResult {
  const outcome = level === "failed" ? "failed" : "ok";
  const isDegraded = level === "degraded";
  return { outcome, latencyMs: null, message: message?.slice(0, MESSAGE_MAX) ?? null, isDegraded };
}

function unknown(message: string): ProbeResult {
  return { outcome: "unknown", latencyMs: null, message: message.slice(0, MESSAGE_MAX) };
}

/** Page that was read, with what the next request compares. */
interface Kept {
  page: Upstream;
  etag: string | undefined;
  lastModified: string | undefined;
}

const KEPT_MAX = 200;

/** Pages that were read last, which all monitors of a server share. */
const keptPages = new WeakMap<Egress, LRUCache<string, Kept>>();

/** Path of the JSON of Statuspage, below the address of a page. */
const DOCUMENT = "api/v2/summary.json";
const BODY_MAX_BYTES = 2 * 1024 * 1024;
const REDIRECTS_MAX = 5;
const UNREADABLE = new Fault("protocol", "It has no JSON of Statuspage.");

/** Reads a page, or takes what was read before if it has not changed. */
async function readPage(
  { url: address }: UpstreamConfig,
  { egress, signal, steps, contact }: ProbeContext,
): Promise<Upstream | Fault> {
  let url = parseUrl(address);
  if (!url) return new Fault("protocol", "Its address is not a URL.");
  const kept = keptPages.get(egress) ?? new LRUCache<string, Kept>({ max: KEPT_MAX });
  keptPages.set(egress, kept);
  const before = kept.get(address);
  if (!url.pathname.endsWith(".json")) {
    url.pathname = `${url.pathname.replace(/\/*$/, "")}/${DOCUMENT}`;
  }
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    // oxlint-disable-next-line no-await-in-loop
    const answer = await egress.request({
      url,
      method: "GET",
      headers: {
        Accept: "application/json",
        "Accept-Encoding": "gzip",
        ...(before?.etag !== undefined && { "If-None-Match": before.etag }),
        ...(before?.lastModified !== undefined && { "If-Modified-Since": before.lastModified }),
      },
      maxBodyBytes: BODY_MAX_BYTES,
      policy: "monitor",
      proxy: "outbound",
      signal,
      steps,
      contact,
    });
    if (answer instanceof Fault) return answer;
    const { headers, status } = answer;
    const via = viaIn(headers.get(VIA));
    if (status === 304 && before) {
      // The installations behind a page can change without the page.
      return via.length === 0 ? before.page : { ...before.page, via };
    }
    if (status === 200) {
      // oxlint-disable-next-line no-await-in-loop
      const body = await readBody(answer, BODY_MAX_BYTES);
      if (body instanceof Fault) return UNREADABLE;
      if (body.isTruncated) return new Fault("protocol", "It is longer than a check reads.");
      const page = pageIn(new TextDecoder().decode(body.bytes), via);
      if (!page) return UNREADABLE;
      const [etag, lastModified] = [headers.get("etag"), headers.get("last-modified")];
      kept.set(address, { page, etag, lastModified });
      return page;
    }
    const location = headers.get("location");
    if (status < 300 || status > 399 || location === undefined) {
      return new Fault("protocol", `It answered with status ${status}.`);
    }
    url = URL.parse(location, url) ?? undefined;
    if (!url || !SCHEMES.some((scheme) => url?.protocol === `${scheme}:`)) return UNREADABLE;
  }
  return new Fault("protocol", `It redirects more than ${REDIRECTS_MAX} times.`);
}

/** Longest text of a page that is kept, in code points. */
const PART_MAX = 300;

/** Number of components of a page that are read; the largest providers have some hundreds. */
const READ_MAX = 5_000;

/** Returns a text of a page on one line, cut. */
const line = (text: string) =>
  messageOf(
    text
      .slice(0, 2 * PART_MAX)
      .toWellFormed()
      .replace(/\s+/gu, " "),
    PART_MAX,
  ).message ?? "";

/** Fields and lists of a document; parsing more takes long. That of a large provider has 20,000. */
const PARTS_MAX = 200_000;
const DEPTH_MAX = 32;

function parseForeign(text: string): unknown {
  const { depth, fields, lists } = measureJson(text, DEPTH_MAX);
  return depth > DEPTH_MAX || fields + lists > PARTS_MAX ? undefined : parseJson(text);
}

/** Returns the page in a document; undefined for one of another shape. */
function pageIn(text: string, via: Upstream["via"]): Upstream | undefined {
  const { status, components } = (parseForeign(text) ?? {}) as Record<string, unknown>;
  const { indicator, description } = (status ?? {}) as Record<string, unknown>;
  if (typeof indicator !== "string" || !Array.isArray(components)) return undefined;
  const named = components.slice(0, READ_MAX).flatMap((each: unknown) => {
    const { id, name, status: own } = (each ?? {}) as Record<string, unknown>;
    if (typeof name !== "string" || typeof own !== "string") return [];
    return [{ id: typeof id === "string" ? line(id) : "", name: line(name), status: line(own) }];
  });
  const said = line(typeof description === "string" ? description : indicator);
  return { indicator: line(indicator), description: said, components: named, via };
}
