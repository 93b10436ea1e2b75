# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The LID offset of a job reaches UCX in the ranks of Open MPI, which a real Slurm starts. There is no
InfiniBand here: Open MPI runs over shared memory, and UCX says what it reads of the environment."""

import pathlib
import re
import shutil

import pytest

import slurm_sim
from fabric_sim import wait_until
from fake_keyd import FakeKeyd
from cli_testing import HEDDLE

MEASURE = pathlib.Path(HEDDLE).parent / "measure" / "heddle-measure"
MODULES = sorted(pathlib.Path("/usr/lib").glob("*/ucx/libuct_ib.so.0"))
MISSING = slurm_sim.missing_tools() + [name for name, there in (
    ("heddle-measure", MEASURE.exists()), ("mpirun", shutil.which("mpirun")), ("UCX", MODULES),
    ("Slurm's PMIx plugin", list(pathlib.Path("/usr/lib").glob("*/slurm*/mpi_pmix.so")))) if not there]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}")

# Open MPI must take UCX, also over shared memory; UCX tells which of its variables there are.
UCX = {"OMPI_MCA_pml": "ucx", "OMPI_MCA_pml_ucx_tls": "any", "OMPI_MCA_pml_ucx_devices": "any",
       "OMPI_MCA_osc": "^ucx", "UCX_LOG_LEVEL": "info", "UCX_TLS": "self,sm"}

# What UCX's own parser makes of the environment, for all of its InfiniBand transports.
PARSE = """
import ctypes
libc = ctypes.CDLL(None)
libc.fdopen.restype, libc.fflush.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
libraries = [ctypes.CDLL(name, ctypes.RTLD_GLOBAL) for name in ("libucs.so.0", "libuct.so.0", MODULE)]
out = libc.fdopen(1, b"w")
tables = ctypes.c_void_p.in_dll(libraries[0], "ucs_config_global_list")
libraries[0].ucs_config_parser_print_all_opts(ctypes.c_void_p(out), b"UCX_", 1, ctypes.byref(tables))
libc.fflush(out)
"""


@pytest.fixture(scope="module", name="slurm")
def slurm_fixture():
    with slurm_sim.Slurm(4, **slurm_sim.with_keys("{folder}/keyd.sock")) as slurm:
        yield slurm


@pytest.fixture(name="keyd")
def keyd_fixture(slurm):
    with FakeKeyd(slurm.folder / "keyd.sock") as keyd:
        yield keyd
        wait_until(lambda: not slurm.jobs(), "the end of all jobs")


def test_ucx_reads_the_offset(slurm, keyd):
    """Each of UCX's transports on InfiniBand takes it. Without a key, they take offset 0 alone, their default."""
    del keyd
    script = slurm.folder / "parse.py"
    script.write_text(PARSE.replace("MODULE", repr(str(MODULES[0]))))
    for options, bits in (("--routing-pattern=ring",), {"1"}), ((), {"0"}):
        shown = slurm.run("srun", "-N2", *options, "/usr/bin/python3", script).stdout
        found = re.findall(r"(?m)^UCX_(\w+)_LID_PATH_BITS=(\S+)", shown)
        assert {"RC_VERBS", "UD_VERBS"} <= {transport for transport, _ in found}
        assert {value for _, value in found} == bits, found


@pytest.mark.parametrize("key", [True, False])
def test_the_ranks_of_open_mpi_have_the_offset(slurm, keyd, tmp_path, key):
    """heddle-measure is a program with MPI: four ranks, whose UCX names the variables that it finds. They
    run on one node, since Slurm's PMIx plugin has one folder on a machine, where all nodes are here."""
    del keyd
    options = ["--routing-pattern=ring"] if key else []
    done = slurm.run("srun", "-N1", "-n4", "--mpi=pmix", *options, MEASURE, "-n", 2, "--packets", 1, "--size", 4096,
                     environment=dict(UCX, UCX_LOG_FILE=f"{tmp_path}/ucx.%p"))
    assert re.search(r"(?m)^ranks +4 on 1 host", done.stdout)
    logs = [path.read_text() for path in tmp_path.glob("ucx.*")]
    assert len(logs) == 4 and all("UCX_* env variable" in log for log in logs)
    assert [bool(re.search(r"\bUCX_IB_LID_PATH_BITS\b", log)) for log in logs] == [key] * 4
