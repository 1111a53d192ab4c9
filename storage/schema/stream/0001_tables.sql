-- The tables of one stream. Further placeholders: {stream}, the stream's id,
-- and {partition_size}.
--
-- No stream_id column inside and no foreign key into the log: a partition drops
-- without checks, and one stream's churn never touches another's.

-- CACHE 1 is part of the proof that nothing is skipped: with a larger cache a
-- session could draw a low id long after others have committed higher ones.
CREATE SEQUENCE {schema}.message_log_{stream}_id_seq AS bigint CACHE 1;

-- Lock, then id: the order that every producer must keep. As the column's
-- default it makes plain INSERTs safe too.
CREATE FUNCTION {schema}.next_message_id_{stream}() RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $fn$
BEGIN
  PERFORM pg_catalog.pg_advisory_xact_lock_shared({lock_class}, {stream});
  RETURN pg_catalog.nextval(
    '{schema}.message_log_{stream}_id_seq'::pg_catalog.regclass);
END $fn$;

CREATE TABLE {schema}.message_log_{stream} (
  id              bigint NOT NULL
                  DEFAULT {schema}.next_message_id_{stream}() PRIMARY KEY,
  schema_version  integer NOT NULL DEFAULT 1 CHECK (schema_version >= 1),
  routing_key     text CHECK (routing_key <> ''),
  message_key     text CHECK (message_key <> ''),
  compaction_rank bigint, -- null: not compacted
  payload         jsonb,
  payload_bytes   bytea,
  content_type    text,   -- null: JSON
  headers         jsonb,
  options         jsonb,  -- sparse
  -- Of the statement: close to the order of ids also in long transactions, and
  -- constant within a COPY, which would insert row by row otherwise.
  created_at      timestamptz NOT NULL DEFAULT statement_timestamp(),
  CHECK ((payload IS NULL) <> (payload_bytes IS NULL)),
  CHECK ((payload IS NULL) = (content_type IS NOT NULL))
) PARTITION BY RANGE (id);

CREATE INDEX message_log_{stream}_key ON {schema}.message_log_{stream}
  (message_key, id) WHERE message_key IS NOT NULL;

-- Keys that callers gave, as uuid; the message whose production they guard.
CREATE TABLE {schema}.idempotency_key_{stream} (
  key        uuid PRIMARY KEY,
  message_id bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Hot: one row a group, rewritten by every claim and settle. No index but the
-- key and room in the page, so that updates stay in place (HOT).
CREATE TABLE {schema}.consumer_group_cursor_{stream} (
  consumer_group_id bigint PRIMARY KEY,
  claimed           bigint NOT NULL, -- all up to here was handed out
  committed         bigint NOT NULL, -- all up to here has ended
  settled_head      bigint NOT NULL DEFAULT 0, -- no new id appears up to here
  pending_head      bigint NOT NULL DEFAULT 0, -- nor here, once those are gone:
  pending_holders   text[] NOT NULL DEFAULT '{}',
  pending_since     timestamptz
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_threshold = 200);

-- Hot: a row comes and goes with every claimed range. Every search starts at
-- the group's `committed`, which no open lease lies below: so it does not wade
-- through ended leases that an old snapshot keeps in the index.
CREATE TABLE {schema}.claim_lease_{stream} (
  consumer_group_id bigint NOT NULL,
  token             uuid NOT NULL,
  low               bigint NOT NULL, -- exclusive
  high              bigint NOT NULL, -- inclusive
  holder            text NOT NULL,
  expires_at        timestamptz NOT NULL, -- -infinity: surrendered
  reclaims          integer NOT NULL DEFAULT 0,
  PRIMARY KEY (consumer_group_id, token)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_threshold = 200);
CREATE INDEX claim_lease_{stream}_low ON {schema}.claim_lease_{stream}
  (consumer_group_id, low);

-- Hot while messages fail.
CREATE TABLE {schema}.exception_queue_{stream} (
  consumer_group_id bigint NOT NULL,
  message_id        bigint NOT NULL,
  status            text NOT NULL
                    CHECK (status IN ('ready', 'inflight', 'deferred', 'dead')),
  message_key       text,
  concurrency       text NOT NULL DEFAULT 'parallel',
  attempts          bigint NOT NULL, -- number of the current or next run
  delays            bigint NOT NULL,
  can_run_after     timestamptz NOT NULL,
  last_error        text NOT NULL DEFAULT '',
  lease_token       uuid,
  lease_expires_at  timestamptz,
  holder            text,
  created_at        timestamptz NOT NULL DEFAULT now(),
  updated_at        timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer_group_id, message_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_threshold = 200);
CREATE INDEX exception_queue_{stream}_key ON {schema}.exception_queue_{stream}
  (consumer_group_id, message_key, message_id) WHERE message_key IS NOT NULL;
CREATE INDEX exception_queue_{stream}_open ON {schema}.exception_queue_{stream}
  (consumer_group_id, message_id) WHERE status <> 'dead';
CREATE INDEX exception_queue_{stream}_due ON {schema}.exception_queue_{stream}
  (consumer_group_id, can_run_after) WHERE status IN ('ready', 'deferred');
CREATE INDEX exception_queue_{stream}_lease ON {schema}.exception_queue_{stream}
  (consumer_group_id, lease_expires_at) WHERE status = 'inflight';

-- Append-only history.
CREATE TABLE {schema}.delivery_log_{stream} (
  id                bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  consumer_group_id bigint NOT NULL,
  message_id        bigint NOT NULL,
  attempt           bigint NOT NULL,
  status            text NOT NULL,
  error             text NOT NULL DEFAULT '',
  at                timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX delivery_log_{stream}_message ON {schema}.delivery_log_{stream}
  (message_id, consumer_group_id, id);

-- Tokens that were taken from their holders: the trace by which a settle whose
-- reply was lost tells "I had landed" from "another had taken over". Written by
-- takeovers only, kept for a day.
CREATE TABLE {schema}.taken_over_{stream} (
  token      uuid NOT NULL,
  message_id bigint NOT NULL DEFAULT 0, -- of an exception; 0: a range
  low        bigint NOT NULL DEFAULT 0, -- of the range at that time
  at         timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (token, message_id)
);
CREATE INDEX taken_over_{stream}_at ON {schema}.taken_over_{stream} (at);

CREATE TABLE {schema}.message_key_lease_{stream} (
  consumer_group_id bigint NOT NULL,
  message_key       text NOT NULL,
  token             uuid NOT NULL,
  holder            text NOT NULL,
  expires_at        timestamptz NOT NULL,
  PRIMARY KEY (consumer_group_id, message_key)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_threshold = 200);

-- The newest message of each key; all three null: a key to lock, without one.
CREATE TABLE {schema}.compaction_head_{stream} (
  message_key    text PRIMARY KEY,
  schema_version integer,
  rank           bigint,
  message_id     bigint,
  updated_at     timestamptz NOT NULL DEFAULT now()
);

-- The patterns a group reads; none: the whole stream.
CREATE TABLE {schema}.binding_config_{stream} (
  consumer_group_id bigint NOT NULL,
  pattern           text NOT NULL,
  regex             text NOT NULL, -- of the pattern, anchored
  installed_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer_group_id, pattern)
);
CREATE TABLE {schema}.binding_config_log_{stream} (
  id                bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  consumer_group_id bigint NOT NULL,
  patterns          text[] NOT NULL,
  effect            text NOT NULL,
  declared_by       text NOT NULL,
  at                timestamptz NOT NULL DEFAULT now()
);
