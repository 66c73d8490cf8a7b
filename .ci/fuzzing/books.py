"""The ledgers after all: nothing is sold that was not asked for and told."""
import time
from collections import Counter


def sold(records, stores):
    """What buyers were told: units by item and the store that counts or records them, and what they had not asked for."""
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
    """A sale in which no purchase is half done any more, or what it is like after ten seconds."""
    for _ in range(100):
        sale = look(item)
        if not sale["pending"]["open"]:
            break
        time.sleep(0.1)
    return sale


def compare(records, stores, items, look):
    """Units sold by all stores, and each item whose counter or ledger says otherwise than its buyers."""
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
