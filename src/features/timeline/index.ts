/**
 * The parts that incidents and maintenance have in common: fields and limits of updates, the sizes of
 * lists and events, and conditions for lists of the past. Their rules differ and stay in their modules.
 */
export { countWithin, CUT_COMPONENTS, DOCUMENT_ROWS_MAX, LIST_ROWS_MAX } from "./list-size";
export {
  NAMED_COMPONENTS_MAX,
  Notify,
  UPDATE_TEXT_MAX,
  UPDATES_MAX,
  UpdateText,
} from "./update-fields";
