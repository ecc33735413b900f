#!/usr/bin/env python3
"""Writes the field tables of Magento's interface, src/wire/magento.tsv, from the schema that a shop publishes.

    scripts/magento-fields.py SCHEMA.json     # GET /rest/all/schema?services=all with an administrator's token

The table is committed, so that a build needs neither the schema nor this script.
"""

import json
import pathlib
import sys

TARGET = pathlib.Path(__file__).resolve().parent.parent / "src/wire/magento.tsv"
SCALARS = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}

# Definition in the schema, and the object's name in the table. An object stands before those that contain it.
OBJECTS = {
    "framework-attribute-interface": "custom attribute",
    "customer-data-region-interface": "region",
    "customer-data-address-interface": "profile address",
    "customer-data-customer-extension-interface": "customer extension attributes",
    "customer-data-customer-interface": "customer",
    "eav-data-attribute-frontend-label-interface": "store label",
    "eav-data-attribute-option-label-interface": "option label",
    "eav-data-attribute-option-interface": "attribute option",
    "catalog-data-product-attribute-interface": "attribute",
    "configurable-product-data-configurable-item-option-value-interface": "configurable item option",
    "quote-data-product-option-extension-interface": "product option extension attributes",
    "quote-data-product-option-interface": "product option",
    "quote-data-cart-item-interface": "cart item",
    "quote-data-address-interface": "quote address",
    "quote-data-payment-interface": "payment",
    "checkout-data-shipping-information-interface": "address information",
}


def reference(part):
    return part["$ref"].rsplit("/", 1)[1] if "$ref" in part else None


def field_type(part):
    """What a property holds: a scalar, `texts`, or an object or a list, with the object's name if it is in the table."""
    if definition := reference(part):
        return f"object {OBJECTS.get(definition, '')}".strip()
    if part["type"] == "array":
        definition = reference(part["items"])
        return f"list {OBJECTS.get(definition, '')}".strip() if definition else "texts"
    return SCALARS[part["type"]]


def main():
    definitions = json.load(open(sys.argv[1], encoding="utf-8"))["definitions"]
    rows = []
    for definition, name in OBJECTS.items():
        for field, part in definitions[definition]["properties"].items():
            doc = " ".join(part.get("description", "").split()).rstrip(".") or field.replace("_", " ").capitalize()
            rows.append("\t".join([name, field, field_type(part), doc]))
    TARGET.write_text("\n".join(rows) + "\n", encoding="utf-8")


main()
