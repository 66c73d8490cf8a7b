-- The decisions about transactions over both servers: the first one counts. A row stays until the sale is over, so that
-- no other decision can be made later.
create table if not exists two_phase (
    id       char(36) character set ascii collate ascii_bin not null primary key,
    item     varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    decision enum ('commit', 'rollback') not null,
    key two_phase_of_item (item)
) engine = InnoDB;
