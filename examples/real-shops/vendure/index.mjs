// A Vendure server with nothing in it but the core: `node index.mjs` serves, and `node index.mjs fill` creates the tables and one
// product. $STORE is the URL of the database, and $SHOP_PORT the port.
import { bootstrap, dummyPaymentHandler, ProductVariant, TransactionalConnection } from '@vendure/core';
import { populate } from '@vendure/core/cli/index.js';
import { writeFileSync } from 'node:fs';

const isFilling = process.argv[2] === 'fill';
const store = new URL(process.env.STORE);

// What is not named here is Vendure's default: above all the order process, the stock strategies, the threshold of 0 below which
// nothing is sold, the isolation level of the database and the ten connections of the pool.
const config = {
    apiOptions: { hostname: '127.0.0.1', port: Number(process.env.SHOP_PORT) },
    authOptions: { tokenMethod: 'cookie' },
    dbConnectionOptions: {
        type: store.protocol === 'mysql:' ? 'mariadb' : 'postgres',
        host: store.hostname,
        port: Number(store.port),
        username: store.username,
        database: store.pathname.slice(1),
        synchronize: isFilling,
    },
    paymentOptions: { paymentMethodHandlers: [dummyPaymentHandler] },
};

const initial = {
    defaultLanguage: 'en',
    defaultZone: 'Europe',
    countries: [{ code: 'AT', name: 'Austria', zone: 'Europe' }],
    taxRates: [{ name: 'Standard', percentage: 20 }],
    shippingMethods: [{ name: 'Parcel', price: 500 }],
    paymentMethods: [{
        name: 'Dummy',
        handler: { code: 'dummy-payment-handler', arguments: [{ name: 'automaticSettle', value: 'true' }] },
    }],
    collections: [],
};

const products = `name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets
Ticket,ticket,,,,,,TICKET,10.00,Standard,3,true,,
`;

if (isFilling) {
    writeFileSync('products.csv', products);
    const app = await populate(() => bootstrap(config), initial, 'products.csv');
    const connection = app.get(TransactionalConnection).rawConnection;
    // The same names without quotation marks for both databases, so that one shop file reads either.
    const q = name => connection.driver.escape(name);
    await connection.query(`create view trial_stock as
        select ${q('productVariantId')} as variant, ${q('stockOnHand')} as on_hand, ${q('stockAllocated')} as allocated
        from stock_level`);
    await connection.query(`create view trial_orders as
        select c.${q('emailAddress')} as buyer, l.quantity as units, l.${q('productVariantId')} as variant, l.id as line
        from order_line l
        join ${q('order')} o on o.id = l.${q('orderId')}
        join customer c on c.id = o.${q('customerId')}
        where o.state in ('PaymentAuthorized', 'PaymentSettled')`);
    // What the shop has put aside for an order: one row for each order line and place of storage.
    await connection.query(`create view trial_allocations as
        select o.buyer, m.quantity as units, o.variant
        from stock_movement m join trial_orders o on o.line = m.${q('orderLineId')}
        where m.type = 'ALLOCATION'`);
    const variants = await connection.getRepository(ProductVariant).find();
    console.log(variants.map(v => [v.id, v.sku, v.trackInventory, v.useGlobalOutOfStockThreshold, v.outOfStockThreshold]));
    if (variants.length !== 1 || variants[0].trackInventory !== 'TRUE') throw new Error('one tracked variant is expected');
    await app.close();
    process.exit(0);
}

const app = await bootstrap(config);
for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, async () => { await app.close(); process.exit(0); });
}
