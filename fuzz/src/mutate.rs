//! Changes of a case that keep it readable: a value of a JSON document in it becomes another one.

use serde_json::{Value, json};

use crate::BETWEEN;

/// Random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap_or(0)
    }
}

/// Changes one value of a line of JSON in a case; `None` where there is none.
pub fn json(data: &[u8], seed: u32) -> Option<Vec<u8>> {
    let mut random = Random(u64::from(seed) << 16 | 0x9e37);
    let is_end = |byte: &u8| *byte == BETWEEN || *byte == b'\n';
    let mut lines: Vec<Vec<u8>> = data.split_inclusive(is_end).map(<[u8]>::to_vec).collect();
    let mut documents = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let text = line.strip_suffix(b"\n").or_else(|| line.strip_suffix(&[BETWEEN])).unwrap_or(line);
        // The first line begins with two bytes that are not JSON.
        let skipped = if number == 0 { 2.min(text.len()) } else { 0 };
        if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_slice(&text[skipped..]) {
            documents.push((number, skipped, text.len(), value));
        }
    }
    if documents.is_empty() {
        return None;
    }
    let chosen = random.below(documents.len());
    let (number, skipped, end, mut value) = documents.swap_remove(chosen);
    let mut pool = Vec::new();
    collect(&value, &mut pool);
    let count = pool.len();
    let other = pool[random.below(count)].clone();
    let mut at = random.below(count);
    change(&mut value, &mut at, &other, &mut random);
    let mut line = lines[number][..skipped].to_vec();
    line.extend(value.to_string().into_bytes());
    line.extend_from_slice(&lines[number][end..]);
    lines[number] = line;
    Some(lines.concat())
}

fn collect<'a>(value: &'a Value, pool: &mut Vec<&'a Value>) {
    pool.push(value);
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, pool)),
        Value::Object(members) => members.values().for_each(|member| collect(member, pool)),
        _ => {}
    }
}

/// Counts `at` down to the value that is changed; whether it was found.
fn change(value: &mut Value, at: &mut usize, other: &Value, random: &mut Random) -> bool {
    if *at == 0 {
        *value = changed(value, other, random);
        return true;
    }
    *at -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| change(item, at, other, random)),
        Value::Object(members) => members.values_mut().any(|member| change(member, at, other, random)),
        _ => false,
    }
}

fn changed(value: &Value, other: &Value, random: &mut Random) -> Value {
    const TEXTS: [&str; 16] = [
        "",
        " ",
        "0",
        "1",
        "-1",
        "null",
        "[]",
        "\u{1b}[31m",
        "`x`",
        "a\nb\t",
        "\u{202e}\u{200b}\u{200d}é",
        "1e999",
        "0x1",
        "%1",
        "9223372036854775808",
        "2026-02-30 25:61:61",
    ];
    const NUMBERS: [&str; 10] = [
        "0",
        "-0",
        "-1",
        "1.0",
        "0.1",
        "1e5",
        "1e999",
        "18446744073709551616",
        "-9223372036854775808",
        "4294967296",
    ];
    match (random.below(10), value) {
        (0, _) => Value::Null,
        (1, _) => random.below(2).eq(&0).into(),
        (2, _) => TEXTS[random.below(TEXTS.len())].into(),
        (3, _) => serde_json::from_str(NUMBERS[random.below(NUMBERS.len())]).unwrap_or_default(),
        (4, _) => json!([value]),
        (5, _) => json!({"value": value}),
        (6, Value::Array(items)) if !items.is_empty() => {
            let mut items = items.clone();
            let twin = items[random.below(items.len())].clone();
            items.insert(random.below(items.len()), twin);
            items.into()
        }
        (7, Value::Array(items)) if !items.is_empty() => {
            let mut items = items.clone();
            items.remove(random.below(items.len()));
            items.into()
        }
        (6 | 7, Value::Object(members)) if !members.is_empty() => {
            let mut members = members.clone();
            let name = members.keys().nth(random.below(members.len())).cloned().unwrap_or_default();
            members.shift_remove(&name);
            members.into()
        }
        (8, Value::Number(number)) => number.to_string().into(),
        (8, Value::String(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| format!("{text}\u{202e}`").into())
        }
        _ => other.clone(),
    }
}

/// Changes a case in its buffer: three times of four a value of it, else bytes as `bytes` does. Gives its new size.
pub fn into(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    bytes: fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    match json(&data[..size], seed / 4).filter(|changed| seed % 4 != 0 && changed.len() <= max_size) {
        Some(changed) => {
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        None => bytes(data, size, max_size),
    }
}
