/**
 * Deletion of a status page with all that belongs to it: components, open incidents and maintenance end,
 * monitors lose its components, and its webhooks are deleted.
 */
export { belongingsOf, type Belongings } from "./belongings";
export { deletePage, type DeletedPage } from "./delete";
