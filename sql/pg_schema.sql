-- The shop's tables in PostgreSQL, as `schema.sql` has them for MariaDB. All of it is one transaction, and the lock lets only one
-- instance run it at a time: two that create the same table at once would fail.
select pg_advisory_xact_lock(hashtextextended('oversell schema', 0));

-- Names compare byte by byte.
create table if not exists store (
    id      varchar(64) collate "C" primary key,
    -- The units left of an item. Signed, so that sales below zero are visible.
    num     bigint not null,
    -- The highest fencing token that has written.
    fence   bigint not null default 0,
    -- Units that the sale was opened with.
    opened  bigint,
    -- Raised by each write that compares it.
    version bigint not null default 0,
    -- The lowest number that `check-constraint` lets a sale come to; null, which no check refuses, for every other strategy.
    lowest  bigint constraint not_below_lowest check (num >= lowest),
    -- The item once more, in a column without an index.
    sku     varchar(64) collate "C" generated always as (id) stored
);

-- Units of `unit-rows` that are no longer in the counter, one row per unit: the stock is the counter and these rows.
create table if not exists stock_units (
    id   bigint generated always as identity primary key,
    item varchar(64) collate "C" not null
);
create index if not exists units_of_item on stock_units (item);

-- The order ledger: one row per sale. The primary key makes a repeated Idempotency-Key harmless.
create table if not exists orders (
    id              varchar(36) collate "C" primary key,
    item            varchar(64) collate "C" not null,
    quantity        bigint not null,
    buyer           varchar(64) collate "C" not null,
    idempotency_key varchar(64) collate "C",
    instance        varchar(64) collate "C" not null,
    created_at      timestamptz(6) not null default now()
);
create index if not exists orders_of_item on orders (item);

-- The locks of the `lock-table` guard: the holder of an item, and the end of its lease by this server's clock.
create table if not exists locks (
    item       varchar(64) collate "C" primary key,
    owner      varchar(36) collate "C" not null,
    expires_at timestamptz(6) not null
);

-- The locks of `lock-table-bare`: a row is a lock, without holder or lease.
create table if not exists bare_locks (
    item varchar(64) collate "C" primary key
);
