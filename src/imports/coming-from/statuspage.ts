import type { Chapter, Row } from "../chapter";
import { COMPONENT_FIELDS, INCIDENT_FIELDS, NOT_MOVED, PAGE_FIELDS } from "../statuspage/document";

const rowsOf = (fields: Readonly<Record<string, string>>): Row[] =>
  Object.entries(fields).map(([field, becomes]) => [`\`${field}\``, becomes]);

export const statuspage: Chapter = {
  kind: "statuspage",
  summary:
    "The page moves with its groups, components, incidents and maintenance, from its public JSON or, with an API key, from the REST API. Bars and uptime follow from the incidents. Any page with the same JSON can be imported, also one of another Allclear.",
  concepts: [
    ["Page", "Status page"],
    ["Component, component group", "The same"],
    ["Incident, update, post-mortem", "The same"],
    ["Scheduled maintenance", "Maintenance"],
    ["Subscriber by e-mail", "Subscriber, by `subscriber import`"],
    ["Metric", "Latency of a monitor"],
    ["Automation by e-mail", "API, or a monitor"],
    ["Public JSON `/api/v2/`", "The same paths and fields"],
  ],
  copy: {
    text: "Nothing has to be copied. Create an API key in Statuspage to move more than the 50 newest incidents, and the subscribers; put it into a file.",
  },
  command:
    "allclear import statuspage https://status.example.com --api-key-file key.txt --subscribers people.csv",
  canPause: false,
  compare:
    "Open both pages beside each other: the components with their statuses, and the history of incidents. Then import the subscribers with `subscriber import`.",
  move: {
    text: "Import once more with `--take-domains`, since updates may have been added there; what was edited here is kept. Then point the name at this server. The public JSON has the same paths. Permalinks of incidents have other ids, and feeds other names:",
    code: `status.example.com {
	@earlier {
		path /incidents/*
		not path /incidents/inc_*
	}
	redir @earlier /history
	redir /history.rss /feed.rss
	redir /history.atom /feed.atom
	reverse_proxy 127.0.0.1:8080
}`,
  },
  stop: "Do not import from the moved name: it leads to this server.",
  differences: [
    "Uptime counts partial outages with 0.3, over the time that is known and without maintenance, as there. It follows from the statuses in the updates of incidents, so incidents without affected components do not lower it.",
    "The impact of an incident follows from its components, unless it is set by hand.",
    "Statuses of components that people set are taken over at the first import only.",
    "Texts of notifications are those of Allclear.",
  ],
  tables: [
    { title: "Pages of Statuspage", rows: rowsOf(PAGE_FIELDS) },
    { title: "Components of Statuspage", rows: rowsOf(COMPONENT_FIELDS) },
    { title: "Incidents and maintenance of Statuspage", rows: rowsOf(INCIDENT_FIELDS) },
    {
      title: "What is not moved from Statuspage",
      head: ["Statuspage", "instead"],
      rows: NOT_MOVED.map(({ name, reason }) => [name, reason]),
    },
  ],
};
