import { readFileSync } from "node:fs";

/** Certificates of authorities, from a file. */
interface CertificateFile {
  path: string;
  /** Text of the file (PEM). */
  pem: string;
}

/** Limit of the certificates' text, in characters. A bundle of all public authorities has 220,000. */
const PEM_MAX = 65_536;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Reads a file with certificates. Throws an Error whose message ends the sentence "X …". */
export function readCertificates(path: string): CertificateFile {
  let pem: string;
  try {
    pem = readFileSync(path, "utf8");
  } catch (error) {
    const { code = "no reason given" } = error as NodeJS.ErrnoException;
    throw new Error(`must name a file that can be read (${code})`, { cause: error });
  }
  const problem = certificatesError(pem);
  if (problem !== undefined) throw new Error(`names a file that ${problem}`);
  return { path, pem };
}

/** Returns the error of a text with certificates, as the end of the sentence "It …"; undefined without one. */
export function certificatesError(pem: string): string | undefined {
  if (pem.length > PEM_MAX) return `must have at most ${PEM_MAX.toLocaleString("en")} characters`;
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
