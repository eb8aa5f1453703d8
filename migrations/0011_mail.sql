-- E-mail: subscribers of pages, what is sent to them, and what came back. Times are unix milliseconds in UTC.

-- Settings of a page about e-mail, as JSON: subscriptions, from_name, reply_to, subject, footer.
ALTER TABLE pages ADD COLUMN mail TEXT NOT NULL DEFAULT '{}';

-- A post-mortem is mailed only when it is first published, also if it was withdrawn since.
ALTER TABLE incidents ADD COLUMN postmortem_first_published_at INTEGER;
UPDATE incidents SET postmortem_first_published_at = postmortem_published_at
WHERE postmortem_published_at IS NOT NULL;
-- Time at which the recipient of a webhook for e-mail confirmed it.
ALTER TABLE webhooks ADD COLUMN confirmed_at INTEGER;

-- A confirmed address on one page. One address on two pages is two subscribers.
CREATE TABLE subscribers (
  id TEXT PRIMARY KEY,
  -- Ascending by confirmation. The audience of a mailing are the subscribers up to a number.
  seq INTEGER NOT NULL,
  page_id TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  -- As typed, with the domain in A-labels. NULL some time after unsubscribing.
  address TEXT,
  -- The address in lower case, by which it is unique; NULL like the address.
  address_key TEXT,
  -- HMAC of the normalised address, by which suppressions are found.
  address_hmac TEXT NOT NULL,
  domain TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('page', 'selection')),
  -- A JSON list of "incidents", "maintenance" and "status".
  events TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'unsubscribed')),
  -- Links to manage the subscription contain it, so that raising it makes them invalid.
  token_version INTEGER NOT NULL,
  confirmed_at INTEGER NOT NULL,
  unsubscribed_at INTEGER,
  consent_source TEXT NOT NULL CHECK (consent_source IN ('form', 'dashboard', 'command', 'import')),
  consent_text TEXT,
  consent_ip TEXT,
  -- Mails that failed finally since the last success, and the time of the first.
  soft_failures INTEGER NOT NULL,
  soft_since INTEGER,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX subscribers_by_seq ON subscribers (seq);
CREATE UNIQUE INDEX subscribers_by_address ON subscribers (page_id, address_key);
CREATE INDEX subscribers_active ON subscribers (page_id, seq) WHERE status = 'active';
CREATE INDEX subscribers_unsubscribed ON subscribers (unsubscribed_at) WHERE unsubscribed_at IS NOT NULL AND address_key IS NOT NULL;
CREATE INDEX subscribers_with_client ON subscribers (confirmed_at) WHERE consent_ip IS NOT NULL;
CREATE INDEX subscribers_by_key ON subscribers (address_key);
CREATE INDEX subscribers_by_hmac ON subscribers (address_hmac);
CREATE INDEX subscribers_over ON subscribers (page_id, id) WHERE status = 'unsubscribed';

-- Parts of three characters of the addresses, by which they are searched. A rowid is the number of a subscriber.
CREATE VIRTUAL TABLE subscriber_search USING fts5 (address, tokenize = 'trigram', content = '', detail = none, columnsize = 0);

-- Number of subscribers of each page by status and choices, since counting 100,000 rows takes too long for a
-- screen.
CREATE TABLE subscriber_counts (
  page_id TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  scope TEXT NOT NULL,
  events TEXT NOT NULL,
  subscribers INTEGER NOT NULL,
  PRIMARY KEY (page_id, status, scope, events)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER subscribers_inserted AFTER INSERT ON subscribers BEGIN
  INSERT INTO subscriber_search (rowid, address) SELECT NEW.seq, NEW.address_key WHERE NEW.address_key IS NOT NULL;
  INSERT INTO subscriber_counts (page_id, status, scope, events, subscribers)
    VALUES (NEW.page_id, NEW.status, NEW.scope, NEW.events, 1)
    ON CONFLICT (page_id, status, scope, events) DO UPDATE SET subscribers = subscribers + 1;
END;

CREATE TRIGGER subscribers_deleted AFTER DELETE ON subscribers BEGIN
  INSERT INTO subscriber_search (subscriber_search, rowid, address)
    SELECT 'delete', OLD.seq, OLD.address_key WHERE OLD.address_key IS NOT NULL;
  UPDATE subscriber_counts SET subscribers = subscribers - 1
    WHERE page_id = OLD.page_id AND status = OLD.status AND scope = OLD.scope AND events = OLD.events;
END;

CREATE TRIGGER subscribers_numbered AFTER UPDATE OF seq, address_key ON subscribers
WHEN NEW.seq <> OLD.seq OR NEW.address_key IS NOT OLD.address_key BEGIN
  INSERT INTO subscriber_search (subscriber_search, rowid, address)
    SELECT 'delete', OLD.seq, OLD.address_key WHERE OLD.address_key IS NOT NULL;
  INSERT INTO subscriber_search (rowid, address) SELECT NEW.seq, NEW.address_key WHERE NEW.address_key IS NOT NULL;
END;

CREATE TRIGGER subscribers_updated AFTER UPDATE OF status, scope, events ON subscribers
WHEN NEW.status <> OLD.status OR NEW.scope <> OLD.scope OR NEW.events <> OLD.events BEGIN
  UPDATE subscriber_counts SET subscribers = subscribers - 1
    WHERE page_id = OLD.page_id AND status = OLD.status AND scope = OLD.scope AND events = OLD.events;
  INSERT INTO subscriber_counts (page_id, status, scope, events, subscribers)
    VALUES (NEW.page_id, NEW.status, NEW.scope, NEW.events, 1)
    ON CONFLICT (page_id, status, scope, events) DO UPDATE SET subscribers = subscribers + 1;
END;

-- Components and groups that a subscriber with a selection chose.
CREATE TABLE subscriber_choices (
  target_id TEXT NOT NULL,
  subscriber_id TEXT NOT NULL REFERENCES subscribers (id) ON DELETE CASCADE,
  PRIMARY KEY (target_id, subscriber_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX subscriber_choices_by_subscriber ON subscriber_choices (subscriber_id);

-- What a visitor typed into the form of a page, not confirmed. Limits of sign-ups are counted here.
CREATE TABLE mail_requests (
  id TEXT PRIMARY KEY,
  page_id TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  address TEXT NOT NULL,
  address_key TEXT NOT NULL,
  -- The address without plus-tag and without dots in its local part.
  throttle_key TEXT NOT NULL,
  -- JSON: scope, targets, events.
  choices TEXT NOT NULL,
  -- The form of the page, or somebody of the team for the person. Limits of pages count the form alone.
  source TEXT NOT NULL CHECK (source IN ('form', 'dashboard', 'command', 'import')),
  -- Client address, and the address or network by which clients are limited.
  ip TEXT,
  client_key TEXT,
  requested_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- waiting: not looked at; sent: a mail was queued; unsent: none will be; confirmed; void: another
  -- request of the address was confirmed, or the subscription has ended; declined by the person.
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'unsent', 'confirmed', 'void', 'declined'))
) STRICT;

CREATE INDEX mail_requests_waiting ON mail_requests (id) WHERE state = 'waiting';
-- Only those with a mail: programs can make any number of others for one recipient.
CREATE INDEX mail_requests_by_recipient ON mail_requests (throttle_key, requested_at) WHERE state IN ('sent', 'confirmed', 'void', 'declined');
CREATE INDEX mail_requests_by_client ON mail_requests (client_key, requested_at) WHERE client_key IS NOT NULL;
-- Limits count sign-ups with a mail. Programs can make any number of others.
CREATE INDEX mail_requests_of_page ON mail_requests (page_id, requested_at, state) WHERE state <> 'unsent' AND source = 'form';
CREATE INDEX mail_requests_of_all ON mail_requests (requested_at, state) WHERE state <> 'unsent' AND source = 'form';
CREATE INDEX mail_requests_open ON mail_requests (page_id, id) WHERE state IN ('waiting', 'sent');
CREATE INDEX mail_requests_expiring ON mail_requests (expires_at);
CREATE INDEX mail_requests_but_imports ON mail_requests (requested_at) WHERE source <> 'import';
CREATE INDEX mail_requests_by_key ON mail_requests (address_key);

-- An incident, a maintenance or a change of status that was mailed: what all of its mails share.
CREATE TABLE mail_threads (
  subject_id TEXT PRIMARY KEY,
  page_id TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  -- Domain of the From address when it was first mailed, and the subject line of then.
  domain TEXT NOT NULL,
  subject TEXT NOT NULL,
  -- A JSON list of the ids of all components that it has ever named.
  reach TEXT NOT NULL,
  last_began_at INTEGER
) STRICT;

-- Deleting a page deletes its threads.
CREATE INDEX mail_threads_by_page ON mail_threads (page_id);

-- One event to the subscribers of one page.
CREATE TABLE mailings (
  id TEXT PRIMARY KEY,
  event_id TEXT NOT NULL,
  page_id TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  subject_id TEXT NOT NULL,
  -- Type of the event.
  kind TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('expanding', 'sending', 'held', 'done', 'stopped')),
  -- Greatest number of a subscriber whose mail is written, and of those who get one.
  cursor INTEGER NOT NULL,
  max_seq INTEGER NOT NULL,
  begin_at INTEGER NOT NULL,
  deadline_at INTEGER NOT NULL,
  -- Mails by status.
  written INTEGER NOT NULL DEFAULT 0,
  sent INTEGER NOT NULL DEFAULT 0,
  bounced INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  superseded INTEGER NOT NULL DEFAULT 0,
  cancelled INTEGER NOT NULL DEFAULT 0,
  expired INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX mailings_open ON mailings (begin_at, id) WHERE state IN ('expanding', 'sending', 'held');
CREATE INDEX mailings_by_page ON mailings (page_id, id);
CREATE INDEX mailings_by_subject ON mailings (subject_id, id);
CREATE INDEX mailings_by_audience ON mailings (max_seq);

-- One message to one recipient. No secret is in it: links are made when it is written.
CREATE TABLE mails (
  id TEXT PRIMARY KEY,
  -- 1: of an account or a sign-up; 2: to the team; 3: of a mailing.
  class INTEGER NOT NULL CHECK (class IN (1, 2, 3)),
  mailing_id TEXT REFERENCES mailings (id) ON DELETE CASCADE,
  subscriber_id TEXT REFERENCES subscribers (id) ON DELETE CASCADE,
  -- Greater than 0 if it was sent again by hand.
  copy INTEGER NOT NULL,
  recipient TEXT NOT NULL,
  domain TEXT NOT NULL,
  -- Mails of a mailing in the order of writing, some thousand with the same number.
  batch INTEGER NOT NULL,
  -- What it is about. Mails of one subject to one recipient go one after the other.
  subject_id TEXT NOT NULL,
  -- Kind of message, with the values that it is written from, as JSON.
  template TEXT NOT NULL,
  params TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'sent', 'bounced', 'failed', 'superseded', 'cancelled', 'expired')),
  tries INTEGER NOT NULL,
  -- When it is due; NULL once it is over.
  next_try_at INTEGER,
  -- The newer mail that contains what this one said.
  superseded_by TEXT,
  -- What the relay said last.
  reply TEXT,
  created_at INTEGER NOT NULL,
  -- It is not sent later than this.
  expires_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;

-- Mails of mailings end with them.
CREATE INDEX mails_expiring ON mails (class, expires_at) WHERE status = 'pending' AND class < 3;
CREATE UNIQUE INDEX mails_of_mailing ON mails (mailing_id, subscriber_id, copy) WHERE mailing_id IS NOT NULL;
CREATE INDEX mails_due ON mails (class, next_try_at, id) WHERE status = 'pending';
-- By class or mailing, and by domain, since domains are sent to in turn. With the batch before the domain, the mails
-- that are written at once are next to each other.
CREATE INDEX mails_in_turn ON mails (class, mailing_id, batch, domain, next_try_at) WHERE status = 'pending';
CREATE INDEX mails_by_subscriber ON mails (subscriber_id, id) WHERE subscriber_id IS NOT NULL;
CREATE INDEX mails_failed ON mails (mailing_id, id) WHERE status IN ('bounced', 'failed');
CREATE INDEX mails_by_subject ON mails (subject_id, id) WHERE mailing_id IS NULL;

-- Addresses that get no mail of a kind. They are kept by HMAC, so that they outlive the address.
CREATE TABLE suppressions (
  address_hmac TEXT NOT NULL,
  -- The page that it counts for; empty for all.
  page_id TEXT NOT NULL,
  reason TEXT NOT NULL CHECK (reason IN ('bounced', 'soft', 'complained', 'unsubscribed', 'declined', 'blocked', 'erased')),
  -- The mail that caused it.
  mail_id TEXT,
  -- The words of the relay, of a report or of the admin who made it.
  note TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (address_hmac, page_id, reason)
) STRICT, WITHOUT ROWID;

CREATE INDEX suppressions_by_time ON suppressions (at);
CREATE INDEX suppressions_by_reason ON suppressions (reason, at, address_hmac);

-- When an admin last ended the suppression of an address to which mails had failed, which is possible once in 7
-- days. What happened before counts no more.
CREATE TABLE suppression_undos (
  address_hmac TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX suppression_undos_by_time ON suppression_undos (at);

-- Reports about mails that came back later. Without a mail if none was recognised.
CREATE TABLE mail_reports (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  mail_id TEXT,
  kind TEXT NOT NULL CHECK (kind IN ('hard', 'soft', 'complaint', 'other')),
  status TEXT,
  excerpt TEXT NOT NULL
) STRICT;

CREATE INDEX mail_reports_by_time ON mail_reports (at);
CREATE INDEX mail_reports_by_mail ON mail_reports (mail_id) WHERE mail_id IS NOT NULL;
CREATE INDEX mail_reports_unmatched ON mail_reports (id) WHERE mail_id IS NULL;

-- Warnings that were mailed once: about a key or a certificate, at a step, to a recipient.
CREATE TABLE mail_warnings (
  subject TEXT NOT NULL,
  step INTEGER NOT NULL,
  recipient TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (subject, step, recipient)
) STRICT, WITHOUT ROWID;

-- People who forgot their password. The typed address is removed once its user was looked up.
CREATE TABLE password_requests (
  id INTEGER PRIMARY KEY,
  address TEXT,
  -- Address or network by which clients are limited.
  client_key TEXT NOT NULL,
  requested_at INTEGER NOT NULL
) STRICT;

CREATE INDEX password_requests_waiting ON password_requests (id) WHERE address IS NOT NULL;
CREATE INDEX password_requests_by_client ON password_requests (client_key, requested_at);
CREATE INDEX password_requests_by_time ON password_requests (requested_at);

-- 1 for users who get a mail before their API keys expire.
ALTER TABLE users ADD COLUMN warns_of_keys INTEGER NOT NULL DEFAULT 1 CHECK (warns_of_keys IN (0, 1));
