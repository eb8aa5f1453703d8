import type { ConfigField } from "../config-fields";

/** Form of a monitor type. Each type has a file and a line in the registry. */
export interface TypeForm {
  /** Sentence that describes the check. */
  sentence: string;
  fields: readonly ConfigField[];
  /** True if the form has headers, a body and assertions. */
  sendsRequests?: boolean;
  /** True if jobs send heartbeats, so that the server runs no checks. */
  isPush?: boolean;
}
