/**
 * Incident templates that users write: title, first message, status, impact and component statuses
 * of a new incident, for one page or for all pages. The built-in ones are part of the dashboard.
 */
export {
  type IncidentTemplate,
  presentTemplate,
  TEMPLATE_NAME_MAX,
  TemplateFields,
  TemplateInput,
} from "./model";
export {
  getTemplate,
  listAllTemplates,
  listTemplatesForPage,
  listTemplatesInShort,
  type TemplateRecord,
} from "./records";
export {
  createTemplate,
  deleteTemplate,
  TEMPLATES_MAX,
  TEMPLATES_PER_PAGE_MAX,
  updateTemplate,
} from "./service";
export {
  findTemplate,
  listTemplatesOfPage,
  listTemplateSummaries,
  measureTemplates,
  type TemplateRow,
} from "./store";
