import { Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { Text } from "../../../base/schema";
import { Secret } from "../../../base/secrets";
import { hasUnsafeCharacters } from "../../../base/text";

/** Certificate with which the checks of a monitor identify themselves, in PEM. */
export interface ClientCertificate {
  certificate: string;
  /** Secret. Null keeps the stored key in a configuration file. */
  key?: string | null;
  ca?: string;
}

export const ClientCertificateBody = Type.Object(
  {
    certificate: Text({
      minLength: 1,
      maxLength: 32_000,
      description: "Certificate in PEM, which may be followed by its chain.",
    }),
    key: Type.Optional(
      Secret({
        maxLength: 16_000,
        description:
          "Private key in PEM, not encrypted. It is a secret and is never returned. In a change, it stays if it is omitted.",
      }),
    ),
    ca: Type.Optional(
      Text({
        minLength: 1,
        maxLength: 64_000,
        description: "Certificates in PEM of authorities that are trusted in addition.",
      }),
    ),
  },
  {
    additionalProperties: false,
    description: "Certificate with which the checks identify themselves to the server (mTLS).",
  },
);

/** Returns errors that the schema cannot express; pointers start at the config of the monitor. */
export function validateClientCertificate(client: ClientCertificate): FieldError[] {
  const at = (name: string, detail: string | undefined) =>
    detail === undefined ? [] : [{ pointer: pointer("client_certificate", name), detail }];
  const { certificate, key, ca } = client;
  return [
    ...at("certificate", certificatesProblem(certificate)),
    // Null keeps a key that is stored.
    ...at("key", key === null ? undefined : keyProblem(certificate, key ?? "")),
    ...at("ca", ca === undefined ? undefined : certificatesProblem(ca)),
  ];
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
/** Part of each line that begins or ends a private key in PEM. */
export const PRIVATE_KEY = "PRIVATE KEY-----";
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** Returns the error of one or several certificates, as the end of a sentence. */
export function certificatesProblem(pem: string): string | undefined {
  // Certificates are shown.
  if (pem.includes(PRIVATE_KEY)) return "must not contain a private key";
  const certificates = pem.match(CERTIFICATE) ?? [];
  const isValid = certificates.length > 0 && certificates.every((each) => parseCertificate(each));
  return isValid ? undefined : "must be a certificate in PEM, from its BEGIN line to its END line";
}

function keyProblem(certificate: string, key: string): string | undefined {
  if (key === "") return "is required";
  if (ENCRYPTED.test(key)) return "must not be encrypted: decrypt it with openssl pkey";
  const { createPrivateKey } = library();
  let parsed;
  try {
    parsed = createPrivateKey(key);
  } catch {
    return "must be a private key in PEM, from its BEGIN line to its END line";
  }
  const [leaf = ""] = certificate.match(CERTIFICATE) ?? [];
  // An invalid certificate gets only its own error.
  return parseCertificate(leaf)?.checkPrivateKey(parsed) === false
    ? "does not belong to the certificate"
    : undefined;
}

/** Facts of a certificate for people. */
export interface CertificateFacts {
  /** Name of the owner; empty without one that can be shown. */
  subject: string;
  /** Unix ms. */
  expiresAt: number;
}

/** Number of certificates of a text that are described. */
const DESCRIBED_MAX = 5;
/** Maximum length of a name that is repeated from a certificate. */
const LONGEST_NAME = 100;

/** Returns facts of the first certificates in a text. Invalid ones are left out. */
export function certificatesIn(pem: string): CertificateFacts[] {
  const found = (pem.match(CERTIFICATE) ?? []).slice(0, DESCRIBED_MAX);
  return found.flatMap((text) => {
    const certificate = parseCertificate(text);
    if (!certificate) return [];
    const { subject, validTo } = certificate;
    return [{ subject: ownerIn(subject), expiresAt: Date.parse(validTo) }];
  });
}

/** Returns the owner of a distinguished name with a line for each part. */
function ownerIn(subject: string): string {
  const [name = ""] = ["CN", "O", "OU"].flatMap(
    (part) => new RegExp(`^${part}=(.*)$`, "m").exec(subject)?.[1] ?? [],
  );
  return hasUnsafeCharacters(name) ? "" : name.slice(0, LONGEST_NAME);
}

function parseCertificate(pem: string) {
  const { X509Certificate } = library();
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** Loaded with the first certificate, not while the server starts. */
function library() {
  return require("node:crypto") as typeof import("node:crypto");
}
