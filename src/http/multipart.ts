import { Problem } from "../errors";
import { sha256Hex } from "../kernel/hash";

/** A file that a form's reader chose. */
export interface SentFile {
  bytes: Uint8Array;
  /** The media type that its name suggests, or empty: what it is, its bytes tell. */
  type: string;
  /** Name on the sender's disk; may be empty. */
  name: string;
}

/** Content of a form with files. */
export interface Multipart {
  fields: URLSearchParams;
  files: ReadonlyMap<string, SentFile>;
  /**
   * All that was sent as one text: the same form has the same text, though each sending of it has a
   * boundary of its own.
   */
  canonical: string;
}

/** Reads a body that is `multipart/form-data` (RFC 7578). Throws `invalid_request` for any other. */
export async function readMultipart(bytes: Uint8Array, mediaType: string): Promise<Multipart> {
  const entries = await parse(bytes, mediaType);
  const fields = new URLSearchParams();
  const files = new Map<string, SentFile>();
  const sent: unknown[] = [];
  for (const [name, value] of entries) {
    if (typeof value === "string") {
      fields.append(name, value);
      sent.push([name, value]);
      continue;
    }
    // Bun gives a file without a name none at all, whatever the types say.
    const fileName: string = (value.name as string | undefined) ?? "";
    // A browser sends a field in which nothing was chosen as a file without a name or a byte.
    if (fileName === "" && value.size === 0) continue;
    const file = { bytes: await value.bytes(), type: value.type, name: fileName };
    if (!files.has(name)) files.set(name, file);
    sent.push([name, file.name, sha256Hex(file.bytes)]);
  }
  return { fields, files, canonical: JSON.stringify(sent) };
}

async function parse(bytes: Uint8Array, mediaType: string): Promise<[string, string | File][]> {
  try {
    const body = new Response(bytes as Uint8Array<ArrayBuffer>, {
      headers: { "Content-Type": mediaType },
    });
    // Its types know of texts alone.
    return [...(await body.formData()).entries()] as [string, string | File][];
  } catch {
    throw new Problem("invalid_request", "The body is not valid multipart/form-data.");
  }
}
