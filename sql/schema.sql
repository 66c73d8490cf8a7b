-- The shop's tables. Every instance runs all of this when it opens, also several at the same moment. Existing data stays, and
-- tables of an older version come up to date: each later column has an `alter table` of its own.
-- Names compare byte by byte: two items that differ in case only are two items.

-- Stock: the units left of an item. Signed, so that sales below zero are visible.
create table if not exists store (
    id  varchar(64) character set utf8mb4 collate utf8mb4_bin not null primary key,
    num bigint not null
) engine = InnoDB;

-- The highest fencing token that has written. A writer with a lower one has lost its lock to another.
alter table store add column if not exists fence bigint unsigned not null default 0;

-- Units that the sale was opened with: units sold beyond them are oversold.
alter table store add column if not exists opened bigint null;

-- Raised by each write that compares it: a buyer that read an older version has to read again.
alter table store add column if not exists version bigint unsigned not null default 0;

-- The lowest number that `check-constraint` lets a sale come to; null, which no check refuses, for every other strategy.
alter table store add column if not exists lowest bigint null;
alter table store add constraint if not exists not_below_lowest check (num >= lowest);

-- The item once more, in a column without an index: a select by it looks at every row, and with for update it locks them all.
alter table store add column if not exists sku varchar(64) character set utf8mb4 collate utf8mb4_bin
    generated always as (id) virtual;

-- Units of `unit-rows` that are no longer in the counter, one row per unit: the stock is the counter and these rows.
create table if not exists stock_units (
    id   bigint unsigned not null auto_increment primary key,
    item varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    key units_of_item (item)
) engine = InnoDB;

-- The order ledger: one row per sale. The primary key makes a repeated Idempotency-Key harmless.
create table if not exists orders (
    id              char(36) character set ascii collate ascii_bin not null primary key,
    item            varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    quantity        bigint not null,
    buyer           varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    idempotency_key varchar(64) character set utf8mb4 collate utf8mb4_bin null,
    instance        varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    created_at      timestamp(6) not null default current_timestamp(6),
    key orders_of_item (item)
) engine = InnoDB;

-- The locks of the `lock-table` guard: the holder of an item, and the end of its lease by this server's clock, in UTC.
create table if not exists locks (
    item       varchar(64) character set utf8mb4 collate utf8mb4_bin not null primary key,
    owner      char(36) character set ascii collate ascii_bin not null,
    expires_at datetime(6) not null
) engine = InnoDB;

-- The locks of `lock-table-bare`: a row is a lock, without holder or lease.
create table if not exists bare_locks (
    item varchar(64) character set utf8mb4 collate utf8mb4_bin not null primary key
) engine = InnoDB;
