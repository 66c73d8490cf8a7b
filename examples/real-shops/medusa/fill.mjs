// Fills a new Medusa through its own admin API: a place that holds stock, one way to ship, and one product with managed stock.
const [url, email, password] = process.argv.slice(2);
let token;

async function send(method, path, body) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const answer = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}
const post = (path, body) => send('POST', path, body);

({ token } = await post('/auth/user/emailpass', { email, password }));

const { sales_channel: channel } = await post('/admin/sales-channels', { name: 'Web' });
const { api_key: key } = await post('/admin/api-keys', { title: 'Web', type: 'publishable' });
await post(`/admin/api-keys/${key.id}/sales-channels`, { add: [channel.id] });

const { region } = await post('/admin/regions', {
  name: 'US', currency_code: 'usd', countries: ['us'], payment_providers: ['pp_system_default'],
});

const { stock_location: place } = await post('/admin/stock-locations', { name: 'Store' });
await post(`/admin/stock-locations/${place.id}/sales-channels`, { add: [channel.id] });
await post(`/admin/stock-locations/${place.id}/fulfillment-providers`, { add: ['manual_manual'] });
await post(`/admin/stock-locations/${place.id}/fulfillment-sets`, { name: 'Shipping', type: 'shipping' });
const { stock_location: with_sets } = await send('GET', `/admin/stock-locations/${place.id}?fields=*fulfillment_sets`);
const { fulfillment_set: set } = await post(`/admin/fulfillment-sets/${with_sets.fulfillment_sets[0].id}/service-zones`, {
  name: 'US', geo_zones: [{ type: 'country', country_code: 'us' }],
});
const { shipping_profile: profile } = await post('/admin/shipping-profiles', { name: 'All', type: 'all' });
const { shipping_option: shipping } = await post('/admin/shipping-options', {
  name: 'Post', service_zone_id: set.service_zones[0].id, shipping_profile_id: profile.id, provider_id: 'manual_manual',
  price_type: 'flat', type: { label: 'Post', description: 'Post', code: 'post' }, prices: [{ currency_code: 'usd', amount: 5 }],
});

const { product } = await post('/admin/products', {
  title: 'Lamp', status: 'published', shipping_profile_id: profile.id, sales_channels: [{ id: channel.id }],
  options: [{ title: 'Size', values: ['One'] }],
  variants: [{
    title: 'One', sku: 'LAMP', manage_inventory: true, allow_backorder: false, options: { Size: 'One' },
    prices: [{ currency_code: 'usd', amount: 20 }],
  }],
});
const { inventory_items: [item] } = await send('GET', '/admin/inventory-items?sku=LAMP');
await post(`/admin/inventory-items/${item.id}/location-levels`, { location_id: place.id, stocked_quantity: 3 });

console.log(`export MEDUSA_KEY=${key.token}`);
console.log(`export MEDUSA_REGION=${region.id}`);
console.log(`export MEDUSA_VARIANT=${product.variants[0].id}`);
console.log(`export MEDUSA_SHIPPING=${shipping.id}`);
