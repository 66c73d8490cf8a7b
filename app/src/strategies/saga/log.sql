-- The log of all sagas, one row per order, with the deadline of its saga. A saga that has ended has no deadline and
-- stays, so that the order is not made again. A compensated one is deleted.
create table if not exists saga (
    id              char(36) character set ascii collate ascii_bin not null primary key,
    saga            char(36) character set ascii collate ascii_bin not null,
    item            varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    quantity        bigint not null,
    buyer           varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    idempotency_key varchar(64) character set utf8mb4 collate utf8mb4_bin null,
    begun           timestamp(6) not null default current_timestamp(6),
    deadline        timestamp(6) null default null,
    compensating    boolean not null default false,
    key sagas_overdue (deadline),
    key sagas_of_item (item)
) engine = InnoDB;
