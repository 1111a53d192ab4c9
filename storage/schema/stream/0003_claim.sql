-- How far a reader at `position` may go, and the proof for it.
--
-- Ids are drawn before commit, so a visible id may have lower ones below it
-- that are still to come. An id may be passed if
--  (a) all ids from the position up to it are visible, or
--  (b) it is at most `settled_head`: proven to have nothing to come below.
-- The proof of (b): a gap is seen; then, in a later statement, who holds the
-- stream's producer lock is read. Whoever owns a missing id below a visible one
-- took that lock before it drew the id, so it is among those holders or has
-- ended; and PostgreSQL gives locks back only after the end of a transaction is
-- visible to new snapshots. So with no holder at all, everything up to the
-- highest id seen (`pending_head`) is settled at once; else as soon as none of
-- those holders is left. New holders do not matter: their ids are higher.
--
-- VOLATILE, so that each statement has a snapshot of its own; see
-- require_read_committed(). Writes nothing: the caller keeps the proof.
CREATE FUNCTION {schema}.bound_{stream}(
  "position" bigint, wanted bigint,
  INOUT settled_head bigint, INOUT pending_head bigint,
  INOUT pending_holders text[], OUT up_to bigint, OUT gap boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET plan_cache_mode = 'force_custom_plan'
SET enable_seqscan = off SET jit = off AS $fn$
DECLARE
  seen bigint;
  top bigint;
  drawn bigint; -- the highest id that was ever drawn
  span bigint;
BEGIN
  gap := false;
  IF cardinality(pending_holders) > 0 THEN
    pending_holders := {schema}.still_holding({stream}, pending_holders);
    IF cardinality(pending_holders) = 0 THEN
      settled_head := greatest(settled_head, pending_head);
      pending_head := 0;
    END IF;
  END IF;
  up_to := greatest("position", settled_head);
  IF up_to - "position" >= wanted THEN RETURN; END IF;

  -- The contiguous run of visible ids.
  SELECT count(*), max(m.id) INTO seen, top
  FROM {schema}.message_log_{stream} AS m
  WHERE m.id > up_to AND m.id <= up_to + wanted;
  IF seen > 0 AND top - up_to = seen THEN
    up_to := top;
  ELSIF seen > 0 THEN
    SELECT coalesce(max(r.id), up_to) INTO up_to
    FROM (SELECT m.id, row_number() OVER (ORDER BY m.id) AS place
          FROM {schema}.message_log_{stream} AS m
          WHERE m.id > up_to AND m.id <= up_to + wanted) AS r
    WHERE r.id = up_to + r.place;
  END IF;
  IF seen = wanted THEN RETURN; END IF;

  -- A read of the sequence, not of the log: an idle poll ends here.
  SELECT s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END INTO drawn
  FROM {schema}.message_log_{stream}_id_seq AS s;
  IF drawn <= up_to THEN
    pending_head := 0;
    pending_holders := '{}';
    RETURN;
  END IF;

  -- What the proof waited for has appeared: it says nothing any more.
  IF cardinality(pending_holders) > 0 AND pending_head > up_to THEN
    gap := true;
    RETURN;
  END IF;
  pending_head := 0;
  pending_holders := '{}';

  -- The highest visible id above the gap, of one or two partitions first: the
  -- cost must not grow with the backlog.
  top := NULL;
  span := greatest({partition_size}, 100000);
  LOOP
    span := least(span, drawn - up_to);
    SELECT max(m.id) INTO top FROM {schema}.message_log_{stream} AS m
    WHERE m.id > up_to AND m.id <= up_to + span;
    EXIT WHEN top IS NOT NULL OR span >= drawn - up_to;
    span := CASE WHEN span >= 1::bigint << 56 THEN 9223372036854775807
                     ELSE span * 32 END;
  END LOOP;
  IF top IS NULL THEN RETURN; END IF; -- nothing visible is held back

  -- A later statement than the one that saw the gap, see above.
  SELECT coalesce(array_agg(h.holder ORDER BY h.holder), '{}')
  INTO pending_holders
  FROM {schema}.producer_holders({stream}) AS h;
  IF cardinality(pending_holders) = 0 THEN
    settled_head := greatest(settled_head, top);
    up_to := greatest(up_to, settled_head);
  ELSE
    pending_head := top;
    gap := true;
  END IF;
END $fn$;

-- One regular expression for all bindings of a group; null: the whole stream.
CREATE FUNCTION {schema}.binding_of_{stream}(group_id bigint) RETURNS text
LANGUAGE sql STABLE AS $fn$
  SELECT string_agg('(?:' || b.regex || ')', '|')
  FROM {schema}.binding_config_{stream} AS b
  WHERE b.consumer_group_id = group_id
$fn$;

-- The messages of (low, high] that a group reads, in order.
CREATE FUNCTION {schema}.range_messages_{stream}(
  group_id bigint, version integer, low bigint, high bigint, token uuid)
RETURNS SETOF {schema}.delivered
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET plan_cache_mode = 'force_custom_plan'
SET enable_seqscan = off SET jit = off AS $fn$
#variable_conflict use_variable
DECLARE
  binding text := {schema}.binding_of_{stream}(group_id);
BEGIN
  RETURN QUERY
  SELECT NULL::jsonb, token, m.id, m.schema_version, m.routing_key,
         m.message_key, m.payload::text, m.payload_bytes, m.content_type,
         m.headers::text, m.options::text,
         (date_part('epoch', m.created_at) * 1000000)::bigint
  FROM {schema}.message_log_{stream} AS m
  WHERE m.id > low AND m.id <= high AND m.schema_version = version
    AND (binding IS NULL OR m.routing_key ~ binding)
  ORDER BY m.id;
END $fn$;

-- Moves a group's `committed` to the end of what has ended for good, and
-- returns it. Call it after the change that may move it, in a statement of its
-- own.
--
-- Race: two settles at once each see the other's lease as still open. The lock
-- on the cursor comes first, and what is read is read by a later statement: so
-- the second of them sees all that the first has done. The value is computed in
-- one statement and written in another: an UPDATE that waited would pair a new
-- cursor row with an old list of leases.
CREATE FUNCTION {schema}.advance_{stream}(group_id bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET plan_cache_mode = 'force_custom_plan'
SET enable_seqscan = off SET jit = off AS $fn$
DECLARE
  before bigint;
  target bigint;
BEGIN
  SELECT c.committed INTO before
  FROM {schema}.consumer_group_cursor_{stream} AS c
  WHERE c.consumer_group_id = group_id FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the group has no cursor' USING ERRCODE = 'SQ002';
  END IF;
  SELECT least(
    c.claimed,
    (SELECT l.low FROM {schema}.claim_lease_{stream} AS l
     WHERE l.consumer_group_id = group_id AND l.low >= before
     ORDER BY l.low LIMIT 1),
    (SELECT e.message_id - 1 FROM {schema}.exception_queue_{stream} AS e
     WHERE e.consumer_group_id = group_id AND e.message_id > before
       AND e.status <> 'dead'
     ORDER BY e.message_id LIMIT 1))
  INTO target
  FROM {schema}.consumer_group_cursor_{stream} AS c
  WHERE c.consumer_group_id = group_id;
  IF target <= before THEN RETURN before; END IF;
  UPDATE {schema}.consumer_group_cursor_{stream}
  SET committed = target WHERE consumer_group_id = group_id;
  RETURN target;
END $fn$;

-- Claims the next range of a group; see bound_N for how far it may go.
--
-- The first look takes no lock and writes nothing, so that idle polls cost no
-- transaction id. Then the cursor row is locked; where it has changed meanwhile
-- the bound is found again. What was proven before the wait stays proven.
CREATE FUNCTION {schema}.claim_{stream}(
  group_id bigint, version integer, wanted bigint, wanted_bytes bigint,
  lease interval, claimed_by text)
RETURNS SETOF {schema}.delivered
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET plan_cache_mode = 'force_custom_plan'
SET enable_seqscan = off SET jit = off AS $fn$
#variable_conflict use_variable
DECLARE
  first_look {schema}.consumer_group_cursor_{stream};
  cur {schema}.consumer_group_cursor_{stream};
  bound record;
  paused boolean;
  token uuid;
  binding text;
  high bigint;
  span bigint;
  seen bigint := 0;
  last_seen bigint;
  stored_bytes bigint;
  packed boolean;
  matched bigint := 0;
  first_id bigint;
  answer jsonb := '{}';
BEGIN
  PERFORM {schema}.require_read_committed();
  SELECT c.* INTO first_look
  FROM {schema}.consumer_group_cursor_{stream} AS c
  WHERE c.consumer_group_id = group_id;
  SELECT g.paused INTO paused FROM {schema}.consumer_group_config AS g
  WHERE g.id = group_id;
  IF first_look.consumer_group_id IS NULL OR NOT FOUND THEN
    RAISE EXCEPTION 'the group has no cursor' USING ERRCODE = 'SQ002';
  END IF;
  IF paused THEN
    RETURN QUERY SELECT '{"paused": true}'::jsonb, NULL::uuid, NULL::bigint,
      NULL::integer, NULL::text, NULL::text, NULL::text, NULL::bytea,
      NULL::text, NULL::text, NULL::text, NULL::bigint;
    RETURN;
  END IF;

  cur := first_look;
  bound := {schema}.bound_{stream}(cur.claimed, wanted, cur.settled_head,
                                   cur.pending_head, cur.pending_holders);
  high := cur.claimed;
  IF bound.up_to > cur.claimed
     OR bound.settled_head <> cur.settled_head
     OR bound.pending_head <> cur.pending_head
     OR bound.pending_holders <> cur.pending_holders THEN
    -- Losing a claim in a crash only delivers its range again.
    PERFORM set_config('synchronous_commit', 'off', true);
    SELECT c.* INTO cur FROM {schema}.consumer_group_cursor_{stream} AS c
    WHERE c.consumer_group_id = group_id FOR UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the group has no cursor' USING ERRCODE = 'SQ002';
    END IF;
    IF (cur.claimed, cur.settled_head, cur.pending_head, cur.pending_holders)
       IS DISTINCT FROM (first_look.claimed, first_look.settled_head,
                         first_look.pending_head, first_look.pending_holders)
    THEN
      bound := {schema}.bound_{stream}(cur.claimed, wanted, cur.settled_head,
                                       cur.pending_head, cur.pending_holders);
    END IF;

    -- The range ends with the last wanted message, or at the bound: so a hole,
    -- however wide, is passed at once. The window grows only over holes.
    high := cur.claimed;
    IF bound.up_to > cur.claimed THEN
      span := wanted;
      LOOP
        span := least(span, bound.up_to - cur.claimed);
        SELECT count(*), max(q.id), sum(q.size), bool_or(q.packed)
        INTO seen, last_seen, stored_bytes, packed
        FROM (SELECT m.id,
                     coalesce(pg_column_size(m.payload),
                              pg_column_size(m.payload_bytes)) AS size,
                     coalesce(pg_column_compression(m.payload),
                              pg_column_compression(m.payload_bytes))
                       IS NOT NULL AS packed
              FROM {schema}.message_log_{stream} AS m
              WHERE m.id > cur.claimed AND m.id <= cur.claimed + span
              ORDER BY m.id LIMIT wanted) AS q;
        EXIT WHEN seen >= wanted OR span >= bound.up_to - cur.claimed;
        span := CASE WHEN span >= 1::bigint << 56 THEN 9223372036854775807
                     ELSE span * 32 END;
      END LOOP;
      high := CASE WHEN seen >= wanted THEN last_seen ELSE bound.up_to END;

      -- Bytes as they will be sent are only counted where they could matter.
      IF wanted_bytes > 0 AND seen > 1
         AND (packed OR stored_bytes > wanted_bytes / 4) THEN
        SELECT max(z.id) INTO span
        FROM (SELECT y.id, row_number() OVER (ORDER BY y.id) AS place,
                     sum(coalesce(octet_length(m.payload::text),
                                  octet_length(m.payload_bytes)))
                       OVER (ORDER BY y.id) AS total
              FROM (SELECT x.id FROM (
                      SELECT m.id, row_number() OVER (ORDER BY m.id) AS place,
                             sum(coalesce(pg_column_size(m.payload),
                                          pg_column_size(m.payload_bytes)))
                               OVER (ORDER BY m.id) AS total
                      FROM {schema}.message_log_{stream} AS m
                      WHERE m.id > cur.claimed AND m.id <= last_seen) AS x
                    WHERE x.total <= wanted_bytes OR x.place = 1) AS y
              JOIN {schema}.message_log_{stream} AS m ON m.id = y.id
               AND m.id > cur.claimed AND m.id <= last_seen) AS z
        WHERE z.total <= wanted_bytes OR z.place = 1;
        IF span < last_seen THEN high := span; END IF;
      END IF;

      token := gen_random_uuid();
      -- A statement of its own, so its snapshot is newer than the proof.
      -- range_messages_N in place: as a function it would copy each row twice.
      binding := {schema}.binding_of_{stream}(group_id);
      RETURN QUERY
      SELECT NULL::jsonb, token, m.id, m.schema_version, m.routing_key,
             m.message_key, m.payload::text, m.payload_bytes, m.content_type,
             m.headers::text, m.options::text,
             (date_part('epoch', m.created_at) * 1000000)::bigint
      FROM {schema}.message_log_{stream} AS m
      WHERE m.id > cur.claimed AND m.id <= high AND m.schema_version = version
        AND (binding IS NULL OR m.routing_key ~ binding)
      ORDER BY m.id;
      GET DIAGNOSTICS matched = ROW_COUNT;
      -- clock_timestamp(): the wait for the cursor must not shorten the lease.
      IF matched > 0 THEN
        INSERT INTO {schema}.claim_lease_{stream}
               (consumer_group_id, token, low, high, holder, expires_at)
        VALUES (group_id, token, cur.claimed, high, claimed_by,
                clock_timestamp() + lease);
        answer := jsonb_build_object('low', cur.claimed, 'high', high,
                                     'token', token);
      END IF;
    END IF;

    UPDATE {schema}.consumer_group_cursor_{stream}
    SET claimed = high,
        settled_head = bound.settled_head,
        pending_head = bound.pending_head,
        pending_holders = bound.pending_holders,
        pending_since = CASE
          WHEN cardinality(bound.pending_holders) = 0 THEN NULL
          WHEN bound.pending_head = cur.pending_head THEN cur.pending_since
          ELSE clock_timestamp() END
    WHERE consumer_group_id = group_id
    RETURNING pending_since INTO cur.pending_since;
    -- Nothing of the range is for this group: no lease, it has ended already.
    IF matched = 0 AND high > cur.claimed THEN
      PERFORM {schema}.advance_{stream}(group_id);
    END IF;
  END IF;

  IF bound.gap AND high >= bound.up_to THEN
    answer := answer || jsonb_build_object('hold',
      {schema}.claim_hold({stream}, bound.up_to + 1, bound.pending_holders,
                          cur.pending_since));
  END IF;
  IF high > cur.claimed AND to_regclass(
       '{schema}.message_log_{stream}_p'
       || cur.claimed / {partition_size}) IS NULL THEN
    first_id := {schema}.first_retained({stream});
    IF cur.claimed + 1 < first_id THEN
      answer := answer || jsonb_build_object('behind', jsonb_build_object(
        'low', cur.claimed, 'high', least(high, first_id - 1)));
    END IF;
  END IF;
  answer := answer || jsonb_build_object('more',
    high < bound.up_to
    OR (seen >= wanted AND EXISTS (
          SELECT FROM {schema}.message_log_{stream} AS m
          WHERE m.id = high + 1)));
  RETURN QUERY SELECT answer, NULL::uuid, NULL::bigint, NULL::integer,
    NULL::text, NULL::text, NULL::text, NULL::bytea, NULL::text, NULL::text,
    NULL::text, NULL::bigint;
END $fn$;

-- Reads without a group: the same bound, kept by the reader.
CREATE FUNCTION {schema}.read_{stream}(
  "position" bigint, wanted bigint, settled_head bigint, pending_head bigint,
  pending_holders text[])
RETURNS SETOF {schema}.delivered
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET plan_cache_mode = 'force_custom_plan'
SET enable_seqscan = off SET jit = off AS $fn$
#variable_conflict use_variable
DECLARE
  bound record;
  high bigint;
  seen bigint := 0;
  last_seen bigint;
  span bigint := wanted;
BEGIN
  PERFORM {schema}.require_read_committed();
  bound := {schema}.bound_{stream}("position", wanted, settled_head,
                                   pending_head, pending_holders);
  high := "position";
  IF bound.up_to > "position" THEN
    LOOP
      span := least(span, bound.up_to - "position");
      SELECT count(*), max(q.id) INTO seen, last_seen
      FROM (SELECT m.id FROM {schema}.message_log_{stream} AS m
            WHERE m.id > "position" AND m.id <= "position" + span
            ORDER BY m.id LIMIT wanted) AS q;
      EXIT WHEN seen >= wanted OR span >= bound.up_to - "position";
      span := CASE WHEN span >= 1::bigint << 56 THEN 9223372036854775807
                     ELSE span * 32 END;
    END LOOP;
    high := CASE WHEN seen >= wanted THEN last_seen ELSE bound.up_to END;
    RETURN QUERY
    SELECT NULL::jsonb, NULL::uuid, m.id, m.schema_version, m.routing_key,
           m.message_key, m.payload::text, m.payload_bytes, m.content_type,
           m.headers::text, m.options::text,
           (date_part('epoch', m.created_at) * 1000000)::bigint
    FROM {schema}.message_log_{stream} AS m
    WHERE m.id > "position" AND m.id <= high
    ORDER BY m.id;
  END IF;
  RETURN QUERY SELECT jsonb_build_object(
      'after', high, 'settled_head', bound.settled_head,
      'pending_head', bound.pending_head,
      'pending_holders', to_jsonb(bound.pending_holders)),
    NULL::uuid, NULL::bigint, NULL::integer, NULL::text, NULL::text,
    NULL::text, NULL::bytea, NULL::text, NULL::text, NULL::text, NULL::bigint;
END $fn$;
