-- The reservations, one row per order, with the deadline until which the units are held. A paid one has no deadline and stays, so
-- that the order is not made again. One that was given back is deleted. `paid` has no index: a statement that changes one row must
-- find it by its primary key. By the index of deadlines it would also lock the gap in which others insert.
create table if not exists reservation (
    id       char(36) character set ascii collate ascii_bin not null primary key,
    item     varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    quantity bigint not null,
    begun    timestamp(6) not null default current_timestamp(6),
    deadline timestamp(6) null default null,
    paid     boolean not null default false,
    key reservations_overdue (deadline),
    key reservations_of_item (item)
) engine = InnoDB;
