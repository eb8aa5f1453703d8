-- Languages of pages and of their subscribers, and of the texts that Allclear writes by itself.

-- Languages that visitors choose in addition to that of the page: a JSON list of language tags.
ALTER TABLE pages ADD COLUMN languages TEXT NOT NULL DEFAULT '[]';

-- Language of the mails to a subscriber, by its tag; NULL for that of the page.
ALTER TABLE subscribers ADD COLUMN language TEXT;

-- Subject lines in the other languages of the page: a JSON object by language tag.
ALTER TABLE mail_threads ADD COLUMN subjects TEXT NOT NULL DEFAULT '{}';

-- Language in which Allclear wrote the text; NULL for a text that a person wrote.
ALTER TABLE incidents ADD COLUMN name_lang TEXT;
ALTER TABLE incident_updates ADD COLUMN lang TEXT;
ALTER TABLE maintenance_updates ADD COLUMN lang TEXT;
