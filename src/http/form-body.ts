import { Kind, Type, TypeRegistry } from "@sinclair/typebox";
import { sha256Hex } from "../kernel/hash";
import { FORM_KIND, maySendFiles, readBytes, readText } from "./body";
import { readMultipart, type SentFile } from "./multipart";

/** A form as a browser sent it. */
export interface Form {
  /** A field's text as it was typed; empty where the form has no such field. */
  text(name: string): string;
  /** All values of a field, such as the checked boxes of a list. */
  all(name: string): string[];
  /** The file that was chosen in a field; undefined where none was, or the form takes none. */
  file(name: string): SentFile | undefined;
  /** SHA-256 of where it was sent and of all that was: the same form sent twice has the same. */
  readonly digest: string;
}

// What is wrong with its fields is for the screen to say, beside each: this only carries the type.
TypeRegistry.Set(FORM_KIND, () => true);
const PlainForm = Type.Unsafe<Form>({ [Kind]: FORM_KIND });
const FormWithFiles = Type.Unsafe<Form>({ [Kind]: FORM_KIND, takesFiles: true });

/**
 * Declares that a route reads a form (`application/x-www-form-urlencoded`, and `multipart/form-data`
 * where it takes files): spread into its options. All of it together weighs at most what a body may.
 */
export function formBody({ files = false }: { files?: boolean } = {}) {
  return {
    body: files ? FormWithFiles : PlainForm,
    parse: ({ request }: { request: Request }) =>
      files && maySendFiles(request.headers) ? readFormWithFiles(request) : readForm(request),
  };
}

async function readForm(request: Request): Promise<Form> {
  const text = await readText(request);
  return toForm(request, new URLSearchParams(text), new Map(), text);
}

async function readFormWithFiles(request: Request): Promise<Form> {
  const mediaType = request.headers.get("content-type") ?? "";
  const sent = await readMultipart(await readBytes(request), mediaType);
  return toForm(request, sent.fields, sent.files, sent.canonical);
}

function toForm(
  { url }: Request,
  fields: URLSearchParams,
  files: ReadonlyMap<string, SentFile>,
  canonical: string,
): Form {
  return {
    text: (name) => fields.get(name) ?? "",
    all: (name) => fields.getAll(name),
    file: (name) => files.get(name),
    digest: sha256Hex(`${url}\n${canonical}`),
  };
}
