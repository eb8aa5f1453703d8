-- Pages that are read in the formats of other products, and the numbers and keys that these use for our objects.

-- JSON list of the products, such as "uptime-kuma".
ALTER TABLE pages ADD COLUMN compat TEXT NOT NULL DEFAULT '[]';

-- Numbers of objects where Uptime Kuma has ids. Rows stay after the deletion of their object, so that no number is used twice.
CREATE TABLE compat_numbers (
  -- Objects of one range have different numbers: monitors and components share 'entry'.
  range TEXT NOT NULL CHECK (range IN ('entry', 'group', 'page', 'incident', 'maintenance')),
  -- From 1,000,000 on, unless an import has kept a number of its source.
  number INTEGER NOT NULL,
  -- Id of a monitor, component, group, page, incident or maintenance.
  id TEXT NOT NULL,
  PRIMARY KEY (range, number)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX compat_numbers_by_id ON compat_numbers (id);

-- Keys of components where Gatus has keys, which an import has kept. All others follow the names.
CREATE TABLE compat_keys (
  component_id TEXT PRIMARY KEY REFERENCES components (id) ON DELETE CASCADE,
  key TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO compat_numbers (range, number, id)
SELECT 'entry', 999999 + row_number() OVER (ORDER BY kind, id), id
FROM (SELECT 1 AS kind, id FROM monitors UNION ALL SELECT 2, id FROM components);

INSERT INTO compat_numbers (range, number, id)
SELECT 'group', 999999 + row_number() OVER (ORDER BY id), id FROM component_groups;

INSERT INTO compat_numbers (range, number, id)
SELECT 'page', 999999 + row_number() OVER (ORDER BY id), id FROM pages;

INSERT INTO compat_numbers (range, number, id)
SELECT 'incident', 999999 + row_number() OVER (ORDER BY id), id FROM incidents;

INSERT INTO compat_numbers (range, number, id)
SELECT 'maintenance', 999999 + row_number() OVER (ORDER BY id), id FROM maintenances;

CREATE TRIGGER monitors_numbered AFTER INSERT ON monitors BEGIN
  INSERT INTO compat_numbers (range, number, id)
    VALUES ('entry', max(1000000, 1 + coalesce((SELECT max(number) FROM compat_numbers WHERE range = 'entry'), 0)), NEW.id);
END;

CREATE TRIGGER components_numbered AFTER INSERT ON components BEGIN
  INSERT INTO compat_numbers (range, number, id)
    VALUES ('entry', max(1000000, 1 + coalesce((SELECT max(number) FROM compat_numbers WHERE range = 'entry'), 0)), NEW.id);
END;

CREATE TRIGGER component_groups_numbered AFTER INSERT ON component_groups BEGIN
  INSERT INTO compat_numbers (range, number, id)
    VALUES ('group', max(1000000, 1 + coalesce((SELECT max(number) FROM compat_numbers WHERE range = 'group'), 0)), NEW.id);
END;

CREATE TRIGGER pages_numbered AFTER INSERT ON pages BEGIN
  INSERT INTO compat_numbers (range, number, id)
    VALUES ('page', max(1000000, 1 + coalesce((SELECT max(number) FROM compat_numbers WHERE range = 'page'), 0)), NEW.id);
END;

CREATE TRIGGER incidents_numbered AFTER INSERT ON incidents BEGIN
  INSERT INTO compat_numbers (range, number, id)
    VALUES ('incident', max(1000000, 1 + coalesce((SELECT max(number) FROM compat_numbers WHERE range = 'incident'), 0)), NEW.id);
END;

CREATE TRIGGER maintenances_numbered AFTER INSERT ON maintenances BEGIN
  INSERT INTO compat_numbers (range, number, id)
    VALUES ('maintenance', max(1000000, 1 + coalesce((SELECT max(number) FROM compat_numbers WHERE range = 'maintenance'), 0)), NEW.id);
END;
