# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The README's installation works on a clean Debian 12 with only the packages that it names."""

from clean_root import enter


def test_command_works(installed):
    """The installed command generates, routes and checks a fabric."""
    enter(installed, "cd /tmp; heddle topo generate xgft --children 4,4 --parents 1,4 -o fabric.net;"
                     "heddle route -e dmodk fabric.net -o tables.lfts; heddle check fabric.net tables.lfts")


def test_plugin_is_found(installed):
    """The dynamic linker finds the plugin, and OpenSM's version is the one it was built for."""
    assert "libheddle.so" in enter(installed, "ldconfig -p")
    symbols = enter(installed, "opensm --version; grep -c osm_event_plugin $(ldconfig -p | "
                               "sed -n 's/.*libheddle.so.* => //p')")
    assert "OpenSM" in symbols


def test_manual_pages_are_installed(installed):
    """Man pages lie where man looks for them."""
    pages = enter(installed, "ls /usr/local/share/man/man1 /usr/local/share/man/man5")
    assert "heddle.1" in pages and "heddle-route.1" in pages and "heddle.conf.5" in pages


def test_library_builds(installed, packages):
    """A program builds with the packages of libheddle-key by pkg-config, and runs with libheddle-key1 alone."""
    (installed / "tmp/debs").mkdir()
    for deb in packages.glob("libheddle-key*.deb"):
        (installed / "tmp/debs" / deb.name).write_bytes(deb.read_bytes())
    enter(installed, "cd /tmp/debs; xargs rm -f < /heddle/build/release/install_manifest.txt; ldconfig;"
                     "apt-get -qq install -y --no-install-recommends ./*.deb >/dev/null;"
                     "printf '#include <heddle/keyd_client.h>\\nint main(void) { struct hd_key_client *client; return "
                     "hd_key_client_new(NULL, 1, &client, NULL); }\\n' >/tmp/p.c;"
                     "cc /tmp/p.c -o /tmp/p $(pkg-config --cflags --libs libheddle-key);"
                     "apt-get -qq purge -y libheddle-key-dev >/dev/null; /tmp/p; test ! -e /usr/lib/*/libheddle-key.so;"
                     "apt-get -qq purge -y libheddle-key1 >/dev/null; ! /tmp/p 2>/dev/null")
