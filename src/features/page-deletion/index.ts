/** Deletion of a status page with all that belongs to it. */
export { belongingsOf, type Belongings } from "./belongings";
export { deletePage, type Exemptions, type PageDeletionEffects } from "./delete";
