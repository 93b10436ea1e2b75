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
    for deb in packages.glob("libheddle*.deb"):
        (installed / "tmp/debs" / deb.name).write_bytes(deb.read_bytes())
    enter(installed, "cd /tmp/debs; xargs rm -f < /heddle/build/release/install_manifest.txt; ldconfig;"
                     "apt-get -qq install -y --no-install-recommends ./libheddle-key*.deb >/dev/null;"
                     "printf '#include <heddle/keyd_client.h>\\nint main(void) { struct hd_key_client *client; return "
                     "hd_key_client_new(NULL, 1, &client, NULL); }\\n' >/tmp/p.c;"
                     "cc /tmp/p.c -o /tmp/p $(pkg-config --cflags --libs libheddle-key);"
                     "apt-get -qq purge -y libheddle-key-dev >/dev/null; /tmp/p; test ! -e /usr/lib/libheddle-key.so;"
                     "apt-get -qq purge -y libheddle-key1 >/dev/null; ! /tmp/p 2>/dev/null")


def test_static_library_builds(installed, packages):
    """The example program and the example engine build with the package libheddle-dev alone. The program routes; the
    command loads the engine."""
    (installed / "tmp/debs").mkdir(exist_ok=True)
    for deb in packages.glob("libheddle-dev_*.deb"):
        (installed / "tmp/debs" / deb.name).write_bytes(deb.read_bytes())
    enter(installed, "cd /tmp; apt-get -qq install -y --no-install-recommends ./debs/libheddle-dev_*.deb >/dev/null;"
                     "cc /usr/share/doc/libheddle-dev/examples/largest_load.c -o load"
                     " $(pkg-config --cflags --libs heddle);"
                     "heddle=/heddle/build/release/cli/heddle;"
                     "$heddle topo generate xgft --children 4,4 --parents 1,4 -o fabric.net;"
                     "./load fabric.net dmodk | grep ': largest load .*, clean'; mkdir /opt/engines;"
                     "cc -shared -fPIC /usr/share/doc/libheddle-dev/examples/rotate.c -o /opt/engines/rotate.so"
                     " $(pkg-config --cflags --libs heddle); export HEDDLE_ENGINE_PATH=/opt/engines;"
                     "$heddle route -e rotate fabric.net -o rotate.lfts; $heddle check fabric.net rotate.lfts")
