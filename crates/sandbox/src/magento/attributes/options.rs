//! Options of a product attribute, and what Magento's calls lose: its default, labels and places.

use serde_json::{Value, json};

use super::{GONE_DEFAULT, WITH_OPTIONS, check_store_views, named};
use crate::call::Call;
use crate::coerce::as_text;
use crate::reply::ApiError;
use crate::store::{Database, Document, ProductValue};

/// POST `products/attributes/{attributeCode}/options`: the id of the new option. The attribute's default is lost
/// unless the new one is the default.
pub fn add(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let id = named(records, &call)?;
    let attribute = records.attribute(id)?;
    let input = attribute.get("frontend_input").map(as_text).unwrap_or_default();
    if !WITH_OPTIONS.contains(&input.as_str()) {
        return Err(ApiError::new(400, "The \"%1\" attribute doesn't work with options.")
            .with(json!([call.parameter(0)])));
    }
    check(records, &attribute, &call.sent, None)?;
    set_default(records, id, "")?;
    let added = records.add_option(id, None, &call.sent)?.to_string();
    lose_others(records, &call, id, std::slice::from_ref(&added))?;
    Ok(added.into())
}

/// PUT `products/attributes/{attributeCode}/options/{optionId}`: fields that are not sent are lost, with the default.
pub fn replace(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let (id, option) = option(records, &call)?;
    check(records, &records.attribute(id)?, &call.sent, Some(&option))?;
    set_default(records, id, "")?;
    let value = as_text(&option["value"]);
    records.put_option(&value, &call.sent)?;
    lose_others(records, &call, id, &[value])?;
    Ok(json!(true))
}

/// DELETE `products/attributes/{attributeCode}/options/{optionId}`: it is removed from the values of products, and stays
/// the default if it was.
pub fn remove(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let (id, option) = option(records, &call).map_err(|refusal| ApiError { status: 404, ..refusal })?;
    if option["is_default"] == true {
        let mut attribute = records.attribute(id)?;
        attribute.insert(GONE_DEFAULT.to_owned(), option["value"].clone());
        records.put_attribute(Some(id), call.parameter(0), &attribute)?;
    }
    remove_with_values(records, call.parameter(0), &as_text(&option["value"]))?;
    lose_others(records, &call, id, &[])?;
    Ok(json!(true))
}

/// Deletes an option, and removes it from the values of products.
fn remove_with_values(records: &Database<'_>, code: &str, option: &str) -> Result<(), ApiError> {
    for of in records.values_of(code)? {
        let value = of.value.as_deref().unwrap_or_default();
        let rest: Vec<&str> = value.split(',').filter(|one| *one != option).collect();
        match rest.join(",") {
            rest if rest == value => {}
            rest if rest.is_empty() => records.remove_value(&of.sku, code, of.store)?,
            rest => records.put_value(&ProductValue { value: Some(rest), ..of })?,
        }
    }
    Ok(records.remove_option(option)?)
}

/// Removes the options that the fault `lose` takes from an attribute with a write of the options `kept`.
pub fn lose_others(
    records: &Database<'_>,
    call: &Call,
    attribute: i64,
    kept: &[String],
) -> Result<(), ApiError> {
    let options = options(&records.attribute(attribute)?).into_iter();
    let values = options.map(|option| option.get("value").map(as_text).unwrap_or_default());
    for lost in call.struck.lost(values.filter(|value| !kept.contains(value))) {
        remove_with_values(records, call.parameter(0), &lost)?;
    }
    Ok(())
}

/// Makes this option of an attribute the default, and no other; none if no option has this id.
pub fn set_default(records: &Database<'_>, attribute: i64, default: &str) -> Result<(), ApiError> {
    let mut stored = records.attribute(attribute)?;
    if stored.shift_remove(GONE_DEFAULT).is_some() {
        records.put_attribute(Some(attribute), &as_text(&stored["attribute_code"]), &stored)?;
    }
    for mut option in options(&stored) {
        let id = option.get("value").map(as_text).unwrap_or_default();
        option.insert("is_default".to_owned(), (id == default).into());
        records.put_option(&id, &option)?;
    }
    Ok(())
}

/// Takes the options of a PUT of the attribute: known ones get their places in the list, and the others are new, also the
/// blank one of a GET. Returns the values of all of them.
pub fn reorder(
    records: &Database<'_>,
    attribute: i64,
    sent: Option<&Value>,
) -> Result<Vec<String>, ApiError> {
    let known = options(&records.attribute(attribute)?);
    let sent = sent.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    let mut values = Vec::new();
    for (place, sent) in sent.enumerate() {
        values.push(match known.iter().find(|known| known.get("value") == sent.get("value")) {
            None => records.add_option(attribute, None, sent)?.to_string(),
            Some(known) => {
                let mut known = known.clone();
                known.insert("sort_order".to_owned(), place.into());
                let value = known.get("value").map(as_text).unwrap_or_default();
                records.put_option(&value, &known)?;
                value
            }
        });
    }
    Ok(values)
}

fn options(attribute: &Document) -> Vec<Document> {
    let options = attribute.get("options").and_then(Value::as_array).into_iter().flatten();
    options.filter_map(Value::as_object).cloned().collect()
}

/// The attribute and the option that the path names.
fn option(records: &Database<'_>, call: &Call) -> Result<(i64, Value), ApiError> {
    let id = named(records, call)?;
    let mut known = options(&records.attribute(id)?).into_iter();
    let option = known.find(|option| option.get("value").map(as_text).as_deref() == Some(call.parameter(1)));
    let message = "The \"%1\" attribute doesn't include an option with \"%2\" ID.";
    let unknown = || ApiError::new(400, message).with(json!(call.parameters));
    option.map(|option| (id, Value::Object(option))).ok_or_else(unknown)
}

/// 400 without a label, and for the label of another option than `own`, in any letter case, or an option's ID; 500 for
/// labels of unknown store views.
fn check(
    records: &Database<'_>,
    attribute: &Document,
    sent: &Document,
    own: Option<&Value>,
) -> Result<(), ApiError> {
    let own = own.map(|own| &own["value"]);
    let text =
        |of: &Document, name: &str| of.get(name).map(as_text).unwrap_or_default().trim().to_lowercase();
    let label = text(sent, "label");
    if label.is_empty() {
        return Err(ApiError::new(
            400,
            "The attribute option label is empty. Enter the value and try again.",
        ));
    }
    let is_taken = |known: &Document| {
        known.get("value") != own && (text(known, "label") == label || text(known, "value") == label)
    };
    if options(attribute).iter().any(is_taken) {
        return Err(ApiError::new(400, "Admin store attribute option label \"%1\" is already exists.")
            .with(json!([sent.get("label")])));
    }
    check_store_views(records, &Document::from_iter([("options".to_owned(), json!([sent]))]))
}
