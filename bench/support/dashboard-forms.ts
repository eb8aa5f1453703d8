import type { DashboardIds, DashboardPage } from "./dashboard-pages";

/** Tells one showing of a form from every other. */
const form = "sent by the bench";

/** Pages that answer a form: secrets that are shown once, and forms with what is wrong with them. */
export function listAnswers(ids: DashboardIds): DashboardPage[] {
  const newKey = { form, name: "Deploys", scopes: "read:status", expires: "90" };
  const newUser = {
    form,
    name: "Another Colleague",
    email: "another@acme.example",
    role: "viewer",
  };
  const { page } = ids;
  const incident = `/admin/incidents/${ids.openIncident}`;
  return [
    shown("the value of a new key", "/admin/settings/keys/new", newKey),
    refused("the form for a new key, sent empty", "/admin/settings/keys/new", {}),
    shown("the new value of a key", `/admin/settings/keys/${ids.key}/rotate`, {
      form,
      overlap: "24h",
    }),
    shown("the link of an invitation", "/admin/settings/users/new", newUser),
    shown("a new link of a user", `/admin/settings/users/${ids.user}/link`, { form }),
    refused("the form for an incident, sent empty", "/admin/incidents/new", { form, page }),
    refused("the form for an update, sent empty", `${incident}/updates`, { form }),
    refused("the form for maintenance, sent empty", "/admin/maintenance/new", { form, page }),
    refused("the form for a component, sent empty", "/admin/components/new", { form, page }),
    refused("the form for a page, sent empty", "/admin/pages/new", { form }),
  ];
}

/** Pages as the public would see them: each is a change that is made, shown and taken back. */
export function listPreviews(ids: DashboardIds): DashboardPage[] {
  const body = "We are **looking into it**. The next update follows within half an hour.";
  const { page } = ids;
  return [
    shown("the preview of an incident", "/admin/incidents/new/preview", {
      form,
      page,
      name: "Checkout fails for some cards",
      status: "investigating",
      body,
      [`component:${ids.component}`]: "major_outage",
    }),
    shown("the preview of an update", `/admin/incidents/${ids.openIncident}/updates/preview`, {
      form,
      status: "resolved",
      body,
    }),
    shown("the preview of maintenance", "/admin/maintenance/new/preview", {
      form,
      page,
      name: "New switches",
      components: ids.component,
      scheduled_for: "2099-01-01T10:00",
      lasts: "120",
      remind_minutes_before: "60",
      body,
    }),
    shown("the preview of maintenance's update", `/admin/maintenance/${ids.scheduled}/preview`, {
      form,
      status: "",
      body,
    }),
  ];
}

function shown(name: string, path: string, fields: Record<string, string>): DashboardPage {
  return { name, path, isPublic: false, status: 200, form: fields };
}

function refused(name: string, path: string, fields: Record<string, string>): DashboardPage {
  return { name, path, isPublic: false, status: 422, form: fields };
}
