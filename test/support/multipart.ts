import type { CallOptions } from "./app";

/** One field of a form: a text, or a file. */
export type Part = { name: string; text: string } | ({ name: string } & FilePart);

interface FilePart {
  filename: string;
  type?: string;
  bytes: Uint8Array | string;
}

/** Encodes a form with files like a browser and returns its body and media type. */
export function multipart(
  parts: readonly Part[],
  boundary = "----WebKitFormBoundaryq1W2e3R4",
): { body: Uint8Array<ArrayBuffer>; type: string } {
  const chunks = parts.flatMap((part) => {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${part.name}"`;
    if ("text" in part) return [`${head}\r\n\r\n${part.text}\r\n`];
    const { filename, type = "application/octet-stream", bytes } = part;
    return [`${head}; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n`, bytes, "\r\n"];
  });
  const body = Buffer.concat([...chunks, `--${boundary}--\r\n`].map((it) => Buffer.from(it)));
  return { body: new Uint8Array(body), type: `multipart/form-data; boundary=${boundary}` };
}

/** Returns the options of a call that submits such a form from the dashboard's origin. */
export function asUpload(
  parts: readonly Part[],
  headers: Record<string, string> = {},
): CallOptions {
  const { body, type } = multipart(parts);
  const origin = "http://status.test";
  return { method: "POST", raw: body, headers: { "content-type": type, origin, ...headers } };
}
