import type { TypeForm } from "./type-form";

/** Imported monitors that this version cannot check. They are never created by a form. */
export const unsupportedForm: TypeForm = {
  sentence: "Keeps an imported monitor that this version cannot check.",
  fields: {},
};
