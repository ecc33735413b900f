-- Documents are kept as the JSON text they came in, so that members and numbers return exactly.
CREATE TABLE store_views (
    id   INTEGER PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL
);
CREATE TABLE customers (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    body TEXT NOT NULL
);
CREATE TABLE addresses (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    customer_id INTEGER NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    body        TEXT NOT NULL
);
CREATE INDEX addresses_by_customer ON addresses (customer_id, position);
CREATE TABLE tokens (
    token       TEXT PRIMARY KEY,
    kind        TEXT NOT NULL CHECK (kind IN ('customer', 'admin')),
    customer_id INTEGER REFERENCES customers (id) ON DELETE CASCADE,
    -- Seconds since 1970; the tokens of the seed have none.
    expires_at  INTEGER,
    CHECK ((kind = 'customer') = (customer_id IS NOT NULL))
) WITHOUT ROWID;
CREATE TABLE attributes (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    code TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
);
CREATE TABLE attribute_options (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    attribute_id INTEGER NOT NULL REFERENCES attributes (id) ON DELETE CASCADE,
    body         TEXT NOT NULL
);
CREATE INDEX attribute_options_by_attribute ON attribute_options (attribute_id);
CREATE TABLE attribute_sets (
    id             INTEGER PRIMARY KEY,
    name           TEXT NOT NULL,
    entity_type_id INTEGER NOT NULL
);
CREATE TABLE attribute_groups (
    id               INTEGER PRIMARY KEY,
    attribute_set_id INTEGER NOT NULL REFERENCES attribute_sets (id),
    name             TEXT NOT NULL
);
CREATE TABLE attribute_assignments (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    attribute_set_id   INTEGER NOT NULL REFERENCES attribute_sets (id),
    attribute_group_id INTEGER NOT NULL REFERENCES attribute_groups (id),
    attribute_id       INTEGER NOT NULL REFERENCES attributes (id) ON DELETE CASCADE,
    UNIQUE (attribute_set_id, attribute_id)
);
CREATE TABLE products (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    sku              TEXT NOT NULL UNIQUE,
    type             TEXT NOT NULL CHECK (type IN ('simple', 'configurable')),
    name             TEXT NOT NULL,
    price            TEXT NOT NULL,
    stock            INTEGER NOT NULL DEFAULT 1000,
    attribute_set_id INTEGER NOT NULL DEFAULT 4 REFERENCES attribute_sets (id)
);
-- By the code, since not every attribute of the catalog is a row of `attributes`. A value of null is one that is empty.
CREATE TABLE product_values (
    sku            TEXT NOT NULL REFERENCES products (sku) ON DELETE CASCADE ON UPDATE CASCADE,
    attribute_code TEXT NOT NULL,
    -- 0 is for all store views that have none of their own.
    store_id       INTEGER NOT NULL,
    value          TEXT,
    PRIMARY KEY (sku, attribute_code, store_id)
) WITHOUT ROWID;
CREATE TABLE product_options (
    sku          TEXT NOT NULL REFERENCES products (sku) ON DELETE CASCADE ON UPDATE CASCADE,
    attribute_id INTEGER NOT NULL REFERENCES attributes (id) ON DELETE CASCADE,
    value        INTEGER NOT NULL REFERENCES attribute_options (id) ON DELETE CASCADE,
    PRIMARY KEY (sku, attribute_id, value)
) WITHOUT ROWID;
CREATE TABLE carrier_methods (
    carrier TEXT NOT NULL,
    method  TEXT NOT NULL,
    title   TEXT NOT NULL,
    PRIMARY KEY (carrier, method)
) WITHOUT ROWID;
CREATE TABLE payment_methods (
    code     TEXT PRIMARY KEY,
    title    TEXT NOT NULL,
    position INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE quotes (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    customer_id INTEGER NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
    is_active   INTEGER NOT NULL DEFAULT 1,
    shipping    TEXT,
    -- In UTC, to the second.
    created_at  TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at  TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX active_quote_of_customer ON quotes (customer_id) WHERE is_active;
CREATE TABLE quote_items (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    quote_id INTEGER NOT NULL REFERENCES quotes (id) ON DELETE CASCADE,
    sku      TEXT NOT NULL REFERENCES products (sku) ON UPDATE CASCADE,
    options  TEXT NOT NULL,
    qty      TEXT NOT NULL,
    UNIQUE (quote_id, sku, options)
);
CREATE TABLE orders (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The number that people name it by; websites may count on their own.
    increment_id TEXT NOT NULL,
    -- None for a guest's.
    customer_id  INTEGER REFERENCES customers (id) ON DELETE SET NULL,
    state        TEXT NOT NULL,
    status       TEXT NOT NULL,
    body         TEXT NOT NULL,
    -- In UTC, to the second.
    created_at   TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at   TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX orders_by_increment ON orders (increment_id);
CREATE TABLE order_items (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    order_id INTEGER NOT NULL REFERENCES orders (id) ON DELETE CASCADE,
    body     TEXT NOT NULL
);
CREATE INDEX order_items_by_order ON order_items (order_id);
-- An order may come to have several of a type, or to lose its only one.
CREATE TABLE order_addresses (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    order_id INTEGER NOT NULL REFERENCES orders (id) ON DELETE CASCADE,
    type     TEXT NOT NULL CHECK (type IN ('billing', 'shipping')),
    body     TEXT NOT NULL
);
CREATE INDEX order_addresses_by_order ON order_addresses (order_id);
CREATE TABLE order_comments (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    order_id   INTEGER NOT NULL REFERENCES orders (id) ON DELETE CASCADE,
    body       TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX order_comments_by_order ON order_comments (order_id);
-- The list of the admin panel: a copy that only the next save of the order renews.
CREATE TABLE order_grid (
    order_id         INTEGER PRIMARY KEY REFERENCES orders (id) ON DELETE CASCADE,
    billing_address  TEXT NOT NULL,
    shipping_address TEXT NOT NULL
);
CREATE TRIGGER quote_changed AFTER UPDATE OF is_active, shipping ON quotes BEGIN
    UPDATE quotes SET updated_at = CURRENT_TIMESTAMP WHERE id = NEW.id;
END;
CREATE TRIGGER quote_item_added AFTER INSERT ON quote_items BEGIN
    UPDATE quotes SET updated_at = CURRENT_TIMESTAMP WHERE id = NEW.quote_id;
END;
CREATE TRIGGER quote_item_changed AFTER UPDATE ON quote_items BEGIN
    UPDATE quotes SET updated_at = CURRENT_TIMESTAMP WHERE id = NEW.quote_id;
END;
CREATE TRIGGER quote_item_removed AFTER DELETE ON quote_items BEGIN
    UPDATE quotes SET updated_at = CURRENT_TIMESTAMP WHERE id = OLD.quote_id;
END;
