-- The row that each branch has changed, before and after, entered in the local transaction of the change. A row without
-- images (`null`, not JSON) belongs to a branch that was rolled back before it came: it can no longer commit.
create table if not exists undo_log (
    id           char(36) character set ascii collate ascii_bin not null primary key,
    item         varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    before_image json null,
    after_image  json null,
    key undo_log_of_item (item)
) engine = InnoDB;
