-- Time zone in which the dashboard shows times to a user, an IANA name or an alias.
ALTER TABLE users ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';
