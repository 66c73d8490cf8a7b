// Fills a new EverShop through its own admin API: cash on delivery, one way to ship, and one product with managed stock.
const [url, email, password] = process.argv.slice(2);
let token;

async function post(path, body) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const answer = await fetch(`${url}/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${text}`);
  return JSON.parse(text).data;
}

token = (await post('/user/tokens', { email, password })).accessToken;
await post('/settings', { codPaymentStatus: 1, codDisplayName: 'Cash on delivery' });

// A new zone has the shop's own provider of shipping methods already.
const zone = await post('/shippingZones', { name: 'United States', countries: ['US'] });
const method = await post('/shippingProviders/core/methods', { name: 'Post', is_enabled: true });
await post('/shippingProviders/core/rates', { method_id: method.uuid, zone_id: zone.uuid, is_enabled: true, cost: 5 });

// What is shipped needs a box.
const box = await post('/packages', { name: 'Box', length: 10, width: 10, height: 10 });
await post('/products', {
  name: 'Lamp', sku: 'LAMP', url_key: 'lamp', price: 20, weight: 1, status: '1', visibility: '1',
  group_id: 1, qty: 3, manage_stock: '1', stock_availability: '1',
  package_id: box.package_id,
  meta_title: 'Lamp', meta_description: 'Lamp', meta_keywords: 'lamp',
});

console.log(`export EVERSHOP_SHIPPING=${method.uuid}`);
