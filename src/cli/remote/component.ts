/* `component set`: the status of a component, set by a key. */
import { COMPONENT_STATUSES } from "../../base/status";
import type { Component } from "../../features/components/wire";
import { type Command, JSON_FLAG } from "../command";
import { connect, FLAGS, SETTINGS } from "./client";
import { createPrinter } from "../print";

const setCommand: Command = {
  name: "component set",
  summary: "Set the status of a component, which is named by its page and ref, or by its id.",
  positionals: ["PAGE:REF", "STATUS"],
  choices: { STATUS: COMPONENT_STATUSES },
  flags: [
    { name: "reason", placeholder: "T", help: "Reason for the history of the component." },
    { ...JSON_FLAG, help: "Print the component as JSON." },
    ...FLAGS,
  ],
  settings: SETTINGS,
  options: ["caFile"],
  async run(invocation) {
    const [reference = "", status = ""] = invocation.positionals;
    const reason = invocation.value("reason");
    const path = `/api/v1/components/${encodeURIComponent(reference)}`;
    const component = await connect(invocation).patch<Component>(path, {
      status,
      ...(reason === undefined ? {} : { reason }),
    });
    const printer = createPrinter(invocation);
    if (invocation.isSet(JSON_FLAG.name)) {
      printer.json(component);
      return 0;
    }
    const name = `${component.page}:${component.ref}`;
    printer.note(`Set ${name} to ${status}.`);
    if (component.status !== status) {
      const worse = component.causes.find((cause) => cause.status === component.status);
      const cause = worse ? `: ${worse.source} ${worse.id}` : "";
      printer.note(`It shows ${component.status}, for which there is a cause${cause}.`);
    }
    return 0;
  },
};

export const componentCommands = [setCommand];
