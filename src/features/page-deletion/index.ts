/** Deletion of a status page with all that belongs to it. */
export { type Belongings, belongingsOf, deletePage, type Exemptions } from "./delete";
