-- The shop's tables. Every instance runs all of this when it opens, also several at the same moment: what is there stays,
-- and tables that an older version made come up to date. A column that is added later is added by an `alter table` of its own.
-- Names compare byte by byte: two items that differ in case only are two items.

-- Stock: how many units of an item are left. Signed, so that a shop which sells below zero can be seen doing it.
create table if not exists store (
    id  varchar(64) character set utf8mb4 collate utf8mb4_bin not null primary key,
    num bigint not null
) engine = InnoDB;

-- The highest fence that has written. Who comes later with a lower one holds a lock that has gone to another.
alter table store add column if not exists fence bigint unsigned not null default 0;

-- Units that the sale was opened with: what is sold beyond them is oversold.
alter table store add column if not exists opened bigint null;

-- Raised by each write that compares it: whoever read an older one has to read again.
alter table store add column if not exists version bigint unsigned not null default 0;

-- The item once more, in a column without an index: a select by it looks at every row, and with for update it locks them all.
alter table store add column if not exists sku varchar(64) character set utf8mb4 collate utf8mb4_bin
    generated always as (id) virtual;

-- The order ledger: one row per sale. The primary key is what makes a repeated Idempotency-Key harmless.
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

-- The locks of the `lock-table` guard: who holds an item, and until when by this server's clock, in UTC.
create table if not exists locks (
    item       varchar(64) character set utf8mb4 collate utf8mb4_bin not null primary key,
    owner      char(36) character set ascii collate ascii_bin not null,
    expires_at datetime(6) not null
) engine = InnoDB;

-- Those of `lock-table-bare`: a row is a lock, and nothing else is known of it.
create table if not exists bare_locks (
    item varchar(64) character set utf8mb4 collate utf8mb4_bin not null primary key
) engine = InnoDB;
