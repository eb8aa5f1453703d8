import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { LRUCache } from "lru-cache";
import { sha256Hex } from "../kernel/hash";
import type { ClientCertificate } from "./model";

/** Contexts kept in memory. Building one with authorities takes 10 ms, and it has 200 KB. */
const CONTEXTS_MAX = 50;

/** Certificates that a connection uses in addition to those of the installation. */
interface Certificates {
  /** Certificates (PEM) of authorities that are trusted in addition. */
  ca?: string | undefined;
  client?: Omit<ClientCertificate, "ca"> | undefined;
}

/** Returns the context of a connection; undefined for that of the runtime. Throws for invalid certificates. */
export type SecureContexts = (certificates?: Certificates) => SecureContext | undefined;

/** Creates a function that returns contexts, which also trust the authorities in `trust`. */
export function createSecureContexts(trust: readonly string[]): SecureContexts {
  const contexts = new LRUCache<string, SecureContext>({ max: CONTEXTS_MAX });
  const own = trust.length > 0 ? createSecureContext({ ca: trusted(trust) }) : undefined;

  return ({ ca, client } = {}) => {
    if (ca === undefined && client === undefined) return own;
    const key = sha256Hex(JSON.stringify([ca, client?.certificate, client?.key]));
    const kept = contexts.get(key);
    if (kept) return kept;
    const added = ca === undefined ? trust : [...trust, ca];
    const context = createSecureContext({
      // Without the option, the context trusts the authorities of the runtime.
      ...(added.length > 0 && { ca: trusted(added) }),
      ...(client && { cert: client.certificate, key: client.key }),
    });
    contexts.set(key, context);
    return context;
  };
}

/** Returns the authorities of the runtime, with those of NODE_EXTRA_CA_CERTS, and further ones. */
function trusted(further: readonly string[]): string[] {
  return [...getCACertificates("default"), ...further];
}
