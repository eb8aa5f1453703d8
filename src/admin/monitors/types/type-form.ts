import type { ConfigField } from "../config-fields";

/** What the form of a type of monitor asks for. One file a type and a line in the registry. */
export interface TypeForm {
  /** What it does, in a sentence. */
  sentence: string;
  fields: readonly ConfigField[];
  /** Whether it sends requests of its own, with headers, a body and assertions about the answer. */
  sendsRequests?: boolean;
  /** Whether its job calls by itself, so that it is never asked. */
  isPush?: boolean;
}
