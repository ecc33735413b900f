#!/usr/bin/env python3
"""Writes the field tables of Magento's interface, src/wire/magento/*.rs, from the schema that a shop publishes.

    scripts/magento-fields.py SCHEMA.json     # GET /rest/all/schema?services=all with an administrator's token

The tables are committed, so that a build needs neither the schema nor this script.
"""

import json
import pathlib
import subprocess
import sys

TARGET = pathlib.Path(__file__).resolve().parent.parent / "src/wire/magento"
SCALARS = {"string": "Text", "integer": "Integer", "number": "Number", "boolean": "Boolean"}

# File, and its objects: definition in the schema, name of the table, name in messages. An object stands before those
# that contain it.
FILES = {
    "address": ("Addresses of a customer.", [
        ("framework-attribute-interface", "CUSTOM_ATTRIBUTE", "custom attribute"),
        ("customer-data-region-interface", "REGION", "region"),
        ("customer-data-address-interface", "ADDRESS", "profile address"),
    ]),
    "customer": ("Customers.", [
        ("customer-data-customer-extension-interface", "CUSTOMER_EXTENSION", "customer extension attributes"),
        ("customer-data-customer-interface", "CUSTOMER", "customer"),
    ]),
    "attribute": ("Product attributes.", [
        ("eav-data-attribute-frontend-label-interface", "STORE_LABEL", "store label"),
        ("eav-data-attribute-option-label-interface", "OPTION_LABEL", "option label"),
        ("eav-data-attribute-option-interface", "ATTRIBUTE_OPTION", "attribute option"),
        ("catalog-data-product-attribute-interface", "ATTRIBUTE", "attribute"),
    ]),
    "cart_item": ("Items of a cart.", [
        ("configurable-product-data-configurable-item-option-value-interface", "CONFIGURABLE_ITEM_OPTION",
         "configurable item option"),
        ("quote-data-product-option-extension-interface", "PRODUCT_OPTION_EXTENSION",
         "product option extension attributes"),
        ("quote-data-product-option-interface", "PRODUCT_OPTION", "product option"),
        ("quote-data-cart-item-interface", "CART_ITEM", "cart item"),
    ]),
    "shipping": ("Shipping information and payment of a cart.", [
        ("quote-data-address-interface", "QUOTE_ADDRESS", "quote address"),
        ("quote-data-payment-interface", "PAYMENT", "payment"),
        ("checkout-data-shipping-information-interface", "ADDRESS_INFORMATION", "address information"),
    ]),
}
NAMES = {definition: (file, name) for file, (_, objects) in FILES.items() for definition, name, _ in objects}


def text_literal(text):
    return json.dumps(text, ensure_ascii=False)


def reference(part):
    return part["$ref"].rsplit("/", 1)[1] if "$ref" in part else None


def field_type(part, file, used):
    """The Rust type of a property, and the tables of other files that it uses."""
    if definition := reference(part):
        if definition not in NAMES:
            return "FieldType::AnyObject"
        other, name = NAMES[definition]
        if other != file:
            used.add(f"super::{other}::{name}")
        return f"FieldType::Object(&{name})"
    if part["type"] == "array":
        definition = reference(part["items"])
        if definition is None:
            return "FieldType::TextList"
        if definition not in NAMES:
            return "FieldType::AnyList"
        other, name = NAMES[definition]
        if other != file:
            used.add(f"super::{other}::{name}")
        return f"FieldType::List(&{name})"
    return f"FieldType::Scalar(Scalar::{SCALARS[part['type']]})"


def main():
    definitions = json.load(open(sys.argv[1], encoding="utf-8"))["definitions"]
    for file, (about, objects) in FILES.items():
        used, tables = set(), []
        for definition, constant, name in objects:
            rows = []
            for field, part in definitions[definition]["properties"].items():
                doc = " ".join(part.get("description", "").split()).rstrip(".") or field.replace("_", " ").capitalize()
                rows.append(f"field({text_literal(field)}, {field_type(part, file, used)}, {text_literal(doc)}),")
            tables.append(f"/// `{definition}`\npub static {constant}: ObjectSchema = ObjectSchema {{ name: {text_literal(name)}, "
                          f"section: \"Magento\", own_fields: &[{' '.join(rows)}] }};\n")
        imports = "".join(f"use {path};\n" for path in sorted(used))
        scalar = ", Scalar" if "Scalar::" in "".join(tables) else ""
        text = (f"//! {about} Made by `scripts/magento-fields.py` from the schema that Magento publishes.\n\n{imports}"
                f"use super::super::member as field;\nuse crate::wire::{{FieldType, ObjectSchema{scalar}}};\n\n" + "\n".join(tables))
        path = TARGET / f"{file}.rs"
        path.write_text(text, encoding="utf-8")
        subprocess.run(["rustfmt", "--edition", "2024", path], check=True)


main()
