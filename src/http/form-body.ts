import { Kind, Type, TypeRegistry } from "@sinclair/typebox";
import { sha256Hex } from "../kernel/hash";
import { FORM_KIND, readText } from "./body";

/** A form as a browser sent it. */
export interface Form {
  /** A field's text as it was typed; empty where the form has no such field. */
  text(name: string): string;
  /** All values of a field, such as the checked boxes of a list. */
  all(name: string): string[];
  /** SHA-256 of where it was sent and of all that was: the same form sent twice has the same. */
  readonly digest: string;
}

// What is wrong with its fields is for the screen to say, beside each: this only carries the type.
TypeRegistry.Set(FORM_KIND, () => true);
const FormSchema = Type.Unsafe<Form>({ [Kind]: FORM_KIND });

/** Declares that a route reads a form (`application/x-www-form-urlencoded`): spread into its options. */
export function formBody() {
  return {
    body: FormSchema,
    parse: ({ request }: { request: Request }) => readForm(request),
  };
}

async function readForm(request: Request): Promise<Form> {
  const text = await readText(request);
  const fields = new URLSearchParams(text);
  return {
    text: (name) => fields.get(name) ?? "",
    all: (name) => fields.getAll(name),
    digest: sha256Hex(`${request.url}\n${text}`),
  };
}
