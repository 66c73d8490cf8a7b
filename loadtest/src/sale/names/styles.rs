//! The styles of names, as they are common in shops. All names are 1 to 64 characters of `A-Z a-z 0-9 . _ -`.

use super::uuid;

/// Writes a name with all of its bits, or with so many of them that two names never meet.
type Style<B> = fn(B) -> String;

/// The styles of items. A name keeps 62 bits or more.
pub(super) const ITEMS: [Style<u128>; 5] = [
    |bits| {
        let [material, thing] = [(&MATERIALS, 0), (&THINGS, 8)].map(|(words, from)| word(words, bits >> from));
        format!("{material}-{thing}-{}", in_base(36, kept(bits)))
    },
    |bits| {
        let (colour, id) = (word(&COLOURS, bits), in_base(36, kept(bits)).to_uppercase());
        format!("SKU-{id}-{}", colour[..3].to_uppercase())
    },
    |bits| (kept(bits) + 1_000_000_000_000_000_000).to_string(),
    |bits| uuid(bits).to_string(),
    |bits| format!("prod_{}", in_base(62, kept(bits))),
];

/// The styles of buyers. A name keeps all bits.
pub(super) const BUYERS: [Style<u32>; 5] = [
    |id| {
        let [first, last] =
            [(&FIRST_NAMES, 0), (&LAST_NAMES, 5)].map(|(words, from)| word(words, u128::from(id >> from)));
        format!("{first}.{last}{}", id >> 10)
    },
    |id| (u64::from(id) + 1_000_000_000).to_string(),
    |id| format!("cust-{id:08x}"),
    |id| format!("u_{}", in_base(36, id.into())),
    |id| {
        let rest = u128::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) >> 32;
        uuid(u128::from(id) << 96 | rest).to_string()
    },
];

/// The styles of idempotency keys. A name keeps 120 bits or more.
pub(super) const KEYS: [Style<u128>; 5] = [
    |bits| uuid(bits).to_string(),
    |bits| uuid(bits).simple().to_string(),
    |bits| in_base(62, bits),
    |bits| format!("order-{}", uuid(bits).simple()),
    |bits| format!("{:016x}.{:016x}", bits >> 64, bits as u64),
];

const MATERIALS: [&str; 16] = [
    "linen", "wool", "oak", "steel", "cotton", "leather", "bamboo", "copper", "silk", "pine", "felt", "glass", "denim",
    "cork", "marble", "brass",
];
const THINGS: [&str; 16] = [
    "apron", "lamp", "chair", "kettle", "scarf", "wallet", "tray", "pan", "shirt", "shelf", "slippers", "vase",
    "jacket", "board", "clock", "mug",
];
const COLOURS: [&str; 8] = ["blue", "green", "black", "white", "red", "grey", "yellow", "olive"];
const FIRST_NAMES: [&str; 32] = [
    "anna", "ben", "carla", "david", "elena", "felix", "grace", "hugo", "ines", "jonas", "kira", "liam", "maria",
    "noah", "olga", "paul", "rosa", "sam", "tina", "umar", "vera", "wei", "xenia", "yusuf", "zoe", "amir", "bella",
    "chen", "dana", "emil", "fatima", "george",
];
const LAST_NAMES: [&str; 32] = [
    "adler", "brown", "costa", "dubois", "evans", "fischer", "garcia", "huber", "ivanov", "jensen", "keller", "lopez",
    "martin", "novak", "olsen", "peters", "quinn", "rossi", "schmidt", "tanaka", "ueda", "varga", "weber", "xu",
    "young", "zhang", "ali", "baker", "clark", "diaz", "endo", "ford",
];

fn word<const N: usize>(words: &[&'static str; N], bits: u128) -> &'static str {
    words[(bits % N as u128) as usize]
}

/// Returns the bits of a name that need not hold all: their words take some more.
fn kept(bits: u128) -> u128 {
    bits >> 66
}

/// Writes a number with digits, small letters, and capital letters where the base needs them.
fn in_base(base: u128, mut number: u128) -> String {
    const DIGITS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut digits = Vec::new();
    loop {
        digits.push(char::from(DIGITS[(number % base) as usize]));
        number /= base;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}
