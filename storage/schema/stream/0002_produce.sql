-- Produces a batch with callers' idempotency keys (null: none) in the caller's
-- transaction; the arrays run in parallel, `routing_keys` etc. hold null for
-- "none", a payload with a content type is given in hexadecimal. Answers each
-- position with the id of its message, or of the original of a duplicate.
--
-- Races: the lock comes before the ids. Key rows are inserted sorted, hence
-- without deadlock between batches; an INSERT that meets a key in progress
-- waits for its transaction, and inserts if that one rolled back. The winner is
-- read by a later statement, whose snapshot sees it.
CREATE FUNCTION {schema}.produce_batch_{stream}(
  payloads text[], routing_keys text[], message_keys text[],
  content_types text[], all_headers text[], all_options text[],
  idempotency_keys uuid[], schema_versions integer[])
RETURNS TABLE ("position" bigint, message_id bigint, duplicate boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET plan_cache_mode = 'force_custom_plan' AS $fn$
#variable_conflict use_column
DECLARE
  ids bigint[];
BEGIN
  PERFORM pg_advisory_xact_lock_shared({lock_class}, {stream});
  ids := ARRAY(SELECT nextval('{schema}.message_log_{stream}_id_seq'::regclass)
               FROM generate_series(1, cardinality(payloads)));
  PERFORM {schema}.ensure_partitions({stream}, ids[1],
                                     ids[cardinality(ids)]);
  INSERT INTO {schema}.idempotency_key_{stream} (key, message_id)
  SELECT DISTINCT ON (given.key) given.key, ids[given.place]
  FROM unnest(idempotency_keys) WITH ORDINALITY AS given (key, place)
  WHERE given.key IS NOT NULL
  ORDER BY given.key, given.place
  ON CONFLICT DO NOTHING;

  RETURN QUERY
  WITH given AS MATERIALIZED (
    SELECT g.*, coalesce(known.message_id, ids[g.place]) AS target
    FROM unnest(payloads, routing_keys, message_keys, content_types,
                all_headers, all_options, idempotency_keys, schema_versions)
         WITH ORDINALITY AS g (payload, routing_key, message_key, content_type,
                               headers, options, key, version, place)
    LEFT JOIN {schema}.idempotency_key_{stream} AS known ON known.key = g.key
  ), stored AS (
    INSERT INTO {schema}.message_log_{stream}
           (id, schema_version, routing_key, message_key, payload,
            payload_bytes, content_type, headers, options)
    SELECT g.target, g.version, g.routing_key, g.message_key,
           CASE WHEN g.content_type IS NULL THEN g.payload::jsonb END,
           CASE WHEN g.content_type IS NOT NULL
                THEN decode(g.payload, 'hex') END,
           g.content_type, g.headers::jsonb, g.options::jsonb
    FROM given AS g
    WHERE g.target = ids[g.place]
    ORDER BY g.place
  )
  SELECT g.place, g.target, g.target <> ids[g.place]
  FROM given AS g ORDER BY g.place;
END $fn$;
