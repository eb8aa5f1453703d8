import { expect, test } from "bun:test";
import { signedHeaders } from "../../src/object-store/s3";

const SIGNER = {
  keyId: "AKIAIOSFODNN7EXAMPLE",
  secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
};
const NOW = Date.parse("2013-05-24T00:00:00Z");

/** Returns the signature of a request to the bucket of Amazon's published examples. */
function signatureOf(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): string | undefined {
  const url = new URL(`https://examplebucket.s3.amazonaws.com${path}`);
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const { authorization = "" } = signedHeaders({ method, url, headers, body: bytes }, SIGNER, NOW);
  return /Signature=(\w+)$/.exec(authorization)?.[1];
}

test("requests have the signatures of Amazon's published examples", () => {
  expect(signatureOf("GET", "/test.txt", { range: "bytes=0-9" })).toBe(
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  );
  const put = {
    date: "Fri, 24 May 2013 00:00:00 GMT",
    "x-amz-storage-class": "REDUCED_REDUNDANCY",
  };
  expect(signatureOf("PUT", "/test%24file.text", put, "Welcome to Amazon S3.")).toBe(
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  );
  expect(signatureOf("GET", "/?max-keys=2&prefix=J")).toBe(
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  );
});
