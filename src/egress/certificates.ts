import { LRUCache } from "lru-cache";
import type { X509Certificate } from "node:crypto";
import {
  checkServerIdentity,
  createSecureContext,
  type DetailedPeerCertificate,
  getCACertificates,
  type PeerCertificate,
  type SecureContext,
  type SecureContextOptions,
  type TLSSocket,
} from "node:tls";
import { trustedAuthorities } from "../base/config/network";
import { sha256Hex } from "../base/hash";
import { lazy } from "../base/lazy";
import { hasUnsafeCharacters } from "../base/text";
import {
  type Certificate,
  type ClientCertificate,
  nameOfExpiring,
  type TlsRules,
  type TlsVersion,
} from "./model";

/** Contexts kept in memory. Building one with authorities takes 10 ms, and it has 200 KB. */
const CONTEXTS_MAX = 50;

/** Rules that a connection has in addition to those of the installation. */
interface Rules extends TlsRules {
  client?: Omit<ClientCertificate, "ca"> | undefined;
}

/** Versions of TLS in the words of the runtime. Its default is 1.2. */
const VERSIONS = {
  "1.0": "TLSv1",
  "1.1": "TLSv1.1",
  "1.2": "TLSv1.2",
  "1.3": "TLSv1.3",
} as const satisfies Record<TlsVersion, string>;
const DEFAULT_VERSION: TlsVersion = "1.2";

/** Returns the context of a connection; undefined for that of the runtime. Throws for invalid certificates. */
export type SecureContexts = (rules?: Rules) => SecureContext | undefined;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Authorities of contexts in addition to those of the runtime. */
const FURTHER = new WeakMap<SecureContext, () => readonly X509Certificate[]>();

/** Returns the authorities that a context trusts in addition to those of the runtime. */
function furtherAuthorities(context: SecureContext | undefined): readonly X509Certificate[] {
  return (context && FURTHER.get(context)?.()) ?? [];
}

/** Creates a context that also trusts authorities, in PEM. */
function createTrusting(further: readonly string[], options: SecureContextOptions = {}) {
  const context = createSecureContext({
    ...options,
    // Without the option, the context trusts the authorities of the runtime.
    ...(further.length > 0 && { ca: trustedAuthorities(further) }),
  });
  // Parsed when needed, since few servers send certificates that end before their own.
  const parse = () => {
    const { X509Certificate: Parsed } = process.getBuiltinModule("node:crypto");
    const texts = further.flatMap((pem) => pem.match(CERTIFICATE) ?? []);
    return texts.map((text) => new Parsed(text));
  };
  if (further.length > 0) FURTHER.set(context, lazy(parse));
  return context;
}

/** Creates a function that returns contexts, which also trust the authorities in `trust`. */
export function createSecureContexts(trust: readonly string[]): SecureContexts {
  const contexts = new LRUCache<string, SecureContext>({ max: CONTEXTS_MAX });
  const own = trust.length > 0 ? createTrusting(trust) : undefined;

  return ({ ca, client, tlsMin = DEFAULT_VERSION } = {}) => {
    if (ca === undefined && client === undefined && tlsMin === DEFAULT_VERSION) return own;
    const key = sha256Hex(JSON.stringify([ca, client?.certificate, client?.key, tlsMin]));
    const kept = contexts.get(key);
    if (kept) return kept;
    const added = ca === undefined ? trust : [...trust, ca];
    const context = createTrusting(added, {
      ...(client && { cert: client.certificate, key: client.key }),
      minVersion: VERSIONS[tlsMin],
    });
    contexts.set(key, context);
    return context;
  };
}

/** Maximum length of names repeated from a certificate. */
const LONGEST_NAME = 100;

const PROBLEMS: Readonly<Record<string, string>> = {
  CERT_NOT_YET_VALID: "The certificate is not valid yet.",
  DEPTH_ZERO_SELF_SIGNED_CERT: "The certificate is self-signed.",
  SELF_SIGNED_CERT_IN_CHAIN: "The certificate's issuer is not trusted.",
  UNABLE_TO_GET_ISSUER_CERT: "The certificate's issuer is not known.",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "The certificate's issuer is not known.",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "The certificate's issuer is not known, or the server does not send its chain.",
  CERT_REVOKED: "The certificate has been revoked.",
  INVALID_PURPOSE: "The certificate is not one for servers.",
};

/**
 * Reads and checks the certificate of a handshake that accepted any; undefined without one. Its names must
 * contain `host`. Its end is that of the certificate in its chain that expires first. `secureContext` is that of the
 * handshake.
 */
export function certificateOf(
  socket: TLSSocket,
  host: string,
  secureContext: SecureContext | undefined,
): Certificate | undefined {
  const shown: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  if (!shown || Number.isNaN(endOf(shown))) return undefined;
  const first = firstToExpire(shown, secureContext);
  const dated = {
    expiresAt: endOf(first),
    intermediate: first === shown ? null : nameIn(first.subject),
  };
  return {
    host,
    fingerprint: (first.fingerprint256 ?? "").replaceAll(":", "").toLowerCase(),
    ...dated,
    subject: nameIn(shown.subject),
    issuer: nameIn(shown.issuer),
    problem: problemOf(socket, shown, host, dated),
  };
}

/** Number of certificates of a chain that are read. Servers send two or three. */
const CHAIN_MAX = 10;

/** Returns the certificate of a chain that expires first. */
function firstToExpire(
  leaf: DetailedPeerCertificate,
  secureContext: SecureContext | undefined,
): DetailedPeerCertificate {
  let first = leaf;
  let next: DetailedPeerCertificate | undefined = leaf.issuerCertificate;
  for (let read = 1; next && read < CHAIN_MAX; read += 1) {
    if (endOf(next) < endOf(first) && !hasLaterAnchor(next, secureContext)) first = next;
    next = next.issuerCertificate === next ? undefined : next.issuerCertificate;
  }
  return first;
}

/**
 * Authorities of the runtime, by name. Parsed in 30 ms at the first chain of which not the server's certificate
 * ends first.
 */
const anchors = lazy(() => {
  const { X509Certificate: Parsed } = process.getBuiltinModule("node:crypto");
  const parsed = getCACertificates("default").map((pem) => new Parsed(pem));
  return Map.groupBy(parsed, ({ subject }: X509Certificate) => subject);
});

/**
 * Returns true if an authority with the same name and key is trusted for longer. Its certificate in the chain, signed by
 * an older authority, is then not needed.
 */
function hasLaterAnchor(
  certificate: DetailedPeerCertificate,
  secureContext: SecureContext | undefined,
): boolean {
  const { X509Certificate: Parsed } = process.getBuiltinModule("node:crypto");
  try {
    const { subject, publicKey } = new Parsed(certificate.raw);
    const further = furtherAuthorities(secureContext).filter((each) => each.subject === subject);
    return [...further, ...(anchors().get(subject) ?? [])].some(
      (anchor) =>
        Date.parse(anchor.validTo) > endOf(certificate) && anchor.publicKey.equals(publicKey),
    );
  } catch {
    // Keys of unknown kinds cannot be read, and no authority has one.
    return false;
  }
}

/** Returns the end of a certificate in unix ms; NaN for one without an end. */
function endOf({ valid_to: end }: Partial<PeerCertificate>): number {
  return Date.parse(end ?? "");
}

function problemOf(
  socket: TLSSocket,
  shown: PeerCertificate,
  host: string,
  { expiresAt, intermediate }: Pick<Certificate, "expiresAt" | "intermediate">,
): string | null {
  if (!socket.authorized) {
    // Typed as an Error, but it is the code of OpenSSL.
    const code = String(socket.authorizationError);
    if (code === "CERT_HAS_EXPIRED") {
      const day = new Date(expiresAt).toISOString().slice(0, 10);
      return `The ${nameOfExpiring(intermediate)} expired on ${day}.`;
    }
    return PROBLEMS[code] ?? `The certificate is not trusted (${code}).`;
  }
  return checkServerIdentity(host, shown) === undefined
    ? null
    : "The certificate is for another name.";
}

/** Returns the owner of a distinguished name, safe to show. */
function nameIn(name: PeerCertificate["subject"] | undefined): string {
  const parts = name as Record<string, string | string[] | undefined> | undefined;
  const [text = ""] = [parts?.["CN"] ?? parts?.["O"] ?? parts?.["OU"] ?? ""].flat();
  return hasUnsafeCharacters(text) ? "" : text.slice(0, LONGEST_NAME);
}
