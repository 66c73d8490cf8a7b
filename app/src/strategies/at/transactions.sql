-- Open global transactions of `at` and `at-for-update`, one row each. The row is also the global lock of the item's row
-- in `store`.
create table if not exists at_transactions (
    item      varchar(64) character set utf8mb4 collate utf8mb4_bin not null primary key,
    id        char(36) character set ascii collate ascii_bin not null,
    state     enum ('begun', 'committed', 'rolling back', 'dirty') not null default 'begun',
    begun     timestamp(6) not null default current_timestamp(6),
    deadline  timestamp(6) not null,
    mechanism varchar(32) character set ascii collate ascii_bin not null default 'at',
    key at_overdue (deadline)
) engine = InnoDB;

-- A table of an older program has no column for it.
alter table at_transactions
    add column if not exists mechanism varchar(32) character set ascii collate ascii_bin not null default 'at';
