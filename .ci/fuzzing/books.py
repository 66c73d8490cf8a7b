"""Compares the ledgers with the answers: every sold unit was asked for and answered."""
import time
from collections import Counter


def sold(records, stores):
    """Returns the units that were answered as sold, by item and store, and the answers that differ from their purchases."""
    counted, recorded, findings = Counter(), Counter(), []
    for record in records:
        if "sold" not in record:
            continue
        told = {name: record["sold"][name] for name in ("item", "quantity")}
        asked = record.get("asked", {"item": "fuzz-raw", "quantity": told["quantity"]})
        if asked != told:
            findings.append(f"{record['operation']} asked for {asked} and was sold {told}")
        if not record["again"]:
            names = stores[record.get("strategy") or "lua@redis"].split("+")
            counted[told["item"], names[0]] += told["quantity"]
            recorded[told["item"], names[-1]] += told["quantity"]
    return counted, recorded, findings


def settled(look, item):
    """Returns a sale once no purchase of it is half done, or its state after ten seconds."""
    for _ in range(100):
        sale = look(item)
        if not sale["pending"]["open"]:
            break
        time.sleep(0.1)
    return sale


def compare(records, stores, items, look):
    """Returns the units sold by all stores, and each item whose counter or ledger differs from the answers."""
    counted, recorded, findings = sold(records, stores)
    units = 0
    for item in items:
        for name, store in settled(look, item)["stores"].items():
            told = counted[item, name], recorded[item, name]
            real = store["opened"] - store["left"], store["units"]
            units += store["units"]
            if told != real:
                findings.append(f"{item} at {name}: (counter, ledger) are {real}, its buyers were told {told}")
    return units, findings
