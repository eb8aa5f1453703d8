import { type Egress, Fault, type HttpAnswer, type IpFamily } from "../../../egress";
import { type completed, parseUrl } from "./http-config";

const MOST_REDIRECTS = 10;

const FAMILIES: Readonly<Record<"any" | "ipv4" | "ipv6", IpFamily | undefined>> = {
  any: undefined,
  ipv4: 4,
  ipv6: 6,
};

/** Final response after redirects. */
export interface Followed {
  answer: HttpAnswer;
  /** Earliest expiry of the certificates on the way, in unix ms; null without any. */
  certificateExpiresAt: number | null;
}

/**
 * Asks, and follows redirects as the Fetch standard does, each hop resolved and judged anew. Headers and
 * bodies are secrets for the server that they were given for: no other origin is sent them.
 */
export async function follow(
  config: ReturnType<typeof completed>,
  egress: Egress,
  signal: AbortSignal,
): Promise<Followed | Fault> {
  let url = parseUrl(config.url);
  if (!url) return new Fault("refused", "The address is not a URL.");
  let {
    method,
    headers,
    body,
  }: { method: string; headers: Record<string, string>; body: string | null } = config;
  let certificateExpiresAt: number | null = null;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await egress.request({
      url,
      method,
      headers,
      body: body ?? undefined,
      family: FAMILIES[config.ip_family],
      verifyTls: config.verify_tls,
      policy: "monitor",
      signal,
    });
    if (answer instanceof Fault) return redirects === 0 ? answer : ofRedirect(answer);
    certificateExpiresAt = earlier(certificateExpiresAt, answer.certificate?.expiresAt);
    const location = config.follow_redirects ? redirectOf(answer) : undefined;
    if (location === undefined) return { answer, certificateExpiresAt };
    if (redirects === MOST_REDIRECTS) {
      return new Fault("protocol", `There are more than ${MOST_REDIRECTS} redirects.`);
    }
    const next = URL.parse(location, url);
    if (!next) return new Fault("protocol", "The redirect does not lead to a URL.");
    if (isAskedAnew(answer.status, method)) {
      method = method === "HEAD" ? "HEAD" : "GET";
      body = null;
    }
    if (next.origin !== url.origin) {
      headers = {};
      if (body !== null) {
        return new Fault("refused", "The redirect would send the body to another server.");
      }
    }
    url = next;
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function redirectOf({ status, headers }: HttpAnswer): string | undefined {
  return REDIRECTS.has(status) ? headers.get("location") : undefined;
}

/** Returns true if a redirect is followed by a GET, whatever the original method was. */
function isAskedAnew(status: number, method: string): boolean {
  return status === 303 || ((status === 301 || status === 302) && method === "POST");
}

function earlier(known: number | null, next: number | undefined): number | null {
  if (next === undefined) return known;
  return known === null ? next : Math.min(known, next);
}

function ofRedirect({ kind, message, certificate }: Fault): Fault {
  return new Fault(kind, `After a redirect: ${message}`, certificate);
}
