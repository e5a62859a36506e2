"""The lab's server among strangers: who may ask, and what is served."""

import http.client

import httpx
import pytest

import lab_server
from lab_server import PAGE, PATIENCE
from seqattractor.lab.app import LOOPBACK
from seqattractor.lab.guard import is_allowed_host

lab, visitor = lab_server.lab, lab_server.visitor


FOREIGN = [
    *(
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "",
        "localhost@evil.example",
        "[::2]:1",
    ),
    *(
        "[::1]evil.com",
        "[::1]evil.com:80",
        "[::1].evil.com",
        "[::1",
        "::1",
        "[localhost]",
        "[127.0.0.1]",
        "localhost:80:90",
    ),
    *(
        "localhost:",
        "localhost:x",
        "localhost,evil.com",
        "localhost evil.com",
        "localhost/..",
        "127.1",
        "2130706433",
        "[::1%25lo]",
    ),
]


@pytest.mark.parametrize("host", FOREIGN)
def test_foreign_hosts_are_rejected(lab, host):
    answer = httpx.get(f"{lab[0]}/", headers={"host": host}, timeout=PATIENCE)
    assert answer.status_code in (400, 403)
    assert not is_allowed_host(host, LOOPBACK, any_address=False)


@pytest.mark.parametrize("host", ["localhost", "LocalHost", "127.0.0.1", "[::1]", "[0:0::1]"])
def test_the_own_machine_is_welcome(lab, host):
    port = lab[0].rsplit(":", 1)[1]
    assert (
        httpx.get(f"{lab[0]}/", headers={"host": f"{host}:{port}"}, timeout=PATIENCE).status_code
        == 200
    )


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_foreign_pages_are_rejected(lab, headers):
    answer = httpx.post(f"{lab[0]}/api/visit", headers=headers, timeout=PATIENCE)
    assert answer.status_code == 403
    assert "other web sites" in answer.json()["error"]


def test_a_wider_lab_takes_numbers_but_no_unknown_names():
    assert is_allowed_host("192.168.1.5:8765", ["localhost"], any_address=True)
    assert not is_allowed_host("192.168.1.5:8765", ["localhost"], any_address=False)
    assert not is_allowed_host("rebound.example:8765", ["localhost"], any_address=True)
    assert is_allowed_host("lab.uni.example", ["lab.uni.example"], any_address=True)
    assert is_allowed_host("Lab.Uni.example", ["lab.UNI.example"], any_address=False)
    assert is_allowed_host("[fd00::5]:8765", ["localhost"], any_address=True)
    assert not is_allowed_host("[fd00::5]evil.com", ["localhost"], any_address=True)


def test_every_answer_forbids_foreign_content(lab):
    for path in ("/", "/lab.js", "/api/catalogue", "/nothing"):
        policy = httpx.get(lab[0] + path, timeout=PATIENCE).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/%2e%2e/app.py",
        "/..%2fapp.py",
        "/static/../app.py",
        "//etc/passwd",
        "/%00",
        "/app.py",
        "/index.html%00.js",
    ],
)
def test_nothing_but_the_page_is_served(lab, path):
    port = int(lab[0].rsplit(":", 1)[1])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.putrequest("GET", path, skip_host=True)  # as it is, not tidied up
    connection.putheader("Host", f"127.0.0.1:{port}")
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status in (400, 404)
    connection.close()


def test_the_page_is_light_and_loads_nothing_from_elsewhere():
    assert sum(map(len, PAGE.values())) < 200_000
    for name, content in PAGE.items():
        foreign = content.replace(b"http://www.w3.org/2000/svg", b"")
        assert b"http://" not in foreign, name
        assert b"https://" not in foreign, name


@pytest.mark.parametrize("name", ["style.css", "lab.js"])
def test_unchanged_files_are_not_sent_again(lab, name):
    first = httpx.get(f"{lab[0]}/{name}", timeout=PATIENCE).headers
    assert first["cache-control"] == "no-cache"  # but asked for again
    assert (
        httpx.get(
            f"{lab[0]}/{name}", headers={"if-none-match": first["etag"]}, timeout=PATIENCE
        ).status_code
        == 304
    )


@pytest.mark.parametrize("name", PAGE)
def test_each_file_of_the_page_is_sent_as_what_it_is(lab, name):
    answer = httpx.get(f"{lab[0]}/{name}", timeout=PATIENCE)
    assert answer.content == PAGE[name]
    kinds = {
        "html": "text/html",
        "css": "text/css",
        "js": "text/javascript",
        "svg": "image/svg+xml",
    }
    assert answer.headers["content-type"].startswith(kinds[name.rpartition(".")[2]])


LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_on_another_page_opens_the_lab(lab, site):
    answer = httpx.get(f"{lab[0]}/", headers={**LINK, "sec-fetch-site": site}, timeout=PATIENCE)
    assert answer.status_code == 200
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("method", "path", "change"),
    [
        ("POST", "/", {}),
        ("HEAD", "/", {}),
        ("GET", "/api/catalogue", {}),
        ("GET", "/lab.js", {}),
        ("POST", "/api/visit", {}),
        ("GET", "/", {"sec-fetch-dest": "iframe"}),
        ("GET", "/", {"sec-fetch-dest": "embed"}),
        ("GET", "/", {"sec-fetch-dest": ""}),
        ("GET", "/", {"sec-fetch-mode": "no-cors"}),
        ("GET", "/", {"sec-fetch-mode": "cors"}),
        ("GET", "/", {"origin": "http://evil.example"}),
        ("GET", "/", {"host": "evil.example"}),
    ],
)
def test_everything_else_from_another_page_is_rejected(lab, method, path, change):
    assert (
        httpx.request(
            method, lab[0] + path, headers={**LINK, **change}, timeout=PATIENCE
        ).status_code
        == 403
    )
