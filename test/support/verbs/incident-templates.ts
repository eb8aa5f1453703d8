import { addTemplate } from "../incident-templates";
import { byForm, type Verbs } from "./verb";

const PATH = "/incidents/templates";
const FIELDS = {
  name: "Database down",
  title: "Orders cannot be placed",
  body: "We are looking into it.",
  status: "investigating",
  impact_override: "",
};

/** Dashboard requests that change incident templates. */
export const TEMPLATE_VERBS: Verbs = {
  "POST /admin/incidents/templates/new": {
    leaves: ["incident_template.create"],
    prepare: (installation) => byForm(installation, `${PATH}/new`, { form: "1", ...FIELDS }),
  },
  "POST /admin/incidents/templates/:id": {
    leaves: ["incident_template.update"],
    async prepare(installation) {
      const { id, version } = await addTemplate(installation.app);
      const fields = { ...FIELDS, title: "No orders", version: String(version) };
      return byForm(installation, `${PATH}/${id}`, fields);
    },
  },
  "POST /admin/incidents/templates/:id/delete": {
    leaves: ["incident_template.delete"],
    async prepare(installation) {
      const { id } = await addTemplate(installation.app);
      return byForm(installation, `${PATH}/${id}/delete`);
    },
  },
  "POST /admin/incidents/templates/built-in/hide": {
    leaves: ["settings.built_in_templates"],
    prepare: (installation) => byForm(installation, `${PATH}/built-in/hide`),
  },
  "POST /admin/incidents/templates/built-in/show": {
    leaves: ["settings.built_in_templates"],
    async prepare(installation) {
      const { path, options } = byForm(installation, `${PATH}/built-in/hide`);
      await installation.app.call(path, options);
      return byForm(installation, `${PATH}/built-in/show`);
    },
  },
};
