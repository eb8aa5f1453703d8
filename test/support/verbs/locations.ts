import { tokensOfLocation } from "../../../src/features/locations/locations";
import { AGENT_VERSION } from "../../../src/features/locations/agent-wire";
import { VERSION } from "../../../src/version";
import { addLocation } from "../locations";
import { byForm, type Verbs } from "./verb";

const PATH = "/settings/locations";

/** Requests of the dashboard that change locations, and those of their agents. */
export const LOCATION_VERBS: Verbs = {
  "POST /api/v1/probe/results": {
    leaves: [],
    because: "Agents report results of checks, as the engine of the server does.",
    async prepare(installation) {
      const { token } = await addLocation(installation.app, "Berlin");
      return {
        path: "/api/v1/probe/results",
        options: {
          method: "POST",
          key: token,
          headers: { [AGENT_VERSION]: VERSION },
          json: { process: "0123456789abcdef01234567", results: [] },
        },
      };
    },
  },
  "POST /admin/settings/locations/new": {
    leaves: ["location.create"],
    prepare: (installation) => byForm(installation, `${PATH}/new`, { form: "1", name: "Berlin" }),
  },
  "POST /admin/settings/locations/:id": {
    leaves: ["location.update"],
    async prepare(installation) {
      const { row } = await addLocation(installation.app, "Berlin");
      const fields = { name: "Potsdam", version: String(row.version) };
      return byForm(installation, `${PATH}/${row.id}`, fields);
    },
  },
  "POST /admin/settings/locations/:id/rotate": {
    leaves: ["location.rotate_token"],
    async prepare(installation) {
      const { row } = await addLocation(installation.app, "Berlin");
      return byForm(installation, `${PATH}/${row.id}/rotate`, { form: "1", overlap: "24h" });
    },
  },
  "POST /admin/settings/locations/:id/tokens/:key/end": {
    leaves: ["location.end_token"],
    async prepare(installation) {
      const { ctx } = installation.app;
      const { row } = await addLocation(installation.app, "Berlin");
      const [token] = tokensOfLocation(ctx.db, row.id, ctx.clock.now());
      return byForm(installation, `${PATH}/${row.id}/tokens/${token?.key}/end`);
    },
  },
  "POST /admin/settings/locations/:id/delete": {
    leaves: ["location.delete"],
    async prepare(installation) {
      const { row } = await addLocation(installation.app, "Berlin");
      return byForm(installation, `${PATH}/${row.id}/delete`);
    },
  },
};
