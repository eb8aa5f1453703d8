import type { Chapter } from "../chapter";
import { CHECK_FIELDS } from "../healthchecks/document";

export const healthchecks: Chapter = {
  kind: "healthchecks",
  summary:
    "Checks move with their schedules, and jobs go on calling the same UUIDs: only the host of the address changes. Calls, durations, status changes and badges are not moved.",
  concepts: [
    ["Check", "Monitor of the type `push`"],
    ["Ping", "Heartbeat"],
    ["Period, cron schedule, grace time", "Interval, schedule, grace period"],
    ["Integration", "Webhook"],
    ["Project", "Tags"],
  ],
  copy: {
    text: "Save the answer of the management API, with a read-write key: the answer to a read-only key has no ping URLs. The file contains secrets, since everybody who knows a UUID can call its check.",
    code: 'curl -H "X-Api-Key: $KEY" https://healthchecks.io/api/v3/checks/ > checks.json',
  },
  command: "allclear import healthchecks checks.json",
  canPause: true,
  compare:
    "Look at the names and schedules of the monitors on both sides. If jobs call addresses with a ping key and a slug, import with `--ping-key`.",
  move: {
    text: "Let jobs call this server. If the host is your own, point its name here: the paths `/ping/` are the same.",
    code: `ping.example.com {
	handle /ping/* {
		reverse_proxy 127.0.0.1:8080
	}
}`,
  },
  stop: "Do so after each job has called once, since a job that was forgotten is then down here.",
  differences: [
    "A check that was never called waits there; here it is down without a first call in time.",
    "A call does not resume a paused monitor.",
    "Calls by e-mail have no counterpart.",
    "`?create=1` creates no monitor: a ping key is known to every job, and monitors are created with the scope `manage:monitors`.",
    "Messages are those of Allclear, and go to webhooks and to mail.",
  ],
  tables: [
    {
      title: "Checks of Healthchecks",
      rows: Object.entries(CHECK_FIELDS).map(([field, becomes]) => [`\`${field}\``, becomes]),
    },
  ],
};
