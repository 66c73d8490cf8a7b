// What the database says after a run: its version, the isolation level of a session, and for each sale that was raced the units in
// paid orders beside the units that were allocated for them. Begun in the folder of the shop: `node look.mjs`.
import { createRequire } from 'node:module';

const require = createRequire(process.cwd() + '/');
const { ask, end } = await connect(new URL(process.env.STORE));

console.log('version:', await ask('select version() as v'));
console.log('isolation:', await ask(process.env.STORE.startsWith('mysql') ? 'select @@tx_isolation as v' : 'show transaction_isolation'));
const sales = new Map();
for (const [table, column] of [['trial_orders', 'ordered'], ['trial_allocations', 'allocated']]) {
    for (const { buyer, units } of await ask(`select buyer, units from ${table}`, true)) {
        // buyer-RUN-SALE-NUMBER@example.com
        const sale = buyer.replace(/-\d+@.*/, '');
        sales.set(sale, sales.get(sale) ?? { ordered: 0, allocated: 0 });
        sales.get(sale)[column] += Number(units);
    }
}
console.table(Object.fromEntries(sales));
await end();

async function connect(url) {
    if (url.protocol === 'mysql:') {
        const to = await require('mysql2/promise').createConnection(url.href);
        return { ask: async (sql, all) => pick((await to.query(sql))[0], all), end: () => to.end() };
    }
    const to = new (require('pg').Client)(url.href);
    await to.connect();
    return { ask: async (sql, all) => pick((await to.query(sql)).rows, all), end: () => to.end() };
}

function pick(rows, all) {
    return all ? rows : Object.values(rows[0])[0];
}
