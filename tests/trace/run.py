"""Timelines of WEFT_TRACE: what is in them, beside what the programs of program.c did, what goes wrong, and the page."""

import argparse
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = CUDA = SANITIZER = ""
ROWS, COLUMNS, THREADS, CALLS = 300, 500, 4, 200
ALL = 4 * ROWS * COLUMNS  # bytes of an array of program.c
KINDS = {"kernel", "copy", "call", "wait", "allocation", "compile"}
SKIPPED = 77
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_program(self, *arguments, trace="t.json", code=0, **environment):
        environment = dict(os.environ, WEFT_TRACE=trace, **environment)
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder.name, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def read(self, name="t.json"):
        """The events, after everything that holds for every timeline was checked."""
        with open(self.path(name), encoding="utf-8") as file:
            whole = json.load(file)
        events = [e for e in whole["traceEvents"] if e["ph"] == "X"]
        self.names = {e["tid"]: e["args"]["name"] for e in whole["traceEvents"] if e.get("name") == "thread_name"}
        self.other = whole["otherData"]
        for e in events:
            self.assertLessEqual({"name", "cat", "pid", "tid", "ts", "dur", "args"}, set(e))
            self.assertIn(e["cat"], KINDS)
            self.assertTrue(e["name"])
            self.assertGreaterEqual(e["ts"], 0)
            self.assertGreaterEqual(e["dur"], 0)
            self.assertEqual(e["args"]["stream"], self.names[e["tid"]])
            self.check_rate(e)
        for tid in self.names:
            self.check_nested([e for e in events if e["tid"] == tid])
        return events

    def check_rate(self, e):
        if e["cat"] in ("kernel", "copy"):
            self.assertIn("bytes", e["args"])
        if "GB/s" in e["args"]:
            self.assertAlmostEqual(e["args"]["GB/s"], e["args"]["bytes"] / (e["dur"] * 1e3), delta=0.0011)

    def check_nested(self, events):
        """In nanoseconds, as integers: an event is inside another one, or beside it."""
        stack = []
        spans = [(round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000), e["name"]) for e in events]
        for begin, end, name in sorted(spans, key=lambda s: (s[0], -s[1])):
            while stack and stack[-1] <= begin:
                stack.pop()
            self.assertTrue(not stack or end <= stack[-1], name)
            stack.append(end)

    def kernels(self, events, device="cpu"):
        """[(source or operation, bytes)], by time."""
        found = [e for e in events if e["cat"] == "kernel" and e["args"]["device"] == device]
        return [(e["args"].get("source", e["args"]["operation"]), e["args"]["bytes"])
                for e in sorted(found, key=lambda e: e["ts"])]

    def check_compute(self, events, device):
        kernels = self.kernels(events, device)
        expected = [("a += 2.0f * b + row", 3 * ALL + 4 * COLUMNS)] * 3 + [
            ("sums = sum(a * b, axis = 1)", 2 * ALL + 4 * ROWS),
            ("x * y", 3 * ALL),
            ("twice: { out(i, j) = 2.0f * in(i, j); }", 2 * ALL),
            ("steps: y = x + 1.0f", 2 * ALL)]
        sources = {source for source, _ in expected}
        self.assertEqual([k for k in kernels if k[0] in sources], expected)
        self.assertEqual(kernels.count(("weft_ones", ALL)), 2)
        self.assertEqual(kernels.count(("weft_ones", 4 * COLUMNS)), 1)
        total = [size for source, size in kernels if source == "sum(a)"]
        chunks = 4 * -(-ROWS * COLUMNS // 4096)  # a result of each goes through memory, if there are two stages
        self.assertIn(total, ([ALL + 4], [ALL + chunks, chunks + 4], [ALL + -(-chunks // 64) * 64, -(-chunks // 64) * 64 + 4]))
        shifted = [size for source, size in kernels if source == "steps: y = 0.5f * y + shift(y, 1, 0)"]
        self.assertEqual(shifted, [2 * ALL] * 4)  # into new memory and back, twice
        self.assertEqual([e["args"]["operation"] for e in events if e["name"] == "x * y" and e["cat"] == "kernel"], ["weft_multiply"])
        self.assertTrue(all(e["args"]["device"] == device for e in events if e["cat"] == "kernel" and "source" in e["args"]))
        memory = [e["args"]["bytes"] for e in events if e["cat"] == "allocation"]
        self.assertGreaterEqual(sum(ALL <= size <= ALL * 9 // 8 for size in memory), 3)
        compiled = {e["args"].get("source") for e in events if e["cat"] == "compile"}
        self.assertLessEqual(sources, compiled)

    def check_streams(self, events, device):
        kernels = self.kernels(events, device)
        self.assertEqual(kernels.count(("a = 0.5f * a + b", 3 * ALL)), CALLS)
        self.assertEqual(kernels.count(("b = 0.25f * a", 2 * ALL)), CALLS)
        rows = {}
        for e in events:
            if e["cat"] == "kernel" and "source" in e["args"]:
                rows.setdefault(e["tid"], set()).add(e["name"])
        self.assertEqual(sorted(map(sorted, rows.values())), [["a = 0.5f * a + b"], ["b = 0.25f * a"]])
        self.assertTrue(all(re.fullmatch(re.escape(device) + r", stream \d+", self.names[tid]) for tid in rows))
        # The two take turns: what one stream reads, the other has written before.
        turns = sorted((e for e in events if e["cat"] == "kernel" and "source" in e["args"]), key=lambda e: e["ts"])
        self.assertEqual([e["name"] for e in turns], ["a = 0.5f * a + b", "b = 0.25f * a"] * CALLS)
        compiled = {e["args"].get("source") for e in events if e["cat"] == "compile"}
        self.assertLessEqual({"a = 0.5f * a + b", "b = 0.25f * a"}, compiled)
        copies = [e["name"] for e in events if e["cat"] == "copy" and e["args"]["bytes"] == ALL]
        self.assertEqual(copies, [] if device == "cpu" else ["copy %s to host" % device])
        call, = [e for e in events if e["cat"] == "call"]
        self.assertEqual(call["name"], "my function")
        self.assertTrue(any(e["cat"] == "wait" and "stream" in e["name"] for e in events))


    def check_graph(self, events, device):
        kernels = [k for k in self.kernels(events, device) if k[0] != "weft_ones"]
        self.assertEqual(kernels[:4], [("a = a + 1.5f", 2 * ALL)] + [("a = a * 0.5f", 2 * ALL)] * 3)
        return kernels[4:]


class Timeline(InFolder):
    def test_graph(self):
        self.run_program("graph", WEFT_ENGINE="interpreter")
        self.assertEqual(self.check_graph(self.read(), "cpu"), [("add_one: (a)", ALL)])

    def test_compute(self):
        self.run_program("compute", WEFT_ENGINE="interpreter")
        self.check_compute(self.read(), "cpu")

    def test_streams(self):
        self.run_program("streams", WEFT_ENGINE="interpreter")
        self.check_streams(self.read(), "cpu")

    def test_threads(self):
        self.run_program("threads")
        events = self.read()
        for k in range(THREADS):
            own = [e for e in events if e["name"] == "a = a + %d" % k and e["cat"] == "kernel"]
            self.assertEqual(len(own), CALLS)
            self.assertEqual(len({e["tid"] for e in own}), 1)
            self.assertTrue(all(e["args"]["bytes"] == 2 * ALL for e in own))

    def test_forks(self):
        if SANITIZER == "thread":
            self.skipTest("the thread sanitizer does not know that mutexes are new in the child")
        child = int(self.run_program("forks", WEFT_THREADS="1", WEFT_ENGINE="interpreter").stdout)
        parent = self.kernels(self.read())
        self.assertEqual([k for k in parent if k[0] != "weft_ones"], [("a = a + 1", 2 * ALL), ("a = a + 3", 2 * ALL)])
        self.assertEqual([k for k in self.kernels(self.read("t.%d.json" % child)) if k[0] != "weft_ones"],
                         [("a = a + 2", 2 * ALL)])
        self.assertEqual(sorted(os.listdir(self.folder.name)),
                         sorted("t%s.%s" % (p, s) for p in ("", ".%d" % child) for s in ("json", "html")))

    def test_exit(self):
        self.run_program("leave", code=3)
        self.assertEqual(self.kernels(self.read()).count(("a = a - 1", 2 * ALL)), CALLS)

    def test_nothing(self):
        self.run_program("nothing")
        self.assertEqual(self.kernels(self.read()), [])

    def test_names_of_files(self):
        for trace, files in (("x.html", ["x.html", "x.json"]), ("y", ["y", "y.html"]), ("z.json", ["z.html", "z.json"])):
            self.run_program("text", "cpu", "a = a + 1", trace=trace)
            self.assertLessEqual(set(files), set(os.listdir(self.folder.name)))
        self.run_program("text", "cpu", "a = a + 1", trace="%p.json")
        self.assertTrue(any(re.fullmatch(r"\d+\.json", name) for name in os.listdir(self.folder.name)))
        before = os.listdir(self.folder.name)
        self.run_program("text", "cpu", "a = a + 1", trace="")
        self.assertEqual(os.listdir(self.folder.name), before)

    def test_texts(self):
        """Line ends, and what would end a text or a script."""
        self.run_program("text", "cpu", "a = a + 1; /* \"</script>\\ \n\t  \u00e4 */ a = a * 2")
        source, = {k[0] for k in self.kernels(self.read())} - {"weft_ones"}
        self.assertEqual(source, "a = a + 1; /* \"</script>\\ \u00e4 */ a = a * 2")
        with open(self.path("t.html"), encoding="utf-8") as file:
            self.assertEqual(file.read().count("</script"), 2)  # the page's own

    def test_limit(self):
        self.run_program("threads", WEFT_TRACE_EVENTS="1024")
        kept = len(self.read())
        self.assertLessEqual(kept, 1024)
        self.assertGreaterEqual(kept + self.other["events_not_recorded"], THREADS * CALLS)


class Trouble(InFolder):
    """There is one line that says so, and the program goes on."""

    def check_told(self, done, *words):
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        for word in ("weft: ", *words):
            self.assertIn(word, lines[0])

    def test_no_folder(self):
        self.check_told(self.run_program("compute", trace="missing/t.json"), "WEFT_TRACE", "missing/t.json", "No such file")

    def test_is_folder(self):
        os.mkdir(self.path("t.json"))
        self.check_told(self.run_program("compute"), "t.json", "Is a directory")

    def test_not_allowed(self):
        os.mkdir(self.path("closed"), 0o500)
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        self.check_told(self.run_program("compute", trace="closed/t.json"), "Permission denied")

    def test_full_disk(self):
        self.check_told(self.run_program("compute", trace="/dev/full"), "/dev/full", "No space left")
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_folder_goes_away(self):
        """The place is not there any more at the end."""
        os.mkdir(self.path("gone"))
        done = self.run_program("remove", "cpu", "gone", trace="gone/t.json")
        self.check_told(done, "gone/t.json", "could not be written", "No such file")

    def test_long_name(self):
        self.check_told(self.run_program("compute", trace="x" * 300 + ".json"), "could not be written", "too long")
        self.check_told(self.run_program("compute", trace="x" * 5000), "too long")

    def test_wrong_limit(self):
        self.check_told(self.run_program("compute", WEFT_TRACE_EVENTS="few"), "WEFT_TRACE_EVENTS", "few")
        self.read()


class OpenCL(InFolder):
    """Few kernels, each of which takes a part of a second to compile."""

    def test_streams(self):
        self.run_program("streams", "opencl:0")
        self.check_streams(self.read(), "opencl:0")


class Cuda(InFolder):
    """On what stands in for it: times come from events."""

    def test_streams(self):
        self.run_program("streams", "cuda:0", WEFT_CUDA=CUDA, WEFT_NVRTC=CUDA, WEFT_CACHE="off")
        self.check_streams(self.read(), "cuda:0")

    def test_graph(self):
        self.run_program("graph", "cuda:0", WEFT_CUDA=CUDA, WEFT_NVRTC=CUDA, WEFT_CACHE="off")
        self.assertEqual(self.check_graph(self.read(), "cuda:0"), [])


class Texts(html.parser.HTMLParser):
    """The cells of the table, and attributes by the id of their element."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.attributes, self.inside = [], {}, False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.attributes[attributes.get("id", tag)] = attributes
        if tag == "tr":
            self.rows.append([])
        self.inside = tag == "td" or (self.inside and tag in ("code", "span"))

    def handle_data(self, data):
        if self.inside:
            self.rows[-1].append(data)


# Uses the page as a person would, and leaves what became of it in the document.
PERSON = """
<script>
(async () => {
    const view = document.getElementById("view"), log = {};
    const rest = () => new Promise((done) => setTimeout(done, 30));
    const note = async (name) => { await rest(); log[name] = [Number(view.dataset.from), Number(view.dataset.to)]; };
    const key = async (k) => { view.dispatchEvent(new KeyboardEvent("keydown", {key: k, cancelable: true})); await note(k); };
    const pointer = (type, x, y) => { const box = view.getBoundingClientRect();
        view.dispatchEvent(new PointerEvent(type, {clientX: box.left + x, clientY: box.top + y, pointerId: 1, bubbles: true})); };
    await note("start");
    for (const k of ["+", "ArrowRight", "ArrowLeft", "-", "n", "z", "0"])
        await key(k);
    const box = view.getBoundingClientRect();
    view.dispatchEvent(new WheelEvent("wheel", {deltaY: -400, clientX: box.left + box.width / 2, clientY: box.top + 40, cancelable: true}));
    await note("wheel");
    pointer("pointerdown", 500, 40); pointer("pointermove", 400, 40); pointer("pointerup", 400, 40);
    await note("drag");
    await key("Home");
    log.first = document.querySelector("#kernels tbody code").textContent;
    document.querySelector("#kernels tbody tr").click();
    await note("click");
    log.tip = document.getElementById("tip").textContent;
    log.shown = getComputedStyle(document.getElementById("tip")).display;
    log.colour = getComputedStyle(document.body).backgroundColor;
    log.requests = performance.getEntriesByType("resource").map((e) => e.name);
    const done = document.createElement("p");
    done.id = "done";
    done.setAttribute("data-log", JSON.stringify(log));
    document.body.append(done);
})();
</script>
"""


@unittest.skipUnless(BROWSER, "there is no Chromium: the page was not looked at")
class Page(InFolder):
    def setUp(self):
        super().setUp()
        self.run_program("compute", WEFT_ENGINE="interpreter")
        self.events = self.read()

    def open(self, page, *options):
        done = subprocess.run([BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,800",
                               "--user-data-dir=" + self.path("profile"), "--virtual-time-budget=20000", *options,
                               "--dump-dom", "file://" + page],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        self.assertIn("data-ready", done.stdout, done.stderr[-2000:])
        return Texts(done.stdout)

    def check_table(self, page):
        self.assertEqual(page.attributes["html"]["data-ready"], str(len(self.events)))
        cells = [row for row in page.rows if row]
        self.assertEqual({row[0] for row in cells}, {e["name"] for e in self.events if e["cat"] == "kernel"})
        runs = {row[0]: int(row[2]) for row in cells}
        self.assertEqual(runs["a += 2.0f * b + row"], 3)
        totals = {}
        for e in self.events:
            if e["cat"] == "kernel":
                totals[e["name"]] = totals.get(e["name"], 0) + e["dur"]
        self.assertEqual([row[0] for row in cells], sorted(totals, key=lambda name: -totals[name]))

    def test_page(self):
        with open(self.path("t.html"), encoding="utf-8") as file:
            text = file.read()
        self.assertNotRegex(text.split('id="timeline"')[0], r"(src|href)\s*=|url\(|@import")
        with open(self.path("person.html"), "w", encoding="utf-8") as file:
            file.write(text.replace("</body>", PERSON + "</body>"))
        page = self.open(self.path("person.html"))
        self.check_table(page)
        self.check_log(json.loads(page.attributes["done"]["data-log"]))
        dark = self.open(self.path("person.html"), "--blink-settings=preferredColorScheme=0")
        colours = [json.loads(p.attributes["done"]["data-log"])["colour"] for p in (page, dark)]
        self.assertNotEqual(*colours)

    def check_log(self, log):
        length = lambda name: log[name][1] - log[name][0]
        whole = length("start")
        self.assertAlmostEqual(length("+"), whole / 2, delta=whole / 100)
        self.assertGreater(log["ArrowRight"][0], log["+"][0])
        self.assertAlmostEqual(log["ArrowLeft"][0], log["+"][0], delta=whole / 100)
        self.assertAlmostEqual(length("-"), whole, delta=whole / 100)
        self.assertLessEqual(length("z"), whole)
        self.assertEqual(log["0"], log["start"])
        self.assertLess(length("wheel"), 0.7 * whole)
        self.assertGreater(log["drag"][0], log["wheel"][0])
        self.assertAlmostEqual(length("drag"), length("wheel"), delta=whole / 100)
        self.assertEqual(log["Home"], log["start"])
        self.assertLessEqual(length("click"), whole)
        longest = max((e for e in self.events if e["name"] == log["first"] and e["cat"] == "kernel"), key=lambda e: e["dur"])
        self.assertLessEqual(log["click"][0], longest["ts"] + 0.01)
        self.assertGreaterEqual(log["click"][1], longest["ts"] + longest["dur"] - 0.01)
        self.assertEqual(log["shown"], "block")
        self.assertIn("GB/s", log["tip"])
        self.assertEqual(log["requests"], [])


def main():
    global PROGRAM, CUDA, SANITIZER
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--cuda", default="")
    parser.add_argument("--sanitizer", default="")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    PROGRAM, CUDA, SANITIZER = os.path.abspath(given.program), os.path.abspath(given.cuda), given.sanitizer
    result = unittest.main(argv=[sys.argv[0], *given.names], exit=False, verbosity=2).result
    if result.wasSuccessful() and result.testsRun and len(result.skipped) == result.testsRun:
        print("skipped: " + result.skipped[0][1])
        sys.exit(SKIPPED)
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
