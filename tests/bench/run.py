"""What ./dev bench makes of measured rows: JSON, table, plots, and what the README shows. The rows are made up."""
import json
import os
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench"))
import plots
import results
import svg
import targets

SVG = "{http://www.w3.org/2000/svg}"


def row(work, who, count, seconds, moved=0):
    return {"bytes": moved, "work": work, "who": who, "device": "cpu", "n": count, "seconds": seconds,
            "gbps": moved / seconds * 1e-9, "all_seconds": [seconds]}


def made_up():
    """A billion elements: Weft takes 1 s, what is by hand 0.5 s, a peer 2 s, another 4 s."""
    whos = {"weft": 1.0, "hand": 0.5, "numpy": 2.0, "jax": 4.0, "memcpy": 0.1}
    rows = [row("c = a + b", who, 10**9, seconds, 12 * 10**9) for who, seconds in whos.items()]
    rows += [row("laplacian(a), 400^3", who, 10**9, seconds, 8 * 10**9) for who, seconds in whos.items()]
    rows += [row(plots.COMPUTE, "hand", 10**12, 1.0)]
    for who, seconds in whos.items():
        rows += [row(f"c += 1/a + 2ab, 2^{k} elements", who, 1 << k, 1e-7 * seconds + 1e-9 * 2**k, 16 << k) for k in (0, 14, 28)]
        rows += [row(f"{terms} terms on 2^20 elements", who, 1 << 20, 1e-4 * seconds * terms, 12 << 20) for terms in (2, 512)]
    return rows


def words_of(path):
    return [element.text for element in xml.etree.ElementTree.parse(path).iter(SVG + "text")]


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)


class Plots(InFolder):
    def test_all_are_drawn_with_their_words(self):
        self.assertEqual(plots.draw_all(made_up(), "a day, a machine", self.folder), list(plots.PLOTS))
        expected = {"peers.svg": ["c = a + b", "laplacian(a)", "weft", "numpy", "12"],
                    "roofline.svg": ["operations for each byte that must move", "operations a second, in 10⁹", "laplacian(a)",
                                     "memory: 24 GB/s (c = a + b by hand)"],
                    "sizes.svg": ["elements, f32", "time of a call", "2²⁸", "numpy"],
                    "lengths.svg": ["terms, on 2²⁰ elements, f32", "time of a call", "512", "jax"]}
        for name, words in expected.items():
            found = words_of(self.path(name))
            self.assertIn("a day, a machine", found)
            for word in words:
                self.assertIn(word, found, name)
            self.assertIn("prefers-color-scheme: dark", open(self.path(name), encoding="utf-8").read())

    def test_everything_is_inside(self):
        plots.draw_all(made_up(), "", self.folder)
        for name in plots.PLOTS:
            root = xml.etree.ElementTree.parse(self.path(name)).getroot()
            width, height = float(root.get("width")), float(root.get("height"))
            for circle in root.iter(SVG + "circle"):
                self.assertTrue(0 < float(circle.get("cx")) < width and 0 < float(circle.get("cy")) < height, name)
            for bar in root.iter(SVG + "rect"):
                self.assertLessEqual(float(bar.get("x")) + float(bar.get("width")), width, name)

    def test_bars_are_as_long_as_fast(self):
        plots.draw_all(made_up(), "", self.folder)
        bars = [element for element in xml.etree.ElementTree.parse(self.path("peers.svg")).iter(SVG + "rect")]
        lengths = {bar.get("fill"): float(bar.get("width")) for bar in bars[1:6]}  # of the first work
        self.assertAlmostEqual(lengths[svg.colour_of("hand")], 2 * lengths[svg.colour_of("weft")], delta=0.2)
        self.assertAlmostEqual(lengths[svg.colour_of("numpy")], lengths[svg.colour_of("weft")] / 2, delta=0.2)

    def test_what_is_missing_is_not_drawn(self):
        self.assertEqual(plots.draw_all([row("c = a + b", "weft", 10, 1.0, 120)], "", self.folder), ["peers.svg"])
        self.assertEqual(plots.draw_all([], "", self.folder), [])

    def test_names_do_not_overlap(self):
        places = svg.spread_apart([5, 5, 5, 90], 10, 0, 100)
        self.assertEqual(sorted(places), places)
        for one, next_one in zip(places, places[1:]):
            self.assertGreaterEqual(next_one - one, 10)
        self.assertLessEqual(max(svg.spread_apart([99] * 30, 10, 0, 100)), 100)


class Results(InFolder):
    def test_json_has_the_fields_first(self):
        results.write_json(made_up(), self.path("rows.json"))
        with open(self.path("rows.json"), encoding="utf-8") as file:
            rows = json.load(file)
        self.assertEqual(len(rows), len(made_up()))
        for found in rows:
            self.assertEqual(tuple(found)[:6], ("work", "who", "device", "n", "seconds", "gbps"))

    def test_table_has_ratios_to_the_fastest_peer(self):
        lines = list(results.table(made_up()))
        self.assertTrue(lines[0].startswith("| work | weft | hand | numpy | jax | memcpy |"))
        line = next(line for line in lines if line.startswith("| c = a + b |"))
        self.assertEqual(line, "| c = a + b | 12 | 24 | 6 | 3 | 120 | 2.00 numpy |")

    def test_readme_shows_the_newest_of_each_kind(self):
        with open(self.path("README.md"), "w", encoding="utf-8") as file:
            file.write("![a](bench/results/2020-01-01-old-cpu/peers.svg) and ![b](bench/results/2020-01-01-old-cuda/peers.svg)")
        results.update_readme(self.path("README.md"), "2021-02-03-new-cpu", "cpu")
        with open(self.path("README.md"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "![a](bench/results/2021-02-03-new-cpu/peers.svg) and "
                             "![b](bench/results/2020-01-01-old-cuda/peers.svg)")

    def test_names_of_folders(self):
        self.assertEqual(results.slug("Intel(R) Xeon(R) Processor, 2 CPUs"), "intel-xeon-processor-2-cpus")

    def test_bare_calls_are_no_peers(self):
        rows = [row("c = a + b", who, 10, seconds, 120) for who, seconds in (("weft", 1.0), ("memcpy", 0.1), ("jax", 2.0))]
        self.assertIn("    reached     2.000 of the speed of jax, the fastest peer (at least 0.98)", list(targets.report(rows, "cpu")))


class Kept(unittest.TestCase):
    def test_what_the_readme_shows_is_there(self):
        with open(results.README, encoding="utf-8") as file:
            text = file.read()
        shown = set(results.re.findall(r"bench/results/[\w./-]+", text))
        self.assertTrue(any(name.endswith("peers.svg") for name in shown))
        for name in shown:
            self.assertTrue(os.path.exists(os.path.join(os.path.dirname(results.README), name)), name)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
