"""Stand-ins for packages that need a compiler or a library of the system.

Home Assistant reads the descriptions of its actions only if all of its base
components can be imported, the voice pipeline and the camera among them.
"""

from ctypes.util import find_library
from importlib.util import find_spec
import sys
from types import ModuleType


def stand_in(package: str, name: str) -> None:
    """Put an empty module of that name in the package's place."""
    stub = ModuleType(package)
    setattr(stub, name, object)
    sys.modules[package] = stub


for package, name in (("pymicro_vad", "MicroVad"), ("pyspeex_noise", "AudioProcessor")):
    if find_spec(package) is None:
        stand_in(package, name)

if find_library("turbojpeg") is None:
    stand_in("turbojpeg", "TurboJPEG")
