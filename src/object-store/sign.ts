import { sha256Hex } from "../base/hash";

/** Request to be signed. */
interface SignedRequest {
  method: string;
  /** Address whose path and parameters are encoded as they are sent. */
  url: URL;
  /** Headers that are signed, in lower case. */
  headers: Record<string, string>;
  body: Uint8Array | undefined;
}

/** Key id, secret, and region of the signature. */
interface Signer {
  keyId: string;
  secret: string;
  region: string;
}

/**
 * Returns the headers of a request with its signature (AWS Signature Version 4). It covers the body and all given
 * headers, so that a proxy that removes a condition makes the write fail.
 */
export function signedHeaders(
  { method, url, headers, body }: SignedRequest,
  { keyId, secret, region }: Signer,
  now: number,
): Record<string, string> {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const bodyHash = sha256Hex(body ?? "");
  const sent = { ...headers, "x-amz-content-sha256": bodyHash, "x-amz-date": time };
  const signed = Object.entries({ ...sent, host: url.host }).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    method,
    url.pathname,
    url.search.slice(1).split("&").toSorted().join("&"),
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    "",
    names,
    bodyHash,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = [day, region, "s3", "aws4_request"].reduce<string | Uint8Array>(
    (parent, part) => hmac(parent, part),
    `AWS4${secret}`,
  );
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256Hex(canonical)].join("\n");
  const signature = hmac(key, text).toString("hex");
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${keyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

/** Encodes a key or a parameter as Signature Version 4 requires: all but letters, digits and `-._~`. */
export function encodeForSigning(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(key: string | Uint8Array, text: string): Buffer {
  return Buffer.from(new Bun.CryptoHasher("sha256", key).update(text).digest().buffer);
}
