"""The command weft as a user calls it: results beside Python's own arithmetic, wrong usage, wrong files, pieces."""

import argparse
import array
import json
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
import xml.dom.minidom
import zipfile

TOOL = ""
HERE = os.path.dirname(os.path.abspath(__file__))
CODES = {"<f8": "d", "<f4": "f", "<f2": "e", "<i4": "i", "<i8": "q", "<u2": "H", "|b1": "B"}


def write_npy(path, values, dtype="<f8", shape=None, fortran=False):
    shape = "(%s,)" % len(values) if shape is None else repr(tuple(shape))
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (dtype, fortran, shape)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        file.write(struct.pack("<%d%s" % (len(values), CODES[dtype]), *values))


def read_npy(path):
    data = open(path, "rb").read()
    length, = struct.unpack("<H", data[8:10])
    header = eval(data[10:10 + length])  # of a file that the tool has written just now
    return header, list(array.array(CODES[header["descr"]], data[10 + length:]))


def run(*arguments, code=0, environment=None):
    """What it prints; the exit code is checked."""
    done = subprocess.run([TOOL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, **(environment or {})))
    if done.returncode != code:
        raise AssertionError("weft %s: exit code %d, expected %d\n%s%s" %
                             (" ".join(arguments), done.returncode, code, done.stdout, done.stderr))
    return done


def fold(values):
    """The sum in the order of docs/semantics.md; Python's floats are f64."""
    def halve(slots):
        half = 1
        while half < len(slots):
            half *= 2
        while half > 1:
            half //= 2
            slots = [slots[k] + slots[k + half] if k + half < len(slots) else slots[k]
                     for k in range(min(half, len(slots)))]
        return slots[0]

    chunks = []
    for begin in range(0, len(values), 4096):
        chunk, lanes = values[begin:begin + 4096], []
        for lane in range(min(128, len(chunk))):
            total = chunk[lane]
            for k in range(lane + 128, len(chunk), 128):
                total += chunk[k]
            lanes.append(total)
        chunks.append(halve(lanes))
    return halve(chunks)


def numbers(count):
    return [((k * 7919) % 10007) / 997.0 + 1e-3 * (k % 17) for k in range(count)]


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.before = os.getcwd()
        os.chdir(self.folder.name)
        self.addCleanup(os.chdir, self.before)

    def value(self, *arguments, name="result", **more):
        return json.loads(run("eval", *arguments, "--json", **more).stdout)[name]["value"]


class Usage(InFolder):
    def test_help(self):
        for command in ([], ["eval"], ["info"], ["explain"], ["bench"], ["trace"], ["cache"]):
            for option in ("--help", "-h"):
                done = run(*command, option)
                self.assertTrue(done.stdout.startswith("usage: weft"))
                self.assertEqual(done.stderr, "")
        self.assertRegex(run("--version").stdout, r"^weft \d+\.\d+\.\d+\n$")

    def test_wrong_usage(self):
        cases = [([], "usage"), (["evil"], "no command 'evil'"), (["eval"], "no code"),
                 (["eval", "a", "--nothing"], "--nothing"), (["eval", "a", "a"], "NAME=FILE"),
                 (["eval", "a", "a=1", "a=2"], "twice"), (["eval", "b = a", "a=1", "-o"], "needs a value"),
                 (["eval", "b = a", "a=1", "-o", "c=x.npy"], "assigns no 'c'"),
                 (["eval", "b = a", "a=1", "-o", "b=x.npy", "-o", "b=y.npy"], "'b' goes to a file already"),
                 (["eval", "b = a; c = a", "a=1", "-o", "b=x.npy", "-o", "c=x.npy"], "another result"),
                 (["eval", "b = a; c = a", "a=1", "-o", "b=x.npy", "-o", "c=./x.npy"], "another result"),
                 (["eval", "b = a; c = a", "a=1", "-o", "b=x.npz", "-o", "c=./x.npz"], "another result"),
                 (["eval", "b = a", "a=1", "-o", "b=x.csv"], ".npy, .npz or .png"),
                 (["eval", "a", "a=1", "--seed", " -1"], "whole number"),
                 (["eval", "b = a", "a=1", "-o", "b"], "NAME=FILE"), (["eval", "a", "a=f32[3"], "no type"),
                 (["eval", "a", "a=float32[3]"], "neither a file nor a type"), (["eval", "a", "many.npz:a"], "a=many.npz:a"),
                 (["eval", "a", "a=1", "a=2"], "'a' is given twice"), (["eval", "a", "a=1", "-o", "c=c.npy"], "called 'result'"),
                 (["eval", "a", "a=f32[-3]"], "no type"), (["eval", "a", "a=1", "--seed", "x"], "whole number"),
                 (["eval", "a", "a=1", "--engine", "steam"], "interpreter"), (["eval", "a", "a=1", "--stream=no"], "never"),
                 (["info", "x"], "--json"), (["explain"], "no code"), (["explain", "a", "--target", "x"], "cuda"),
                 (["cache", "eat"], "clear"), (["bench", "fast"], "--elements"), (["bench", "--device"], "needs a value"),
                 (["bench", "--elements", "many"], "whole number"), (["bench", "--elements", "-5"], "whole number"),
                 (["bench", "--elements="], "whole number"), (["trace"], "out.json"), (["trace", "--json"], "--json"),
                 (["trace", "t.json"], "-- and a program"), (["trace", "t.json", "--"], "-- and a program"),
                 (["trace", "t.json", "ls", "-l"], "-- and a program")]
        for arguments, message in cases:
            done = run(*arguments, code=2)
            self.assertIn(message, done.stderr, arguments)
            self.assertEqual(done.stdout, "")
            self.assertTrue("--help" in done.stderr)

    def test_wrong_files_and_code(self):
        open("text.npy", "w").write("not an array")
        open("short.npy", "wb").write(b"\x93NUMPY\x01\x00\xff\xff{")
        write_npy("a.npy", [1.0, 2.0])
        write_npy("b.npy", [1.0, 2.0, 3.0])
        cases = [(["a", "a=nothing.npy"], "No such file"), (["a", "a=text.npy"], "neither an NPY nor an NPZ"),
                 (["a", "a=short.npy"], "damaged"), (["a", "a=."], "no plain file"), (["x +", "x=1"], "expected"),
                 (["a + b", "a=a.npy", "b=b.npy"], "(2,)"), (["b = c", "a=a.npy"], "'c'"),
                 (["a", "a=a.npy", "--device", "cuda:77"], "there are: cpu"),
                 (["b = a", "a=a.npy", "-o", "b=/nowhere/b.npy"], "cannot be written"),
                 (["b = a", "a=a.npy", "-o", "b=/dev/full"], "No space left"),
                 (["b = a", "a=a.npy", "-o", "b=b.png"], "two axes"), (["a", "a.npy.npz"], "cannot be opened"), (["a", "a=f32"], "no such file"),
                 (["a = a + 1", "a=3"], "a number cannot be assigned")]
        for arguments, message in cases:
            done = run("eval", *arguments, code=1)
            self.assertIn(message, done.stderr, arguments)
            self.assertTrue(done.stderr.startswith("weft: "), done.stderr)
            self.assertEqual(done.stdout, "")
        self.assertFalse(os.path.exists("b.png"))
        self.assertIn("nonesuch", run("eval", "a", "a=1", code=1, environment={"WEFT_DEVICE": "nonesuch"}).stderr)

    def test_closed_output(self):
        for arguments in (["info"], ["--help"], ["help"], ["--version"], ["eval", "--help"], ["trace", "-h"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([TOOL, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertEqual(done.stderr, "weft: the output could not be written: No space left on device\n")


class Eval(InFolder):
    def test_elements_and_sum(self):
        a, b = numbers(1000), numbers(2000)[1000:]
        a = [x + 1 for x in a]
        write_npy("a.npy", a, shape=(10, 100))
        write_npy("b.npy", b, shape=(10, 100))
        done = run("eval", "c = 1/a + 2*a*b; s = sum(c)", "a=a.npy", "b=b.npy", "-o", "c=c.npy")
        header, c = read_npy("c.npy")
        expected = [1 / x + 2 * x * y for x, y in zip(a, b)]
        self.assertEqual((header["descr"], header["shape"]), ("<f8", (10, 100)))
        self.assertEqual(c, expected)
        self.assertEqual(float(done.stdout.split("=")[1]), fold(expected))

    def test_printing(self):
        self.assertEqual(run("eval", "a*2", "a=21").stdout, "result = 42\n")
        write_npy("a.npy", [1.0, 2.5])
        self.assertEqual(run("eval", "b = a + k; s = max(b)", "a=a.npy", "k=1").stdout, "s = 3.5\n")
        self.assertEqual(run("eval", "b = a + 1", "a=a.npy").stdout, "b = f64 (2,)\n[2.  3.5]\n")
        self.assertEqual(run("eval", "a += 1; a == a", "a=a.npy").stdout.split("\n")[0], "a = f64 (2,)")

    def test_npz(self):
        write_npy("a.npy", [1.0, 2.0, 3.0])
        run("eval", "c = a + 1; d = a * 2; e = a", "a=a.npy", "-o", "c=m.npz", "-o", "d=m.npz", "-o", "e=e.npz",
            "--compress")
        self.assertEqual(self.value("c + d", "m.npz"), [4.0, 7.0, 10.0])
        self.assertEqual(self.value("d + 1", "m.npz"), [3.0, 5.0, 7.0])  # c is not needed
        self.assertIn("cuda", run("explain", "e = d + 1", "m.npz", "e=f64[3]", "--target", "cuda").stdout)
        self.assertEqual(self.value("x", "x=m.npz:d"), [2.0, 4.0, 6.0])
        self.assertEqual(self.value("c", "c=m.npz"), [2.0, 3.0, 4.0])
        self.assertEqual(self.value("x", "x=e.npz"), [1.0, 2.0, 3.0])
        self.assertIn("holds c, d; there is no 'q'", run("eval", "x", "x=m.npz:q", code=1).stderr)
        self.assertIn("name one", run("eval", "x", "x=m.npz", code=1).stderr)

    def test_comments(self):
        write_npy("a.npy", [1.0, 2.0, 4.0])
        for code in ("s = sum(a) // all; of them", "s = /* x = 1; y */ sum(a)", "// c = 1\ns = sum(a);"):
            for when in ("always", "never"):
                self.assertEqual(self.value(code, "a=a.npy", "--stream", when, name="s"), 7.0)
        self.assertIn("comment", run("eval", "s = sum(a) /* and", "a=a.npy", code=1).stderr)

    def test_npz_with_more_than_the_code_names(self):
        write_npy("a.npy", [1.0, 2.0, 3.0])
        with zipfile.ZipFile("m.npz", "w") as archive:
            for name in ["a", "two words"] + ["n%d" % k for k in range(200)]:
                archive.write("a.npy", name + ".npy")
            archive.writestr("text.npy", "no array")
        self.assertEqual(self.value("a + n7", "m.npz"), [2.0, 4.0, 6.0])
        write_npy("a.npy", [5.0, 5.0, 5.0])
        with warnings.catch_warnings(), zipfile.ZipFile("m.npz", "a") as archive:
            warnings.simplefilter("ignore")
            archive.write("a.npy", "a.npy")  # again: the last one counts
        self.assertEqual(self.value("a + n7", "m.npz"), [6.0, 7.0, 8.0])
        self.assertEqual(self.value("x", "x=m.npz:a"), [5.0, 5.0, 5.0])
        self.assertIn("name one", run("eval", "nothing", "m.npz", code=1).stderr)

    def test_to_the_standard_output(self):
        write_npy("a.npy", [1.0, 2.0])
        command = [TOOL, "eval", "b = 2*a", "a=a.npy", "-o", "b=/dev/stdout"]
        with open("b.npy", "wb") as file:
            subprocess.run(command, stdout=file, check=True)
        self.assertEqual(read_npy("b.npy")[1], [2.0, 4.0])
        through = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(through, open("b.npy", "rb").read())

    def test_odd_names(self):
        write_npy("a.npy", [1.0])
        with zipfile.ZipFile("m.npz", "w") as archive:
            archive.write("a.npy", "\x1b[31mred.npy")
            archive.write("a.npy", "b.npy")
        self.assertIn("holds ?[31mred, b;", run("eval", "x", "x=m.npz", code=1).stderr)
        done = subprocess.run([os.fsencode(TOOL), b"eval", b"b = a", b"a=a.npy", b"-o", b"b=\xff\xc3\xa9\xed\xa0\x80.npy", b"--json"],
                              stdout=subprocess.PIPE, check=True)
        self.assertEqual(json.loads(done.stdout.decode("utf-8"))["b"]["file"], "\ufffd\u00e9\ufffd\ufffd\ufffd.npy")

    def test_random_operands(self):
        first = self.value("x", "x=f32[5]", "--seed", "3")
        self.assertEqual(first, self.value("x", "x=f32[5]", "--seed=3"))
        self.assertNotEqual(first, self.value("x", "x=f32[5]", "--seed", "4"))
        self.assertTrue(all(0 <= x < 1 for x in first))
        integers = self.value("x", "x=i16[100]")
        self.assertTrue(all(0 <= x < 100 for x in integers) and len(set(integers)) > 20)
        shape = json.loads(run("eval", "x", "x=c64[2,3]", "--json").stdout)["result"]
        self.assertEqual((shape["dtype"], shape["shape"], len(shape["value"][1][2])), ("c64", [2, 3], 2))

    def test_json_values(self):
        write_npy("a.npy", [float("nan"), float("inf"), -1.5])
        self.assertEqual(self.value("a", "a=a.npy"), ["nan", "inf", -1.5])
        self.assertEqual(self.value("a > 0", "a=a.npy"), [False, True, False])
        self.assertEqual(self.value("x*x", "x=9007199254740993"), 9007199254740993 ** 2 % 2 ** 64 - 2 ** 64 * (
            9007199254740993 ** 2 % 2 ** 64 >= 2 ** 63))

    def test_an_operand_may_be_replaced(self):
        write_npy("a.npy", [1.0, 2.0])
        run("eval", "a = a + 1", "a=a.npy", "-o", "a=a.npy")
        self.assertEqual(read_npy("a.npy")[1], [2.0, 3.0])

    def test_picture(self):
        run("eval", "p = a", "a=f32[20,30]", "-o", "p=p.png")
        self.assertEqual(open("p.png", "rb").read(24)[16:], struct.pack(">II", 30, 20))

    def test_engines_and_devices_give_the_same_bits(self):
        arguments = ["sum(sin(x)*exp(x))", "x=f32[5000]"]
        values = {self.value(*arguments, "--engine", engine) for engine in ("auto", "interpreter")}
        devices = [device["id"] for device in json.loads(run("info", "--json").stdout)["devices"]]
        values |= {self.value(*arguments, "--device", device) for device in devices}
        self.assertEqual(len(values), 1)


class Pieces(InFolder):
    CODE = "c = a*b + k; s = sum(c); t = sum(a); m = mean(a - b); low = min(a*b); high = max(b); e = any(a > 10); f = all(a >= 0)"

    def big_file(self):
        """600 MB of zeros that take no disk."""
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (150000000,), }"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        with open("big.npy", "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
            file.truncate(file.tell() + 600000000)

    def memory(self, *arguments):
        """The most KiB that it has had in memory. The system also counts the copy of its parent that it began as, so
        that is a small one."""
        parent = ("import os, sys; out = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0);"
                  "_, status, usage = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[out]), 0);"
                  "print(usage.ru_maxrss); sys.exit(os.waitstatus_to_exitcode(status))")
        return int(subprocess.run([sys.executable, "-c", parent, TOOL, *arguments], stdout=subprocess.PIPE, check=True).stdout)

    def test_the_same_as_in_one_piece(self):
        for count in (2, 4095, 4096, 4097, 8192, 100001, 256 * 4096 + 1, 3 * 256 * 4096 - 4096):
            a = numbers(count)
            write_npy("a.npy", a)
            write_npy("b.npy", a[::-1])
            found = [json.loads(run("eval", self.CODE, "a=a.npy", "b=b.npy", "k=0.5", "-o", "c=%s.npy" % when, "--stream",
                                    when, "--json").stdout) for when in ("always", "never")]
            for result in found:
                del result["c"]
            self.assertEqual(found[0], found[1], count)
            self.assertEqual(open("always.npy", "rb").read(), open("never.npy", "rb").read())
            self.assertEqual(found[0]["t"]["value"], fold(a))
            self.assertEqual(found[0]["e"]["value"], any(x > 10 for x in a))

    def test_other_dtypes(self):
        values = [k % 251 for k in range(10000)]
        for dtype, code in (("<i4", "s = sum(a); p = max(a)"), ("<f4", "s = sum(a); p = prod(1 + a*1e-6f)"),
                            ("<u2", "s = sum(a); p = min(a)"), ("<f4", "s = mean(a); p = sum(c64(a))")):
            write_npy("a.npy", values, dtype)
            found = [run("eval", code, "a=a.npy", "--stream", when, "--json").stdout for when in ("always", "never")]
            self.assertEqual(found[0], found[1])

    def test_mean_of_complex_numbers(self):
        for first in (0.1, float("inf")):  # which is no NaN in the other part
            values = [first] + [(k * 7919) % 10007 / 997.0 for k in range(2 * 4097 - 1)]
            write_npy("a.npy", values, shape=(4097,))
            data = open("a.npy", "rb").read().replace(b"'<f8', ", b"'<c16',")
            with open("a.npy", "wb") as file:
                file.write(data)
            found = [run("eval", "s = mean(a); t = mean(c64(a)); u = mean(3*a)", "a=a.npy", "--stream", when, "--json").stdout
                     for when in ("always", "never")]
            self.assertEqual(found[0], found[1])
            self.assertEqual(json.loads(found[0])["s"]["value"][1], fold(values[1::2]) / 4097)

    def test_halves(self):
        write_npy("h.npy", [k / 64 for k in range(9000)], "<f2")
        self.assertEqual(self.value("m = max(h)", "h=h.npy", "--stream", "always", name="m"), 140.625)
        done = run("eval", "c = h; s = sum(h)", "h=h.npy", "-o", "c=c.npy", "--stream", "always", code=1)
        self.assertIn("sum of f16 is rounded once", done.stderr)
        self.assertFalse(os.path.exists("c.npy"))

    def test_random_operands(self):
        for dtype in ("f32", "f64", "i16", "bool", "c64", "bf16"):
            for count in (4097, 256 * 4096 + 333):
                files = []
                for when in ("always", "never"):
                    run("eval", "c = x; d = y", "x=%s[%d]" % (dtype, count), "y=f32[%d]" % count, "-o", "c=c.npy", "-o", "d=d.npy",
                        "--seed", "5", "--stream", when)
                    files.append(open("c.npy", "rb").read() + open("d.npy", "rb").read())
                self.assertEqual(files[0], files[1], dtype)
        self.assertLess(self.memory("eval", "c = x", "x=f32[150000000]", "-o", "c=c.npy"), 100000)

    def test_on_another_device(self):
        write_npy("a.npy", numbers(20000))
        for device in json.loads(run("info", "--json").stdout)["devices"]:
            run("eval", "c = 2*a; s = sum(a)", "a=a.npy", "-o", "c=c.npy", "--stream", "always", "--device", device["id"])
            self.assertEqual(read_npy("c.npy")[1], [2 * x for x in numbers(20000)])

    def test_what_cannot_be(self):
        write_npy("a.npy", numbers(100), shape=(10, 10))
        write_npy("f.npy", numbers(100), shape=(10, 10), fortran=True)
        write_npy("b.npy", numbers(10))
        write_npy("k.npy", [2.0], shape=(1, 1, 1))
        for code, part in (("c = shift(a, 1, 0)", "shift"), ("s = sum(a); c = a - s", "at the end"), ("c = a + b", "shapes"),
                           ("c = a + k", "shapes"), ("c = f", "Fortran"), ("c = sum(a, axis=1)", "sum looks beyond"), ("a = 2*a", "assigns one"),
                           ("c = a; c = a + c", "twice"), ("a", "is shown")):
            used = [name for name in "abfk" if re.search(r"\b%s\b" % name, code)]
            output = ["-o", "c=c.npy"] if code.startswith("c =") else []
            done = run("eval", code, *["%s=%s.npy" % (name, name) for name in used], "--stream", "always", *output, code=1)
            self.assertIn(part, done.stderr, code)

    def test_results_of_one_element(self):
        write_npy("a.npy", numbers(5000))
        write_npy("k.npy", [2.0])
        for code in ("c = a; d = 2*k", "c = a; t = k + 1; d = t", "c = a; d = 4", "c = a; d = sum(k)"):
            operands = ["a=a.npy"] + (["k=k.npy"] if "k" in code else [])
            output = ["-o", "c=c.npy"] + (["-o", "d=d.npy"] if "sum" not in code else [])
            done = run("eval", code, *operands, *output, "--stream", "always", code=1)
            self.assertIn("operands with several elements", done.stderr, code)
            run("eval", code, *operands, *output)
        run("eval", "t = k + 1; c = t*a", "a=a.npy", "k=k.npy", "-o", "c=c.npy", "--stream", "always")
        self.assertEqual(read_npy("c.npy")[1], [3 * x for x in numbers(5000)])

    def test_messages_show_the_code_as_it_was_written(self):
        write_npy("a.npy", list(range(5000)), dtype="<i4")
        for code in ("s = mean(a)", "s = sum(a + nothing)", "s = sum(f32(a) % )"):
            done = run("eval", code, "a=a.npy", "--stream", "always", code=1)
            self.assertIn("\n    " + code + "\n", done.stderr)

    def test_every_function_beyond_one_element_is_known(self):
        document = open(os.path.join(HERE, "../../docs/operations.md")).read()
        source = open(os.path.join(HERE, "../../tools/weft/program.c")).read()
        known = set(re.findall(r'"(\w+)"', re.search(r"far\[\] = \{(.*?)\};", source, re.S).group(1)))
        sections = re.split(r"^## ", document, flags=re.M)
        single = ("Operators", "Choosing", "Mathematics", "Rounding", "Tests", "Complex numbers", "Bits")
        names = set()
        for section in sections[1:]:
            if not section.startswith(single):
                names |= set(re.findall(r"^\| `(\w+)` \|", section, re.M))
        self.assertTrue("sum" in names and "sqrt" not in names, names)
        self.assertEqual(known, names)

    def test_a_file_that_gets_shorter(self):
        write_npy("a.npy", [1.0, 2.0], shape=(3 << 20,))
        os.truncate("a.npy", 128 + (3 << 23))
        os.mkfifo("c.npy")
        with subprocess.Popen([TOOL, "eval", "c = 2*a", "a=a.npy", "-o", "c=c.npy", "--stream", "always"],
                              stderr=subprocess.PIPE, text=True) as tool, open("c.npy", "rb") as pipe:
            self.assertEqual(len(pipe.read(1000)), 1000)  # it waits now, for a reader of the first piece
            os.truncate("a.npy", 4096)
            while pipe.read(1 << 20):
                pass
            self.assertIn("a file could not be read to its end", tool.stderr.read())
            self.assertEqual(tool.wait(), 1)

    def test_nothing_stays_of_a_killed_one(self):
        self.big_file()
        process = subprocess.Popen([TOOL, "eval", "c = sin(a)", "a=big.npy", "-o", "c=c.npy", "--engine", "interpreter"])
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        if process.wait() == 0:
            self.skipTest("it was faster")
        self.assertEqual(os.listdir("."), ["big.npy"])

    def test_memory_is_bounded(self):
        self.big_file()
        arguments = ["eval", "c = a + 1; s = sum(a)", "a=big.npy", "-o"]
        self.assertGreater(self.memory(*arguments, "c=/dev/null", "--stream", "never"), 1000000)
        self.assertLess(self.memory(*arguments, "c=c.npy"), 100000)


class Trace(InFolder):
    """A program under weft trace: its own exit code, its files, what is missing."""

    def test_timeline(self):
        os.mkdir("elsewhere")
        script = 'cd elsewhere && exec "$0" eval "2 * x" x=3'
        done = run("trace", "t.json", "--", "sh", "-c", script, TOOL)
        self.assertEqual(done.stdout.strip(), run("eval", "2 * x", "x=3").stdout.strip())
        self.assertIn(os.path.join(os.getcwd(), "t.json"), done.stderr)
        self.assertIn(os.path.join(os.getcwd(), "t.html"), done.stderr)
        events = json.load(open("t.json"))["traceEvents"]
        self.assertTrue(any("2 * x" in e.get("args", {}).get("source", "") for e in events))
        self.assertIn("<html", open("t.html").read())

    def test_exit_codes(self):
        self.assertIn("no timeline", run("trace", "t.json", "--", "sh", "-c", "exit 7", code=7).stderr)
        done = run("trace", "t.json", "--", "sh", "-c", "kill -TERM $$", code=128 + signal.SIGTERM)
        self.assertIn("signal %d" % signal.SIGTERM, done.stderr)
        self.assertIn("No such file", run("trace", "t.json", "--", "./nothing", code=127).stderr)
        self.assertIn("Permission denied", run("trace", "t.json", "--", ".", code=126).stderr)
        done = run("trace", "/nowhere/t.json", "--", "touch", "ran", code=1)
        self.assertIn("'/nowhere/t.json' cannot be written: No such file", done.stderr)
        self.assertIn("Is a directory", run("trace", ".", "--", "touch", "ran", code=1).stderr)
        self.assertEqual(os.listdir("."), [])

    def test_a_signal_is_for_the_program(self):
        script = "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done"
        with subprocess.Popen([TOOL, "trace", "t.json", "--", "sh", "-c", script], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as tool:
            tool.stdout.readline()
            tool.terminate()
            self.assertEqual(tool.wait(), 5)


class Others(InFolder):
    def test_info(self):
        text = run("info").stdout
        self.assertIn("\ncpu ", text)
        nothing = {"WEFT_CUDA": "/nonexistent", "WEFT_OPENCL": "/nonexistent", "WEFT_LLVM": "/nonexistent"}
        info = json.loads(run("info", "--json", environment=nothing).stdout)
        self.assertEqual([device["id"] for device in info["devices"]], ["cpu"])
        self.assertEqual([missing["what"].split(",")[0] for missing in info["missing"]], ["CUDA", "OpenCL", "LLVM"])
        for missing in info["missing"]:
            self.assertGreater(len(missing["why"]), 20)
        self.assertIn("f64", info["devices"][0]["dtypes"])
        wrong = dict(nothing, WEFT_DEVICE="nonesuch")
        self.assertIn("\ncpu ", run("info", environment=wrong, code=1).stdout)
        done = run("info", "--json", environment=wrong, code=1)
        self.assertIn("nonesuch", done.stderr)
        self.assertEqual(json.loads(done.stdout), dict(info, default=None, devices=json.loads(done.stdout)["devices"]))

    def test_calibrate(self):
        where = {"WEFT_CACHE_DIR": os.path.join(os.getcwd(), "costs"), "WEFT_CUDA": "/nonexistent",
                 "WEFT_OPENCL": "/nonexistent"}
        costs = json.loads(run("info", "--json", environment=where).stdout)["devices"][0]["costs"]
        self.assertIs(costs["measured"], False)
        measured = json.loads(run("info", "--calibrate", "--json", environment=where).stdout)["devices"][0]["costs"]
        self.assertIs(measured["measured"], True)
        kept = json.loads(run("info", "--json", environment=where).stdout)["devices"][0]["costs"]
        self.assertIs(kept["measured"], True)
        for name in ("launch", "copy", "to_device", "to_host", "memory", "operations"):
            self.assertGreater(measured[name], 0)
            self.assertAlmostEqual(kept[name] / measured[name], 1, 4)
        self.assertIn("costs, measured: launch", run("info", environment=where).stdout)
        done = run("info", "--calibrate", "--json", environment=dict(where, WEFT_CACHE="off"), code=1)
        self.assertIs(json.loads(done.stdout)["devices"][0]["costs"]["measured"], True)
        self.assertIn("not kept", done.stderr)

    def test_explain_file(self):
        with open("program.c", "w") as file:
            file.write("""/* WEFT_FUNCTION(not_this, (x), { x = 1; }); */
#define MY_FUNCTION \\
    WEFT_FUNCTION(nor_this, (x), { x = 1; })
static const char *text = "WEFT_FUNCTION(nor_that, (x), { x = 2; })";
WEFT_FUNCTION(half, (v), { return v/2; });
WEFT_FUNCTION_WITH(listing, (.offload = WEFT_OFFLOAD_ALWAYS), (x, y, n), {
    preprocess(x); // it reads, and writes
    y = 0.5*x + y;
    look(y);
    for (int i = 1; i < n; i++)
        x(i) = half(x(i - 1));
    return sum(y);
});
""")
        text = run("explain", "program.c").stdout
        self.assertIn("function half(v)\n", text)
        self.assertIn("  10:5  for (int i = 1; i < n): perhaps parallel", text)
        self.assertEqual(text.count("function "), 2)
        one = ["explain", "program.c", "listing", "x=f32[1000]", "y=f32[1000]", "n=1000", "--host", "look=read"]
        text = run(*one).stdout
        self.assertIn("  10:5  for (int i = 1; i < n): serial: this element of 'x'", text)
        self.assertIn("at column 11:9 (column 11:21)", text)
        for device in [d["id"] for d in json.loads(run("info", "--json").stdout)["devices"]]:
            facts, = json.loads(run(*one, "--device", device, "--json").stdout)
            call = facts["call"]
            self.assertEqual((facts["function"], call["device"], call["kernels"]), ("listing", device, 2))
            self.assertEqual([s["calls"] for s in facts["statements"] if s["kind"] == "host call"],
                             ["preprocess", "look"])
            if device != "cpu":
                self.assertEqual((call["to_device"], call["to_host"]), (
                    {"copies": 2, "bytes": 8000}, {"copies": 2, "bytes": 4004}))
            picture = xml.dom.minidom.parseString(run(*one, "--device", device, "--svg").stdout)
            lines = picture.getElementsByTagName("line")
            self.assertEqual(len(lines), 0 if device == "cpu" else 4)
        for arguments, code, part in ((["program.c", "nobody"], 1, "there is no function 'nobody'"),
                                      (["program.c", "--svg"], 1, "name the one"),
                                      (["program.c", "--target", "cuda"], 2, "not for a file"),
                                      (["c = 1/a", "--json"], 2, "no file"), (["nothing.c"], 1, "No such file"),
                                      (["program.c", "listing", "x=f32[10]", "n=10"], 1, "parameter 'y' has no operand"),
                                      (["program.c", "listing", "x=f32[10]", "y=f32[9]", "n=10"], 1, "listing")):
            self.assertIn(part, run("explain", *arguments, code=code).stderr)
        with open("unfinished.c", "w") as file:
            file.write("WEFT_FUNCTION(half, (v), { return v/2; });\n\nWEFT_FUNCTION(third, (v), { return v/3;\n")
        self.assertIn("unfinished.c:3: WEFT_FUNCTION(name", run("explain", "unfinished.c", code=1).stderr)
        with open("named.c", "w") as file:
            file.write("WEFT_FUNCTION(sum, (v), { return 2*v; });\n"
                       "WEFT_FUNCTION(half, (v), { if (max(v) > 0) return v; return v/2; });\n")
        text = run("explain", "named.c", "v=f32[1000]").stdout  # sum is a name of the language's, and v is zero
        self.assertIn("kernel: return 2*v", text)
        self.assertIn("kernel: return v/2", text)

    def test_explain(self):
        parts = {"cuda": "__global__", "opencl": "__kernel", "interpreter": "", "ir": ""}
        texts = set()
        for target, part in parts.items():
            text = run("explain", "c = 1/a + 2*a*b", "a=f32[1024]", "b=f32[1024]", "--target", target).stdout
            self.assertIn("1 kernel", text)
            self.assertIn(part, text)
            texts.add(text)
        self.assertEqual(len(texts), len(parts))
        self.assertIn("i64", run("explain", "sum(a)", "a=i8[3,4]").stdout)
        write_npy("a.npy", [1.0])
        self.assertIn("f64", run("explain", "b = a", "a=a.npy").stdout)
        self.assertIn("'b'", run("explain", "c = a + b", "a=f32[3]", code=1).stderr)
        self.assertIn("1 kernel", run("explain", "c = 2*a", "a=f32[1000000,1000000]", "--target", "cuda").stdout)

    def test_cache(self):
        where = {"WEFT_CACHE_DIR": os.path.join(self.folder.name, "cache"), "WEFT_CACHE": "on"}
        info = json.loads(run("cache", "--json", environment=where).stdout)
        self.assertEqual((info["folder"], info["entries"]), (where["WEFT_CACHE_DIR"], 0))
        self.assertIn("entries  0", run("cache", "clear", environment=where).stdout)
        self.assertIn("no disk cache", run("cache", environment={"WEFT_CACHE": "off"}).stdout)

    def test_bench(self):
        rows = json.loads(run("bench", "--device", "cpu", "--elements", "10000", "--json").stdout)
        self.assertEqual(len(rows), len({row["work"] for row in rows}))
        counts = {"laplacian(a)": 21**3}  # the others have a square of 100
        for row in rows:
            self.assertEqual((row["who"], row["device"]), ("weft", "cpu"))
            self.assertGreater(row["seconds"], 0)
            self.assertEqual(row["n"], 1024 if row["work"].startswith("call") else counts.get(row["work"], 10000))
            self.assertEqual(row["gbps"] > 0, not row["work"].startswith("call"))
        moved = {"copy": 8, "c += 1/a + 2ab": 16, "sum(a)": 4, "laplacian(a)": 8}
        by_work = {row["work"]: row for row in rows}
        for work, size in moved.items():
            row = by_work[work]
            self.assertAlmostEqual(row["gbps"] * row["seconds"] * 1e9 / (size * row["n"]), 1, delta=0.01)
            self.assertAlmostEqual(row["of_copy"] * by_work["copy"]["gbps"] / row["gbps"], 1, delta=0.01)
        done = run("bench", "--device=cpu", "--elements=1024")
        self.assertRegex(done.stdout, r"^cpu  .*, 32 x 32 f32\n  copy +[0-9.e+]+ [mun]?s +[0-9.]+ GB/s\n")
        self.assertEqual(done.stderr, "")
        for arguments in ([], ["--json"]):
            done = run("bench", "--device", "cuda:77", *arguments, code=1)
            self.assertIn("there are: cpu", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_manual_and_completion_know_every_option(self):
        folder = os.path.join(HERE, "../../tools/weft")
        manual = open(os.path.join(folder, "weft.1")).read().replace("\\-", "-")
        for command in ("eval", "info", "explain", "bench", "trace", "cache"):
            for option in set(re.findall(r"(?<!\S)--?[a-z]+", run(command, "--help").stdout)) - {"-h", "--help"}:
                for name in ("completion.bash", "completion.zsh"):
                    self.assertIn(option, open(os.path.join(folder, name)).read())
                self.assertIn(option, manual)
            self.assertIn("weft " + command, manual)

    def test_completion(self):
        script = os.path.join(HERE, "../../tools/weft/completion.bash")
        for words, expected in (("weft e", "eval explain"), ("weft eval x --engine l", "llvm"),
                                ("weft eval x --device c", "cpu"), ("weft explain x --target o", "opencl")):
            code = 'source "%s"; COMP_WORDS=(%s); COMP_CWORD=%d; _weft; echo ${COMPREPLY[@]}' % (script, words,
                                                                                         len(words.split()) - 1)
            path = os.path.dirname(TOOL) + ":" + os.environ["PATH"]
            done = subprocess.run(["bash", "-c", code], stdout=subprocess.PIPE, text=True, env=dict(os.environ, PATH=path))
            self.assertEqual(done.stdout.strip(), expected)

    def on_terminal(self, *arguments, most=resource.RLIM_INFINITY):
        """What it writes to a terminal; files have at most so many bytes."""
        pid, terminal = pty.fork()
        if pid == 0:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
            os.execv(TOOL, [TOOL, *arguments])
        text = b""
        try:
            while True:
                text += os.read(terminal, 4096)
        except OSError:
            pass
        os.waitpid(pid, 0)
        os.close(terminal)
        return text.decode()

    def test_colours_and_progress_on_a_terminal_only(self):
        write_npy("a.npy", numbers(10000))
        arguments = ["eval", "c = 2*a", "a=a.npy", "-o", "c=c.npy", "--stream", "always"]
        self.assertRegex(self.on_terminal(*arguments), r"\[#{30}\] 100 %  0\.00 GB  [0-9.]+ GB/s")
        self.assertEqual(run(*arguments).stderr, "")
        whole = ["eval", "c = a", "a=f32[3000000]", "-o", "c=c.npy", "--stream", "always"]
        self.assertRegex(self.on_terminal(*whole, most=6 << 20), r"GB/s \r\n\S*weft:.*File too large")
        self.assertIn("\033[31m", self.on_terminal("eval", "a", "a=no.npy"))
        self.assertNotIn("\033", run("eval", "a", "a=no.npy", code=1).stderr)
        self.assertIn("] cpu: sum(a)", self.on_terminal("bench", "--device=cpu", "--elements=1024"))
        os.environ["NO_COLOR"] = "1"
        self.addCleanup(os.environ.pop, "NO_COLOR")
        self.assertNotIn("\033", self.on_terminal("eval", "a", "a=no.npy"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    options, rest = parser.parse_known_args()
    TOOL = os.path.abspath(options.tool)
    unittest.main(argv=[sys.argv[0], *rest], warnings="ignore")
