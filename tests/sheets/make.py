#!/usr/bin/env python3
"""Makes the sheets in this directory: exports of the sandbox with `shop.ndjson` and `attributes.json` in it, and what spreadsheets
save of them.

    cargo build && python3 tests/sheets/make.py target/debug/storefront

It needs LibreOffice (`soffice`), which the tests do not: they read what is committed here. What Excel saves is written by its
documented rules: a formula as its text, cells parted by the separator of the system, UTF-8 with a mark or UTF-16 with tabs.
"""

import csv
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
CODES = ["sheet_decade", "sheet_weave", "sheet_year"]
LOCALE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>%s</value></prop></item>
</oor:items>
"""


def export(program, directory):
    names = ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HOME"]
    environment = {**os.environ, **{name: str(directory) for name in names}}
    environment = {name: value for name, value in environment.items() if not name.startswith("STOREFRONT_")}

    def run(*words):
        subprocess.run([program, "--sandbox", "--api", "magento", *words], env=environment, check=True)

    run("customer", "update", "-i", str(HERE / "shop.ndjson"), "--yes", "--journal", str(directory / "journal"))
    made = directory / "addresses.csv"
    run("customer", "export", "--all-customers", "--to", str(made))
    shutil.copyfile(made, HERE / "addresses.csv")
    run("attribute", "create", "-i", str(HERE / "attributes.json"), "--yes", "--journal", str(directory / "journal2"))
    made = directory / "attributes.csv"
    run("attribute", "export", "--format", "csv", "--to", str(made), *CODES)
    shutil.copyfile(made, HERE / "attributes.csv")


def saved_by_libreoffice(directory, what, locale, language, separator, name):
    """Opens an export with the rules of a country, and saves it as a sheet and from there as CSV."""
    profile = directory / locale
    (profile / "user").mkdir(parents=True, exist_ok=True)
    (profile / "user" / "registrymodifications.xcu").write_text(LOCALE % locale)

    def convert(source, *words):
        line = ["soffice", f"-env:UserInstallation=file://{profile}", "--headless", *words]
        subprocess.run([*line, "--outdir", str(profile), str(source)], check=True, stdout=subprocess.DEVNULL)

    # Separated by commas, quoted, UTF-8, from the first line on, no formats of columns, in the language of the country.
    read = f"--infilter=Text - txt - csv (StarCalc):44,34,76,1,,{language}"
    convert(HERE / f"{what}.csv", read, "--convert-to", "ods")
    convert(profile / f"{what}.ods", "--convert-to", f"csv:Text - txt - csv (StarCalc):{ord(separator)},34,76,1")
    shutil.copyfile(profile / f"{what}.csv", HERE / name)


def rows():
    text = (HERE / "addresses.csv").read_text(encoding="utf-8-sig")
    def of(cell):
        return cell[2:-1].replace('""', '"') if cell.startswith('="') else cell
    return [[of(cell) for cell in row] for row in csv.reader(io.StringIO(text))]


def text_of(table, separator):
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\r\n").writerows(table)
    return text.getvalue()


def after_loss(cell):
    """What a spreadsheet takes a cell for that was saved as its text and is opened once more."""
    return cell.lstrip("0") or "0" if cell.isdecimal() and len(cell) < 16 else cell


def main():
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        export(str(pathlib.Path(sys.argv[1]).resolve()), directory)
        saved_by_libreoffice(directory, "addresses", "en-US", 1033, ",", "libreoffice-en.csv")
        saved_by_libreoffice(directory, "addresses", "de-DE", 1031, ";", "libreoffice-de.csv")
        saved_by_libreoffice(directory, "attributes", "en-US", 1033, ",", "attributes-en.csv")
        saved_by_libreoffice(directory, "attributes", "de-DE", 1031, ";", "attributes-de.csv")
    table = rows()
    (HERE / "excel-de.csv").write_bytes(("\ufeff" + text_of(table, ";")).encode())
    (HERE / "excel-unicode.txt").write_bytes(("\ufeff" + text_of(table, "\t")).encode("utf-16-le"))
    lost = [[after_loss(cell) for cell in row] for row in table]
    (HERE / "lost-zeros.csv").write_bytes(("\ufeff" + text_of(lost, ",")).encode())


main()
