import {
  answerOf,
  HEALTHCHECKS,
  importChecks,
  importFields,
  planImport,
} from "../import-dashboard";
import { checkOf, UUIDS } from "../import-site";
import type { ActionInstallation, Verbs } from "./verb";

const FILE = answerOf(checkOf(UUIDS[0]));

const planOf = ({ app, session }: ActionInstallation) => planImport(app, session, FILE);

/** Dashboard requests about imports from other products. */
export const IMPORT_VERBS: Verbs = {
  "POST /admin/settings/import/from/:kind": {
    leaves: [],
    because: "A plan is rolled back.",
    prepare: ({ session }) => ({ path: HEALTHCHECKS, options: importFields(session, FILE) }),
  },
  "POST /admin/settings/import/plans/:id": {
    leaves: ["import.run"],
    async prepare(installation) {
      const { session } = installation;
      return { path: await planOf(installation), options: { session, form: {} } };
    },
  },
  "POST /admin/settings/import/plans/:id/discard": {
    leaves: [],
    because: "A plan is in memory only.",
    async prepare(installation) {
      const { session } = installation;
      return { path: `${await planOf(installation)}/discard`, options: { session, form: {} } };
    },
  },
  "POST /admin/settings/import/reports/:id/start": {
    leaves: ["import.start"],
    async prepare({ app, session }) {
      const report = await importChecks(app, session, FILE, { paused: "yes" });
      return { path: `${report}/start`, options: { session, form: {} } };
    },
  },
};
