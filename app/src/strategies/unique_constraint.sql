-- The buyers that have an order of an item. The primary key is the constraint: one order for each buyer and item. It stands in a
-- table of its own, so that it binds no other strategy.
create table if not exists one_per_buyer (
    item  varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    buyer varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    primary key (item, buyer)
) engine = InnoDB;
