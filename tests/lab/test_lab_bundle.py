"""The page's modules joined into one script."""

import re

import pytest

from lab_server import PAGE
from seqattractor.lab.bundle import bundle


def module(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")


def test_the_page_asks_for_the_bundle_and_for_no_module():
    assert re.findall(rb"<script[^>]*>", PAGE["index.html"]) == [b'<script defer src="lab.js">']
    assert not re.search(r"^(import|export)\b", bundle(), re.MULTILINE)


def test_every_module_of_the_page_is_in_the_bundle_once_after_those_that_it_imports():
    order = re.findall(r"^// (\S+\.js)$", bundle(), re.MULTILINE)
    assert sorted(order) == sorted(name for name in PAGE if name.endswith(".js"))
    for k, name in enumerate(order):
        imported = re.findall(r'from "\./(\S+\.js)";', PAGE[name].decode())
        assert set(imported) <= set(order[:k]), name


def test_imports_become_constants_and_keep_their_names(tmp_path):
    module(tmp_path, "one-two.js", "let own = 0;\nexport const $ = (x) => x;\nexport class A {}\n")
    imports = 'import {\n  $, A as B,\n} from "./one-two.js";\nimport * as all from "./one-two.js";'
    module(tmp_path, "main.js", f"{imports}\n$(B);\n")
    script = bundle(folder=tmp_path)
    assert "const { $, A: B, } = $one_two;" in script
    assert "const all = $one_two;" in script
    assert "return { $, A };" in script
    assert script.count("let own = 0;") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('import "./main.js";', "does not understand"),
        ('import main from "./main.js";', "does not understand"),
        ("export let x = 1;", "does not understand"),  # a copy of it would grow old
        ("export { x };", "does not understand"),
        ('import { x } from "./main.js";', "circle: main.js -> main.js"),
    ],
)
def test_what_a_bundle_cannot_do_is_rejected(tmp_path, text, words):
    module(tmp_path, "main.js", text + "\n")
    with pytest.raises(ValueError, match=words):
        bundle(folder=tmp_path)
