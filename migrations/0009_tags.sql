-- Tags of monitors and components, as a JSON list of texts in the order in which they were given. The
-- dashboard finds objects by them; visitors never see them.
ALTER TABLE monitors ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE components ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
