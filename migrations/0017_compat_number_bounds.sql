-- A kept number that is very large must not use up the numbers of later objects.

DROP TRIGGER monitors_numbered;
DROP TRIGGER components_numbered;
DROP TRIGGER component_groups_numbered;
DROP TRIGGER pages_numbered;
DROP TRIGGER incidents_numbered;
DROP TRIGGER maintenances_numbered;

-- Numbers of objects where Uptime Kuma has ids. Rows stay after the deletion of their object, so that no number is used twice.
CREATE TABLE compat_numbers_new (
  -- Objects of one range have different numbers: monitors and components share 'entry'.
  range TEXT NOT NULL CHECK (range IN ('entry', 'group', 'page', 'incident', 'maintenance')),
  -- From 1,000,000 on, unless an import has kept a number of its source.
  number INTEGER NOT NULL CHECK (number BETWEEN 1 AND 9007199254740991),
  -- Id of a monitor, component, group, page, incident or maintenance.
  id TEXT NOT NULL,
  PRIMARY KEY (range, number)
) STRICT, WITHOUT ROWID;

INSERT INTO compat_numbers_new SELECT range, number, id FROM compat_numbers;
DROP TABLE compat_numbers;
ALTER TABLE compat_numbers_new RENAME TO compat_numbers;
CREATE UNIQUE INDEX compat_numbers_by_id ON compat_numbers (id);

-- Kept numbers from 10^12 on are passed over, so that the next number always exists.
CREATE TRIGGER monitors_numbered AFTER INSERT ON monitors BEGIN
  INSERT INTO compat_numbers (range, number, id)
    VALUES ('entry', max(1000000, 1 + coalesce((SELECT max(number) FROM compat_numbers WHERE range = 'entry' AND number < 1000000000000), 0)), NEW.id);
END;

CREATE TRIGGER components_numbered AFTER INSERT ON components BEGIN
  INSERT INTO compat_numbers (range, number, id)
    VALUES ('entry', max(1000000, 1 + coalesce((SELECT max(number) FROM compat_numbers WHERE range = 'entry' AND number < 1000000000000), 0)), NEW.id);
END;

CREATE TRIGGER component_groups_numbered AFTER INSERT ON component_groups BEGIN
  INSERT INTO compat_numbers (range, number, id)
    VALUES ('group', max(1000000, 1 + coalesce((SELECT max(number) FROM compat_numbers WHERE range = 'group' AND number < 1000000000000), 0)), NEW.id);
END;

CREATE TRIGGER pages_numbered AFTER INSERT ON pages BEGIN
  INSERT INTO compat_numbers (range, number, id)
    VALUES ('page', max(1000000, 1 + coalesce((SELECT max(number) FROM compat_numbers WHERE range = 'page' AND number < 1000000000000), 0)), NEW.id);
END;

CREATE TRIGGER incidents_numbered AFTER INSERT ON incidents BEGIN
  INSERT INTO compat_numbers (range, number, id)
    VALUES ('incident', max(1000000, 1 + coalesce((SELECT max(number) FROM compat_numbers WHERE range = 'incident' AND number < 1000000000000), 0)), NEW.id);
END;

CREATE TRIGGER maintenances_numbered AFTER INSERT ON maintenances BEGIN
  INSERT INTO compat_numbers (range, number, id)
    VALUES ('maintenance', max(1000000, 1 + coalesce((SELECT max(number) FROM compat_numbers WHERE range = 'maintenance' AND number < 1000000000000), 0)), NEW.id);
END;
