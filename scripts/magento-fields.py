#!/usr/bin/env python3
"""Writes the field tables of Magento's interface, crates/core/src/interface/magento.tsv, from the schema that a shop publishes.

    scripts/magento-fields.py                 # from the part of the schema that the repository keeps
    scripts/magento-fields.py SCHEMA.json     # keeps that part of another: GET /rest/all/schema?services=all
                                              # with an administrator's token

The table is committed, so that a build needs neither the schema nor this script; a test compares the two.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "crates/core/src/interface/magento.tsv"
KEPT = ROOT / "tests/golden/magento-schema.json"
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
    "sales-data-order-address-interface": "order address",
    "sales-data-order-status-history-interface": "order comment",
}


def keep(schema):
    """Writes the definitions that the table is made of, each with the object's name as its title."""
    kept = {
        definition: {"title": name, "properties": schema["definitions"][definition]["properties"]}
        for definition, name in OBJECTS.items()
    }
    part = {"swagger": schema["swagger"], "info": schema["info"], "definitions": kept}
    KEPT.write_text(json.dumps(part, indent=1) + "\n", encoding="utf-8")


def field_type(part, definitions):
    """What a property holds: a scalar, `texts`, or an object or a list, with the object's name if it is in the table."""
    kind, inside = ("list", part["items"]) if part.get("type") == "array" else ("object", part)
    if "$ref" in inside:
        definition = definitions.get(inside["$ref"].rsplit("/", 1)[1], {})
        return f"{kind} {definition.get('title', '')}".strip()
    return "texts" if kind == "list" else SCALARS[part["type"]]


def main():
    if len(sys.argv) > 1:
        keep(json.load(open(sys.argv[1], encoding="utf-8")))
    definitions = json.load(open(KEPT, encoding="utf-8"))["definitions"]
    rows = []
    for definition in definitions.values():
        for field, part in definition["properties"].items():
            doc = " ".join(part.get("description", "").split()).rstrip(".") or field.replace("_", " ").capitalize()
            doc = re.sub(r"\bid\b", "ID", doc.replace("Vat id", "VAT number"), flags=re.IGNORECASE)
            holds = field_type(part, definitions)
            # The schema has a paragraph of legal advice there.
            doc = "Date of birth" if field == "dob" else doc
            # The client takes codes there, too.
            holds = "storeview" if field == "store_id" and "label" in definition["title"] else holds
            rows.append("\t".join([definition["title"], field, holds, doc]))
    TABLE.write_text("\n".join(rows) + "\n", encoding="utf-8")


main()
