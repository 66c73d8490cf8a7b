-- Checks the tables of `schema.sql`: a table of the same name with other columns is refused, and so is a column that requires a
-- value which the shop does not insert. The error is that of a missing column.
begin not atomic
    declare unfit text;
    with relied_upon (of_table, of_column, made) as (values
        ('store', 'id', 'varchar(64) utf8mb4_bin PRI'),
        ('store', 'num', 'bigint(20)'),
        ('store', 'fence', 'bigint(20) unsigned'),
        ('store', 'opened', 'bigint(20)'),
        ('store', 'version', 'bigint(20) unsigned'),
        ('store', 'lowest', 'bigint(20)'),
        ('store', 'sku', 'varchar(64) utf8mb4_bin'),
        ('stock_units', 'id', 'bigint(20) unsigned PRI'),
        ('stock_units', 'item', 'varchar(64) utf8mb4_bin'),
        ('orders', 'id', 'char(36) ascii_bin PRI'),
        ('orders', 'item', 'varchar(64) utf8mb4_bin'),
        ('orders', 'quantity', 'bigint(20)'),
        ('orders', 'buyer', 'varchar(64) utf8mb4_bin'),
        ('orders', 'idempotency_key', 'varchar(64) utf8mb4_bin'),
        ('orders', 'instance', 'varchar(64) utf8mb4_bin'),
        ('orders', 'created_at', 'timestamp(6)'),
        ('locks', 'item', 'varchar(64) utf8mb4_bin PRI'),
        ('locks', 'owner', 'char(36) ascii_bin'),
        ('locks', 'expires_at', 'datetime(6)'),
        ('bare_locks', 'item', 'varchar(64) utf8mb4_bin PRI')
    ), found as (
        -- Do not use `column_default is null` in the join: MariaDB 10.11 then finds no row.
        select table_name, column_name,
               concat_ws(' ', column_type, collation_name, if(column_key = 'PRI', 'PRI', null), nullif(engine, 'InnoDB')) made,
               concat(is_nullable, coalesce(column_default, ' without '), is_generated, extra) = 'NO without NEVER' wants_a_value
        from information_schema.columns join information_schema.tables using (table_schema, table_name)
        where table_schema = database() and table_name in ('store', 'stock_units', 'orders', 'locks', 'bare_locks')
    )
    select group_concat(said order by said separator ', ') into unfit from (
        select concat(of_table, '.', of_column, ' is ', coalesce(found.made, 'missing'), ', not ', relied_upon.made) said
        from relied_upon left join found on table_name = of_table and column_name = of_column
        where found.made is null or found.made <> relied_upon.made
        union all
        select concat(table_name, '.', column_name, ' wants a value')
        from found left join relied_upon on of_table = table_name and of_column = column_name
        where wants_a_value and of_table is null
    ) differences;
    if unfit is not null then
        set unfit = left(unfit, 400);
        signal sqlstate '42S22' set message_text = unfit;
    end if;
end;
