import { readFileSync } from "node:fs";

/** Certificates of authorities, from a file. */
interface CertificateFile {
  path: string;
  /** Text of the file (PEM). */
  pem: string;
}

/** Limit of the certificates' text, in characters. */
const PEM_MAX = 65_536;
/** Limit of a file with authorities for all connections. A bundle of all public ones has 220,000 characters. */
const BUNDLE_MAX = 1_000_000;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Reads a file with authorities for all connections. Throws as `readCertificates` does. */
export function readBundle(path: string): CertificateFile {
  return readCertificates(path, BUNDLE_MAX);
}

/** Reads a file with certificates. Throws an Error whose message ends the sentence "X …". */
export function readCertificates(path: string, maxLength = PEM_MAX): CertificateFile {
  let pem: string;
  try {
    pem = readFileSync(path, "utf8");
  } catch (error) {
    const { code = "no reason given" } = error as NodeJS.ErrnoException;
    throw new Error(`must name a file that can be read (${code})`, { cause: error });
  }
  const problem = certificatesError(pem, maxLength);
  if (problem !== undefined) throw new Error(`names a file that ${problem}`);
  return { path, pem };
}

/** Returns the error of a text with certificates, as the end of the sentence "It …"; undefined without one. */
export function certificatesError(pem: string, maxLength = PEM_MAX): string | undefined {
  if (pem.length > maxLength) {
    return `must have at most ${maxLength.toLocaleString("en")} characters`;
  }
  // A private key that was pasted by mistake must not be stored.
  if (pem.includes("PRIVATE KEY")) return "must not contain a private key";
  const certificates = pem.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) return "must contain certificates in PEM";
  // Loaded here, since few installations have certificates of their own.
  const { X509Certificate } = process.getBuiltinModule("node:crypto");
  for (const [index, text] of certificates.entries()) {
    try {
      new X509Certificate(text);
    } catch {
      return `must contain valid certificates, and number ${index + 1} is not one`;
    }
  }
  return undefined;
}

/** Returns the authorities (PEM) of the runtime, with those of NODE_EXTRA_CA_CERTS, and further ones. */
export function trustedAuthorities(further: readonly string[]): string[] {
  // Loaded here, since few installations have certificates of their own.
  return [...process.getBuiltinModule("node:tls").getCACertificates("default"), ...further];
}
