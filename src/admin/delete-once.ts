import type { Tx } from "../db";
import type { RequestContext, Form } from "../http";
import { createDone } from "./done";
import type { AdminDependencies } from "./dependencies";

/** Answer to a deletion form. */
interface Deletion {
  /** Path of the next screen, or a function that makes it from the removal's `subjectId`. */
  path: string | ((subjectId: string) => string);
  /** Returns the sentence for that screen. The name is null if the form was submitted before. */
  sentence: (name: string | null) => string;
}

/** Name of a deleted object, and the id to store with the form. */
interface Removal {
  made: string;
  subjectId: string;
}

/**
 * Creates the handler of deletion forms. A repeated submission of one form deletes nothing and redirects
 * alike; a different form for a deleted object is `not_found`.
 */
export function createDeleteOnce({ flashes, writeOnceAs }: AdminDependencies) {
  const done = createDone(flashes);

  return async (
    requestContext: RequestContext,
    form: Form,
    { path, sentence }: Deletion,
    remove: (tx: Tx) => Removal,
  ): Promise<Response> => {
    const { made, subjectId } = await writeOnceAs(requestContext, form, remove);
    return done(requestContext, typeof path === "string" ? path : path(subjectId), sentence(made));
  };
}

/** Returns a `sentence` that names the object, or only its kind if its name is not known. */
export function deletedSentence(noun: string): Deletion["sentence"] {
  return (name) => `${name === null ? `The ${noun}` : `“${name}”`} was deleted.`;
}
