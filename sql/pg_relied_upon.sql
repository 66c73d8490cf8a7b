-- Checks the tables of `pg_schema.sql`: a table of the same name with other columns is refused, and so is a column that requires
-- a value which the shop does not insert. The error is that of a missing column.
do $$
declare unfit text;
begin
    with relied_upon (of_table, of_column, made) as (values
        ('store', 'id', 'character varying(64)'),
        ('store', 'num', 'bigint'),
        ('store', 'fence', 'bigint'),
        ('store', 'opened', 'bigint'),
        ('store', 'version', 'bigint'),
        ('store', 'lowest', 'bigint'),
        ('store', 'sku', 'character varying(64)'),
        ('stock_units', 'id', 'bigint'),
        ('stock_units', 'item', 'character varying(64)'),
        ('orders', 'id', 'character varying(36)'),
        ('orders', 'item', 'character varying(64)'),
        ('orders', 'quantity', 'bigint'),
        ('orders', 'buyer', 'character varying(64)'),
        ('orders', 'idempotency_key', 'character varying(64)'),
        ('orders', 'instance', 'character varying(64)'),
        ('orders', 'created_at', 'timestamp(6) with time zone'),
        ('locks', 'item', 'character varying(64)'),
        ('locks', 'owner', 'character varying(36)'),
        ('locks', 'expires_at', 'timestamp(6) with time zone'),
        ('bare_locks', 'item', 'character varying(64)')
    ), found as (
        select relname of_table, attname of_column, format_type(atttypid, atttypmod) made,
               attnotnull and not atthasdef and attidentity = '' wants_a_value
        from pg_attribute join pg_class on pg_class.oid = attrelid
        where attnum > 0 and not attisdropped and pg_table_is_visible(attrelid)
              and relkind = 'r' and relname in ('store', 'stock_units', 'orders', 'locks', 'bare_locks')
    )
    select string_agg(said, ', ' order by said) into unfit from (
        select format('%s.%s is %s, not %s', r.of_table, r.of_column, coalesce(f.made, 'missing'), r.made) said
        from relied_upon r left join found f using (of_table, of_column)
        where f.made is null or f.made <> r.made
        union all
        select format('%s.%s wants a value', f.of_table, f.of_column)
        from found f left join relied_upon r using (of_table, of_column)
        where f.wants_a_value and r.of_table is null
    ) differences;
    if unfit is not null then
        raise exception using errcode = '42703', message = left(unfit, 400);
    end if;
end $$;
