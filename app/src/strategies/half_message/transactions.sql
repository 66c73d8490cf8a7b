-- The local transactions of half messages, each entered in the transaction itself. A row without an order is the answer
-- "rolled back": its transaction can no longer commit. Rows stay until the sale is closed.
create table if not exists half_messages (
    message  char(36) character set ascii collate ascii_bin not null primary key,
    order_id char(36) character set ascii collate ascii_bin null unique,
    item     varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    key half_messages_of_item (item)
) engine = InnoDB;
