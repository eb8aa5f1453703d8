-- Acknowledgement of an outage: the time, the author and the note, as JSON. Null before one, and from the recovery on.
ALTER TABLE monitor_states ADD COLUMN acknowledgement TEXT CHECK (json_valid(acknowledgement));
