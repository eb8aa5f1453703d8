import type { Tx } from "../db";
import type { Admission, Form } from "../http";
import { createDone } from "./done";
import type { AdminParts } from "./parts";

/** Object that a form deletes, and the screen that answers. */
interface Deletion {
  id: string;
  noun: string;
  path: string;
}

/**
 * Answers a form that deletes something. The same form sent again in the same session deletes nothing,
 * and leads to the same screen. Once it is deleted, any other form for it is `not_found`.
 */
export function createDeleteOnce({ flashes, writeOnceAs }: AdminParts) {
  const done = createDone(flashes);

  /** `remove` deletes it and returns its name. */
  return async (
    admission: Admission,
    form: Form,
    { id, noun, path }: Deletion,
    remove: (tx: Tx) => string,
  ): Promise<Response> => {
    const { made } = await writeOnceAs(admission, form, (tx) => ({
      made: `“${remove(tx)}”`,
      subjectId: id,
    }));
    return done(admission, path, `${made ?? `The ${noun}`} was deleted.`);
  };
}
