-- The tables that all streams of an installation share.
--
-- Placeholders, filled in when the file is run: {schema} is the quoted schema,
-- {schema_text} its bare name for use inside of a string literal, {lock_class}
-- the installation's class of advisory locks.

CREATE TABLE {schema}.system_config (
  singleton  boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  -- First key of the installation's advisory locks; the second is a stream's
  -- id (its producers, shared), minus that id (making its partitions) or 0
  -- (declarations). Derived from the schema's name, so that installations in
  -- one database do not wait for each other.
  lock_class integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO {schema}.system_config (lock_class) VALUES ({lock_class});

-- One line a step taken, for the shared tables and for each stream.
CREATE TABLE {schema}.migration_log (
  id                bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  scope             text NOT NULL CHECK (scope IN ('system', 'stream')),
  stream_id         integer,
  version           integer NOT NULL,
  -- The lowest schema version a library must understand to run on the result.
  oldest_compatible integer NOT NULL,
  applied_by        text NOT NULL DEFAULT session_user,
  applied_at        timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE {schema}.stream_config (
  -- An integer: it is the second key of an advisory lock.
  id             integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  name           text NOT NULL UNIQUE,
  config         jsonb NOT NULL,
  -- As resolved when the stream was made: later defaults must not change it.
  partition_size bigint NOT NULL CHECK (partition_size >= 2),
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now()
);

-- Who declared what, and when; `config` is the whole document.
CREATE TABLE {schema}.stream_config_log (
  id          bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  stream_id   integer NOT NULL,
  config      jsonb NOT NULL,
  declared_by text NOT NULL,
  declared_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE {schema}.consumer_group_config (
  id         bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  stream_id  integer NOT NULL REFERENCES {schema}.stream_config (id),
  name       text NOT NULL,
  config     jsonb NOT NULL,
  paused     boolean GENERATED ALWAYS AS
               (coalesce((config ->> 'paused')::boolean, false)) STORED,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (stream_id, name)
);

CREATE TABLE {schema}.consumer_group_config_log (
  id                bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  consumer_group_id bigint NOT NULL,
  config            jsonb NOT NULL,
  declared_by       text NOT NULL,
  declared_at       timestamptz NOT NULL DEFAULT now()
);

-- What claims, takeovers and reads return: rows of messages, and between them
-- rows that carry only `answer` (what was found out), for a range or a call.
CREATE TYPE {schema}.delivered AS (
  answer         jsonb,
  token          uuid,
  id             bigint,
  schema_version integer,
  routing_key    text,
  message_key    text,
  payload        text,
  payload_bytes  bytea,
  content_type   text,
  headers        text,
  options        text,
  created_us     bigint
);
