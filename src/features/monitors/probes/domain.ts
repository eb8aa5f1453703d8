import { type Static, Type } from "@sinclair/typebox";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../../base/clock";
import { type FieldError, pointer } from "../../../base/errors";
import { lazy } from "../../../base/lazy";
import { parseJson, plural } from "../../../base/text";
import { LineText } from "../../../base/texts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/time";
import { readBody } from "../../../egress/body";
import type { Egress } from "../../../egress/egress";
import { ABORTED, Fault, type HttpAnswer, untilAborted } from "../../../egress/model";
import { parseHost } from "../../../egress/policy";
import type { StepRecorder } from "../../../egress/steps";
import type { Probe, ProbeContext, ProbeResult } from "../monitoring";
import { elapsedMs, failed, mergeFields } from "./fields";

const DEFAULT_DAYS = 30;

const DomainConfig = Type.Object(
  {
    domain: LineText({
      minLength: 1,
      maxLength: 255,
      description: "Registered domain, or a name in it.",
      examples: ["example.com"],
    }),
    days: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 365,
        description: `Days before the expiry from which a check warns, without failing. Default: ${DEFAULT_DAYS}; 0 for never.`,
      }),
    ),
  },
  { additionalProperties: false, examples: [{ domain: "example.com", days: 30 }] },
);
type DomainConfig = Static<typeof DomainConfig>;

/** Checks that the registration of a domain has not expired. */
export const domainProbe = {
  type: "domain",
  label: "Domain registration",
  config: DomainConfig,
  shown: DomainConfig,
  // Registries limit how often they answer.
  intervals: { default: 86_400, retry: 3_600, least: 3_600 },
  maxIntervalSeconds: 31_536_000,
  validate: ({ domain }) => validateDomain(domain, includedRdapList()),
  present: ({ domain, days = DEFAULT_DAYS }) => ({ domain, days }),
  merge: mergeFields,
  targetOf: ({ domain }) => domain,
  run: checkDomain,
} satisfies Probe<"domain", DomainConfig>;

/** Returns errors of a domain: it has no owner, or its registry offers no RDAP. */
export function validateDomain(domain: string, list: RdapList): FieldError[] {
  const name = nameOf(domain);
  const hasServer = list.publication === undefined || rdapBaseOf(list, name) !== undefined;
  const detail = !name.includes(".")
    ? "must be a domain such as example.com"
    : hasServer
      ? undefined
      : `is in .${topLevelOf(name)}, whose registry does not tell by RDAP when domains expire`;
  return detail === undefined ? [] : [{ pointer: pointer("domain"), detail }];
}

/** Returns a domain in lower case and ASCII, without a final dot; empty for other text. */
function nameOf(domain: string): string {
  const host = parseHost(domain);
  return host && !host.isAddress ? host.name.replace(/\.$/, "") : "";
}

/** Answers of registries, which all monitors of a server share. */
const clients = new WeakMap<Egress, RdapClient>();

/** Compares the expiry of a domain with the current time. */
async function checkDomain(
  { domain, days = DEFAULT_DAYS }: DomainConfig,
  context: ProbeContext,
): Promise<ProbeResult> {
  const { egress, clock, signal, steps } = context;
  const client = clients.get(egress) ?? new RdapClient(egress, clock);
  clients.set(egress, client);
  const startedAt = clock.monotonic();
  const answer = await client.ask(nameOf(domain), signal, steps);
  // A registry that does not answer says nothing about the domain.
  if (answer instanceof Fault) return { ...failed(answer), outcome: "unknown" };
  const latencyMs = elapsedMs(context, startedAt);
  if (answer === "unregistered") {
    return { outcome: "failed", latencyMs, message: "The domain is not registered." };
  }
  if (answer === "ended") {
    const message = "The domain is no longer registered: its registry does not know it any more.";
    return { outcome: "failed", latencyMs, message };
  }
  const left = answer.expiresAt - clock.now();
  if (left <= 0) {
    const day = new Date(answer.expiresAt).toISOString().slice(0, 10);
    return { outcome: "failed", latencyMs, message: `The domain expired on ${day}.` };
  }
  const daysLeft = Math.floor(left / DAY_MS);
  const message = daysLeft < days ? `The domain expires in ${plural(daysLeft, "day")}.` : null;
  return { outcome: "ok", latencyMs, message };
}

/** Answer of a registry about a domain: the end of its registration, in unix ms, or that there is none. */
type Answer = { expiresAt: number } | "unregistered";

/** Registration that contains a name; `ended` if there was one and the registry no longer knows it. */
type Registration = Answer | "ended";

const LIST_RENEWED_MS = 7 * DAY_MS;
const LIST_RETRIED_MS = HOUR_MS;
/** Time that a check waits for a newer list. */
const LIST_PATIENCE_MS = 4 * SECOND_MS;

/** Time for which an answer is used again, a little less than the shortest interval. */
const ANSWER_FRESH_MS = 50 * MINUTE_MS;
/** Time for which an answer is used while its registry cannot be asked. */
const ANSWER_KEPT_MS = 7 * DAY_MS;
const ANSWERS_MAX = 5_000;

/** First labels that are dropped while the registry knows no such domain. */
const DROPPED_LABELS_MAX = 3;
const REDIRECTS_MAX = 5;

const UNREADABLE = new Fault("protocol", "The registry's answer could not be read.");

/** Asks registries for the end of registrations (RFC 9082), and remembers their answers. */
class RdapClient {
  readonly #egress: Egress;
  readonly #clock: Clock;
  readonly #answers = new LRUCache<string, { at: number; answer: Answer }>({ max: ANSWERS_MAX });
  /** Queries that have not ended, by domain. */
  readonly #queries = new Map<string, Promise<Answer | Fault>>();
  /** Domain that was found for a name. Once it has been, no parent of it says anything about the name. */
  readonly #found = new LRUCache<string, string>({ max: ANSWERS_MAX });
  #list: RdapList | undefined;
  #listDueAt = Number.NEGATIVE_INFINITY;
  /** Resolves when the last request for the list has ended. */
  #listRenewed = Promise.resolve();

  constructor(egress: Egress, clock: Clock) {
    this.#egress = egress;
    this.#clock = clock;
  }

  /** Returns the registration that contains a name. Records the requests that it needs. */
  async ask(
    name: string,
    signal: AbortSignal,
    steps?: StepRecorder,
  ): Promise<Registration | Fault> {
    const found = this.#found.get(name);
    if (found !== undefined) {
      const answer = await this.#answerAbout(found, signal, steps);
      return answer === "unregistered" ? "ended" : answer;
    }
    const labels = name.split(".");
    for (let dropped = 0; dropped <= DROPPED_LABELS_MAX && labels.length > 1; dropped += 1) {
      const domain = labels.join(".");
      const answer = await this.#answerAbout(domain, signal, steps);
      if (answer instanceof Fault) return answer;
      if (answer !== "unregistered") {
        this.#found.set(name, domain);
        return answer;
      }
      labels.shift();
    }
    return "unregistered";
  }

  /** Returns the answer about a domain, an earlier one while it is fresh or its registry does not answer. */
  async #answerAbout(
    domain: string,
    signal: AbortSignal,
    steps: StepRecorder | undefined,
  ): Promise<Answer | Fault> {
    const now = this.#clock.monotonic();
    const known = this.#answers.get(domain);
    if (known && now - known.at < ANSWER_FRESH_MS) {
      steps?.add("request", true, "answer of an earlier check");
      return known.answer;
    }
    const underWay = this.#queries.get(domain);
    const shared = underWay && (await untilAborted(underWay, signal));
    // A query that failed may have been cut off by the deadline of another check.
    if (shared && shared !== ABORTED && !(shared instanceof Fault)) {
      steps?.add("request", true, "answer to another check");
      return shared;
    }
    const query = this.#query(domain, signal, steps).finally(() => {
      if (this.#queries.get(domain) === query) this.#queries.delete(domain);
    });
    this.#queries.set(domain, query);
    const answer = await query;
    if (!(answer instanceof Fault)) this.#answers.set(domain, { at: now, answer });
    else if (known && now - known.at < ANSWER_KEPT_MS) return known.answer;
    return answer;
  }

  async #query(
    domain: string,
    signal: AbortSignal,
    steps: StepRecorder | undefined,
  ): Promise<Answer | Fault> {
    // Another check, with a later deadline, may have asked for the list.
    await untilAborted(this.#renewList(signal), signal);
    const base = rdapBaseOf(this.#list ?? includedRdapList(), domain);
    if (base === undefined) {
      return new Fault("protocol", "The registry does not tell by RDAP when domains expire.");
    }
    const answer = await this.#get(new URL(`${base}domain/${domain}`), signal, steps);
    if (answer instanceof Fault) return answer;
    if (answer.status === 200) return readExpiry(answer);
    return answer.status === 404
      ? "unregistered"
      : new Fault("protocol", `The registry answered with status ${answer.status}.`);
  }

  /** Fetches the list of servers once a week. The included one is used until that works. */
  #renewList(signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    if (now >= this.#listDueAt) {
      this.#listDueAt = now + LIST_RETRIED_MS;
      this.#listRenewed = this.#fetchList(signal, now);
    }
    return this.#listRenewed;
  }

  async #fetchList(signal: AbortSignal, now: number): Promise<void> {
    const patience = new AbortController();
    const timer = this.#clock.after(LIST_PATIENCE_MS, () => patience.abort());
    const answer = await this.#get(
      new URL(RDAP_LIST_URL),
      AbortSignal.any([signal, patience.signal]),
    );
    timer.cancel();
    if (answer instanceof Fault || answer.status !== 200) return;
    const text = await textOf(answer);
    const list = text instanceof Fault ? undefined : parseRdapList(text);
    if (!list) return;
    this.#list = list;
    this.#listDueAt = now + LIST_RENEWED_MS;
  }

  /** Sends a request and follows redirects, each of which is checked like the first address. */
  async #get(url: URL, signal: AbortSignal, steps?: StepRecorder): Promise<HttpAnswer | Fault> {
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
      const answer = await this.#egress.request({
        url,
        method: "GET",
        headers: { Accept: "application/rdap+json, application/json" },
        policy: "monitor",
        proxy: "outbound",
        signal,
        steps,
      });
      if (answer instanceof Fault) {
        return new Fault(answer.kind, `The registry cannot be asked: ${answer.message}`);
      }
      const location = answer.headers.get("location");
      if (answer.status < 300 || answer.status > 399 || location === undefined) return answer;
      const next = URL.parse(location, url);
      if (!next) return UNREADABLE;
      url = next;
    }
    return new Fault("protocol", `The registry redirects more than ${REDIRECTS_MAX} times.`);
  }
}

async function readExpiry(answer: HttpAnswer): Promise<Answer | Fault> {
  const text = await textOf(answer);
  if (text instanceof Fault) return text;
  const { events } = (parseJson(text) ?? {}) as { events?: unknown };
  if (!Array.isArray(events)) return UNREADABLE;
  const expiration = (events as { eventAction?: unknown; eventDate?: unknown }[]).find(
    (event) => event?.eventAction === "expiration",
  );
  const date = expiration?.eventDate;
  const expiresAt = typeof date === "string" ? Date.parse(date) : Number.NaN;
  return Number.isNaN(expiresAt)
    ? new Fault("protocol", "The registry does not tell when the domain expires.")
    : { expiresAt };
}

async function textOf(answer: HttpAnswer): Promise<string | Fault> {
  const body = await readBody(answer);
  if (body instanceof Fault) return UNREADABLE;
  return body.isTruncated
    ? new Fault("protocol", "The registry's answer is longer than a check reads.")
    : new TextDecoder().decode(body.bytes);
}

/** Address at which IANA publishes the list (RFC 9224). */
export const RDAP_LIST_URL = "https://data.iana.org/rdap/dns.json";

/** List of RDAP servers, in a short form. */
interface RdapList {
  /** Time of publication; absent in an excerpt, which does not name all top-level domains. */
  publication?: string;
  /** Top-level domains that each server knows, separated by spaces, by its base URL. */
  servers: Readonly<Record<string, string>>;
}

/** Returns the list that is part of this program. Loaded at its first use. */
export const includedRdapList = lazy(() => require("./rdap-servers.json") as RdapList);

/** Returns the top-level domain of a name. */
function topLevelOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

/** Returns the base URL of the server that knows the domains of a top-level domain; undefined without one. */
export function rdapBaseOf({ servers }: RdapList, name: string): string | undefined {
  const topLevel = topLevelOf(name);
  const server = Object.entries(servers).find(([, names]) => names.split(" ").includes(topLevel));
  return server?.[0];
}

/** Parses the list as IANA publishes it; undefined for other text. */
export function parseRdapList(text: string): RdapList | undefined {
  const { publication, services } = (parseJson(text) ?? {}) as Record<string, unknown>;
  if (typeof publication !== "string" || !Array.isArray(services)) return undefined;
  if (services.length === 0 || !services.every(isService)) return undefined;
  const servers: Record<string, string> = {};
  for (const [names = [], urls = []] of services) {
    const url = urls.find((each) => each.startsWith("https:")) ?? urls[0] ?? "";
    if (!URL.canParse(url)) continue;
    const base = url.replace(/\/*$/, "/");
    servers[base] = [servers[base] ?? [], ...names].flat().join(" ");
  }
  return { publication, servers };
}

function isService(service: unknown): service is string[][] {
  return (
    Array.isArray(service) &&
    service.every((part) => Array.isArray(part) && part.every((text) => typeof text === "string"))
  );
}
