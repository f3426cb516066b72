# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pages that are executed (support.walkthrough), without a cluster: what is done, what is compared, what is rewritten."""

from __future__ import annotations

import re

import pytest
from support.walkthrough import Differs, Page, Place, condensed

PAGE = """\
# A page

```yaml
# vars.yml
word: hello
```

```console
$ cat vars.yml | \\
    tail -n 1
word: hello
$ echo "done in 3.2 s"
done in 1 s
```

<!-- walkthrough: fails -->
```console
$ ls
vars.yml
$ false
```

<!-- walkthrough: not executed: there is none here -->
```console
$ no-such-program
```
"""

PLAY = """\

PLAY [Secondary schedulers] ****************************************************

TASK [first : Look] ************************************************************
ok: [localhost]

TASK [second : Validate the configurations] ***************************************
ok: [localhost] => (item=mine)

TASK [Read] ********************************************************************
ok: [localhost] => (item=mine)

TASK [Not now] *****************************************************************
skipping: [localhost]

TASK [first : Apply the operator] **********************************************
changed: [localhost]

TASK [Each] ********************************************************************
ok: [localhost] => (item=one)
[ERROR]: Task failed: That is wrong
Origin: /usr/share/collections/tasks.yml:42:3
42 - name: Each
     ^ column 3
failed: [localhost] (item=two) => {"msg": "That is wrong"}

TASK [Say it] ******************************************************************
ok: [localhost] => {
    "msg": "said"
}

PLAY RECAP *********************************************************************
localhost                  : ok=3    changed=1    unreachable=0
"""


@pytest.fixture
def page(tmp_path):
    """Write a page, and execute it: its text afterwards."""

    def execute(text, place=None, write=False):
        path = tmp_path / "page.md"
        path.write_text(text)
        (tmp_path / "work").mkdir(exist_ok=True)
        Page(path).execute(tmp_path / "work", place or Place(), write)
        return path.read_text()

    return execute


def test_a_correct_page_passes_and_stays_unchanged(page):
    assert page(PAGE) == PAGE
    assert page(PAGE, write=True) == PAGE


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ("word: hello\n$", "word: hallo\n$", "-word: hallo\n+word: hello"),
        ("$ false", "$ true", "ended with 0"),
        ("$ ls", "$ ls nowhere", "No such file"),
        ("fails -->", "may fail -->", "`may fail` is neither"),
        ("```console\n$ ls", "```console\nls", "begins with a command"),
    ],
    ids=["output", "should fail", "should not fail", "directive", "no command"],
)
def test_a_wrong_page_is_reported_with_its_line(page, was, becomes, said):
    assert was in PAGE
    with pytest.raises(Differs, match=r"page\.md:\d+: ") as error:
        page(PAGE.replace(was, becomes))
    assert said in str(error.value)


def test_only_outputs_of_commands_are_rewritten(page):
    assert page(PAGE.replace("word: hello\n$", "an old one\nof two lines\n$"), write=True) == PAGE


def test_pages_show_images_by_their_published_names(page):
    place = Place(names={"registry.example.com/it:1": "10.0.0.1:5000/it@sha256:" + 64 * "0"}, more={"vars.yml": "more: yes\n"})
    text = "```yaml\n# vars.yml\nimage: registry.example.com/it:1\n```\n\n```console\n$ cat vars.yml\n```\n"
    shown = text.replace("$ cat vars.yml\n", "$ cat vars.yml\n# vars.yml\nimage: registry.example.com/it:1\nmore: yes\n")
    assert page(text, place, write=True) == shown


def test_lines_that_only_one_environment_prints_are_ignored(page):
    text = PAGE.replace("$ cat vars.yml | \\\n", "$ echo '[WARNING]: old'; cat vars.yml | \\\n")
    with pytest.raises(Differs):
        page(text)
    page(text, place=Place(besides=re.compile(r"\[WARNING\]: old")))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("node-1", "node-2", True), ("node-1", "node-10x", False), ("crunch-5d7bf7566b-nq9cr", "crunch-b7d4768cb-wk2kq", True)],
)
def test_text_that_varies_between_runs_is_not_compared(one, other, same):
    assert (Place().masked(one) == Place().masked(other)) is same


def test_names_of_nodes_are_compared_where_the_place_requires_it():
    assert Place(nodes=True).masked("node-1") != Place(nodes=True).masked("node-2")


def test_only_playbook_tasks_that_change_fail_or_report_are_shown():
    assert condensed(PLAY.splitlines()) == [
        "...",
        "TASK [second : Validate the configurations] ***",
        "ok: [localhost] => (item=mine)",
        "...",
        "TASK [first : Apply the operator] ***",
        "changed: [localhost]",
        "TASK [Each] ***",
        "ok: [localhost] => (item=one)",
        "[ERROR]: Task failed: That is wrong",
        "failed: [localhost] (item=two) => ...",
        "TASK [Say it] ***",
        "ok: [localhost] => {",
        '    "msg": "said"',
        "}",
        "PLAY RECAP ***",
        "localhost                  : ok=3    changed=1    unreachable=0",
    ]


def test_output_that_a_page_left_out_stays_left_out(page):
    text = "```console\n$ printf 'a\\nb\\nc\\nd\\n'\na\n...\nd\n```\n"
    assert page(text) == text
    assert page(text.replace("a\n...", "x\n..."), write=True) == text.replace("a\n...", "...")
