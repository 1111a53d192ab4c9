-- Functions for people: no ids of streams or groups needed.

-- Where every group stands.
CREATE FUNCTION {schema}.consumer_lag()
RETURNS TABLE (stream text, consumer_group text, head bigint, claimed bigint,
               committed bigint, backlog bigint, backlog_estimated boolean,
               ready bigint, inflight bigint, deferred bigint, dead bigint,
               open_leases bigint)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog AS $fn$
#variable_conflict use_column
DECLARE
  each record;
BEGIN
  FOR each IN
    SELECT s.id AS stream_id, s.name AS stream_name, g.id, g.name
    FROM {schema}.stream_config AS s
    JOIN {schema}.consumer_group_config AS g ON g.stream_id = s.id
    ORDER BY s.name, g.name
  LOOP
    RETURN QUERY EXECUTE format(
      'SELECT $1, $2, l.* FROM %I.%I($3) AS l',
      '{schema_text}', 'lag_' || each.stream_id)
    USING each.stream_name, each.name, each.id;
  END LOOP;
END $fn$;

-- The exceptions of a group, by id; of one status if given.
CREATE FUNCTION {schema}.exceptions(stream text, consumer_group text,
                                    status text DEFAULT NULL)
RETURNS TABLE (message_id bigint, current_status text, message_key text,
               concurrency text, attempts bigint, delays bigint,
               can_run_after timestamptz, last_error text,
               created_at timestamptz)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog AS $fn$
#variable_conflict use_column
DECLARE
  number integer := {schema}.stream_id($1);
  group_id bigint;
BEGIN
  IF number IS NULL THEN
    RAISE EXCEPTION 'SQL0005 stream_not_found: no stream is named "%"', $1
      USING ERRCODE = 'SQ003';
  END IF;
  SELECT g.id INTO group_id FROM {schema}.consumer_group_config AS g
  WHERE g.stream_id = number AND g.name = $2;
  RETURN QUERY EXECUTE format(
    'SELECT e.message_id, e.status, e.message_key, e.concurrency, e.attempts, '
    'e.delays, e.can_run_after, e.last_error, e.created_at FROM %I.%I AS e '
    'WHERE e.consumer_group_id = $1 AND ($2 IS NULL OR e.status = $2) '
    'ORDER BY e.message_id', '{schema_text}', 'exception_queue_' || number)
  USING group_id, $3;
END $fn$;

-- The dead messages of a group, with what they carried.
CREATE FUNCTION {schema}.dead_messages(stream text, consumer_group text)
RETURNS TABLE (message_id bigint, attempts bigint, last_error text,
               died_at timestamptz, routing_key text, message_key text,
               payload jsonb, headers jsonb, created_at timestamptz)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog AS $fn$
#variable_conflict use_column
DECLARE
  number integer := {schema}.stream_id($1);
BEGIN
  IF number IS NULL THEN
    RAISE EXCEPTION 'SQL0005 stream_not_found: no stream is named "%"', $1
      USING ERRCODE = 'SQ003';
  END IF;
  RETURN QUERY EXECUTE format(
    'SELECT e.message_id, e.attempts, e.last_error, e.updated_at, '
    'm.routing_key, e.message_key, m.payload, m.headers, m.created_at '
    'FROM %1$I.%2$I AS e JOIN %1$I.consumer_group_config AS g '
    'ON g.id = e.consumer_group_id '
    'LEFT JOIN %1$I.%3$I AS m ON m.id = e.message_id '
    'WHERE g.stream_id = $1 AND g.name = $2 AND e.status = ''dead'' '
    'ORDER BY e.message_id', '{schema_text}', 'exception_queue_' || number,
    'message_log_' || number)
  USING number, $2;
END $fn$;
