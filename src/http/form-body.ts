import { Problem } from "../base/errors";
import { sha256Hex } from "../base/hash";
import { canSendFiles, declareBody, decodeUtf8, readBytes } from "./body";
import type { RequestContext } from "./request-context";

/** A form as a browser sent it. */
export interface Form {
  /** A field's text as it was typed; empty if the form has no such field. */
  text(name: string): string;
  /** All values of a field, such as the checked boxes of a list. */
  all(name: string): string[];
  /** The file that was chosen in a field; undefined without a file, or if the form takes no files. */
  file(name: string): SentFile | undefined;
  /** Names and texts of all fields in order, without files. */
  entries(): [string, string][];
  /** True if files were chosen. */
  readonly hasFiles: boolean;
  /** SHA-256 of the URL and the content: equal forms have equal digests. */
  readonly digest: string;
}

/** A file that was chosen in a form. */
interface SentFile {
  bytes: Uint8Array;
  /** Media type by its name, or empty. The bytes may be of another type. */
  type: string;
  /** Name on the sender's disk; may be empty. */
  name: string;
}

/**
 * Declares that a route reads a form (`application/x-www-form-urlencoded`, and `multipart/form-data`
 * where it takes files): spread into its options. Files count towards the limit of a body, which `maxBytes`
 * raises for a form with files.
 */
export function formBody({ files = false, maxBytes }: { files?: boolean; maxBytes?: number } = {}) {
  return declareBody<Form>({
    form: { takesFiles: files },
    isOptional: false,
    ...(files && maxBytes !== undefined ? { maxBytes } : {}),
    read: (request, context) => readForm(request, context, files, maxBytes),
  });
}

// A property of the request, so that the answer to a refused form finds it.
const SENT_FORM = Symbol("sent form");

type WithForm = Request & { [SENT_FORM]?: Form };

/** Returns the form of a request; undefined unless it was read. */
export function sentFormOf(request: WithForm): Form | undefined {
  return request[SENT_FORM];
}

async function readForm(
  request: WithForm,
  context: RequestContext,
  takesFiles: boolean,
  maxBytes: number | undefined,
): Promise<Form> {
  const hasFiles = takesFiles && canSendFiles(request.headers);
  const form = await (hasFiles
    ? readFormWithFiles(request, context, maxBytes)
    : readPlainForm(request, context));
  request[SENT_FORM] = form;
  return form;
}

async function readPlainForm(request: Request, context: RequestContext): Promise<Form> {
  const text = decodeUtf8(await readBytes(request, context));
  return toForm(request, new URLSearchParams(text), new Map(), text);
}

async function readFormWithFiles(
  request: Request,
  context: RequestContext,
  maxBytes: number | undefined,
): Promise<Form> {
  const mediaType = request.headers.get("content-type") ?? "";
  const entries = await parseMultipart(await readBytes(request, context, maxBytes), mediaType);
  const fields = new URLSearchParams();
  const files = new Map<string, SentFile>();
  const content: unknown[] = [];
  for (const [name, value] of entries) {
    if (typeof value === "string") {
      fields.append(name, value);
      content.push([name, value]);
      continue;
    }
    // Bun leaves the name undefined if the sender gave none, in spite of the type.
    const fileName: string = (value.name as string | undefined) ?? "";
    // A browser sends a field in which nothing was chosen as an empty file without a name.
    if (fileName === "" && value.size === 0) continue;
    const file = { bytes: await value.bytes(), type: value.type, name: fileName };
    if (!files.has(name)) files.set(name, file);
    content.push([name, file.name, sha256Hex(file.bytes)]);
  }
  // The fields are hashed instead of the bytes, whose boundary differs each time.
  return toForm(request, fields, files, JSON.stringify(content));
}

/** Parses `multipart/form-data` (RFC 7578). Throws `invalid_request` for other bytes. */
async function parseMultipart(
  bytes: Uint8Array,
  mediaType: string,
): Promise<[string, string | File][]> {
  try {
    const body = new Response(bytes as Uint8Array<ArrayBuffer>, {
      headers: { "Content-Type": mediaType },
    });
    // The types of Bun omit files.
    return [...(await body.formData()).entries()] as [string, string | File][];
  } catch {
    throw new Problem("invalid_request", "The body is not valid multipart/form-data.");
  }
}

function toForm(
  { url }: Request,
  fields: URLSearchParams,
  files: ReadonlyMap<string, SentFile>,
  content: string,
): Form {
  return {
    text: (name) => fields.get(name) ?? "",
    all: (name) => fields.getAll(name),
    file: (name) => files.get(name),
    entries: () => [...fields.entries()],
    hasFiles: files.size > 0,
    digest: sha256Hex(`${url}\n${content}`),
  };
}
