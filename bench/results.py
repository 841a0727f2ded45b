"""Keeps a whole run: bench/results/DATE-MACHINE-KIND with its JSON, table and plots, and the README shows the newest."""
import datetime
import json
import os
import re
import subprocess

import plots
import targets

HERE = os.path.dirname(os.path.abspath(__file__))
README = os.path.join(HERE, "..", "README.md")
FIELDS = "work", "who", "device", "n", "seconds", "gbps"  # first; what else is known of a row follows


def write_json(rows, path):
    def ordered(row):
        rest = {k: v for k, v in row.items() if k not in FIELDS}
        return {**{k: row[k] for k in FIELDS}, **rest}

    with open(path, "w", encoding="utf-8") as file:
        json.dump([ordered(row) for row in rows], file, indent=1)
        file.write("\n")


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    found = re.search(r"^(?:model name|Model|CPU part)\s*:\s*(.*)$", text, re.MULTILINE)
    return found.group(1).strip() if found else os.uname().machine


def device_name(device):
    """What the device calls itself; `weft info` knows."""
    tool = os.path.join(os.environ.get("WEFT_BUILD", "build/release"), "tools", "weft")
    try:
        text = subprocess.run([tool, "info", "--json"], stdout=subprocess.PIPE, check=True).stdout
        return next(d["name"] for d in json.loads(text)["devices"] if d["id"] == device)
    except (OSError, ValueError, StopIteration, subprocess.CalledProcessError):
        return device


def machine(device):
    """In words."""
    return f"{processor()}, {len(os.sched_getaffinity(0))} CPUs" if device == "cpu" else device_name(device)


def slug(words):
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"\((?:r|tm)\)", "", words.lower())).strip("-")


def commit():
    try:
        return subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE, check=True,
                              text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def figure(row):
    if not row:
        return ""
    return f"{row['gbps']:.3g}" if row["gbps"] > 0 and not plots.SIZE.match(row["work"]) else plots.seconds_words(row["seconds"])


def ratio(rows):
    """How many times the time of Weft the fastest peer takes."""
    own = next((r for r in rows if r["who"] == "weft"), None)
    peers = [r for r in rows if r["who"] not in targets.NOT_PEERS]
    if not own or not peers:
        return ""
    best = min(peers, key=lambda r: r["seconds"])
    return f"{best['seconds'] / own['seconds']:.2f} {best['who']}"


def table(rows):
    whos = plots.in_order(r["who"] for r in rows)
    yield "| work | " + " | ".join(whos) + " | fastest peer's time / Weft's |"
    yield "|---" + "|--:" * (len(whos) + 1) + "|"
    for work in dict.fromkeys(r["work"] for r in rows):
        here = [r for r in rows if r["work"] == work]
        cells = [figure(next((r for r in here if r["who"] == who), None)) for who in whos]
        yield f"| {work} | " + " | ".join(cells) + f" | {ratio(here)} |"


def document(rows, about, device, drawn, report):
    versions = {r["who"]: r["version"] for r in rows if "version" in r}
    yield f"# {about}"
    yield ""
    yield f"`./dev bench{'' if device == 'cpu' else ' -- --device ' + device}` at commit {commit()}. Medians of rounds in which all programs"
    yield "do a row in turn. GB/s, counting each operand once, or the time of a call. f32."
    yield "Beside: " + ", ".join(f"{who} {version}" for who, version in versions.items()) + "." if versions else "Without peers."
    for name in drawn:
        yield f"\n![{name.removesuffix('.svg')}]({name})"
    yield ""
    yield from table(rows)
    yield "\n```"
    yield from report
    yield "```"


def update_readme(path, folder, kind):
    """Its references to results of this kind of device become those to the newest."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    changed = re.sub(rf"bench/results/[\w.-]+-{kind}/", f"bench/results/{folder}/", text)
    if changed != text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(changed)


def keep(rows, device, report):
    """Writes all of it; returns the folder."""
    kind = device.partition(":")[0]
    today = datetime.date.today().isoformat()
    about = f"{today}, {machine(device)}"
    name = f"{today}-{slug(machine(device))}-{kind}"
    folder = os.path.join(HERE, "results", name)
    os.makedirs(folder, exist_ok=True)
    write_json(rows, os.path.join(folder, "results.json"))
    drawn = plots.draw_all(rows, about, folder)
    with open(os.path.join(folder, "results.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(document(rows, about, device, drawn, report)) + "\n")
    update_readme(README, name, kind)
    return folder
