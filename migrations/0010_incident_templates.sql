-- Templates of incidents, written by users. Those without a page are offered on every page.
CREATE TABLE incident_templates (
  id TEXT PRIMARY KEY,
  ref TEXT NOT NULL,
  page_id TEXT REFERENCES pages (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('investigating', 'identified', 'monitoring')),
  impact_override TEXT CHECK (impact_override IN ('none', 'minor', 'major', 'critical')),
  managed_by TEXT CHECK (managed_by IN ('apply')),
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX incident_templates_by_ref ON incident_templates (ref);
CREATE INDEX incident_templates_by_page ON incident_templates (page_id, id);

-- Statuses that an incident from a template gives to components of its page.
CREATE TABLE incident_template_components (
  template_id TEXT NOT NULL REFERENCES incident_templates (id) ON DELETE CASCADE,
  component_id TEXT NOT NULL REFERENCES components (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('operational', 'degraded_performance', 'partial_outage', 'major_outage')),
  PRIMARY KEY (template_id, component_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX incident_template_components_by_component ON incident_template_components (component_id);
