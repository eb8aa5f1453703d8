import type { Chapter, MappingTable, Row } from "../chapter";
import { CONDITIONS } from "../gatus/conditions";
import { TYPES } from "../gatus/endpoints";
import { OTHER_PROVIDERS, PROVIDERS } from "../gatus/receivers";
import {
  ALERT,
  ANNOUNCEMENT,
  CLIENT,
  CONFIG,
  ENDPOINT,
  EXTERNAL_ENDPOINT,
  MAINTENANCE,
  SUITE,
  type Table,
} from "../gatus/yaml";
import { fieldRows, merged } from "../rows";

function tableOf(title: string, fields: Table): MappingTable {
  return { title, rows: fieldRows(fields, ({ becomes }) => becomes) };
}

const providers = Object.entries(PROVIDERS).map(([name, { format, fields }]): Row => {
  const parts = fieldRows(fields, ({ becomes }) => becomes.replace(/\.$/, ""));
  const listed = parts.map(([field, becomes]) => `${field}: ${becomes}`).join("; ");
  return [`\`${name}\``, `Webhook of the format \`${format}\`. ${listed}.`];
});

export const gatus: Chapter = {
  kind: "gatus",
  summary:
    "Endpoints move with their conditions, groups, alerts and maintenance windows, from the YAML files, and their history from the SQLite file. Keys stay, so that badges and clients of the API go on working, and so do the tokens of external endpoints.",
  concepts: [
    ["Endpoint", "Component, and its monitor"],
    ["Group", "Group of components"],
    ["Condition", "Assertion, or another setting of the monitor"],
    ["External endpoint", "Monitor of the type `push`"],
    ["Alert, provider", "Thresholds of the monitor, webhook"],
    ["Maintenance window", "Maintenance schedule"],
    ["Announcement", "Incident"],
    ["Suite", "Component, and a monitor that is kept and not checked"],
  ],
  copy: {
    text: "Take the configuration with its folder, and the SQLite file of `storage`. Variables are taken from `--env-file` and the environment; one that is not set is an error.",
    code: "docker cp gatus:/config ./gatus-config\ndocker cp gatus:/data/data.db ./gatus.db",
  },
  command: "allclear import gatus ./gatus-config --history gatus.db --env-file gatus.env",
  canPause: true,
  compare:
    "Look at the page and its groups on both sides. Then start the import, and compare states while both check.",
  move: {
    text: "Point the name at this server. On a custom domain of the page, the paths of Gatus are the same. Elsewhere they are below `/compat/gatus`:",
    code: `status.example.com {
	@gatus {
		method GET HEAD
		path /api/v1/endpoints/* /api/v1/suites/* /api/v1/config
	}
	rewrite @gatus /compat/gatus{uri}
	reverse_proxy 127.0.0.1:8080
}`,
  },
  stop: "Switch off its alerts first, so that nobody is notified twice.",
  differences: [
    "An outage begins with its first failed check, also if several are needed for the state `down`.",
    "Uptime is that of components, by time, over the time that is known and without maintenance.",
    "Texts of messages are those of Allclear.",
    "Messages for people about monitors that follow each other within 30 s are gathered into one. `group_seconds: 0` of a webhook sends each by itself.",
    "A condition without a counterpart switches its monitor off until it is replaced.",
    "What is held becomes a monitor that is kept with its settings and history, and not checked.",
    "Pages show neither conditions, addresses nor errors.",
  ],
  tables: [
    {
      title: "Endpoints of Gatus by URL",
      rows: merged(TYPES.map(({ endpoints, becomes }): Row => [endpoints, becomes])),
    },
    {
      title: "Conditions of Gatus",
      rows: Object.values(CONDITIONS).map(({ conditions, becomes }): Row => [
        conditions.map((condition) => `\`${condition}\``).join(", "),
        becomes,
      ]),
    },
    tableOf("The configuration of Gatus", CONFIG),
    tableOf("An endpoint of Gatus", ENDPOINT),
    tableOf("The client of an endpoint of Gatus", CLIENT),
    tableOf("An external endpoint of Gatus", EXTERNAL_ENDPOINT),
    tableOf("An alert of Gatus", ALERT),
    {
      title: "Providers of Gatus",
      rows: [...providers, [OTHER_PROVIDERS.map((name) => `\`${name}\``).join(", "), "Not moved."]],
    },
    tableOf("A maintenance window of Gatus", MAINTENANCE),
    tableOf("An announcement of Gatus", ANNOUNCEMENT),
    tableOf("A suite of Gatus", SUITE),
  ],
};
