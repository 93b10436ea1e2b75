# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Other versions of Debian packages, made from the packages themselves."""

import re
import shutil

from clean_root import run


def version(deb):
    return run(["dpkg-deb", "-f", str(deb), "Version"]).strip()


def rebuild(deb, target, change):
    """Unpacks a package, calls change(folder), and packs it again into a file of the folder `target`."""
    folder = target / "unpacked"
    run(["dpkg-deb", "-R", str(deb), str(folder)])
    change(folder)
    run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", str(folder), str(target)])
    shutil.rmtree(folder)


def later(deb, target, new_default=""):
    """The package as version 99. `new_default` is added to its conffiles, as if the defaults had changed."""
    old = version(deb)

    def change(folder):
        control = folder / "DEBIAN/control"
        control.write_text(re.sub(rf"^(Version: |Depends:.*= ){re.escape(old)}", r"\g<1>99",
                                  control.read_text(), flags=re.M))
        for name in conffiles(folder / "DEBIAN"):
            with open(folder / name.lstrip("/"), "a") as file:
                file.write(new_default)

    rebuild(deb, target, change)


def conffiles(folder):
    """The conffiles that the folder of control files lists."""
    path = folder / "conffiles"
    return path.read_text().split() if path.exists() else []


def old_single(command, plugin, target):
    """The package heddle of version 0.1.0, which contained the plugin, too."""

    def change(folder):
        run(["dpkg-deb", "-x", str(plugin), str(folder)])
        shutil.rmtree(folder / "etc")
        control = (folder / "DEBIAN/control").read_text()
        depends = run(["dpkg-deb", "-f", str(plugin), "Depends"]).strip()
        control = re.sub(r"^Version: .*", "Version: 0.1.0", control, flags=re.M)
        control = re.sub(r"^Depends: ", f"Depends: {depends}, ", control, flags=re.M)
        (folder / "DEBIAN/control").write_text(control)

    rebuild(command, target, change)
