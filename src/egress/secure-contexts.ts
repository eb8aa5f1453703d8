import { LRUCache } from "lru-cache";
import type { X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";
import { trustedAuthorities } from "../base/config/network";
import { sha256Hex } from "../base/hash";
import { lazy } from "../base/lazy";
import type { ClientCertificate, TlsRules, TlsVersion } from "./model";

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
export function furtherAuthorities(context: SecureContext | undefined): readonly X509Certificate[] {
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
