import { checkServerIdentity, type PeerCertificate, type TLSSocket } from "node:tls";
import { hasUnsafeCharacters } from "../kernel/text";
import type { Certificate } from "./model";

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
 * contain `host`.
 */
export function certificateOf(socket: TLSSocket, host: string): Certificate | undefined {
  const shown: PeerCertificate | undefined = socket.getPeerCertificate();
  const expiresAt = Date.parse(shown?.valid_to ?? "");
  if (!shown || Number.isNaN(expiresAt)) return undefined;
  return {
    host,
    fingerprint: (shown.fingerprint256 ?? "").replaceAll(":", "").toLowerCase(),
    expiresAt,
    subject: nameIn(shown.subject),
    issuer: nameIn(shown.issuer),
    problem: problemOf(socket, shown, host, expiresAt),
  };
}

function problemOf(
  socket: TLSSocket,
  shown: PeerCertificate,
  host: string,
  expiresAt: number,
): string | null {
  if (!socket.authorized) {
    // Typed as an Error, but it is the code of OpenSSL.
    const code = String(socket.authorizationError);
    if (code === "CERT_HAS_EXPIRED") {
      return `The certificate expired on ${new Date(expiresAt).toISOString().slice(0, 10)}.`;
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
