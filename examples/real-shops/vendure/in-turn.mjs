// Buyers who are all ready to pay, and then pay one after the other: no two requests overlap. What is sold too much here is no
// race, but left to chance by the order of steps. `node in-turn.mjs BUYERS`, after the sale was opened with 3 units.
const shop = process.env.SHOP_URL + '/shop-api';
const run = 'turn-' + Date.now();

async function ask(buyer, query) {
    const headers = { 'content-type': 'application/json', ...(buyer.cookie && { cookie: buyer.cookie }) };
    const answer = await fetch(shop, { method: 'POST', headers, body: JSON.stringify({ query }) });
    const set = answer.headers.getSetCookie().map(cookie => cookie.split(';')[0]);
    if (set.length) buyer.cookie = set.join('; ');
    return (await answer.json()).data;
}

const buyers = [];
for (let number = 1; number <= Number(process.argv[2] ?? 10); number++) {
    const buyer = {};
    await ask(buyer, 'mutation { addItemToOrder(productVariantId: "1", quantity: 1) { __typename } }');
    await ask(buyer, `mutation { setCustomerForOrder(input: { firstName: "A", lastName: "Buyer",
        emailAddress: "buyer-${run}-1-${number}@example.com" }) { __typename } }`);
    await ask(buyer, `mutation { setOrderShippingAddress(input: { fullName: "A Buyer", streetLine1: "Ring 1", city: "Wien",
        postalCode: "1010", countryCode: "AT" }) { __typename } }`);
    await ask(buyer, 'mutation { setOrderShippingMethod(shippingMethodId: ["1"]) { __typename } }');
    await ask(buyer, 'mutation { transitionOrderToState(state: "ArrangingPayment") { __typename } }');
    buyers.push(buyer);
}
for (const [at, buyer] of buyers.entries()) {
    const data = await ask(buyer, `mutation { addPaymentToOrder(input: { method: "dummy", metadata: {} }) {
        __typename ... on Order { state } } }`);
    console.log(at + 1, JSON.stringify(data?.addPaymentToOrder));
}
